"""Floating-point errors inside operations: inf and nan, as IEEE says and PyTorch does, without NumPy's warnings.

NumPy keeps what to do about overflow, division by zero and invalid values in a context variable. Setting that variable
is what `numpy.errstate` does; done directly it costs a tenth of the time. The user's own NumPy code keeps the user's
setting, a backward written by hand included.

A tenth is still a fifth of a small operation. A formula that calls NumPy's ufuncs directly needs no setting at all: see
`muted`, and `gradwright.base.cpython.unnamed` for how.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context, ContextVar
from functools import partial, wraps
from typing import Any

import numpy as np

from gradwright.base.cpython import unnamed
from gradwright.base.cpython.deep import deepened
from gradwright.native import core

_users: ContextVar[Any] = ContextVar("the user's setting, while a backward pass runs", default=None)
_SILENT: Any
_get: Callable[[], Any]
_set: Callable[[Any], Any]
try:
    from numpy._core.umath import _extobj_contextvar as _setting
    from numpy._core.umath import _make_extobj

    _get, _set = _setting.get, _setting.set
    _SILENT = _make_extobj(all="ignore")
    if core is not None:
        core.settings(_setting, Context().run(_get), _SILENT, _users)
except ImportError:  # not public: another NumPy may lack them
    _SILENT = {"all": "ignore"}
    _get, _set = np.geterr, (lambda setting: np.seterr(**setting))

_waiting: ContextVar[tuple[Any, ...]] = ContextVar("what is called after backward passes that run", default=())


def _under(setting: Any, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    before = _get()
    try:
        _set(setting)
        return f(*args, **kwargs)
    finally:
        _set(before)


quietly: Callable[..., Any] = partial(_under, _SILENT)
"""``quietly(f, *args, **kwargs)``: what ``f`` returns, without NumPy's warnings."""


def during_pass(f: Callable[..., Any], *args: Any) -> Any:
    """`quietly` for a backward pass, in which code of the user's may be called `as_user`."""
    before, users, waiting = _get(), _users.get(), _waiting.get()
    if users is not None:  # in another, which is rare
        f = partial(deepened, f)
    try:
        _users.set(before)
        _set(_SILENT)
        result = f(*args)
        while _waiting.get() is not waiting:
            now, *later = _waiting.get()[len(waiting) :]
            _waiting.set((*waiting, *later) if later else waiting)
            as_user(now)
        return result
    finally:
        try:
            _set(before)  # the first call here, as an interrupt may come after each
        finally:
            try:
                _users.set(users)
            finally:
                _waiting.set(waiting)


def after_pass(callback: Callable[[], Any]) -> None:
    """Call ``callback()`` when the innermost backward pass that runs has come to its end."""
    _waiting.set((*_waiting.get(), callback))


def in_pass() -> bool:
    """Whether a backward pass runs."""
    return _users.get() is not None


def as_user(f: Callable[..., Any], *args: Any) -> Any:
    """What ``f`` returns under the user's own setting."""
    before, own = _get(), _users.get()
    try:
        _set(before if own is None else own)
        return f(*args)
    finally:
        _set(before)


def muted(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f``, such that what it and gradwright's functions under it call directly gives no warnings."""
    return unnamed.muted(f) if _DROPS else wraps(f)(partial(quietly, f))


_DROPS = unnamed.drops_warnings()
