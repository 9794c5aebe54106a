"""Finding what there is to check in a file, a module, or ``package.module:Name``."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import linecache
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import gradwright
from gradwright.function.function import Function
from gradwright.ops.declare import Op
from gradwright.verify.check import jax_functions
from gradwright.verify.check.pairs import written
from gradwright.verify.pairs.by_name import named

CUSTOM_OP = "__gradwright_function__"
"""The attribute by which a custom_op (a callable) is known; its value is the Function class that it applies."""
PAIR = "pair"
"""The kind of a function with its derivatives beside it; such a subject's target is a `Named`."""
EXTENSION, PLACE = "__gradwright_extension__", "__gradwright_place__"
"""The attribute by which a module of C++ operations is known, and that of the operations: the file and line."""


@dataclass(frozen=True, eq=False)
class Subject:
    """Something to check.

    Attributes:
        name, kind, file, line, source: see `gradwright.verify.check.records.Checked`.
        target: the object itself; for JAX's functions, a Function that calls it.
        T: the library it is written for: gradwright, or torch.
        samples: the calls to check it with, if not those it declares.
        function: the Function class behind it; None for an Op.
    """

    name: str
    kind: str
    target: Any
    T: Any
    file: str
    line: int
    source: str
    samples: Any = None

    @property
    def function(self) -> Any:
        """The Function class behind it; None for an Op."""
        if self.kind == "op":
            return None
        return getattr(self.target, CUSTOM_OP) if self.kind == "custom_op" else self.target

    @property
    def refused(self) -> Exception | None:
        """Why the class cannot be defined, if `gradwright.function.contract.signature.tolerant` let it be."""
        return vars(self.function).get("_refused") if self.kind == "function" else None

    @property
    def own_context(self) -> bool:
        """Whether forward takes ctx, and there is no `setup_context`."""
        return self.function.setup_context is self.T.autograd.Function.setup_context

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """The parameters of what its author wrote, but ctx."""
        if self.kind == "custom_op":
            return list(inspect.signature(self.target).parameters.values())
        return list(inspect.signature(self.function.forward).parameters.values())[self.own_context :]

    def bind(self, arguments: tuple[Any, ...]) -> inspect.BoundArguments:
        """The arguments by name; TypeError if they do not fit."""
        return inspect.Signature(self.parameters).bind(*arguments)

    def full(self, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments as the Function behind it takes them: of a custom_op, all of them, by position."""
        if self.kind != "custom_op":
            return arguments
        bound = self.bind(arguments)
        bound.apply_defaults()
        return tuple(bound.arguments.values())

    def names(self, n: int) -> list[str]:
        """What the first ``n`` arguments are called."""
        if self.kind == "op":
            found = list(self.target.inputs)
            return [*found[:n], *(f"{found[-1]}[{k}]" for k in range(len(found), n))]
        found = []
        for p in self.parameters:
            if p.kind is p.VAR_POSITIONAL and self.kind != "custom_op":
                found += [f"{p.name}[{k}]" for k in range(n - len(found))]
            else:
                found.append(p.name)
        return [found[k] if k < len(found) else f"input {k}" for k in range(n)]


def load(target: str) -> tuple[ModuleType, str]:
    """Import a target: a file, a module, or either with ``:Name``; returns the module and the name, or ``""``.

    Raises FileNotFoundError or ModuleNotFoundError if there is none, and whatever importing it raises.
    """
    where, _, name = target.partition(":")
    if not (where.endswith(".py") or Path(where).is_file()):
        if Path.cwd().as_posix() not in sys.path:
            sys.path.insert(0, Path.cwd().as_posix())
        return importlib.import_module(where), name
    path = Path(where).absolute()
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {where}")
    if path.suffix != ".py":
        raise ImportError(f"{where} is not a Python file: its name does not end in .py")
    root, parts = path.parent, [path.stem]
    while (root / "__init__.py").is_file():  # it may import its neighbours by relative names
        root, parts = root.parent, [root.name, *parts]
    sys.path.insert(0, str(root))
    if len(parts) > 1:
        return importlib.import_module(".".join(parts).removesuffix(".__init__")), name
    own = path.stem if path.stem not in sys.modules else f"{path.stem} (checked)"
    spec = importlib.util.spec_from_file_location(own, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[own] = module
    spec.loader.exec_module(module)
    return module, name


def subjects(module: ModuleType, name: str = "") -> list[Subject]:
    """Everything in a module that can be checked, in the order it is written in; or what has this name.

    Raises LookupError if there is nothing, or nothing of that name.
    """
    if name:
        if not hasattr(module, name):
            raise LookupError(f"{module.__name__} has no {name}")
        found = list(_subject(name, getattr(module, name), module)) or [s for s in _pairs(module) if s.name == name]
        if not found:
            raise LookupError(f"{name} is no Function, custom_op or Op, and no function with a derivative beside it: "
                              "one can be given as --jac")  # fmt: skip
        return found
    named = [item for item in vars(module).items() if not item[0].startswith("__")]
    loaded = [v for _, v in named if isinstance(v, ModuleType) and hasattr(v, EXTENSION)]
    values = [(n, v) for n, v in named if _home(v, module)] + [i for m in loaded for i in vars(m).items()]
    unique = {id(v): (n, v) for n, v in reversed(values)}
    found = [s for n, v in reversed(unique.values()) for s in _subject(n, v, module)] + _pairs(module)
    if not found:
        raise LookupError("there is no Function, custom_op or Op in it, and no function whose derivative is called by "
                          "its name (f and f_prime, fun and jac)")  # fmt: skip
    behind = {id(s.function) for s in found if s.kind == "custom_op"}
    return sorted((s for s in found if s.kind == "custom_op" or id(s.target) not in behind),
                  key=lambda s: (s.file, s.line))


def subject_of(target: Any, samples: Any = None) -> Subject:
    """An object as a subject, to be checked with these samples or else with its own.

    Raises LookupError if it is no Function, custom_op or Op.
    """
    name = getattr(target, "name", None) or getattr(target, "__name__", None) or type(target).__name__
    for subject in _subject(str(name), target, None):
        return replace(subject, samples=samples)
    raise LookupError(f"{name} is no Function, custom_op or Op")


def _pairs(module: ModuleType) -> list[Subject]:
    """The functions of a module with derivatives that are called by their names."""
    found = [(p, *written(p.jac or p.hess or p.hessp)) for p in named(module)]
    return [Subject(p.name, PAIR, p, gradwright, file, line, source) for p, file, line, source in found]


def _home(value: Any, module: ModuleType) -> bool:
    """Whether a value belongs to a module, or to a part of that package, and was not just imported there."""
    written = value.forward if isinstance(value, Op) else value.fun if jax_functions.is_one(value) else value
    home = getattr(written, "__module__", None)
    return home == module.__name__ or str(home).startswith(f"{module.__name__}.")


def _abstract(function: Any, T: Any) -> bool:
    return function.forward is T.autograd.Function.forward


def _subject(name: str, value: Any, module: ModuleType | None) -> Iterator[Subject]:
    torch: Any = sys.modules.get("torch")
    T: Any = gradwright
    written = value
    if jax_functions.is_one(value):
        yield Subject(name, "jax", jax_functions.as_function(value), gradwright, *jax_functions.place(value))
        return
    if isinstance(value, Op):
        kind, written = "op", value.forward
    elif hasattr(value, CUSTOM_OP):
        kind, written = "custom_op", inspect.unwrap(value)
    elif not isinstance(value, type):
        return
    elif issubclass(value, Function) and not _abstract(value, gradwright):
        kind = "function"
    elif torch and issubclass(value, torch.autograd.Function) and not _abstract(value, torch):
        kind, T = "torch", torch
    else:
        return
    if hasattr(value, PLACE):
        file, line = getattr(value, PLACE)
        yield Subject(name, kind, value, T, file, line, linecache.getline(file, line))
        return
    try:
        lines, line = inspect.getsourcelines(written)
        file, source = inspect.getsourcefile(written) or "", "".join(lines)
    except (OSError, TypeError):
        file, line, source = getattr(module, "__file__", None) or "", 0, ""
    yield Subject(name, kind, value, T, file, line, source)


# ---- the files of a folder ---------------------------------------------------------------------------------


_DECORATORS = frozenset({"op", "custom_op", "vjp", "jvp", "defjvp", "defjvps", "defvjp", "custom_vjp", "custom_jvp"})
_DERIVATIVES = frozenset({"backward", "vjp", "jvp"})
_LEFT_OUT = frozenset({"__pycache__", "node_modules", "site-packages"})


def files_in(folder: str) -> list[str]:
    """The Python files of a folder, and of those in it, that write a derivative, by their text; none is imported.

    Hidden folders and virtual environments are left out. A file that cannot be parsed is taken if it says "Function".
    """
    return [str(path) for path in sorted(_python(Path(folder))) if _writes(path)]


def _python(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.is_dir():
            if path.name[0] != "." and path.name not in _LEFT_OUT and not (path / "pyvenv.cfg").exists():
                yield from _python(path)
        elif path.suffix == ".py":
            yield path


def _writes(path: Path) -> bool:
    source = path.read_bytes()
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return b"Function" in source
    return any(_is_one(node) for node in ast.walk(tree))


def _is_one(node: ast.AST) -> bool:
    if isinstance(node, ast.ClassDef):
        own = {f.name for f in node.body if isinstance(f, ast.FunctionDef)}
        return any(_last(b).endswith("Function") for b in node.bases) or ("forward" in own and bool(own & _DERIVATIVES))
    if isinstance(node, ast.FunctionDef):
        return any(_last(d) in _DECORATORS for d in node.decorator_list)
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _DECORATORS


def _last(node: ast.expr) -> str:
    """The last name of what is named: ``Function`` of ``torch.autograd.Function`` and of a call of it."""
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
