"""Guards: what Python code has read in a traced run, each with the line, and one question whether it is all so still.

A `Source` says how something is found again; objects are held weakly where they can be. A `Guard` is a source and what
was found there. Each `Way` to find something, and each `Kind` of question about it, is a row: a function, and the text
of which one function is made that asks all guards at once.
"""

from __future__ import annotations

import gc
import math
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from enum import Enum
from itertools import repeat
from operator import is_
from types import BuiltinFunctionType, CellType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from gradwright.base.dtypes import dtype
from gradwright.base.source_line import Place

FAULTS = (AttributeError, LookupError, ValueError, TypeError, NameError, ReferenceError, RuntimeError)
"""What reading something again may raise that is not there any more."""
ATOMS = frozenset({int, float, complex, bool, str, bytes, type(None), type(...), type(NotImplemented), range, slice})
UNSET_CELL = CellType()
MISSING: Any = type("Missing", (), {"__repr__": lambda self: "nothing"})()
_SINGLE = frozenset({bool, type(None), type(...), type(NotImplemented)})
OF_PYTHON = frozenset({"__slotnames__", "__abstractmethods__", "_abc_impl", "__annotations__", "__annotations_cache__",
                       "__dict__", "__weakref__", "__doc__"})  # fmt: skip
"""Attributes of classes that Python sets by itself."""
_STRONG = (type, FunctionType, BuiltinFunctionType, ModuleType, CellType)


def is_atom(value: Any) -> bool:
    """Whether a value never changes and is compared by what it is: numbers, text, None, dtypes, and tuples of these."""
    kind = type(value)
    if kind in ATOMS:
        return True
    if isinstance(value, (tuple, frozenset)):
        return (kind in (tuple, frozenset) or not hasattr(value, "__dict__")) and all(map(is_atom, value))
    return isinstance(value, (np.generic, np.dtype, Enum, dtype))


def same(a: Any, b: Any) -> bool:
    """Whether two values are of one type and equal: NaN is equal to itself, 0.0 is not -0.0, and 1 is not True."""
    if a is b:
        return True
    kind = type(a)
    if kind is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, frozenset):
        return {(type(x), x) for x in a} == {(type(x), x) for x in b}
    if kind is float:
        return (a == b and math.copysign(1, a) == math.copysign(1, b)) or (a != a and b != b)
    if kind is complex:
        return same(a.real, b.real) and same(a.imag, b.imag)
    if isinstance(a, np.generic):
        return bool(a.dtype == b.dtype and a.tobytes() == b.tobytes())
    if kind in (range, slice):
        return same((a.start, a.stop, a.step), (b.start, b.stop, b.step))
    return bool(a == b) if is_atom(a) else False


def same_array(a: Any, b: Any) -> bool:
    """Whether two arrays have the same bytes, shape and dtype."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.hasobject:
        return bool((a == b).all())
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    return bool(a.nbytes == 0 or np.array_equal(a.reshape(-1).view(np.uint8), b.reshape(-1).view(np.uint8)))


class Way(NamedTuple):
    """A way from something to what is in it.

    Attributes:
        get: what is there, of where it is and its key.
        text: the same in Python's text.
    """

    get: Callable[[Any, Any], Any]
    text: str


ITEM = Way(lambda where, key: where[key], "{where}[{key}]")
ITEM_OF = Way(lambda where, key: where[key.get()], "{where}[{key}]")
"""An item under an object, whose `Source` the key is."""
ATTRIBUTE = Way(getattr, "{where}.{key}")
VARS = Way(lambda where, key: where.__dict__, "{where}.__dict__")
CONTENT = Way(lambda where, key: where.cell_contents, "{where}.cell_contents")
"""Of a cell."""


def shown(view: Any) -> Any:
    """The dictionary that a view of one shows, whose ``mapping`` is another object each time."""
    return next(held for held in gc.get_referents(view) if isinstance(held, dict))


SHOWN = Way(lambda where, key: shown(where), "shown({where})")
CALLED = Way(lambda where, key: where(), "{where}()")
CALLED_WITH = Way(lambda where, key: where(*key), "{where}(*{key})")
GOT = Way(lambda where, key: where.get(), "{where}.get()")
"""Of a context variable."""
DERIVED = Way(lambda where, key: issubclass(key, where), "issubclass({key}, {where})")
"""Whether the class ``key`` counts as derived from an abstract one."""


class Source:
    """How something is found again: ``get()`` returns it, or raises one of `FAULTS`.

    Attributes:
        parent: the source of what it is in, or None.
        way: the way from there; None for an object by itself.
        key: its key there.
    """

    __slots__ = ("key", "parent", "strong", "way", "weak")

    def __init__(self, parent: Source | None, way: Way | None, key: Any = None) -> None:
        self.parent, self.way, self.key = parent, way, key
        self.weak: Any = None
        self.strong: Any = None

    @classmethod
    def of(cls, value: Any) -> Source:
        """An object by itself: held weakly, unless it is a function, class, module or cell, or cannot be."""
        made = cls(None, None)
        with suppress(TypeError):
            made.weak = None if isinstance(value, _STRONG) else weakref.ref(value)
        made.strong = value if made.weak is None else None
        return made

    def get(self) -> Any:
        """The value there now."""
        if self.way is not None and self.parent is not None:
            return self.way.get(self.parent.get(), self.key)
        if self.weak is None:
            return self.strong
        found = self.weak()
        if found is None:
            raise ReferenceError("it has been freed")
        return found

    def now(self) -> Any:
        """The value there now; `MISSING` if there is none."""
        try:
            return self.get()
        except FAULTS:
            return MISSING

    def before(self) -> list[Source]:
        """The sources that are asked before it: what it is in, and its key."""
        return [source for source in (self.parent, self.key) if isinstance(source, Source)]

    def __repr__(self) -> str:
        value = self.now()
        if value is MISSING:
            return "an object that has been freed"
        name = getattr(value, "__qualname__", None)
        return name if isinstance(name, str) else f"this {type(value).__name__}"


class Kind(NamedTuple):
    """A condition on the value found.

    Attributes:
        holds: whether it is, of what is found now and the value that was noted.
        said: the value in words.
        fails: the test in Python's text that it is not so; "" if ``holds`` is called for that.
    """

    holds: Callable[[Any, Any], bool]
    said: Callable[[Any], str]
    fails: str = ""


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _is_key(key: Any, held: Any) -> bool:
    return key is held.get() if isinstance(held, Source) else same(key, held)


def _has(found: Any, key: Any) -> bool:
    return (key.get() if isinstance(key, Source) else key) in found


def _has_keys(found: Any, keys: Any) -> bool:
    return len(found) == len(keys) and all(map(_is_key, found, keys))


def copied(array: Any) -> Any:
    """A copy of an array, to compare with later; it is read-only if that is."""
    copy = np.array(array, copy=True, subok=False)
    copy.flags.writeable = array.flags.writeable
    return copy


def _is_unchanged(found: Any, old: Any) -> bool:
    return found.flags.writeable is old.flags.writeable and same_array(found, old)


def _is_class(found: Any, old: Any) -> bool:
    names, values, count = old
    same_names = len(found) == count or len(names) == sum(name not in OF_PYTHON for name in found)
    return same_names and all(map(is_, map(found.get, names, repeat(MISSING)), values))


EQUAL = Kind(same, lambda value: f" = {_short(value)}")
"""The value, of the same type."""
IS = Kind(lambda found, source: found is source.get(), lambda source: f" is {source!r}", "{found} is not {value}")
"""The object of a `Source`."""
TYPE = Kind(lambda found, cls: type(found) is cls, lambda cls: f" is a {cls.__name__}", "type({found}) is not {value}")
LENGTH = Kind(lambda found, n: len(found) == n, lambda n: f" has {n} elements", "len({found}) != {value}")
HAS = Kind(_has, lambda key: f" has {_short(key)}", "{value} not in {found}")
"""That a container holds a value, or the object of a `Source`."""
LACKS = Kind(lambda found, key: not _has(found, key), lambda key: f" has no {_short(key)}", "{value} in {found}")
KEYS = Kind(_has_keys, lambda keys: f" has the keys {_short(keys)}")
"""The keys of a dictionary, or elements of a set, in their order: values, and the `Source` of each object."""
ELEMENTS = Kind(lambda found, old: len(found) == len(old) and same(frozenset(found), old), EQUAL.said)
FULL = Kind(lambda found, _: bool(found), lambda _: " is not empty", "not {found}")
EMPTY = Kind(lambda found, _: not found, lambda _: " is empty", "{found}")
ARRAY = Kind(_is_unchanged, lambda array: f" = array of shape {array.shape}")
NO_ATTRIBUTE = Kind(lambda found, name: not hasattr(found, name), lambda name: f" has no {name}")
SAME = Kind(_is_class, lambda old: f" has {len(old[0])} attributes")
"""The attributes of a class, as names, values and how many there are with those of Python's."""
UNSET = Kind(lambda found, _: bool(found == UNSET_CELL), lambda _: " is not set")
"""That a cell has no content."""


class Guard:
    """Something that was read.

    Attributes:
        source: where it is found again.
        kind, value: what must be so there.
        name: how the program calls it.
        of: what it belongs to: "closure of step", "global", "attribute".
        place: the line that read it, or None.
        in_passing: whether only an optimiser has read it, which is given its numbers at every call.
    """

    __slots__ = ("in_passing", "kind", "name", "of", "place", "source", "value")

    def __init__(self, source: Source, kind: Kind, value: Any, name: str, of: str, place: Place | None) -> None:
        self.source, self.kind, self.value, self.name, self.of, self.place = source, kind, value, name, of, place
        self.in_passing = False

    @property
    def container(self) -> Any:
        """What it was read from: a dictionary, a list, a cell, an object. None if that is gone."""
        found = self.source.parent.now() if self.source.parent else None
        return None if found is MISSING else found

    @property
    def key(self) -> Any:
        """Its key, or the name of the attribute, in `container`; None if that is an object that is gone."""
        key = self.source.key
        return key.weak() if isinstance(key, Source) and key.weak is not None else key

    def holds(self) -> bool:
        """Whether it is so still."""
        try:
            return self.kind.holds(self.source.get(), self.value)
        except FAULTS:
            return False

    def sources(self) -> Iterator[Source]:
        """All its sources: its own, those in the value found, and those asked before each."""
        values = self.value if isinstance(self.value, tuple) else (self.value,)
        todo = [self.source, *(value for value in values if isinstance(value, Source))]
        while todo:
            yield (source := todo.pop())
            todo += source.before()

    def __str__(self) -> str:
        where = f", read at {self.place}" if self.place else ""
        return f"{self.name}{self.kind.said(self.value)} ({self.of}){where}"

    __repr__ = __str__


def weakly(key: Any) -> Any:
    """A key as it is held: itself, or its `Source`."""
    return key if is_atom(key) else Source.of(key)


class _Writer:
    """The text of the function that asks."""

    def __init__(self, guards: list[Guard], held: Iterable[Any] = ()) -> None:
        self.held = {id(value) for value in held}
        self.lines: list[str] = []
        self.bound: dict[str, Any] = {"same": same, "shown": shown, "values": dict.values}
        self.known: dict[int, str] = {}
        self.spread: dict[int, tuple[str, dict[int, int]]] = {}
        self.used: dict[int, int] = {}
        for guard in guards:
            self.use(guard.source)
            if guard.kind is IS:
                self.use(guard.value)
        for guard in guards:
            self.guard(guard)

    def use(self, source: Source) -> None:
        """A source will be asked once more."""
        self.used[id(source)] = self.used.get(id(source), 0) + 1
        if self.used[id(source)] == 1:
            for other in source.before():
                self.use(other)

    def bind(self, value: Any) -> str:
        """A name for a value."""
        name = f"c{len(self.bound)}"
        self.bound[name] = value
        return name

    def literal(self, value: Any) -> str:
        """A value in the text, by itself if it can be written so."""
        return repr(value) if type(value) in (bool, int, str, type(None)) else self.bind(value)

    def fails(self, test: str) -> None:
        """A guard does not hold if this test is true."""
        self.lines.append(f"if {test}: return False")

    def variable(self, source: Source) -> str:
        """The variable that what is at a source is in."""
        name = self.known.get(id(source))
        if name is None:
            name = text = self.expression(source)
            if not text.isidentifier():
                name = f"v{len(self.known)}"
                self.lines.append(f"{name} = {text}")
                if text.endswith("()") and source.weak is not None:
                    self.fails(f"{name} is None")
            self.known[id(source)] = name
        return name

    def expression(self, source: Source) -> str:
        """The value at a source."""
        way, key = source.way, source.key
        if way is None or source.parent is None:
            value = source.now()
            return self.bind(value) if source.weak is None or id(value) in self.held else f"{self.bind(source.weak)}()"
        where = self.variable(source.parent)
        if way is ITEM_OF:
            values, places = self.spread.get(id(source.parent), ("", {}))
            place = places.get(_which(key))
            return way.text.format(where=where, key=self.variable(key)) if place is None else f"{values}[{place}]"
        return way.text.format(where=where, key=key if way is ATTRIBUTE else self.literal(key))

    def keys(self, guard: Guard) -> None:
        """The keys of a dictionary, one by one: asking for objects by their hashes would take longer."""
        found, value = self.variable(guard.source), guard.value
        keys, values = f"k{len(self.spread)}", f"w{len(self.spread)}"
        self.lines.append(f"{keys} = [*{found}]")
        self.fails(f"len({keys}) != {len(value)}")
        for k, key in enumerate(value):
            held = isinstance(key, Source)
            wanted = self.variable(key) if held else self.bind(key)
            self.fails(f"{keys}[{k}] is not {wanted}" + ("" if held else f" and not same({keys}[{k}], {wanted})"))
        if isinstance(guard.source.now(), dict):
            self.lines.append(f"{values} = [*values({found})]")
            places = {_which(key): k for k, key in enumerate(value) if isinstance(key, Source)}
            self.spread[id(guard.source)] = values, places

    def guard(self, guard: Guard) -> None:
        """Ask whether a guard holds."""
        kind, value, source = guard.kind, guard.value, guard.source
        if kind is EQUAL and type(value) not in _SINGLE:
            found, wanted = self.variable(source), self.bind(value)
            self.fails(f"{found} is not {wanted} and not same({found}, {wanted})")
            return
        if kind is KEYS and not all(type(key) is str for key in value):
            self.keys(guard)
            return
        fails = kind.fails
        if kind in (HAS, LACKS) and isinstance(value, Source):
            fails = ""
        elif kind is EQUAL:
            fails = IS.fails
        elif kind is KEYS:
            fails = "tuple({found}) != {value}" if value else "{found}"
        wanted = self.variable(value) if kind is IS else self.literal(value) if "{value}" in fails else ""
        found = self.variable(source) if self.used[id(source)] > 1 else self.expression(source)
        if fails:
            self.fails(fails.format(found=found, value=wanted))
        else:
            self.fails(f"not {self.bind(kind.holds)}({found}, {self.bind(value)})")


def _which(key: Source) -> int:
    """Which object a key is: all weak references to it are one."""
    return id(key.strong if key.weak is None else key.weak)


def quick(guards: list[Guard], held: Iterable[Any] = ()) -> Callable[[], bool]:
    """One function that says whether all guards hold; ``held`` is what its caller keeps alive."""
    writer = _Writer(guards, held)
    names = ", ".join(f"{name}={name}" for name in writer.bound)
    body = "\n".join(f"        {line}" for line in writer.lines)
    text = f"def check({names}):\n    try:\n{body}\n        return True\n    except faults:\n        return False\n"
    scope: dict[str, Any] = {**writer.bound, "faults": FAULTS}
    exec(compile(text, "<gradwright guards>", "exec"), scope)  # noqa: S102 - the text is written here, from guards
    return scope["check"]


def compiled_guards(guards: Iterable[Guard], held: Iterable[Any] = ()) -> Callable[[], Guard | None]:
    """A function that returns None if all guards hold, else the first that does not."""
    found = list(guards)
    check = quick(found, held)

    def failing() -> Guard | None:
        if check():
            return None
        return next((guard for guard in found if not guard.holds()), None if check() else found[-1])

    failing.check = check  # type: ignore[attr-defined]
    return failing
