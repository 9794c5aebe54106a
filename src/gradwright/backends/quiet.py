"""Floating-point errors inside operations: inf and nan, as IEEE says and PyTorch does, without NumPy's warnings.

NumPy keeps what to do about overflow, division by zero and invalid values in a context variable. Setting that variable
is what `numpy.errstate` does; done directly it costs a tenth of the time. The user's own NumPy code keeps the user's
setting, a backward written by hand included.

A tenth is still a fifth of a small operation. A formula that calls NumPy's ufuncs directly needs no setting at all: see
`unheard`, and `gradwright.interpreter.unnamed` for how.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import partial, wraps
from typing import Any

import numpy as np

from gradwright.interpreter import unnamed

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


silence: Callable[[], Any] = partial(_set, _SILENT)
"""Turn NumPy's warnings off until ``restore`` is called with what this returns."""


def quietly(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
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


def in_pass() -> bool:
    """Whether a backward pass runs."""
    return _users.get(None) is not None


def users_own() -> Any:
    """The user's own setting again, until ``restore`` is called with what this returns."""
    return _set(_users.get(_get()))


def unheard(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f``, such that what it and gradwright's functions under it call directly gives no warnings."""
    return unnamed.unheard(f) if _DROPS else wraps(f)(partial(quietly, f))


_DROPS = unnamed.drops_warnings()
