"""The places besides ctx where a Function may leave things for its backward: classes, globals, closures.

The code of forward and backward names such places, and so does that of the user's functions that it calls. It is read
once, when the Function is first recorded; most name none, and then nothing more is done.
"""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import Any

from gradwright.base.cpython.references import count
from gradwright.engine.base import TensorBase
from gradwright.engine.memory import unwritten, write
from gradwright.engine.node import UNSHARED
from gradwright.engine.version import bump
from gradwright.engine.watch import Watch
from gradwright.function.contract.reached import Reader, Spot, is_object, reachable
from gradwright.function.watched.random_sources import streams

_NEWEST = 100
"""No more entries than this of a list or dictionary are looked at."""
UNREAD: Any = object()
"""The stand-in for the `NamedSpots` of a Function whose code has not been read yet."""


def of(cls: Any) -> NamedSpots:
    """The `NamedSpots` of a Function, read once; with none that backward reads its ``_outer`` is None from then on."""
    if "_places" not in cls.__dict__:
        cls._places = NamedSpots(cls)
        if not (cls._places.read or cls._places.streams):
            cls._outer = None
    return cls._places


def enter(inside: Any) -> None:
    """Forward is about to run: note what its backward would find now, and what random numbers forward would draw."""
    places = of(inside.function)
    if places.read:
        inside.found = places.look()
    for stream in places.streams:
        inside.drawing(stream)


class NamedSpots:
    """The spots that the code of a Function names.

    Attributes:
        read: those that backward may read.
        written: those that forward may write.
        stored: the names of attributes that forward sets, of whatever.
        marks: whether forward may mark inputs dirty, as it reads that name.
        streams: the random numbers that forward may draw, other than gradwright's.
    """

    def __init__(self, cls: Any) -> None:
        user = getattr(cls, "_user", cls)
        forward = Reader([user.forward, user.setup_context])
        self.marks, self.stored = "mark_dirty" in forward.loaded, forward.stored
        self.streams = streams(forward.values(), forward.loaded)
        self.written = forward.spots(forward.stored)
        backward = Reader([user.backward, user.vjp])
        self.read = backward.spots(forward.stored | backward.stored) if self.written else []

    def look(self) -> dict[int, tuple[str, Any, int]]:
        """The tensors, arrays and numbers that backward would find: by id, with their names and versions."""
        found = {}
        for spot in self.read:
            for name, part in reachable(spot.name, _newest(spot.get())):
                found[id(part)] = name, part, int(part._counter[0]) if isinstance(part, TensorBase) else 0
        return found


def _newest(value: Any) -> Any:
    if isinstance(value, (list, tuple, deque)) and len(value) > _NEWEST:
        return [value[-k] for k in range(1, _NEWEST + 1)]
    if isinstance(value, dict) and len(value) > _NEWEST:
        return [value[key] for key in islice(reversed(value), _NEWEST)]
    return value


class Unchanged(Watch):
    """Keeps values outside of ctx as they are: changes made by running forward again are undone afterwards.

    That holds for what is bound anew (``Cache.last = y``, ``global count``), and for tensors written in place, unless a
    graph needs their new values. What is put into a list or dictionary, or taken out, is left as it is.
    """

    def __init__(self, named: NamedSpots) -> None:
        self.spots = [*named.read, *named.written]
        for spot in [*self.spots]:
            value = spot.get()
            if is_object(value) and hasattr(value, "__dict__"):
                self.spots += [Spot(f"{spot.name}.{key}", vars(value), key) for key in named.stored & {*vars(value)}]
        self.before = [spot.get() for spot in self.spots]
        self.after: list[Any] = []
        parts = [part for value in self.before for _, part in reachable("", _newest(value))]
        self.tensors = {id(t._counter): t for t in parts if isinstance(t, TensorBase)}
        self.copies: dict[int, tuple[Any, Any, Any, int]] = {}

    def writing(self, t: Any) -> None:
        which = id(t._counter)
        if which in self.tensors and which not in self.copies:
            t = self.tensors[which]
            self.copies[which] = t, t._node, unwritten(t.array), int(t._counter[0])

    def ran(self) -> None:
        """Forward has run again: note what it has left, which backward may read."""
        self.after = [spot.get() for spot in self.spots]

    def restore(self) -> None:
        """Put back what was there."""
        for spot, before, after in zip(self.spots, self.before, self.after, strict=True):
            if after is not before and spot.get() is after:
                spot.put(before)
        for t, node, array, _ in self.copies.values():
            t._node = node
            if count(t._counter) <= UNSHARED:
                write(t, array)
                bump(t._counter)
