"""Functions that give no warnings: run as if their module had no name, since the interpreter drops those of such a one.

A formula that calls NumPy's ufuncs directly needs no setting of NumPy's error handling then, which costs a fifth of a
small operation (see `gradwright.backends.quiet`). Where the interpreter does not drop them, that setting is made.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

_unnamed: dict[int, dict[str, Any]] = {}


def unheard(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f`` in a copy of its module that has no name, and so gradwright's functions under it that it calls."""
    scope = f.__globals__
    unnamed = _unnamed.get(id(scope))
    if unnamed is None:
        unnamed = _unnamed[id(scope)] = {**scope, "__name__": None}
        for name, value in scope.items():
            if type(value) is FunctionType and value.__module__.startswith("gradwright."):
                unnamed[name] = unheard(value)
    silent = FunctionType(f.__code__, unnamed, f.__name__, f.__defaults__, f.__closure__)
    silent.__kwdefaults__ = f.__kwdefaults__
    return silent


def drops_warnings() -> bool:
    """Whether the interpreter drops the warnings of NumPy in such a function."""
    with np.errstate(all="warn"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        unheard(_zero_by_zero)(np.zeros(()))
    return not caught


def _zero_by_zero(zero: Any) -> Any:
    return zero / zero
