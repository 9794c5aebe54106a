"""One program for all sizes of a first dimension, made of programs that were traced for some of them.

What differs between them must follow from the size: whole numbers k n + b, constants that are counts (0, 1, 2, ...) or
one number everywhere. If anything else differs, there is no such program. Nothing is guessed that is not so in all.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from gradwright.backends import is_array, library, to_host
from gradwright.compilation.node import Node, Program
from gradwright.compilation.trace.drawing import Draw
from gradwright.compilation.trace.history import Part
from gradwright.compilation.trace.host import Backward, Forward
from gradwright.compilation.trace.record import Record
from gradwright.compilation.watch.guards import same as same_value
from gradwright.engine.base import TensorBase

ENOUGH = 3
_FORMS: tuple[Callable[[int], float], ...] = (
    lambda n: n, lambda n: n - 1, lambda n: 1 / max(n, 1), lambda n: 1 / max(n - 1, 1), lambda n: n / max(n - 1, 1),
    lambda n: n**0.5, lambda n: 1 / max(n, 1) ** 0.5,
)  # fmt: skip
"""What numbers in formulas depend on sizes by: counts, means, variances, their corrections."""


def _is(kind: Any, value: Any, term: float, factor: float) -> bool:
    return bool(kind(factor * term) == value)


def _times(kind: Any, factor: float, form: Callable[[int], float], size: int) -> Any:
    return kind(factor * form(size))


def _simple(factor: float, fits: Callable[[float], bool]) -> float:
    """A factor with few digits, if one fits as well."""
    return next((c for digits in range(1, 8) if fits(c := float(f"{factor:.{digits}g}"))), factor)


class Apart(Exception):  # noqa: N818 - no error: there is no one program
    """Something differs that does not follow from the size."""


class Template:
    """Records of calls that differ in the size of a first dimension, as one.

    Attributes:
        at: the place of the argument whose first dimension it is.

    Raises `Apart` if they differ in more.
    """

    def __init__(self, records: Sequence[Record]) -> None:
        if len(records) < ENOUGH:
            raise Apart("too few")
        self.records, first = records, records[0]
        self._alike([len(r.sources) for r in records])
        differs = [k for k, s in enumerate(first.sources) if s.kind == "argument" and s.look[1]
                   and len({r.sources[k].look[1][:1] for r in records}) > 1]  # fmt: skip
        if not differs:
            raise Apart("no argument differs in its first dimension")
        self.at = first.sources[differs[0]].at
        if any(not r.sources[differs[0]].look[1] for r in records):
            raise Apart("an argument has no dimension in one of them")
        self.sizes = [r.sources[differs[0]].look[1][0] for r in records]
        if len(set(self.sizes)) < ENOUGH:
            raise Apart("too few sizes")
        self._make = self._record()

    def record(self, size: int) -> Record:
        """The record for another size."""
        return self._make(size)

    # -- what is common, as functions of the size --

    def _record(self) -> Callable[[int], Record]:
        records, first = self.records, self.records[0]
        program = self._program([r.program for r in records])
        looks = [self._value([s.look for s in group]) for group in self._groups([r.sources for r in records])]
        for group in zip(*(r.sources for r in records), strict=True):
            if any(not _same_source(s, group[0]) for s in group):
                raise Apart("what is read")
        for name in ("grads", "versions", "looks", "draws"):
            self._alike([[part[0] if isinstance(part, tuple) else part for part in getattr(r, name)] for r in records])
        self._alike([r.outputs for r in records])
        self._alike([r.made for r in records])
        self._alike([[(s.leaf, s.how, s.steps, s.version) for s in r.shown] for r in records])
        self._alike([r.result for r in records])
        self._alike([r.spec for r in records])
        histories = [self._history(group) for group in self._groups([r.histories for r in records])]

        def made(size: int) -> Record:
            out = copy.copy(first)
            out.program = program(size)
            out.sources = [copy.copy(s) for s in first.sources]
            for source, look in zip(out.sources, looks, strict=True):
                source.look = look(size)
            out.histories = [history(size) for history in histories]
            for history in out.histories:
                history.sources = out.sources
            return out

        return made

    def _history(self, group: Sequence[Any]) -> Callable[[int], Any]:
        first, program = group[0], self._program([h.program for h in group])
        outputs = self._value([h.outputs for h in group])
        for name in ("tensors", "own", "places", "pure"):
            self._alike([getattr(h, name) for h in group])
        self._alike([[(s.at, s.is_input) for s in h.saved] for h in group])
        self._alike([[(p.uses, p.ends) for p in h.parts] for h in group])
        parts = [self._program([p.program for p in row]) for row in self._groups([h.parts for h in group])]

        def made(size: int) -> Any:
            out = copy.copy(first)
            out.program, out.outputs = program(size), outputs(size)
            out.parts = [Part(part(size), p.uses, p.ends) for part, p in zip(parts, first.parts, strict=True)]
            return out

        return made

    def _program(self, programs: Sequence[Program]) -> Callable[[int], Program]:
        first = programs[0]
        rows = self._groups([p.nodes for p in programs])
        numbers = [{node: k for k, node in enumerate(p.nodes)} for p in programs]
        self._alike([[n[node] for node in p.inputs] for n, p in zip(numbers, programs, strict=True)])
        self._alike([[n[node] for node in p.outputs] for n, p in zip(numbers, programs, strict=True)])
        self._alike([p.writes for p in programs])
        made = [self._node(row, numbers) for row in rows]

        def build(size: int) -> Program:
            nodes: list[Node] = []
            for node in made:
                nodes.append(node(size, nodes))
            at = numbers[0]
            return Program(nodes, [nodes[at[n]] for n in first.inputs], [nodes[at[n]] for n in first.outputs],
                           first.writes)  # fmt: skip

        return build

    def _node(self, row: Sequence[Node], numbers: Sequence[dict[Node, int]]) -> Callable[[int, list[Node]], Node]:
        first = row[0]
        if any((n.op, n.dtype) != (first.op, first.dtype) for n in row):
            raise Apart(f"{first.op} or its dtype")
        named = [n.with_args(_Ref.of(at)) for n, at in zip(row, numbers, strict=True)]
        given, shape = self._value(named), self._value([n.shape for n in row])

        def make(size: int, nodes: list[Node]) -> Node:
            args, kwargs = _resolved(given(size), nodes)
            out = Node(first.op, args, kwargs, None, first.place, first.name, first.library)
            out.shape, out.dtype = shape(size), first.dtype
            return out

        return make

    def _groups(self, columns: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
        if len({len(column) for column in columns}) > 1:
            raise Apart("how many there are")
        return list(zip(*columns, strict=True))

    def _alike(self, values: Sequence[Any]) -> None:
        if any(not _equal(v, values[0]) for v in values):
            raise Apart("something that does not follow from the size")

    def _value(self, values: Sequence[Any]) -> Callable[[int], Any]:
        """A value as a function of the size."""
        first = values[0]
        if any(type(v) is not type(first) for v in values):
            raise Apart("types")
        if isinstance(first, (tuple, list)):
            parts = [self._value(group) for group in self._groups(values)]
            kind = type(first)
            return lambda size: kind([part(size) for part in parts])
        if isinstance(first, dict):
            self._alike([list(v) for v in values])
            members = {key: self._value([v[key] for v in values]) for key in first}
            return lambda size: {key: member(size) for key, member in members.items()}
        if isinstance(first, slice):
            ends = self._value([(s.start, s.stop, s.step) for s in values])
            return lambda size: slice(*ends(size))
        if isinstance(first, np.ndarray):
            return self._array(values)
        if is_array(first) and not isinstance(first, np.generic):
            by, host = library(first), self._array([to_host(v) for v in values])
            return lambda size: by.brought(host(size), None, by.place_of(first))
        if all(_equal(v, first) for v in values):
            return lambda size: first
        if type(first) is int:
            return self._whole(values)
        if isinstance(first, (float, np.floating)):
            return self._number(values)
        raise Apart(f"{first!r} and {values[-1]!r}")

    def _whole(self, values: Sequence[int]) -> Callable[[int], int]:
        a, b = self.sizes[0], next(n for n in self.sizes if n != self.sizes[0])
        k = Fraction(values[self.sizes.index(b)] - values[0], b - a)
        rest = values[0] - k * a
        if any(k * n + rest != v for n, v in zip(self.sizes, values, strict=True)):
            raise Apart(f"{values[0]} at size {a}, {values[-1]} at {self.sizes[-1]}")

        def at(size: int) -> int:
            found = k * size + rest
            if found.denominator != 1:
                raise Apart(f"a size of {size}")
            return int(found)

        return at

    def _number(self, values: Sequence[Any]) -> Callable[[int], Any]:
        """A number that is a constant times one of `_FORMS`."""
        kind = type(values[0])
        for form in _FORMS:
            terms = [form(n) for n in self.sizes]
            if 0 not in terms and all(np.isfinite(values)):
                factor = _simple(float(values[0]) / terms[0], partial(_is, kind, values[0], terms[0]))
                if all(kind(factor * t) == v for t, v in zip(terms, values, strict=True)):
                    return partial(_times, kind, factor, form)
        raise Apart(f"{values[0]} at size {self.sizes[0]}, {values[-1]} at {self.sizes[-1]}")

    def _array(self, values: Sequence[Any]) -> Callable[[int], Any]:
        first = values[0]
        if all(_equal(v, first) for v in values):
            return lambda size: first
        if not first.shape and first.dtype.kind == "f":
            number = self._number([v[()] for v in values])
            return lambda size: np.array(number(size))
        shape = self._value([v.shape for v in values])
        if all(v.size and (v == v.flat[0]).all() and v.flat[0] == first.flat[0] for v in values):
            return lambda size: np.full(shape(size), first.flat[0], first.dtype)
        if all(v.ndim == 1 and np.array_equal(v, np.arange(len(v))) for v in values):
            return lambda size: np.arange(*shape(size), dtype=first.dtype)
        raise Apart("a constant array")


class _Ref:
    """The place of a node among those of its program."""

    def __init__(self, at: int) -> None:
        self.at = at

    @staticmethod
    def of(numbers: dict[Node, int]) -> Callable[[Node], Any]:
        return lambda node: _Ref(numbers[node])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Ref) and other.at == self.at

    def __hash__(self) -> int:
        return self.at


def _resolved(value: Any, nodes: Sequence[Node]) -> Any:
    if isinstance(value, _Ref):
        return nodes[value.at]
    if isinstance(value, (tuple, list)):
        return type(value)([_resolved(v, nodes) for v in value])
    if isinstance(value, dict):
        return {key: _resolved(v, nodes) for key, v in value.items()}
    return value


def _same_source(a: Any, b: Any) -> bool:
    """Whether two inputs are read at the same place."""
    if (a.kind, a.at) != (b.kind, b.at):
        return False
    if a.kind == "setting":
        return a.setting.container is b.setting.container and (a.setting.key, a.setting.index) == (
            b.setting.key, b.setting.index)  # fmt: skip
    return a.kind == "argument" or (a.tensor is b.tensor and (a.kind != "array" or a.array is b.array))


def _equal(a: Any, b: Any) -> bool:
    """Whether two values are the same for a program."""
    if a is b:
        return True
    if type(a) is not type(b) or isinstance(a, TensorBase):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(_equal, a, b))
    if isinstance(a, Draw):
        return (a.source, a.name, a.kwargs) == (b.source, b.name, b.kwargs)
    if isinstance(a, (Forward, Backward)):
        return a.alike(b)
    return same_value(a, b) or (not isinstance(a, (float, complex)) and bool(a == b))
