"""The values that code can reach besides its arguments, found without running it: here, and nowhere else.

Each of five questions has one answer:

- `reachable`, `held_in`: which tensors, arrays and numbers are in a value: in lists, dictionaries, objects, closures;
- `spots`: which places can be reached from values at all: variables of closures, defaults, the globals that code names,
  attributes, items, and so on from there;
- `slots`, `is_closed`: what an object holds beside its ``__dict__``, and whether there is more that cannot be seen;
- `named`: which places the code of one function names;
- `Reader`: which places the code of functions, and of the user's functions that they call, reads and sets.

Code of the libraries is not read, nor are their objects looked into; the limits below hold.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
import threading
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial, singledispatch
from types import CellType, CodeType, FunctionType, MappingProxyType, MethodType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from gradwright.base.cpython.bytecode import names
from gradwright.base.errors import home
from gradwright.base.source_line import is_own
from gradwright.engine.base import TensorBase
from gradwright.function.contract import containers

TENSORLESS = containers.TENSORLESS - {FunctionType}
"""The classes of most values from which nothing can be reached."""
LIBRARIES = sys.stdlib_module_names | {"gradwright", "nanobind", "numpy", "scipy", "torch"}
ABSENT: Any = object()
"""The content of an empty place."""
_OWN = ("gradwright", "builtins", "numpy", "logging")
_LISTS = (list, tuple, deque)
_EMPTY = CellType()
_OPEN = {object, list, dict, set, frozenset, tuple, deque, defaultdict, OrderedDict, MappingProxyType, SimpleNamespace,
         int, float, complex, str, bytes, np.ndarray, np.generic}  # fmt: skip
_OF_PYTHON = ("__dict__", "__weakref__")
_WORD = tuple.__itemsize__
_OF_HEAP, _MANAGED_WEAKREF, _MANAGED_DICT = 1 << 9, 1 << 3, 1 << 4
_PARTS = ("__func__", "__self__", "args", "func")

_DEPTH = 8
"""Lists in lists deeper than this are not looked into by `reachable`,"""
_OBJECTS = 100
"""nor more objects in one value than this."""
_MANY = 100
"""Longer lists and dictionaries are not looked into by `spots`,"""
_SPOTS = 10_000
"""nor more values than this."""
_FUNCTIONS = 50
"""Of more functions than this a `Reader` does not read the code."""


class Spot:
    """A place that code can read and write.

    Attributes:
        name: how it is called there: ``Cache.last``.
        scope: what it is in: a dictionary of globals or attributes, a cell of a closure, a class.
        key: its name in there.
    """

    __slots__ = ("key", "name", "scope")

    def __init__(self, name: str, scope: Any, key: Any) -> None:
        self.name, self.scope, self.key = name, scope, key

    def get(self) -> Any:
        """The content, or `ABSENT`."""
        scope = self.scope
        if isinstance(scope, CellType):
            return ABSENT if scope == _EMPTY else scope.cell_contents
        return (vars(scope) if isinstance(scope, type) else scope).get(self.key, ABSENT)

    def put(self, value: Any) -> None:
        """Put back what was there."""
        scope, key = self.scope, self.key
        if isinstance(scope, CellType):
            scope.cell_contents = value
        elif isinstance(scope, type):
            delattr(scope, key) if value is ABSENT else setattr(scope, key, value)
        elif value is ABSENT:
            del scope[key]
        else:
            scope[key] = value


def closure(function: FunctionType) -> Iterator[Spot]:
    """The variables of a function's closure."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield Spot(name, cell, name)


def reachable(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The tensors, arrays, and numbers of floating point in a value, with the names of their places.

    Of the user's objects, and what is in closures, the tensors and arrays alone.
    """
    return ((n, part) for n, part, _ in _parts(name, value, _DEPTH, set(), True, True))


def held_in(name: str, value: Any) -> Iterator[tuple[str, Any, bool]]:
    """The tensors and arrays in a value, and whether they are there to stay: not in an object, which may get others."""
    return _parts(name, value, _DEPTH, set(), False, True)


def _parts(name: str, value: Any, depth: int, seen: set[int], numbers: bool, sure: bool) -> Iterator[Any]:
    if isinstance(value, (TensorBase, np.ndarray)):
        yield name, value, sure
    elif isinstance(value, (float, complex, np.floating)):
        if numbers:
            yield name, value, sure
    elif depth and value.__class__ not in TENSORLESS:
        if isinstance(value, (set, frozenset)):
            value = sorted(value, key=_order)
        if isinstance(value, _LISTS):
            for k, v in enumerate(value):
                yield from _parts(f"{name}[{k}]", v, depth - 1, seen, numbers, sure)
        elif isinstance(value, dict):
            for key, v in list(value.items()):
                yield from _parts(f"{name}[{key!r}]", v, depth - 1, seen, numbers, sure)
        elif id(value) not in seen and len(seen) < _OBJECTS:
            seen.add(id(value))
            record = isinstance(value, SimpleNamespace) or dataclasses.is_dataclass(value)
            sure = sure and (record or isinstance(value, (FunctionType, partial)))
            for key, v in _held(value).items():
                yield from _parts(f"{name}.{key}", v, depth - 1, seen, numbers and record, sure)


def _order(value: Any) -> bytes:
    """A set has no order; this is one that it has again when it is made again."""
    array = getattr(value, "array", value)
    return array.tobytes() if isinstance(array, (np.ndarray, np.generic)) else b""


def _held(value: Any) -> dict[str, Any]:
    """The contents of a function's closure, or of an object."""
    if isinstance(value, FunctionType):
        return {spot.name: found for spot in closure(value) if (found := spot.get()) is not ABSENT}
    if isinstance(value, MethodType):
        return {"__self__": value.__self__, "__func__": value.__func__}
    if isinstance(value, partial):
        return {"func": value.func, "args": value.args, **value.keywords}
    if isinstance(value, (type, ModuleType)) or not is_users(type(value)):
        return {}
    return getattr(value, "__dict__", {}) | {name: getattr(value, name, None) for name in slots(type(value))}


def slots(cls: type) -> list[str]:
    """The names of what objects of a class have beside their ``__dict__``."""
    found = ["default_factory"] if issubclass(cls, defaultdict) else []
    return found + [name for owner in cls.__mro__ for name in _own_slots(owner)]


def _own_slots(cls: type) -> list[str]:
    named = vars(cls).get("__slots__", ())
    names = [name for name in ((named,) if isinstance(named, str) else named) if name not in _OF_PYTHON]
    private = f"_{cls.__name__.lstrip('_')}"  # as Python calls what is private to a class
    return [private + name if name.startswith("__") and not name.endswith("__") else name for name in names]


def is_closed(cls: type) -> bool:
    """Whether objects of a class have a state in compiled code, which is in no attribute."""
    while cls not in _OPEN:
        base = cls.__base__
        if base is None or not cls.__flags__ & _OF_HEAP:
            return True
        words = len(_own_slots(cls)) + ("__weakref__" in vars(cls) and not cls.__flags__ & _MANAGED_WEAKREF)
        words += "__dict__" in vars(cls) and not cls.__flags__ & _MANAGED_DICT
        if cls.__basicsize__ > base.__basicsize__ + words * _WORD:
            return True
        cls = base
    return False


def is_users(cls: type) -> bool:
    """Whether a class is the user's."""
    return home(cls) not in _OWN


def is_object(value: Any) -> bool:
    """Whether it is an object of a class of the user's."""
    if isinstance(value, (SimpleNamespace, partial, threading.local)):
        return True
    return _root(type(value)) not in LIBRARIES and not isinstance(value, (type, ModuleType))


def _root(value: Any) -> str:
    return (value.__module__ or "").partition(".")[0]


def spots(values: Sequence[tuple[str, Any]]) -> Iterator[Spot]:
    """The places that can be reached from these values, by name."""
    waiting = list(values)
    seen: set[int] = set()
    while waiting and len(seen) < _SPOTS:
        name, value = waiting.pop()
        if value.__class__ in TENSORLESS or isinstance(value, TensorBase) or id(value) in seen:
            continue
        seen.add(id(value))
        for spot in within(value, name):
            yield spot
            waiting.append((spot.name, spot.get()))


@singledispatch
def within(value: Any, name: str) -> Iterator[Spot]:
    """The places in a value of this name, one step down. What is of a kind of its own is registered for its class."""
    if is_object(value):
        own = vars(value) if hasattr(value, "__dict__") else _held(value)
        yield from (Spot(joined(name, key), own, key) for key in list(own))
        if callable(value):
            yield Spot(name, vars(written_in(value, "__call__")), "__call__")


@within.register
def _(value: FunctionType, name: str) -> Iterator[Spot]:
    yield from closure(value)
    defaults: dict[str, Any] = {str(k): part for k, part in enumerate(value.__defaults__ or ())}
    defaults |= value.__kwdefaults__ or {}
    yield from (Spot(name, defaults, key) for key in defaults)
    if not is_own(value.__code__.co_filename):
        yield from _globals(value)


@within.register(list)
@within.register(tuple)
@within.register(deque)
def _(value: Any, name: str) -> Iterator[Spot]:
    if len(value) <= _MANY:
        items = dict(enumerate(value))
        yield from (Spot(f"{name}[{k}]", items, k) for k in items)


@within.register
def _(value: dict, name: str) -> Iterator[Spot]:
    if len(value) <= _MANY:
        yield from (Spot(f"{name}[{key!r}]", value, key) for key in list(value))


@within.register(MethodType)
@within.register(partial)
def _(value: Any, name: str) -> Iterator[Spot]:
    parts = _held(value)
    yield from (Spot(name if key in _PARTS else key, parts, key) for key in parts)


def written_in(value: Any, name: str) -> type:
    """The class in which a method of ``value`` is written."""
    return next(cls for cls in type(value).__mro__ if name in vars(cls))


def joined(path: str, name: Any) -> str:
    """The name of an attribute of ``path``."""
    return f"{path}.{name}" if path else str(name)


def _globals(function: FunctionType) -> Iterator[Spot]:
    scope, named = function.__globals__, names_in(function.__code__)
    for name in named & scope.keys():
        value = scope[name]
        if not isinstance(value, ModuleType):
            yield Spot(name, scope, name)
        elif value.__name__.partition(".")[0] not in LIBRARIES:
            yield from (Spot(f"{name}.{key}", vars(value), key) for key in named & vars(value).keys())


def named(function: Any) -> Iterator[Spot]:
    """The values a function's code names: variables of its closure, globals, attributes of both, but of libraries."""
    function = inspect.unwrap(function) if callable(function) else None
    if not isinstance(function, FunctionType):
        return
    attributes: set[str] = set()
    scope, names_of_globals = function.__globals__, dict.fromkeys(names(function.__code__, attributes, attributes))
    found = [*closure(function), *(Spot(name, scope, name) for name in names_of_globals if name in scope)]
    yield from found
    for spot in found:
        value = spot.get()
        if not (isinstance(value, ModuleType) and value.__name__.partition(".")[0] in LIBRARIES):
            held = getattr(value, "__dict__", {})
            own = value if isinstance(value, type) else held
            yield from (Spot(f"{spot.name}.{key}", own, key) for key in sorted(attributes & held.keys()))


@lru_cache(maxsize=1000)
def names_in(code: CodeType) -> frozenset[str]:
    """The names in code, of globals and of attributes."""
    inner = [names_in(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return frozenset(code.co_names).union(*inner)


class Reader:
    """The values that the code of functions, and of the user's functions that they call, names.

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
            for spot in closure(fn):
                if not own or isinstance(spot.get(), FunctionType):  # one of our decorators is around it
                    self._meet(spot)

    def values(self) -> list[Any]:
        """All that it names, and what is in objects of the user's among that."""
        objects = [v for v in self._met if is_object(v)]
        return self._met + [v for o in objects for v in getattr(o, "__dict__", {}).values()]

    def every(self) -> list[Spot]:
        """The spots that it names, whatever is there, but functions, classes and modules."""
        return list(self._spots.values())

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
