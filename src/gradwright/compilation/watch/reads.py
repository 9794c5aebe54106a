"""What is outside of the call, and what of it was read: one `Guard` for each."""

from __future__ import annotations

import gc
from array import array
from collections import defaultdict, deque
from collections.abc import Callable
from functools import lru_cache
from types import FunctionType, MappingProxyType, MethodType
from typing import Any

import numpy as np

from gradwright.compilation.watch.files import is_library
from gradwright.compilation.watch.guards import MISSING, Guard, Source, is_atom, weakly
from gradwright.compilation.watch.numbers import Numbers
from gradwright.engine.base import TensorBase
from gradwright.engine.source_line import Place

LIMIT = 20_000
"""Containers with more elements than this, all told, are not read."""
_WAYS = ("__iter__", "__len__", "__getitem__", "__contains__", "__bool__", "keys", "values", "items", "get", "__eq__")
_IN_PLACES = (list, dict, tuple, deque)
"""What is found by its place, not by itself: it cannot be held weakly, and need not be the same object."""
BUFFERS: Any = (bytearray, memoryview, array)
BYTES = "holds bytes that are not compared. Keep them in an array of NumPy's or in a tensor."
_CONTAINERS = (*_IN_PLACES, set, frozenset)
_VIEWS: Any = (type({}.keys()), type({}.values()), type({}.items()))


class Unknown:
    """A value that cannot be seen.

    Attributes:
        type: of it, if that is known.
        made: whether it is known to have been made in the call.
    """

    __slots__ = ("made", "type")

    def __init__(self, kind: Any = None, made: bool = True) -> None:
        self.type, self.made = kind, made

    def __repr__(self) -> str:
        return "a value that cannot be seen"


UNKNOWN = Unknown(None, False)
PENDING: Any = type("Pending", (), {})()
"""What an attribute or element is found by Python code, which runs next."""


class UnreadError(Exception):
    """A container cannot be read; the text says why, and begins with what is wrong of it."""


@lru_cache(maxsize=1024)
def _own_ways(kind: Any) -> bool:
    return any(isinstance(found, FunctionType) and not is_library(owner)
               for found, owner in (lookup(kind, name) for name in _WAYS))  # fmt: skip


def has_own_ways(value: Any) -> bool:
    """Whether the class of a container says itself how it is read, in Python."""
    kind: Any = type(value)
    return _own_ways(kind)


class Known:
    """An object from outside: where it is found, and how the program calls it."""

    __slots__ = ("name", "source", "value")

    def __init__(self, value: Any, source: Source, name: str) -> None:
        self.value, self.source, self.name = value, source, name


class Reads:
    """All that was read in one call.

    Attributes:
        guards: so far.
        place: the line that runs.
        ours: whether it is gradwright's.
        given: containers and tensors among the arguments, by id.
        judge: is given each hook that is found.
        numbers: those that the code takes of tensors.
    """

    def __init__(self, adopt: Callable[[Any], Any], numbers: Numbers) -> None:
        self.adopt, self.numbers = adopt, numbers
        self.guards: list[Guard] = []
        self.place: Place | None = None
        self.ours = False
        self.outside: dict[int, Known] = {}
        self.judge: Callable[[Any], None] = lambda hook: None
        self._made: dict[int, Any] = {}
        self.given: dict[int, Any] = {}
        self._steps: dict[Any, Any] = {}
        self._proxies: dict[type, Any] = {}
        self._seen: set[Any] = set()
        self._adopted: dict[int, Any] = {}

    def forget(self) -> None:
        """Let go of all objects: what has observed a run refers to itself, and is freed late."""
        for held in (self.outside, self.given, self._made, self._proxies, self._adopted):
            held.clear()

    # -- what there is --

    def meet(self, value: Any) -> None:
        """A tensor is adopted as soon as code has it in hand."""
        if id(value) not in self._adopted:
            self._adopted[id(value)] = value
            self.adopt(value)

    def give(self, value: Any) -> None:
        """A container among the arguments: outside, but its elements are the caller's to compare."""
        self.given[id(value)] = value
        self.register(value, Source.of(value), "an argument")

    def register(self, value: Any, source: Source, name: str) -> Known:
        """Know an object from outside."""
        known = self.outside.get(id(value))
        if known is None:
            if not isinstance(value, MethodType):
                own = Source.of(value)
                if own.weak is not None or not isinstance(value, _IN_PLACES):
                    source = own
            known = self.outside[id(value)] = Known(value, source, name)
        return known

    def is_outside(self, value: Any) -> bool:
        """Whether an object was there before the call: it was read from outside, or it has not been made since."""
        which = id(value)
        if which in self.outside:
            return True
        if which in self._made or isinstance(value, (Unknown, TensorBase)) or is_atom(value):
            return False
        if isinstance(value, np.ndarray):
            base = value.base
            return base is not None and self.is_outside(base)
        if not gc.is_tracked(value):
            return False
        if self._old(value):
            self.register(value, Source.of(value), f"an object of {type(value).__name__}")
            return True
        self._made[which] = value
        return False

    @staticmethod
    def _old(value: Any) -> bool:
        return id(value) not in set(map(id, gc.get_objects(generation=0)))

    def known(self, value: Any) -> Known:
        """What is known of an object from outside."""
        known = self.outside.get(id(value))
        if known is None:
            name = getattr(value, "__name__", None)
            known = self.register(value, Source.of(value), name if isinstance(name, str) else type(value).__name__)
        return known

    def step(self, parent: Source, how: str, key: Any = None) -> Source:
        """The one source of its kind."""
        which = (id(parent), how, type(key), id(key) if how == "key" else key)
        found = self._steps.get(which)
        if found is None:
            found = self._steps[which] = Source(parent, how, Source.of(key) if how == "key" else key)
            self._steps[id(found)] = parent  # which stays alive, and keeps its id
        return found

    # -- reading --

    def guard(self, source: Source, kind: str, value: Any, name: str, of: str) -> None:
        """Enter one, unless it is there."""
        key = value[0] if kind == "holds" else value if kind == "absent" else None
        which = (id(source), kind, key if is_atom(key) else id(key))
        if which not in self._seen:
            self._seen.add(which)
            self.guards.append(Guard(source, kind, value, name, of, self.place))

    def note(self, source: Source, value: Any, name: str, of: str, quiet: bool = False) -> Any:
        """A value was read at a source outside; returns the value."""
        if isinstance(value, TensorBase):
            self.meet(value)
            self.hooked(value)
        if isinstance(value, BUFFERS):
            raise UnreadError(f"`{name}` {BYTES}")
        if (id(source), "read") in self._seen:
            if not is_atom(value):
                self.register(value, source, name)
            return value
        self._seen.add((id(source), "read"))
        if is_atom(value):
            self.guard(source, "equal", value, name, of)
            return value
        before = self.outside.get(id(value))
        known = self.register(value, source, name)
        if known.source is source:
            if not quiet:
                self.guard(source, "type", type(value), name, of)
        else:
            self.guard(source, "is", known.source, name, of)
        if before is None:
            if isinstance(value, np.ndarray):
                self.guard(known.source, "array", value.copy(), name, of)
            elif isinstance(value, MethodType):
                for part in ("__self__", "__func__"):
                    self.note(self.step(source, ".", part), getattr(value, part), f"{name}.{part}", of)
            elif isinstance(value, (tuple, frozenset)):
                self.content(value)
        return value

    def hooked(self, tensor: Any) -> None:
        """The hooks of a tensor from outside are read, which the backward pass calls."""
        node = getattr(tensor, "_node", None)
        if node is None or (id(tensor), "hooks") in self._seen:
            return
        self._seen.add((id(tensor), "hooks"))
        source = self.step(self.step(self.known(tensor).source, ".", "_node"), ".", "_hooks")
        name = f"hooks of {self.known(tensor).name}"
        hooks = self.note(source, node._hooks, name, "hooks")
        for kind in () if hooks is None else type(hooks).__slots__:
            held = getattr(hooks, kind, None)
            if isinstance(held, dict):
                self.note(self.step(self.known(hooks).source, ".", kind), held, f"{name}.{kind}", "hooks")
                self.content(held)
                for hook in list(held.values()):
                    self.judge(hook)

    def truth(self, value: Any) -> None:
        """Whether a container is empty was asked."""
        if has_own_ways(value):
            return  # which is seen when it runs
        if isinstance(value, (list, dict, set, deque, MappingProxyType)) and self.is_read(value):
            known = self.known(value)
            self.guard(known.source, "truth", bool(len(value)), known.name, "container")

    def length(self, value: Any) -> None:
        """The length of a container was asked."""
        if has_own_ways(value):
            return
        if isinstance(value, (list, dict, set, deque, MappingProxyType)) and self.is_read(value):
            known = self.known(value)
            self.guard(known.source, "len", len(value), known.name, "container")

    def contains(self, value: Any, key: Any) -> None:
        """Whether a container holds something was asked."""
        if has_own_ways(value):
            return
        if isinstance(value, (dict, set, MappingProxyType)) and not isinstance(key, Unknown):
            if not self.is_read(value):
                return
            known = self.known(value)
            self.guard(known.source, "holds", (weakly(key), key in value), known.name, "container")
        else:
            self.content(value)

    def item(self, container: Any, key: Any) -> Any:
        """An element of a list, tuple, deque or dictionary from outside; `MISSING` if there is none."""
        if id(container) in self.given:
            return self._given_item(container, key)
        known = self.known(container)
        if isinstance(container, (dict, MappingProxyType)):
            value = held(container).get(key, MISSING)
            if value is MISSING:
                if is_atom(key):
                    self.guard(known.source, "absent", key, known.name, "container")
                else:
                    self.content(container)
                return MISSING
            source = self.step(known.source, "[]" if is_atom(key) else "key", key)
        else:
            if type(key) is not int:
                self.content(container)
                return UNKNOWN
            try:
                value = container[key]
            except IndexError:
                self.content(container)
                return MISSING
            source = self.step(known.source, "[]", key)
        label = repr(key) if is_atom(key) else type(key).__name__
        return self.note(source, value, f"{known.name}[{label}]", "element")

    @staticmethod
    def _given_item(container: Any, key: Any) -> Any:
        if isinstance(container, dict):
            return dict.get(container, key, MISSING)
        if type(key) is not int:
            return UNKNOWN
        return container[key] if -len(container) <= key < len(container) else MISSING

    def is_read(self, value: Any) -> bool:
        """Whether it is outside, and not the caller's to compare."""
        return id(value) not in self.given and self.is_outside(value)

    def content(self, value: Any) -> list[Any]:
        """All that is in a container was read, and in those inside it; returns the iterators in there.

        `UnreadError` if that cannot be done.
        """
        left, todo, done, iterators = LIMIT, [value], set(), []
        while todo:
            one = todo.pop()
            if isinstance(one, _VIEWS):
                one = one.mapping
            if id(one) in done or is_atom(one):
                continue
            done.add(id(one))
            if isinstance(one, TensorBase):
                self.meet(one)
            elif isinstance(one, _CONTAINERS) and has_own_ways(one) and self.is_read(one):
                raise UnreadError(f"has, or is, a {type(one).__name__}, which is read in its own way: it cannot be "
                                  "compared. Keep what the step needs in a list or a dictionary.")  # fmt: skip
            elif isinstance(one, (dict, MappingProxyType)):
                left -= len(one)
                if left >= 0:
                    todo += self._values(one)
            elif isinstance(one, (list, tuple, deque)):
                left -= len(one)
                if left >= 0:
                    todo += self._elements(one)
            elif isinstance(one, (set, frozenset)) and self.is_read(one):
                self._members(one)
            elif is_iterator(one) and self.is_outside(one):
                iterators.append(one)
            if left < 0:
                raise UnreadError("has too many elements to compare at every call. Keep it in a tensor.")
        return iterators

    def _values(self, one: Any) -> list[Any]:
        if self.is_read(one):
            known = self.known(one)
            self.guard(known.source, "keys", tuple(weakly(key) for key in held(one)), known.name, "container")
            for key in list(held(one)):
                if isinstance(key, TensorBase):
                    self.meet(key)
                self.item(one, key)
        return list(held(one).values())

    def _elements(self, one: Any) -> list[Any]:
        if self.is_read(one):
            known = self.known(one)
            self.guard(known.source, "len", len(one), known.name, "container")
            for k in range(len(one)):
                self.item(one, k)
        return list(one)

    def _members(self, one: Any) -> None:
        known = self.known(one)
        if all(map(is_atom, one)):
            self.guard(known.source, "elements", frozenset(one), known.name, "container")
        else:
            self.guard(known.source, "keys", tuple(weakly(key) for key in one), known.name, "container")
            for key in one:
                self.register(key, Source.of(key), f"an element of {known.name}")


def lookup(kind: type, name: str) -> tuple[Any, Any]:
    """What a class or those above it have under a name, and which."""
    for owner in kind.__mro__:
        held = owner.__dict__
        if name in held:
            return held[name], owner
    return MISSING, None


def held(value: Any) -> Any:
    """What a dictionary holds, past what its class makes of it."""
    return value if type(value) is dict else dict(dict.items(value) if isinstance(value, dict) else value)


def is_iterator(value: Any) -> bool:
    """Whether going over it uses it up."""
    return hasattr(type(value), "__next__")


def missing_makes(value: Any, key: Any) -> bool:
    """Whether asking a dictionary for a key puts it there."""
    return isinstance(value, defaultdict) and value.default_factory is not None and key not in value
