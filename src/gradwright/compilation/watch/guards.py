"""Guards: what Python code has read in a traced run, each with the line, and one question whether it is all so still.

A `Source` says how something is found again; objects are held weakly where they can be. A `Guard` is a source and what
was found there.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Iterable
from enum import Enum
from types import BuiltinFunctionType, CellType, FunctionType, ModuleType
from typing import Any

import numpy as np

from gradwright.base.dtypes import dtype
from gradwright.engine.source_line import Place

FAULTS = (AttributeError, LookupError, ValueError, TypeError, NameError, ReferenceError, RuntimeError)
"""What reading something again may raise that is not there any more."""
ATOMS = frozenset({int, float, complex, bool, str, bytes, type(None), type(...), type(NotImplemented), range, slice})
_SINGLE = frozenset({bool, type(None), type(...), type(NotImplemented)})
_UNSET = CellType()
_KEPT = (type, FunctionType, BuiltinFunctionType, ModuleType, CellType)
MISSING: Any = type("Missing", (), {"__repr__": lambda self: "nothing"})()


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


class Source:
    """How something is found again: ``get()`` returns it, or raises one of `FAULTS`.

    Attributes:
        parent: the source of what it is in, or None.
        how: the way from there: "[]" an item, "." an attribute, "vars" its ``__dict__``, "cell" the content of a cell,
            "key" an item under a key that is held weakly, "()" what it returns, "get" what its ``get()`` returns,
            "over" whether the class ``key`` counts as derived from it.
        key: its key there.
    """

    __slots__ = ("how", "key", "kept", "parent", "weak")

    def __init__(self, parent: Source | None, how: str, key: Any = None) -> None:
        self.parent, self.how, self.key = parent, how, key
        self.weak: Any = None
        self.kept: Any = None

    def __repr__(self) -> str:
        return _kind(self)

    @classmethod
    def of(cls, value: Any) -> Source:
        """An object by itself: held weakly, unless it is a function, class, module or cell, or cannot be."""
        made = cls(None, "held")
        if isinstance(value, _KEPT):
            made.kept = value
        else:
            try:
                made.weak = weakref.ref(value)
            except TypeError:
                made.kept = value
        return made

    def get(self) -> Any:
        """What is there now."""
        if self.parent is None:
            if self.weak is None:
                return self.kept
            found = self.weak()
            if found is None:
                raise ReferenceError("it has been freed")
            return found
        where, how = self.parent.get(), self.how
        if how == "[]":
            return where[self.key]
        if how == ".":
            return getattr(where, self.key)
        if how == "vars":
            return where.__dict__
        if how == "cell":
            return where.cell_contents
        if how in ("()", "get"):
            return where() if how == "()" else where.get()
        return issubclass(self.key, where) if how == "over" else where[self.key.get()]


class Guard:
    """Something that was read.

    Attributes:
        source: where it is found again.
        kind: what must be so: "equal" the value, of the same type; "is" the object; "type" of it; "len" its length;
            "absent" that there is no ``value`` in it; "holds" whether it holds ``value[0]``; "keys" its keys, in
            their order; "elements" those of a set; "truth" whether it is empty; "array" the content of a NumPy
            array; "unset" that a cell has no content.
        value: what was found; for "is" the `Source` of the object.
        name: how the program calls it.
        of: what it belongs to: "closure of step", "global", "attribute".
        place: the line that read it, or None.
    """

    __slots__ = ("kind", "name", "of", "place", "source", "value")

    def __init__(self, source: Source, kind: str, value: Any, name: str, of: str, place: Place | None) -> None:
        self.source, self.kind, self.value, self.name, self.of, self.place = source, kind, value, name, of, place

    @property
    def container(self) -> Any:
        """What it was read from: a dictionary, a list, a cell, an object. None if that is gone."""
        try:
            return self.source.parent.get() if self.source.parent else None
        except FAULTS:
            return None

    @property
    def key(self) -> Any:
        """Its key, or the name of the attribute, in `container`; None if that is an object that is gone."""
        key = self.source.key
        return key.weak() if isinstance(key, Source) and key.weak is not None else key

    def now(self) -> Any:
        """What is there now; `MISSING` if nothing is."""
        try:
            return self.source.get()
        except FAULTS:
            return MISSING

    def holds(self) -> bool:
        """Whether it is so still."""
        try:
            return holds(self.source.get(), self.kind, self.value)
        except FAULTS:
            return False

    @property
    def said(self) -> str:
        """What was found, in words."""
        if self.kind == "is":
            return f" is {_kind(self.value)}"
        if self.kind == "array":
            return f" = array of shape {self.value.shape}"
        if self.kind == "len":
            return f" has {self.value} elements"
        if self.kind == "absent":
            return f" has no {self.value!r}"
        if self.kind == "holds":
            return f" {'has' if self.value[1] else 'has no'} {_short(self.value[0])}"
        if self.kind == "truth":
            return " is not empty" if self.value else " is empty"
        if self.kind == "unset":
            return " is not set"
        if self.kind == "type":
            return f" is a {self.value.__name__}"
        return f" {'has the keys' if self.kind == 'keys' else '='} {_short(self.value)}"

    def __str__(self) -> str:
        where = f", read at {self.place}" if self.place else ""
        return f"{self.name}{self.said} ({self.of}){where}"

    __repr__ = __str__


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _kind(source: Source) -> str:
    try:
        value = source.get()
    except FAULTS:
        return "an object that has been freed"
    name = getattr(value, "__qualname__", None)
    return f"{name}" if isinstance(name, str) else f"this {type(value).__name__}"


def weakly(key: Any) -> Any:
    """A key as it is held: itself, or its `Source`."""
    return key if is_atom(key) else Source.of(key)


def holds(found: Any, kind: str, value: Any) -> bool:
    """Whether what was found is as ``value`` says."""
    if kind == "equal":
        return same(found, value)
    if kind == "is":
        return bool(found is value.get())
    if kind == "type":
        return type(found) is value
    if kind == "len":
        return len(found) == value
    if kind == "absent":
        return value not in found
    if kind == "holds":
        key = value[0]
        return ((key.get() if isinstance(key, Source) else key) in found) is value[1]
    if kind == "keys":
        return len(found) == len(value) and all(map(_same_key, found, value))
    if kind == "elements":
        return len(found) == len(value) and same(frozenset(found), value)
    if kind == "truth":
        return bool(found) is value
    if kind == "unset":
        return bool(found == _UNSET)
    return same_array(found, value)


def _same_key(key: Any, held: Any) -> bool:
    return key is held.get() if isinstance(held, Source) else same(key, held)


def same_array(a: Any, b: Any) -> bool:
    """Whether two arrays have the same bytes, shape and dtype."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.hasobject:
        return bool((a == b).all())
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    return bool(a.nbytes == 0 or np.array_equal(a.reshape(-1).view(np.uint8), b.reshape(-1).view(np.uint8)))


class _Writer:
    """The text of the function that asks."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.bound: dict[str, Any] = {"same": same, "holds": holds, "values": dict.values}
        self.known: dict[int, str] = {}
        self.spread: dict[int, tuple[str, dict[int, int]]] = {}

    def bind(self, value: Any) -> str:
        name = f"c{len(self.bound)}"
        self.bound[name] = value
        return name

    def variable(self, source: Source) -> str:
        """The variable that what is at a source is in."""
        name = self.known.get(id(source))
        if name is None:
            text, weak = self.expression(source)
            if text.isidentifier():
                name = text
            else:
                name = f"v{len(self.known)}"
                self.lines.append(f"{name} = {text}")
                if weak:
                    self.lines.append(f"if {name} is None: return False")
            self.known[id(source)] = name
        return name

    def expression(self, source: Source) -> tuple[str, bool]:
        parent, how, key = source.parent, source.how, source.key
        if parent is None:
            return (self.bind(source.kept), False) if source.weak is None else (f"{self.bind(source.weak)}()", True)
        where = self.variable(parent)
        if how == "[]":
            return f"{where}[{repr(key) if type(key) in (int, str) else self.bind(key)}]", False
        if how == ".":
            return f"{where}.{key}", False
        if how == "vars":
            return f"{where}.__dict__", False
        if how == "cell":
            return f"{where}.cell_contents", False
        if how in ("()", "get"):
            return f"{where}{'.get' if how == 'get' else ''}()", False
        if how == "over":
            return f"issubclass({self.bind(key)}, {where})", False
        values, places = self.spread.get(id(parent), ("", {}))
        place = places.get(_which(key))
        return (f"{where}[{self.variable(key)}]" if place is None else f"{values}[{place}]"), False

    def keys(self, guard: Guard) -> None:
        """The keys of a dictionary, one by one: asking for objects by their hashes would take longer."""
        found, value = self.variable(guard.source), guard.value
        keys, values = f"k{len(self.spread)}", f"w{len(self.spread)}"
        self.lines += [f"{keys} = [*{found}]", f"if len({keys}) != {len(value)}: return False"]
        for k, key in enumerate(value):
            held = isinstance(key, Source)
            wanted = self.variable(key) if held else self.bind(key)
            other = "" if held else f" and not same({keys}[{k}], {wanted})"
            self.lines.append(f"if {keys}[{k}] is not {wanted}{other}: return False")
        if isinstance(guard.now(), dict):
            self.lines.append(f"{values} = [*values({found})]")
            places = {_which(key): k for k, key in enumerate(value) if isinstance(key, Source)}
            self.spread[id(guard.source)] = values, places

    def guard(self, guard: Guard, used: dict[int, int]) -> None:
        kind, value = guard.kind, guard.value
        expected = self.variable(value) if kind == "is" else ""
        if kind == "equal" and type(value) not in _SINGLE:
            found, wanted = self.variable(guard.source), self.bind(value)
            self.lines.append(f"if {found} is not {wanted} and not same({found}, {wanted}): return False")
            return
        if kind == "keys" and not all(type(key) is str for key in value):
            self.keys(guard)
            return
        found = self.variable(guard.source) if used[id(guard.source)] > 1 else self.expression(guard.source)[0]
        if kind == "is":
            test = f"{found} is not {expected}"
        elif kind == "equal":
            test = f"{found} is not {value if type(value) in (bool, type(None)) else self.bind(value)}"
        elif kind == "type":
            test = f"type({found}) is not {self.bind(value)}"
        elif kind == "len":
            test = f"len({found}) != {value}"
        elif kind == "absent":
            test = f"{value!r} in {found}"
        elif kind == "truth":
            test = f"not {found}" if value else found
        elif kind == "keys":
            test = f"tuple({found}) != {self.bind(value)}" if value else found
        elif kind == "holds" and not isinstance(value[0], Source):
            test = f"{self.bind(value[0])} {'not in' if value[1] else 'in'} {found}"
        else:
            test = f"not holds({found}, {kind!r}, {self.bind(value)})"
        self.lines.append(f"if {test}: return False")


def _which(key: Source) -> int:
    """Which object a key is: all weak references to it are one."""
    return id(key.kept if key.weak is None else key.weak)


def _chain(source: Source) -> Iterable[Source]:
    yield source
    if source.parent is not None:
        yield source.parent
    if source.how == "key":
        yield source.key


def quick(guards: list[Guard]) -> Callable[[], bool]:
    """One function that says whether all guards hold."""
    writer, used, seen = _Writer(), dict[int, int](), set[int]()

    def use(source: Source) -> None:
        used[id(source)] = used.get(id(source), 0) + 1
        if id(source) not in seen:
            seen.add(id(source))
            for other in list(_chain(source))[1:]:
                use(other)

    for guard in guards:
        use(guard.source)
        if guard.kind == "is":
            use(guard.value)
    for guard in guards:
        writer.guard(guard, used)
    names = ", ".join(f"{name}={name}" for name in writer.bound)
    body = "\n".join(f"        {line}" for line in writer.lines)
    text = (f"def check({names}):\n    try:\n{body}\n        return True\n    except faults:\n        return False\n")
    scope: dict[str, Any] = {**writer.bound, "faults": FAULTS}
    exec(compile(text, "<gradwright guards>", "exec"), scope)  # noqa: S102 - the text is written here, from guards
    return scope["check"]


def compiled_guards(guards: Iterable[Guard]) -> Callable[[], Guard | None]:
    """A function that returns None if all guards hold, else the first that does not."""
    held = list(guards)
    check = quick(held)

    def failing() -> Guard | None:
        if check():
            return None
        return next((guard for guard in held if not guard.holds()), None if check() else held[-1])

    failing.check = check  # type: ignore[attr-defined]
    return failing
