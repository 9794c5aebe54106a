"""One program for all sizes of a first dimension, made of programs that were traced for some of them.

What differs between them must follow from the size: whole numbers k n + b, constants that are counts (0, 1, 2, ...) or
one number everywhere. If anything else differs, there is no such program. Nothing is guessed that is not so in all.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from gradwright.backends import is_array, library, to_host
from gradwright.compilation.node import Node, Program
from gradwright.compilation.trace.history import Part
from gradwright.compilation.trace.host import Backward, Draw, Forward
from gradwright.compilation.trace.record import Record
from gradwright.compilation.watch.guards import same as same_value
from gradwright.engine.base import TensorBase

ENOUGH = 3
_FORMS: tuple[Callable[[int], float], ...] = (
    lambda n: n, lambda n: n - 1, lambda n: 1 / max(n, 1), lambda n: 1 / max(n - 1, 1), lambda n: n / max(n - 1, 1),
    lambda n: n**0.5, lambda n: 1 / max(n, 1) ** 0.5,
)  # fmt: skip
"""What numbers in formulas depend on sizes by: counts, means, variances, their corrections."""


def _simple(factor: float, kind: Any, term: float, value: Any) -> float:
    """A factor with few digits, if one of a term gives the value as well."""
    shorter = (float(f"{factor:.{digits}g}") for digits in range(1, 8))
    return next((c for c in shorter if kind(c * term) == value), factor)


class SizesDiffer(Exception):  # noqa: N818 - no error: there is no one program
    """Something differs that does not follow from the size."""


class Template:
    """Records of calls that differ in the size of a first dimension, as one.

    Attributes:
        at: the place of the argument whose first dimension it is.

    Raises `SizesDiffer` if they differ in more.
    """

    def __init__(self, records: Sequence[Record]) -> None:
        if len(records) < ENOUGH:
            raise SizesDiffer("too few")
        self.records, first = records, records[0]
        self._alike([len(r.sources) for r in records])
        differs = [k for k, s in enumerate(first.sources) if s.kind == "argument" and s.look[1]
                   and len({r.sources[k].look[1][:1] for r in records}) > 1]  # fmt: skip
        if not differs:
            raise SizesDiffer("no argument differs in its first dimension")
        self.at = first.sources[differs[0]].at
        if any(not r.sources[differs[0]].look[1] for r in records):
            raise SizesDiffer("an argument has no dimension in one of them")
        self.sizes = [r.sources[differs[0]].look[1][0] for r in records]
        if len(set(self.sizes)) < ENOUGH:
            raise SizesDiffer("too few sizes")
        self.record(self.sizes[0])

    def record(self, size: int) -> Record:
        """The record for another size. Raises `SizesDiffer` if the records differ in what does not follow from it."""
        records = self.records
        for name in ("grads", "versions", "looks", "draws"):
            self._alike([[part[0] if isinstance(part, tuple) else part for part in getattr(r, name)] for r in records])
        for name in ("outputs", "made", "result", "spec", "answers"):
            self._alike([getattr(r, name) for r in records])
        self._alike([[(s.leaf, s.how, s.steps, s.version) for s in r.shown] for r in records])
        out = copy.copy(records[0])
        out.program = self._program([r.program for r in records], size)
        out.sources = [self._source(row, size) for row in self._rows([r.sources for r in records])]
        out.histories = [self._history(row, size, out.sources) for row in self._rows([r.histories for r in records])]
        return out

    # -- what is common to a row, one of each record, at a size --

    def _source(self, row: Sequence[Any], size: int) -> Any:
        if any(not _same_source(s, row[0]) for s in row):
            raise SizesDiffer("what is read")
        out = copy.copy(row[0])
        out.look = self._at([s.look for s in row], size)
        return out

    def _history(self, row: Sequence[Any], size: int, sources: Sequence[Any]) -> Any:
        for name in ("tensors", "own", "places", "pure"):
            self._alike([getattr(h, name) for h in row])
        self._alike([[(s.at, s.is_input) for s in h.saved] for h in row])
        self._alike([[(p.uses, p.ends) for p in h.parts] for h in row])
        out = copy.copy(row[0])
        out.program = self._program([h.program for h in row], size)
        out.outputs = self._at([h.outputs for h in row], size)
        out.parts = [Part(self._program([p.program for p in parts], size), parts[0].uses, parts[0].ends)
                     for parts in self._rows([h.parts for h in row])]  # fmt: skip
        out.sources = sources
        return out

    def _program(self, row: Sequence[Program], size: int) -> Program:
        numbers = [{node: k for k, node in enumerate(p.nodes)} for p in row]
        inputs = [[n[node] for node in p.inputs] for n, p in zip(numbers, row, strict=True)]
        outputs = [[n[node] for node in p.outputs] for n, p in zip(numbers, row, strict=True)]
        for values in (inputs, outputs, [p.writes for p in row]):
            self._alike(values)
        nodes: list[Node] = []
        for same in self._rows([p.nodes for p in row]):
            first = same[0]
            if any((n.op, n.dtype) != (first.op, first.dtype) for n in same):
                raise SizesDiffer(f"{first.op} or its dtype")
            named = [n.with_args(_Ref.of(at)) for n, at in zip(same, numbers, strict=True)]
            args, kwargs = _resolved(self._at(named, size), nodes)
            nodes.append(first.like(first.op, args, kwargs, shape=self._at([n.shape for n in same], size)))
        return Program(nodes, [nodes[k] for k in inputs[0]], [nodes[k] for k in outputs[0]], row[0].writes)

    def _rows(self, columns: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
        if len({len(column) for column in columns}) > 1:
            raise SizesDiffer("how many there are")
        return list(zip(*columns, strict=True))

    def _alike(self, values: Sequence[Any]) -> None:
        if any(not _equal(v, values[0]) for v in values):
            raise SizesDiffer("something that does not follow from the size")

    def _at(self, values: Sequence[Any], size: int) -> Any:
        """A value at a size, of those of all records."""
        first = values[0]
        if any(type(v) is not type(first) for v in values):
            raise SizesDiffer("types")
        if isinstance(first, (tuple, list)):
            return type(first)([self._at(row, size) for row in self._rows(values)])
        if isinstance(first, dict):
            self._alike([list(v) for v in values])
            return {key: self._at([v[key] for v in values], size) for key in first}
        if isinstance(first, slice):
            return slice(*self._at([(s.start, s.stop, s.step) for s in values], size))
        if isinstance(first, np.ndarray):
            return self._array(values, size)
        if is_array(first) and not isinstance(first, np.generic):
            by = library(first)
            return by.brought(self._array([to_host(v) for v in values], size), None, by.place_of(first))
        if all(_equal(v, first) for v in values):
            return first
        if type(first) is int:
            return self._whole(values, size)
        if isinstance(first, (float, np.floating)):
            return self._number(values, size)
        raise SizesDiffer(f"{first!r} and {values[-1]!r}")

    def _whole(self, values: Sequence[int], size: int) -> int:
        a, b = self.sizes[0], next(n for n in self.sizes if n != self.sizes[0])
        k = Fraction(values[self.sizes.index(b)] - values[0], b - a)
        rest = values[0] - k * a
        if any(k * n + rest != v for n, v in zip(self.sizes, values, strict=True)):
            raise SizesDiffer(f"{values[0]} at size {a}, {values[-1]} at {self.sizes[-1]}")
        found = k * size + rest
        if found.denominator != 1:
            raise SizesDiffer(f"a size of {size}")
        return int(found)

    def _number(self, values: Sequence[Any], size: int) -> Any:
        """A number that is a constant times one of `_FORMS`."""
        kind = type(values[0])
        for form in _FORMS:
            terms = [form(n) for n in self.sizes]
            if 0 not in terms and all(np.isfinite(values)):
                factor = _simple(float(values[0]) / terms[0], kind, terms[0], values[0])
                if all(kind(factor * t) == v for t, v in zip(terms, values, strict=True)):
                    return kind(factor * form(size))
        raise SizesDiffer(f"{values[0]} at size {self.sizes[0]}, {values[-1]} at {self.sizes[-1]}")

    def _array(self, values: Sequence[Any], size: int) -> Any:
        first = values[0]
        if all(_equal(v, first) for v in values):
            return first
        if not first.shape and first.dtype.kind == "f":
            return np.array(self._number([v[()] for v in values], size))
        shape = self._at([v.shape for v in values], size)
        if all(v.size and (v == v.flat[0]).all() and v.flat[0] == first.flat[0] for v in values):
            return np.full(shape, first.flat[0], first.dtype)
        if all(v.ndim == 1 and np.array_equal(v, np.arange(len(v))) for v in values):
            return np.arange(*shape, dtype=first.dtype)
        raise SizesDiffer("a constant array")


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
