"""Functions that give no warnings: run as if their module had no name, since the interpreter drops those of such a one.

A formula that calls NumPy's ufuncs directly needs no setting of NumPy's error handling then, which costs a fifth of a
small operation (see `gradwright.backends.quiet`). Where the interpreter does not drop them, that setting is made.
"""

from __future__ import annotations

import builtins
import warnings
from collections.abc import Callable, Iterator
from types import CellType, CodeType, FunctionType
from typing import Any

import numpy as np


def muted(f: Callable[..., Any], made: dict[Any, Callable[..., Any]] | None = None) -> Callable[..., Any]:
    """``f`` where its module has no name, and so the functions that it calls by names of its own; what they mean now.

    ``made`` are those that are so already.
    """
    made = {} if made is None else made
    if f in made or not isinstance(f, FunctionType):
        return made.get(f, f)
    scope: dict[str, Any] = {"__name__": None, "__builtins__": builtins}
    cells = tuple(CellType() for _ in f.__closure__ or ())
    made[f] = silent = FunctionType(f.__code__, scope, f.__name__, f.__defaults__, cells)
    for name in ("__kwdefaults__", "__doc__", "__module__", "__qualname__"):
        setattr(silent, name, getattr(f, name))

    def meant(value: Any) -> Any:
        return muted(value, made) if isinstance(value, FunctionType) else value

    scope |= {name: meant(f.__globals__[name]) for name in names(f.__code__) if name in f.__globals__}
    for cell, own in zip(cells, f.__closure__ or (), strict=True):
        cell.cell_contents = meant(own.cell_contents)
    return silent


def names(code: CodeType) -> Iterator[str]:
    """What code, and the functions within it, call by a name that is not their own: globals and attributes."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names(constant)


def calls_ufuncs(f: Callable[..., Any]) -> bool:
    """Whether all that a formula calls, but for operators, are NumPy's ufuncs, and nothing else can change under it."""
    called = set(names(f.__code__))
    return not f.__closure__ and not called & f.__globals__.keys() and all(
        isinstance(getattr(np, name, None), np.ufunc) for name in called
    )


def drops_warnings() -> bool:
    """Whether the interpreter drops the warnings of NumPy in such a function."""
    with np.errstate(all="warn"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        muted(_zero_by_zero)(np.zeros(()))
    return not caught


def _zero_by_zero(zero: Any) -> Any:
    return zero / zero
