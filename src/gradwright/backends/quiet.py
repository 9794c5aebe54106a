"""Floating-point errors inside operations: inf and nan, as IEEE says and PyTorch does, without NumPy's warnings.

NumPy keeps what to do about overflow, division by zero and invalid values in a context variable. Setting that variable
is what `numpy.errstate` does; done directly it costs a tenth of the time. The user's own NumPy code keeps the user's
setting, a backward written by hand included.

A tenth is still a fifth of a small operation. So there is a warning filter, too, for what gradwright's own modules call
directly; and while no filter before it says otherwise, nothing need be set.
"""

from __future__ import annotations

import itertools
import threading
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
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


warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"gradwright\.")
_FILTER = warnings.filters[0]


class _Filtered:
    """Whether that filter is in force: it is while ``warnings.filters`` has this first entry and this length."""

    first: Any = _FILTER
    length = len(warnings.filters)
    _refused: tuple[Any, int] = (None, 0)
    _held = 0
    _lock = threading.Lock()

    def hold(self, more: int) -> None:
        """While held (1 more, or -1), the filter does not count, so that every operation is run by a slower way."""
        with self._lock:
            self._held += more
            self.first = self._refused = (None, 0)

    def look(self) -> None:
        """Look at filters that have changed."""
        if self._held:
            return
        filters = warnings.filters
        seen = (filters[0] if filters else None, len(filters))
        if seen[0] is self._refused[0] and seen[1] == self._refused[1]:
            return
        ahead = list(itertools.takewhile(lambda f: f is not _FILTER, filters))
        if len(ahead) == len(filters) or any(map(_speaks, ahead)):
            self._refused = seen
        else:
            self.first, self.length = seen


def _speaks(entry: Any) -> bool:
    """Whether a filter lets warnings of gradwright's modules through."""
    action, _, category, module, _ = entry
    ours = module is None or getattr(module, "match", lambda name: name == module)("gradwright.ops") is not None
    return action != "ignore" and issubclass(RuntimeWarning, category) and ours


filtered = _Filtered()

silence: Callable[[], Any] = partial(_set, _SILENT)
"""Turn NumPy's warnings off until ``restore`` is called with what this returns."""


def quietly(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What ``f`` returns, without NumPy's warnings."""
    filtered.look()
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
