"""Where a Function may leave things for its backward other than on ctx: classes, globals, closures.

The code of forward and backward names such places, and so does that of the user's functions that it calls. It is read
once, when the Function is first recorded; most name none, and then nothing more is done.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from functools import partial
from itertools import islice
from types import CellType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from gradwright.contract.contents import is_users, reachable
from gradwright.engine.base import TensorBase
from gradwright.engine.memory import unwritten, write
from gradwright.engine.node import UNSHARED
from gradwright.engine.source_line import is_own
from gradwright.engine.version import bump
from gradwright.engine.watch import Watch
from gradwright.guards.random_sources import streams
from gradwright.interpreter.bytecode import names
from gradwright.interpreter.references import count

_FUNCTIONS = 50
"""Of more functions than this the code is not read."""
_NEWEST = 100
"""Of what is in a long list or dictionary, only so much is looked at."""
_LISTS = (list, tuple, deque)
_ABSENT: Any = object()
_EMPTY = CellType()


class Spot:
    """A place that code can read and write.

    Attributes:
        name: how it is called there: ``Cache.last``.
        scope: what it is in: a dictionary of globals or attributes, a cell of a closure, a class.
        key: its name in there.
    """

    __slots__ = ("key", "name", "scope")

    def __init__(self, name: str, scope: Any, key: str) -> None:
        self.name, self.scope, self.key = name, scope, key

    def get(self) -> Any:
        """What is there."""
        scope = self.scope
        if isinstance(scope, CellType):
            return _ABSENT if scope == _EMPTY else scope.cell_contents
        return (vars(scope) if isinstance(scope, type) else scope).get(self.key, _ABSENT)

    def put(self, value: Any) -> None:
        """Put back what was there."""
        scope, key = self.scope, self.key
        if isinstance(scope, CellType):
            scope.cell_contents = value
        elif isinstance(scope, type):
            delattr(scope, key) if value is _ABSENT else setattr(scope, key, value)
        elif value is _ABSENT:
            del scope[key]
        else:
            scope[key] = value


UNREAD: Any = object()
"""What stands for the `NamedSpots` of a Function whose code has not been read yet."""


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
        loaded, stored: the names of attributes that forward reads and sets, of whatever.
        streams: the random numbers that forward may draw, other than gradwright's.
    """

    def __init__(self, cls: Any) -> None:
        user = getattr(cls, "_user", cls)
        forward = _Reader([user.forward, user.setup_context])
        self.loaded, self.stored = forward.loaded, forward.stored
        self.streams = streams(forward.values(), forward.loaded)
        self.written = forward.spots(forward.stored)
        backward = _Reader([user.backward, user.vjp])
        self.read = backward.spots(forward.stored | backward.stored) if self.written else []

    def look(self) -> dict[int, tuple[str, Any, int]]:
        """The tensors, arrays and numbers that backward would find: by id, with their names and versions."""
        found = {}
        for spot in self.read:
            for name, part in reachable(spot.name, _newest(spot.get())):
                found[id(part)] = name, part, int(part._counter[0]) if isinstance(part, TensorBase) else 0
        return found


def _newest(value: Any) -> Any:
    if isinstance(value, _LISTS) and len(value) > _NEWEST:
        return [value[-k] for k in range(1, _NEWEST + 1)]
    if isinstance(value, dict) and len(value) > _NEWEST:
        return [value[key] for key in islice(reversed(value), _NEWEST)]
    return value


class Unchanged(Watch):
    """Keeps what is outside of ctx as it is: what running forward again does there is undone afterwards.

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


class _Reader:
    """What the code of functions, and of the user's functions that they call, names.

    Attributes:
        loaded: the names that it reads.
        stored: the names of variables and attributes that it sets.
    """

    def __init__(self, functions: list[Any]) -> None:
        self.loaded: set[str] = set()
        self.stored: set[str] = set()
        self._spots: dict[tuple[int, str], Spot] = {}
        self._scopes: dict[int, tuple[str, Any]] = {}
        self._seen: set[int] = set()
        self._met: list[Any] = []
        self._unread = functions
        before = -1
        while before != (before := len(self._seen) + len(self._scopes)):
            self._read()
            for name, scope in list(self._scopes.values()):
                for key in self.loaded:
                    owner = _owner(scope, key)
                    if owner is not None:
                        self._meet(Spot(f"{name}.{key}", owner, key))

    def _read(self) -> None:
        while self._unread:
            fn = self._unread.pop()
            fn = getattr(fn, "__func__", fn)
            if not isinstance(fn, FunctionType) or id(fn) in self._seen or len(self._seen) >= _FUNCTIONS:
                continue
            self._seen.add(id(fn))
            own = is_own(fn.__code__.co_filename)
            if not own and _root(fn) in LIBRARIES:
                continue
            if not own:
                for name in names(fn.__code__, self.loaded, self.stored):
                    self._meet(Spot(name, fn.__globals__, name))
            for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
                spot = Spot(name, cell, name)
                if not own or isinstance(spot.get(), FunctionType):  # one of our decorators is around it
                    self._meet(spot)

    def values(self) -> list[Any]:
        """All that it names, and what is in objects of the user's among that."""
        objects = [v for v in self._met if is_object(v)]
        return self._met + [v for o in objects for v in getattr(o, "__dict__", {}).values()]

    def _meet(self, spot: Spot) -> None:
        value = spot.get()
        self._met.append(value)
        if isinstance(value, (FunctionType, staticmethod, classmethod)):
            self._unread.append(value)
        elif isinstance(value, ModuleType):
            if value.__name__.partition(".")[0] not in LIBRARIES:
                self._scopes[id(value)] = spot.name, vars(value)
        elif isinstance(value, type):
            self._scopes[id(value)] = spot.name, value
        else:
            self._spots[id(spot.scope), spot.key] = spot

    def spots(self, stored: set[str]) -> list[Spot]:
        """The spots that may hold tensors, now or when they are set under one of the names ``stored``."""
        scopes = [(name, scope, key) for name, scope in self._scopes.values() for key in self.loaded & stored]
        new = [Spot(f"{name}.{key}", scope, key) for name, scope, key in scopes if _owner(scope, key) is None]
        return [spot for spot in self._spots.values() if spot.key in stored or _may_hold(spot.get())] + new


LIBRARIES = sys.stdlib_module_names | {"gradwright", "nanobind", "numpy", "scipy", "torch"}


def _root(value: Any) -> str:
    return (value.__module__ or "").partition(".")[0]


def _owner(scope: Any, key: str) -> Any:
    """The dictionary or class in which an attribute of a module or a class is; None if there is none."""
    if isinstance(scope, dict):
        return scope if key in scope else None
    return next((c for c in scope.__mro__ if is_users(c) and key in vars(c)), None)


def _may_hold(value: Any) -> bool:
    """Whether a value is a tensor, or something that tensors may be in, now or later."""
    if value is None or isinstance(value, (TensorBase, np.ndarray, list, dict, set, deque)):
        return True
    if isinstance(value, (tuple, frozenset)):
        return any(reachable("", value))
    return is_object(value)


def is_object(value: Any) -> bool:
    """Whether it is an object of a class of the user's."""
    if isinstance(value, (SimpleNamespace, partial, threading.local)):
        return True
    return _root(type(value)) not in LIBRARIES and not isinstance(value, (type, ModuleType))
