"""What a public module offers: names to complete, names that are imported lazily, and the nearest to a wrong one."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from types import FunctionType
from typing import Any

from gradwright.base.paths import PUBLIC, PUBLIC_NAMES

SURROUNDINGS = frozenset(f"torch.{name}" for name in (
    "accelerator", "amp", "autograd.profiler", "backends.cudnn", "backends.cuda", "backends.mkl", "backends.mkldnn",
    "backends.mps", "compiler", "cpu", "futures", "fx", "hub", "jit", "library", "mps", "multiprocessing",
    "nn.attention", "overrides", "types", "version",
))  # fmt: skip
"""Modules of PyTorch's that are served to programs which import torch, and not under gradwright's own name."""


def lazy(module: str, names: Mapping[str, str] | None = None, *beside: str) -> Callable[[str], Any]:
    """Give ``module`` a ``__getattr__`` and a ``__dir__``, with names to import lazily by the module that holds them.

    A name that is the end of its module's is that module, and so is a public path of one that has moved. ``__dir__``
    lists ``__all__``, the public ones of ``names``, the modules ``beside``, and what Python gives every module. The
    AttributeError of any other name has the nearest. Returns the ``__getattr__``.

    They are not written in the module: type checkers take one that has a ``__getattr__`` to have every name.
    """
    here, homes = sys.modules[module], {name: home for home, all_of in (names or {}).items() for name in all_of.split()}
    scope, module = vars(here), PUBLIC_NAMES.get(module, module)

    def find(name: str) -> Any:
        path = f"{module}.{name}"
        home = homes.get(name, path if path in PUBLIC else None)
        if home is None:
            mend = ""
            if not name.startswith("_"):  # such names tools ask of any module
                mend = surroundings(module, name) or below(module, name, offered()) or nearest(name, offered())
            raise AttributeError(f"{module} has no {name!r}{mend}", name=name)
        found = import_module(home)
        scope[name] = found if home == path else getattr(found, name)
        _findable(module, scope, name)
        return scope[name]

    def offered() -> list[str]:
        public = (name for name in homes if name[0] != "_")
        return sorted({*scope.get("__all__", ()), *public, *beside, *(name for name in scope if name.startswith("__"))})

    scope.update(__getattr__=find, __dir__=offered)
    return find


def findable(module: str) -> None:
    """Let functions of ``module`` that builders made say that they are found there, so that pickle finds them."""
    scope = vars(sys.modules[module])
    for name in list(scope):
        _findable(module, scope, name)


def _findable(module: str, scope: dict[str, Any], name: str) -> None:
    function = scope[name]
    if isinstance(function, FunctionType):
        known = function.__qualname__
        if vars(sys.modules.get(function.__module__, sys)).get(known) is not function:
            function.__module__, function.__qualname__ = module, known if scope.get(known) is function else name


def surroundings(module: str, name: str) -> str:
    """Where a module of PyTorch's surroundings is, whose names are gradwright's only in programs that say torch."""
    path = f"torch{module.removeprefix('gradwright')}.{name}"
    say = "`gradwright run`, or `import gradwright.as_torch` as the first line of the program, has it"
    return f"; that is {path}: {say}" if path in SURROUNDINGS else ""


def below(module: str, name: str, names: Iterable[str]) -> str:
    """``"; there is gradwright.func.grad"``, if loaded modules among or below ``names`` have the very name; or ""."""
    above, known = f"{module}.", frozenset(names)
    loaded = [path for path in sys.modules if path.startswith(above)]
    found = [f"{path}.{name}" for path in sorted(loaded) if path[len(above) :].partition(".")[0] in known
             and name in getattr(sys.modules[path], "__all__", ())]  # fmt: skip
    first = [path for path in found if path.count(".") == min(f.count(".") for f in found)]
    return f"; there is {' and '.join(first)}" if first else ""


def nearest(name: str, names: Iterable[str]) -> str:
    """``"; did you mean 'sin'?"``, with the one of ``names`` that is most like ``name``; "" if none is."""
    if name.startswith("__"):
        return ""  # asked by Python and its tools of any module
    lower = {there.lower(): there for there in sorted(names, reverse=True)}
    near = difflib.get_close_matches(name.lower(), lower, 1, 0.7)
    return f"; did you mean {lower[near[0]]!r}?" if near else ""
