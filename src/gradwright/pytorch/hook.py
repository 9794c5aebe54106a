"""`import torch` on gradwright: an import hook that serves gradwright's modules under PyTorch's names.

Each ``torch.a.b`` of `SHARED` is a module of its own that holds the public names of ``gradwright.a.b``, where that
exists; each of `ELSEWHERE` holds those of the module that stands there. Asking for anything else fails with
"gradwright has no torch.X yet": AttributeError for ``torch.X``, ModuleNotFoundError, which is an ImportError, for
``import torch.X`` and ``from torch import X``.

A name that PyTorch has (`known`), and that a program only mentions (`mentions`), fails where it is used: until then
an `Absent` stands for it.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import importlib.abc
import importlib.util
import inspect
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NoReturn

from gradwright.backends.generator import use
from gradwright.base.absent import Absent
from gradwright.engine.base import TensorBase
from gradwright.face.methods.subclasses import ASKING_MODULES, SILENT, serving
from gradwright.face.tensor import Tensor
from gradwright.pytorch.known import DETAILED, WITH_OUT, is_known, table
from gradwright.pytorch.mentions import mentioned
from gradwright.pytorch.out import taking_out
from gradwright.pytorch.served import ELSEWHERE, MORE, OURS, SHARED, SUBSTITUTES, VERSION

_HALVES = "complex numbers are of two floats of single or double precision: take torch.complex64"
MENDS = {
    "torch._C": "it is the inside of PyTorch's C++ library",
    "torch.chalf": _HALVES, "torch.complex32": _HALVES,
    "torch.ao": "gradwright has no quantised numbers",
    "torch.distributed": "processes compute together by gradwright.distributed, which is another thing; ask "
                         "is_available() first",
    "torch.export": "gradwright.compile makes programs of functions",
    "torch.hub": "gradwright fetches nothing: fetch the file yourself, convert it to safetensors where PyTorch is, and "
                 "load it with gradwright.load",
    "torch.onnx": "gradwright writes no ONNX files",
    "torch.quantization": "gradwright has no quantised numbers",
    "torch.utils._python_dispatch": "nothing lies below autograd that could be asked: a "
                                    "torch.overrides.TorchFunctionMode is asked of each call",
    "torch.utils.tensorboard": "gradwright writes no such files: tensorboardX does, of numbers",
}
"""What to do without a module, or why it is not there."""

_SPARSE = "sparse tensors are in coordinate form here, as to_sparse() gives them"
TENSOR_MENDS = {
    **dict.fromkeys(("ccol", "col_", "crow", "row_", "sparse_", "to_sparse", "resize_as_sparse"), _SPARSE),
    **dict.fromkeys(("q_", "qs", "int_repr"), "gradwright has no quantised numbers"),
    "_make_wrapper": "a class says by __torch_function__ what operations do; __torch_dispatch__ is not asked",
    "chalf": _HALVES, "smm": "see torch.sparse.mm",
    "grad_dtype": "a gradient has the dtype of its tensor", "to_padded": "no tensor is nested",
}
"""What to do without methods whose names begin so."""


class TorchModule(ModuleType):
    """A module of PyTorch's name. What it has lies in its ``__dict__``; only what it lacks comes to ``__getattr__``."""

    def __getattr__(self, name: str) -> Any:
        full = f"{self.__name__}.{name}"
        if name in MORE.get(self.__name__, ()):
            return vars(self).setdefault(name, _more(self.__name__, name))
        if self.__name__ not in SUBSTITUTES and name not in OURS:
            source = importlib.import_module(_source(self.__name__))
            private = name.startswith("_") and not name.startswith("__") and is_known(full)
            offered = private or name in getattr(source, "__all__", ())  # what it imports when it is asked for
            if offered or (hasattr(source, "__getattr__") and self.__name__ in ELSEWHERE):
                found = getattr(source, name, None)
                if found is not None and not isinstance(found, ModuleType | Absent):
                    found = _served(self.__name__, name, found)
                    if name in getattr(source, "__all__", ()):
                        vars(self)[name] = found
                    return found
        if _exists(full):
            return importlib.import_module(full)
        if not name.startswith("__") and is_known(full) and mentioned():
            return _absent(full)
        if not name.startswith("_") and not is_known(full):
            raise AttributeError(_lacking(full) + _misspelt(full), name=name)  # of no obj Python has no suggestion
        raise AttributeError(_lacking(full), name=name, obj=self)  # of this it has one

    def __call__(self, *_args: Any, **_named: Any) -> NoReturn:
        above, _, last = self.__name__.rpartition(".")
        near = [name for name in dir(sys.modules.get(above)) if name.lower() == last and name != last]
        raise TypeError(f"{self.__name__} is a module, which cannot be called"
                        + "".join(f": did you mean {above}.{name}?" for name in near))  # fmt: skip

    def __setattr__(self, name: str, value: Any) -> None:
        there = vars(self).get(name)
        if isinstance(value, TorchModule) and there is not None and not isinstance(there, ModuleType):
            return  # a function that has the name of the module it lives in stays
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        names = {*vars(self), *vars(self).get("__all__", ()), *MORE.get(self.__name__, ())}
        above = self.__name__ + "."
        modules = (m for m in SHARED | ELSEWHERE.keys() | SUBSTITUTES.keys() if m.startswith(above) and _exists(m))
        return sorted(names | {m[len(above) :].partition(".")[0] for m in modules})


def _more(module: str, name: str) -> Any:
    home, _, ours = MORE[module][name].partition(":")
    return getattr(importlib.import_module(home), ours)


def _absent(name: str) -> Absent:
    near = _suggestion(name).removeprefix(". ").removesuffix("?")
    return Absent(name, _mend(name) or (near and near[0].lower() + near[1:] + "?"))


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds and makes the modules ``torch`` and ``torch.*``; leaves all others to Python."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] != "torch":
            return None
        if not _exists(fullname):
            inside = isinstance(sys.modules.get(fullname.rpartition(".")[0]), Absent)
            if (inside or is_known(fullname)) and mentioned():
                return ModuleSpec(fullname, self, origin="gradwright", is_package=True, loader_state="absent")
            # With `name=fullname`, `from torch import X` would swallow this and raise an error without our message.
            raise ModuleNotFoundError(_lacking(fullname) + _suggestion(fullname), name="torch")
        # Every one a package, even a leaf: `from torch.a import X` asks the finder about X only if torch.a is one.
        return ModuleSpec(fullname, self, origin="gradwright", is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _absent(spec.name) if spec.loader_state == "absent" else TorchModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        if not isinstance(module, Absent):
            vars(module).update(_names(module.__name__))


def _exists(name: str) -> bool:
    if name not in SHARED and name not in ELSEWHERE:
        return name in SUBSTITUTES
    above = name.rpartition(".")[0]
    return (not above or _exists(above)) and importlib.util.find_spec(_source(name)) is not None


def _source(name: str) -> str:
    """The module of gradwright behind a module of PyTorch's name."""
    return ELSEWHERE.get(name, "gradwright" + name.removeprefix("torch"))


def _mend(name: str) -> str:
    """What to do without a name: of it, or of the module that it is in."""
    parts = name.split(".")
    return next((MENDS[m] for k in range(len(parts), 1, -1) if (m := ".".join(parts[:k])) in MENDS), "")


def _lacking(name: str) -> str:
    mend = _mend(name)
    if not mend and name.rpartition(".")[0] in DETAILED and not is_known(name):
        return f"PyTorch has no {name}, and neither has gradwright"
    return f"gradwright has no {name} yet{mend and ': ' + mend}"


def _suggestion(name: str) -> str:
    """What Python says of a missing attribute, and not of a missing module: the nearest name there is."""
    above, _, last = name.rpartition(".")
    holder = sys.modules.get(above)
    names = {} if isinstance(holder, Absent) else {there.lower(): there for there in reversed(dir(holder))}
    near = difflib.get_close_matches(last.lower(), names, 1, 0.75)
    return f". Did you mean: '{names[near[0]]}'?" if near else ""


_misspelt = functools.cache(_suggestion)
"""The same of an attribute: Python looks through no more than 750 names, and says what it finds in tracebacks alone."""


def _names(module: str) -> dict[str, Any]:
    """What a module of PyTorch's name holds besides the modules below it."""
    if module in SUBSTITUTES:
        return dict(SUBSTITUTES[module])
    source = importlib.import_module(_source(module))
    names = _public(source)
    about = {"__doc__": source.__doc__, "__file__": source.__file__}
    if module == "torch":
        names = {name: value for name, value in names.items() if name not in OURS}
        about["__version__"] = VERSION
    about |= {name: _more(module, name) for name in MORE.get(module, {}) if name in names}  # the others when asked for
    for value in names.values():
        _known_as(module, value)
    names = {name: _served(module, name, value) for name, value in names.items()}
    after = {name for name in getattr(source, "__all__", ()) if name not in vars(source) and name not in OURS}
    return names | about | {"__all__": sorted({*names, *after})}


_called: dict[type, str] = {}
"""What the modules of the classes were that are known by PyTorch's."""


def _known_as(module: str, value: Any) -> None:
    """Let the class of tensors name the module that PyTorch has it in: libraries tell by it what an array is."""
    if isinstance(value, type) and issubclass(value, TensorBase) and value.__module__.startswith("gradwright."):
        mirrored = "torch" + value.__module__.removeprefix("gradwright")
        _called[value] = value.__module__
        value.__module__ = mirrored if _exists(mirrored) else module


def _served(module: str, name: str, value: Any) -> Any:
    """A value of ours as PyTorch's module has it: with ``out=`` where PyTorch's takes it, asking for subclasses."""
    if not isinstance(value, FunctionType) or _source(module) not in ASKING_MODULES or name in SILENT:
        return value
    takes = module in WITH_OUT and name in table()[f"{module}:out"].public
    served = serving(value, taking_out(value, name) if takes else value, name)
    served.__module__, served.__qualname__ = module, name  # where it is found again
    return served


def _public(source: ModuleType) -> dict[str, Any]:
    """The names of a module that are its own: those of ``__all__``, or else what is defined in gradwright.

    What it imports when it is asked for is left to `TorchModule`, but for a function with the name of its module.
    """
    declared = getattr(source, "__all__", None)
    names = dict(vars(source))
    if declared is not None:
        below = (name for name in declared if f"{source.__name__}.{name}" in sys.modules)
        names |= {name: getattr(source, name) for name in below}
        names = {name: names[name] for name in declared if name in names}
    return {
        name: value
        for name, value in names.items()
        if not isinstance(value, ModuleType)
        and (
            declared is not None
            or (not name.startswith("_") and str(getattr(value, "__module__", "")).startswith("gradwright"))
        )
    }


def _names_of(x: Any) -> list[str]:
    """``Tensor.__dir__`` while stubs of names stand in it that are not there."""
    there = lambda name: not isinstance(inspect.getattr_static(x, name, None), _NoSuchMethod)
    return list(filter(there, object.__dir__(x)))


class _NoSuchMethod:
    """A name that PyTorch's tensors have and ours have not: AttributeError, which says so."""

    def __init__(self, name: str) -> None:
        mend = next((mend for start, mend in TENSOR_MENDS.items() if name.startswith(start)), "")
        self._text = f"gradwright has no torch.Tensor.{name} yet{mend and ': ' + mend}"

    def __get__(self, instance: Any, owner: type) -> Any:
        raise AttributeError(self._text)


_finder = _Finder()
_CHILDREN = str(Path(__file__).parent / "children")


def install() -> None:
    """From now on ``import torch`` imports gradwright, even where PyTorch is installed.

    Raises RuntimeError if PyTorch itself has been imported already.
    """
    if "torch" in sys.modules and not isinstance(sys.modules["torch"], TorchModule):
        where = getattr(sys.modules["torch"], "__file__", None) or "an unknown place"
        raise RuntimeError(f"PyTorch is already imported in this process (from {where}): "
                           "a program can be run on gradwright only where it is not")  # fmt: skip
    if not is_installed():
        sys.meta_path.insert(0, _finder)
        known = table()["torch.Tensor"]
        for name in known.public | known.other:
            if not hasattr(Tensor, name):
                setattr(Tensor, name, _NoSuchMethod(name))
        Tensor.__dir__ = _names_of  # type: ignore[assignment]


def serve() -> None:
    """`install`, for a program that is run on gradwright: seeds give PyTorch's numbers, and so do its Python children.

    Children, of multiprocessing or subprocess, find it by ``PYTHONPATH``, unless they ignore that (``python -I``).

    Raises RuntimeError if PyTorch itself has been imported already.
    """
    install()
    use("torch")
    os.environ["PYTHONPATH"] = os.pathsep.join([_CHILDREN, *_paths_of_the_user()])


def _paths_of_the_user() -> list[str]:
    return [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p and p != _CHILDREN]


def is_installed() -> bool:
    """Whether ``import torch`` imports gradwright."""
    return _finder in sys.meta_path


def uninstall() -> None:
    """Undo `install` and `serve`, and forget the modules they made."""
    if _CHILDREN in os.environ.get("PYTHONPATH", "").split(os.pathsep):
        os.environ["PYTHONPATH"] = os.pathsep.join(_paths_of_the_user())
        use("numpy")
    if is_installed():
        sys.meta_path.remove(_finder)
        del Tensor.__dir__
        for name, value in list(vars(Tensor).items()):
            if isinstance(value, _NoSuchMethod):
                delattr(Tensor, name)
    for name, module in list(sys.modules.items()):
        if isinstance(module, TorchModule) or (isinstance(module, Absent) and name.partition(".")[0] == "torch"):
            del sys.modules[name]
    while _called:
        value, module_name = _called.popitem()
        value.__module__ = module_name
