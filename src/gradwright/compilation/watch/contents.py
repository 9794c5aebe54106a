"""All that can be reached from a value: the containers in it, or everything, one `Guard` for each part.

What nobody watches, the libraries' code and C, may read all that can be reached from what it is given. So all of that
is compared before each call; what cannot be compared is not read, and an `UnreadError` says why.
"""

from __future__ import annotations

import weakref
from collections import deque
from contextvars import ContextVar
from enum import Enum
from functools import lru_cache, partial
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType, MethodWrapperType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwright.compilation.watch import guards
from gradwright.compilation.watch.guards import CONTENT, GOT, MISSING, UNSET_CELL, Source, is_atom, weakly
from gradwright.compilation.watch.libraries import OBSERVED, caches_of, is_handle, is_library, whose
from gradwright.engine.base import TensorBase
from gradwright.function.contract.reached import ABSENT, is_closed, slots

if TYPE_CHECKING:
    from gradwright.compilation.watch.reads import Reads

LIMIT = 20_000
"""Containers with more elements than this, all told, are not read,"""
BYTES_LIMIT = 1 << 22
"""nor arrays in objects with more bytes than this."""
_WAYS = ("__iter__", "__len__", "__getitem__", "__contains__", "__bool__", "keys", "values", "items", "get", "__eq__")
_VIEWS: Any = (type({}.keys()), type({}.values()), type({}.items()))
_CONTAINERS = (list, dict, tuple, deque, set, frozenset)
_MANY = "has too many elements to compare at every call. Keep it in a tensor."


class UnreadError(Exception):
    """Something cannot be read; the text says why, and begins with what is wrong of it."""


@lru_cache(maxsize=1024)
def _own_ways(kind: Any, ways: tuple[str, ...]) -> bool:
    return any(isinstance(found, FunctionType) and not is_library(owner)
               for found, owner in (lookup(kind, name) for name in ways))  # fmt: skip


def has_own_ways(value: Any, *ways: str) -> bool:
    """Whether the class of a container says itself how it is read, in Python, or how it is in one of these ways."""
    kind: Any = type(value)
    return _own_ways(kind, ways or _WAYS)


def lookup(kind: type, name: str) -> tuple[Any, Any]:
    """What a class or those above it have under a name, and which."""
    for owner in kind.__mro__:
        held = owner.__dict__
        if name in held:
            return held[name], owner
    return MISSING, None


def held(value: Any) -> Any:
    """The items of a dictionary, past what its class makes of it."""
    return value if type(value) is dict else dict(dict.items(value) if isinstance(value, dict) else value)


def is_iterator(value: Any) -> bool:
    """Whether going over it uses it up."""
    return hasattr(type(value), "__next__")


def is_view(value: Any) -> bool:
    """Whether it shows what is in a dictionary."""
    return isinstance(value, _VIEWS)


class Contents:
    """One look at all that is in a value.

    Attributes:
        whole: whether objects are looked into, too; else containers alone.
        ours: whether gradwright's code reads it.
        iterators: those in there, which going over it would use up.
    """

    def __init__(self, reads: Reads, whole: bool, ours: bool) -> None:
        self.reads, self.whole, self.ours = reads, whole, ours
        self.left, self.bytes = LIMIT, BYTES_LIMIT
        self.iterators: list[Any] = []

    def read(self, value: Any) -> list[Any]:
        """Read all of it; returns the iterators in there. Raises `UnreadError`."""
        todo, done = [value], dict[int, Any]()
        while todo:
            one = todo.pop()
            if is_view(one):
                with self.reads.in_passing(False):
                    todo += self.parts(self.of_view(one))
            elif id(one) not in done:
                done[id(one)] = one
                todo += self.parts(one)
                if self.left < 0:
                    raise UnreadError(_MANY)
        return self.iterators

    def parts(self, one: Any) -> Any:
        """The contents of one value, which are guarded if it is from outside."""
        reads = self.reads
        if is_atom(one) and not (self.whole and isinstance(one, Enum)):
            return ()
        if isinstance(one, TensorBase):
            reads.meet(one)
            return self.of_tensor(one, vars(one)) if self.whole and not self.ours and vars(one) else ()
        if isinstance(one, _CONTAINERS) and has_own_ways(one) and reads.is_read(one):
            raise UnreadError(f"has, or is, a {type(one).__name__}, which is read in its own way: it cannot be "
                              "compared. Keep what the step needs in a list or a dictionary.")  # fmt: skip
        found: list[Any] = []
        if isinstance(one, (dict, MappingProxyType)):
            found = self.values(one)
        elif isinstance(one, (list, tuple, deque)):
            found = self.elements(one)
        elif isinstance(one, (set, frozenset)):
            found = self.members(one)
        elif is_iterator(one):
            if reads.is_outside(one):
                self.iterators.append(one)
            return ()
        return found + self.inside(one) if self.whole else found

    # -- containers --

    def of_view(self, one: Any) -> Any:
        """The dictionary behind a view, which is from outside if that is."""
        reads, held = self.reads, guards.shown(one)
        if reads.is_outside(one):
            known = reads.known(one)
            reads.register(held, reads.step(known.source, guards.SHOWN), known.name)
        return held

    def values(self, one: Any) -> list[Any]:
        """The values of a dictionary."""
        reads = self.reads
        self.left -= len(one)
        if self.left < 0:
            return []
        if reads.is_read(one):
            reads.ask(one, guards.KEYS, tuple(weakly(key) for key in held(one)))
            for key in list(held(one)):
                if isinstance(key, TensorBase):
                    reads.meet(key)
                reads.item(one, key)
        return list(held(one).values())

    def elements(self, one: Any) -> list[Any]:
        """The elements of a list, a tuple or a deque."""
        reads = self.reads
        self.left -= len(one)
        if self.left < 0:
            return []
        if reads.is_read(one):
            reads.ask(one, guards.LENGTH, len(one))
            for k in range(len(one)):
                reads.item(one, k)
        return list(one)

    def members(self, one: Any) -> list[Any]:
        """The elements of a set."""
        reads = self.reads
        if reads.is_read(one):
            self.left -= len(one)
            if all(map(is_atom, one)):
                reads.ask(one, guards.ELEMENTS, frozenset(one))
            elif self.left >= 0:
                reads.ask(one, guards.KEYS, tuple(weakly(key) for key in one))
                for key in one:
                    reads.register(key, Source.of(key), f"an element of {reads.known(one).name}")
        return list(one) if self.whole else []

    # -- objects --

    def inside(self, one: Any) -> list[Any]:
        """The contents of an object."""
        if isinstance(one, FunctionType):
            return [] if whose(one.__code__) == OBSERVED else self.function(one)
        if isinstance(one, MethodType):
            seen = isinstance(one.__func__, FunctionType) and whose(one.__func__.__code__) == OBSERVED
            return [] if seen else [one.__func__, one.__self__]
        if isinstance(one, type):
            return [] if self.ours else self.of_class(one)
        if isinstance(one, partial):
            return [one.func, one.args, one.keywords]
        if isinstance(one, weakref.ref):
            return [one()] if type(one) is weakref.ref and one() is not None else []
        if isinstance(one, ContextVar):
            value = one.get(None)
            return [self.noted(one, GOT, value, f"{one.name}.get()")]
        if isinstance(one, (BuiltinFunctionType, MethodWrapperType)):
            return [] if isinstance(one.__self__, ModuleType) else [one.__self__]
        if is_handle(one, self.ours):
            return []
        outside = self.reads.is_outside(one)
        if outside and is_closed(type(one)):
            raise UnreadError(f"has, or is, a {type(one).__name__}, whose state is in compiled code: it cannot be "
                              "compared. Make it in the step, or keep what the step needs of it in a "
                              "tensor.")  # fmt: skip
        found = self.array(one) if isinstance(one, np.ndarray) else []
        for name in slots(type(one)):
            found += self.slot(one, name, outside)
        own = getattr(one, "__dict__", None)
        if isinstance(own, dict):
            found += self.attributes(one, own, outside)
        return found + self.of_class(type(one))

    def of_tensor(self, one: Any, held: dict[str, Any]) -> list[Any]:
        """The attributes that the user has given a tensor, which are copied with it."""
        for name in held:
            self.reads.attribute(one, name)
        return list(held.values())

    def noted(self, one: Any, way: guards.Way, value: Any, name: str) -> Any:
        """Note what is found by a way that has no key."""
        reads = self.reads
        if reads.is_outside(one):
            reads.note(reads.step(reads.known(one).source, way), value, name, type(one).__name__)
        return value

    def array(self, one: Any) -> list[Any]:
        """An array, or the one that it shows."""
        reads, shown = self.reads, one
        while id(shown) not in reads.outside and isinstance(shown.base, np.ndarray):
            shown = shown.base
        if id(shown) in reads.outside and id(shown) not in reads.given:
            self.bytes -= shown.nbytes
            if self.bytes < 0:
                raise UnreadError("holds more bytes in arrays than are compared at every call. Keep it in a tensor.")
            reads.ask(shown, guards.ARRAY, guards.copied(shown))
        return list(one.flat) if one.dtype.hasobject else []

    def slot(self, one: Any, name: str, outside: bool) -> list[Any]:
        """The content of a slot of an object."""
        reads = self.reads
        value = getattr(one, name, ABSENT)
        self.left -= 1
        if outside and value is ABSENT:
            reads.ask(one, guards.NO_ATTRIBUTE, name)
        elif outside:
            reads.note_attribute(one, name, value)
        return [] if value is ABSENT else [value]

    def attributes(self, one: Any, held: dict[str, Any], outside: bool) -> list[Any]:
        """The attributes of an object, but those in which its class keeps what it has computed."""
        kind: Any = type(one)
        reads, caches = self.reads, caches_of(kind)
        if not caches:
            if outside:
                reads.namespace(one)
            return self.values(held)
        names = [name for name in held if name not in caches]
        self.left -= len(names)
        if outside:
            for name in names:
                reads.note_variable(one, name, held[name])
        return [held[name] for name in names]

    def function(self, one: FunctionType) -> list[Any]:
        """What a function of a library shares with its maker."""
        reads, found = self.reads, list[Any]()
        for cell in one.__closure__ or ():
            if cell != UNSET_CELL:
                value = cell.cell_contents
                if reads.is_outside(one):
                    reads.note(reads.step(reads.known(cell).source, CONTENT), value, one.__name__, "closure")
                found.append(value)
        return found

    def of_class(self, kind: type) -> list[Any]:
        """What the user's classes among those of an object hold: each is the same, and so is what is in it."""
        reads, found = self.reads, list[Any]()
        for owner in kind.__mro__:
            if is_library(owner) or not owner.__flags__ & (1 << 9) or not reads.is_outside(owner):
                continue
            proxy = reads.proxy(owner)
            names = tuple(name for name in owner.__dict__ if name not in guards.OF_PYTHON)
            values = tuple(owner.__dict__[name] for name in names)
            reads.guard(proxy, guards.SAME, (names, values, len(owner.__dict__)), owner.__name__, "class")
            for name, value in zip(names, values, strict=True):
                if not (name.startswith("__") or is_atom(value) or callable(value) or hasattr(type(value), "__get__")):
                    reads.note(reads.step(proxy, guards.ITEM, name), value, f"{owner.__name__}.{name}", "class")
                    found.append(value)
        self.left -= len(found)
        return found
