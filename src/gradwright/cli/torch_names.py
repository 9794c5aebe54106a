"""`import torch` on gradwright: an import hook that serves gradwright's modules under PyTorch's names.

Each ``torch.a.b`` of `SHARED` is a module of its own that holds the public names of ``gradwright.a.b``, where that
exists; each of `ELSEWHERE` holds those of the module that stands there. Asking for anything else fails with
"gradwright has no torch.X yet": AttributeError for ``torch.X``, ModuleNotFoundError, which is an ImportError, for
``import torch.X`` and ``from torch import X``.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.abc
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import gradwright
from gradwright import cuda

# PyTorch's modules that gradwright keeps at the same path with the same meaning, those still to be written included.
# Not among them: gradwright's own parts, some of which have the name of a different thing in PyTorch (`backends`).
SHARED = frozenset({
    "torch",
    "torch.autograd", "torch.autograd.forward_ad", "torch.autograd.function", "torch.autograd.functional",
    "torch.autograd.grad_mode", "torch.autograd.gradcheck", "torch.autograd.graph", "torch.cuda",
    "torch.fft", "torch.func", "torch.linalg", "torch.masked", "torch.random", "torch.signal", "torch.signal.windows",
    "torch.special",
    "torch.nn", "torch.nn.functional", "torch.nn.init", "torch.nn.parameter", "torch.nn.utils",
    "torch.nn.utils.clip_grad", "torch.nn.utils.convert_parameters", "torch.nn.utils.parametrizations",
    "torch.nn.utils.parametrize", "torch.nn.utils.rnn",
    "torch.optim", "torch.optim.lr_scheduler", "torch.optim.optimizer",
    "torch.profiler", "torch.serialization", "torch.utils", "torch.utils._pytree",
    "torch.utils.checkpoint", "torch.utils.cpp_extension", "torch.utils.data",
    "torch.utils.data.dataloader", "torch.utils.data.dataset", "torch.utils.data.sampler",
})  # fmt: skip

# PyTorch's modules whose public names are also those of a larger one, which serves them here.
ELSEWHERE = {f"torch.nn.modules.{name}": "gradwright.nn" for name in (
    "activation", "batchnorm", "container", "conv", "distance", "dropout", "flatten", "fold", "instancenorm", "lazy",
    "linear", "loss", "module", "normalization", "padding", "pixelshuffle", "pooling", "rnn", "sparse", "transformer",
    "upsampling",
)} | {f"torch.optim.{name}": "gradwright.optim" for name in (
    "adadelta", "adagrad", "adam", "adamax", "adamw", "asgd", "lbfgs", "nadam", "radam", "rmsprop", "rprop", "sgd",
)} | {"torch.nn.modules": "gradwright.nn"}  # fmt: skip

# What else programs take from PyTorch's modules: hooks on all modules, private classes to derive from or to ask for.
_MORE = {
    "torch.nn.modules.batchnorm": {"_BatchNorm": "gradwright.nn.modules.norm:_BatchNorm"},
    "torch.nn.modules.conv": {"_ConvNd": "gradwright.nn.modules.conv:_ConvNd"},
    "torch.nn.modules.loss": {
        "_Loss": "gradwright.nn.modules.loss:Loss",
        "_WeightedLoss": "gradwright.nn.modules.classification:_WeightedLoss",
    },
    "torch.nn.modules.module": {name: f"gradwright.nn.hooks:{name}" for name in (
        "register_module_forward_hook", "register_module_forward_pre_hook", "register_module_full_backward_hook",
        "register_module_full_backward_pre_hook",
    )},
    "torch.optim.lr_scheduler": {"_LRScheduler": "gradwright.optim.lr_scheduler:LRScheduler"},
}  # fmt: skip

# At the top of gradwright, and not at the top of PyTorch.
OURS = frozenset({
    "AnomalyError", "CapturedTensor", "FileError", "GradcheckError", "GradientWarning", "Op", "audit", "custom_op",
    "op", "value_and_grad", "xp",
})  # fmt: skip

# The PyTorch whose names these are, and what serves them. Comes apart as PyTorch's own "2.13.0+cpu" does.
VERSION = f"2.13.0+gradwright.{gradwright.__version__}"


def _is_available() -> bool:
    """False: there is no such thing here."""
    return False


# What nearly every program asks about other devices before it goes on without them.
_SUBSTITUTES: dict[str, Mapping[str, Any]] = {
    "torch.accelerator": {"is_available": cuda.is_available, "device_count": cuda.device_count},
    "torch.backends": {},
    "torch.backends.cudnn": dict.fromkeys(("benchmark", "deterministic", "enabled"), False)
    | {"is_available": _is_available},
    "torch.backends.mps": {"is_available": _is_available, "is_built": _is_available},
    "torch.version": {"__version__": VERSION, "cuda": None, "hip": None},
}


class TorchModule(ModuleType):
    """A module of PyTorch's name. What it has lies in its ``__dict__``; only what it lacks comes to ``__getattr__``."""

    def __getattr__(self, name: str) -> Any:
        if self.__name__ in SHARED and name not in OURS:
            source = importlib.import_module(_source(self.__name__))
            if name in getattr(source, "__all__", ()):  # what it imports when it is asked for
                return getattr(source, name)
        raise AttributeError(_lacking(f"{self.__name__}.{name}"), name=name, obj=self)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds and makes the modules ``torch`` and ``torch.*``; leaves all others to Python."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] != "torch":
            return None
        if not _exists(fullname):
            # With `name=fullname`, `from torch import X` would swallow this and raise an error without our message.
            raise ModuleNotFoundError(_lacking(fullname) + _suggestion(fullname), name="torch")
        # Every one a package, even a leaf: `from torch.a import X` asks the finder about X only if torch.a is one.
        return ModuleSpec(fullname, self, origin="gradwright", is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return TorchModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        # The modules below come first: a function may have the name of the module it lives in (autograd.gradcheck).
        for below in sorted(SHARED | ELSEWHERE.keys() | _SUBSTITUTES.keys()):
            if below.rpartition(".")[0] == module.__name__ and _exists(below):
                importlib.import_module(below)
        vars(module).update(_names(module.__name__))


def _exists(name: str) -> bool:
    if name not in SHARED and name not in ELSEWHERE:
        return name in _SUBSTITUTES
    above = name.rpartition(".")[0]
    return (not above or _exists(above)) and importlib.util.find_spec(_source(name)) is not None


def _source(name: str) -> str:
    """The module of gradwright behind a module of PyTorch's name."""
    return ELSEWHERE.get(name, "gradwright" + name.removeprefix("torch"))


def _lacking(name: str) -> str:
    return f"gradwright has no {name} yet"


def _suggestion(name: str) -> str:
    """What Python says of a missing attribute, and not of a missing module: the nearest name there is."""
    above, _, last = name.rpartition(".")
    names = {there.lower(): there for there in reversed(dir(sys.modules.get(above)))}
    near = difflib.get_close_matches(last.lower(), names, 1, 0.75)
    return f". Did you mean: '{names[near[0]]}'?" if near else ""


def _names(module: str) -> dict[str, Any]:
    """What a module of PyTorch's name holds besides the modules below it."""
    if module in _SUBSTITUTES:
        return dict(_SUBSTITUTES[module])
    source = importlib.import_module(_source(module))
    names = _public(source)
    about = {"__doc__": source.__doc__, "__file__": source.__file__}
    if module == "torch":
        names = {name: value for name, value in names.items() if name not in OURS}
        about["__version__"] = VERSION
    for theirs, ours in _MORE.get(module, {}).items():
        home, _, name = ours.partition(":")
        about[theirs] = getattr(importlib.import_module(home), name)
    after = {name for name in getattr(source, "__all__", ()) if name not in vars(source) and name not in OURS}
    return names | about | {"__all__": sorted({*names, *after})}


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


_finder = _Finder()


def install() -> None:
    """From now on ``import torch`` imports gradwright, even where PyTorch is installed.

    Raises RuntimeError if PyTorch itself has been imported already.
    """
    if "torch" in sys.modules and not isinstance(sys.modules["torch"], TorchModule):
        where = getattr(sys.modules["torch"], "__file__", None) or "an unknown place"
        raise RuntimeError(f"PyTorch is already imported in this process (from {where}): "
                           "a program can be run on gradwright only where it is not")  # fmt: skip
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)


def uninstall() -> None:
    """Undo `install`, and forget the modules it made."""
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
    for name in [name for name, module in sys.modules.items() if isinstance(module, TorchModule)]:
        del sys.modules[name]
