"""Floating-point errors inside operations: inf and nan, as IEEE says and PyTorch does, without NumPy's warnings.

NumPy keeps what to do about overflow, division by zero and invalid values in a context variable. Setting that variable
is what `numpy.errstate` does; done directly it costs a tenth of the time. The user's own NumPy code keeps the user's
setting, a backward written by hand included.

A tenth is still a fifth of a small operation. A formula that calls NumPy's ufuncs directly needs no setting at all: it
runs as if its module had no name (`unheard`), and the interpreter drops the warnings of such a module.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

_SILENT: Any
_get: Callable[[], Any]
_set: Callable[[Any], Any]
restore: Callable[[Any], Any]
try:
    from numpy._core.umath import _extobj_contextvar as _setting
    from numpy._core.umath import _make_extobj

    _get, _set, restore = _setting.get, _setting.set, _setting.reset
    _SILENT = _make_extobj(all="ignore")
except ImportError:  # not public: another NumPy may lack them
    _SILENT = {"all": "ignore"}
    _get, _set, restore = np.geterr, (lambda setting: np.seterr(**setting)), (lambda before: np.seterr(**before))

_users: ContextVar[Any] = ContextVar("the user's setting, while a backward pass runs")


_unnamed: dict[int, dict[str, Any]] = {}


def unheard(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f``, such that what it and gradwright's functions under it call directly gives no warnings.

    The interpreter drops those of a module whose name is None: it runs in a copy of its module that has none.
    """
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


silence: Callable[[], Any] = partial(_set, _SILENT)
"""Turn NumPy's warnings off until ``restore`` is called with what this returns."""


def quietly(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What ``f`` returns, without NumPy's warnings."""
    before = silence()
    try:
        return f(*args, **kwargs)
    finally:
        restore(before)


def pass_begins() -> Any:
    """`silence` for a backward pass, which may call the user's code; returns what `pass_ends` takes."""
    return _users.set(_get()), _set(_SILENT)


def pass_ends(tokens: Any) -> None:
    """Undo `pass_begins`."""
    restore(tokens[1])
    _users.reset(tokens[0])


def users_own() -> Any:
    """The user's own setting again, until ``restore`` is called with what this returns."""
    return _set(_users.get(_get()))
