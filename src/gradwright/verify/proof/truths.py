"""Truth values that balls leave open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from gradwright.base.errors import NotProvedError

_open: ContextVar[list[str] | None] = ContextVar("conditions left open", default=None)


@contextmanager
def conditions() -> Iterator[list[str]]:
    """The conditions that balls leave open, and `where` takes both sides of, meanwhile."""
    found: list[str] = []
    token = _open.set(found)
    try:
        yield found
    finally:
        _open.reset(token)


def left_open(why: str) -> None:
    """Note a condition of which both sides were taken."""
    found = _open.get()
    if found is not None and why not in found:
        found.append(why)


class Truths:
    """Truth values of which some are open: ``state`` is 1 where true, 0 where false, 1/2 where that is not known."""

    __slots__ = ("__weakref__", "state", "why")
    __array_ufunc__ = None
    dtype = np.dtype(bool)
    device = "cpu"

    def __init__(self, state: Any, why: str) -> None:
        self.state, self.why = np.asarray(state, float), why

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        return self.state.shape

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return self.state.ndim

    @property
    def size(self) -> int:
        """How many entries it has."""
        return self.state.size

    def moved(self, f: Callable[[Any], Any]) -> Any:
        """The same entries elsewhere."""
        return settled(f(self.state), self.why)

    def __getitem__(self, key: Any) -> Any:
        return self.moved(lambda a: a[key])

    def _refused(self, *args: Any, **kwargs: Any) -> Any:
        raise NotProvedError(f"not proved: a decision on {self.why}, which the balls leave open: take points away "
                             "from it, smaller boxes, or write it with where()")

    __array__ = __bool__ = __int__ = __index__ = __float__ = item = tolist = _refused

    def __invert__(self) -> Any:
        return settled(1.0 - self.state, self.why)

    def __and__(self, other: Any) -> Any:
        return _joined(self, other, np.minimum)

    def __or__(self, other: Any) -> Any:
        return _joined(self, other, np.maximum)

    def __xor__(self, other: Any) -> Any:
        return (self & ~_truths(other)) | (~self & _truths(other))

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __repr__(self) -> str:
        return f"Truths({self.state.tolist()}, open: {self.why})"


def settled(state: Any, why: str) -> Any:
    """Truth values: NumPy's if all are certain."""
    state = np.asarray(state, float)
    return Truths(state, why) if (state == 0.5).any() else state == 1.0


def _truths(value: Any) -> Any:
    return value if isinstance(value, Truths) else np.asarray(value, bool)


def _joined(x: Truths, y: Any, join: Callable[[Any, Any], Any]) -> Any:
    y = _truths(y)
    return settled(join(x.state, y.state if isinstance(y, Truths) else y.astype(float)), x.why)
