"""The order in which a program is run, step after step: a node, or a loop over pieces of long arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any, NamedTuple

from gradwright.compilation.by_numpy.layout import CAST, CHOICE, FEW, LINES, LONG, SHORT, SUM, UFUNC, Layout, entries
from gradwright.compilation.node import CHECK, CONSTANT, HOST, INPUT, VARIABLE, Node, Program

BYTES = 1 << 17
"""Of a piece of an array, such that what the operations of a loop make of one fits into the cache."""
_WIDE = 16
"""Entries of a row from which a scalar product a row is quicker than one for many."""


class Piece(NamedTuple):
    """Where a piece of a long array is, in entries or rows, and the shape that it is given."""

    where: slice
    shape: tuple[int, ...]


@dataclass
class Step:
    """One node; or those that are computed piece by piece together.

    Attributes:
        nodes: in their order.
        shape: of the arrays that a loop goes over; None for a step that is none.
        flat: whether a piece is a number of entries; else it is a number of rows, the first axis being cut.
        sums: whether there are sums over all axes in the loop.
    """

    nodes: list[Node] = field(default_factory=list)
    shape: tuple[int, ...] | None = None
    flat: bool = True
    sums: bool = False

    def pieces(self) -> list[Piece]:
        """All pieces; where there are sums, in lines that are short enough to be added up at once."""
        assert self.shape is not None
        size = BYTES // max(n.dtype.itemsize for n in self.nodes)
        if not self.flat:
            rest = self.shape[1:]
            if self.sums and self.shape[-1] < _WIDE:
                size = SHORT
            rows = max(size // prod(rest), 1)
            return [Piece(s, (s.stop - s.start, *rest)) for s in _cuts(0, self.shape[0], rows)]
        length = prod(self.shape)
        if not self.sums:
            return [Piece(s, (s.stop - s.start,)) for s in _cuts(0, length, size)]
        whole = length // SHORT * SHORT
        found = [Piece(s, ((s.stop - s.start) // SHORT, SHORT)) for s in _cuts(0, whole, size)]
        return found + [Piece(s, (1, s.stop - s.start)) for s in _cuts(whole, length, SHORT)]

    def in_rows(self) -> bool:
        """Whether sums are made of those of the last axis of each piece."""
        return self.flat or (self.shape is not None and self.shape[-1] >= _WIDE)


def _cuts(start: int, stop: int, size: int) -> list[slice]:
    return [slice(k, min(k + size, stop)) for k in range(start, stop, size)]


def raises(node: Node) -> bool:
    """Whether a node may say that the program does not hold, or runs what is not known: these keep their order."""
    return node.op in (CHECK, HOST) or node.op in VARIABLE


def steps(program: Program, layout: Layout) -> list[Step]:
    """The steps of a program.

    A node that can be computed piece by piece goes into the loop over its shape that comes first after all that it
    needs; loops of one shape that do not wait for each other are one.
    """
    stage: dict[Node, int] = {}
    looped: dict[Node, Any] = {}
    calls: dict[tuple[int, Any], Step] = {}
    late = 0
    for k, node in enumerate(program.nodes):
        if node.op in (INPUT, CONSTANT) or node in layout.merged:
            continue
        shape = _loop(node, layout)
        earliest = late if raises(node) else 0
        for x in layout.reads(node):
            if x in stage:
                joins = shape is not None and looped.get(x) == shape and layout.way[x] not in (SUM, LINES)
                earliest = max(earliest, stage[x] + (x in looped and not joins))
        stage[node] = earliest
        if raises(node):
            late = earliest
        if shape is None:
            calls[earliest, (0, k)] = Step([node])
            continue
        looped[node] = shape
        step = calls.setdefault((earliest, (1, shape)), Step(shape=shape))
        step.nodes.append(node)
        step.flat &= layout.way[node] != LINES and _flat(node, shape, layout)
        step.sums |= layout.way[node] == SUM
    for step in calls.values():
        _writes_last(step, program, layout)
    order = sorted(calls, key=lambda at: (at[0], at[1][0]))  # stable: otherwise as they were made
    return [calls[at] for at in order]


def _writes_last(step: Step, program: Program, layout: Layout) -> None:
    """Put what is written to inputs to the end of a loop, where nothing in it needs what was there."""
    if step.shape is not None:
        read = {x for node in step.nodes for x in layout.reads(node)}
        written = {node for node, at in zip(program.outputs, program.writes, strict=True) if at is not None} - read
        step.nodes.sort(key=written.__contains__)  # stable


def _loop(node: Node, layout: Layout) -> tuple[int, ...] | None:
    """The shape of the arrays over which a node may be computed piece by piece, or None."""
    way = layout.way[node]
    if way not in (UFUNC, CAST, CHOICE, SUM, LINES):
        return None
    shape: tuple[int, ...] = node.args[0].shape if way in (SUM, LINES) else node.shape
    if prod(shape) < LONG:
        return None
    row = prod(shape[1:])
    rows = not layout.exact(node) and shape[0] > 1 and row <= SHORT
    if way == LINES:
        return shape if rows and _sums_of_pieces(layout.axes[node], shape) else None
    if way != SUM and not layout.row(node):
        return None
    if _flat(node, shape, layout):
        return shape
    return shape if rows and all(_cut(x, shape) or _whole(x, shape) for x in layout.reads(node)) else None


def _sums_of_pieces(axes: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Whether few enough numbers are added one by one if sums over these axes are made a piece at a time."""
    together = prod(shape[a] for a in axes if a)
    if 0 in axes:
        return together * (BYTES // 4 // prod(shape[1:])) <= FEW
    return together < FEW or axes == (len(shape) - 1,)


def _flat(node: Node, shape: tuple[int, ...], layout: Layout) -> bool:
    """Whether all that a node takes is one number or lies in memory as an array in row-major order does."""
    given = [x for x in layout.reads(node) if entries(x) > 1]
    unknown = not layout.exact(node)
    return all(x.shape == shape and (layout.row(x) or (unknown and x not in layout.shown)) for x in given)


def _cut(node: Node, shape: tuple[int, ...]) -> bool:
    """Whether of an array, too, the first axis is cut."""
    return len(node.shape) == len(shape) and node.shape[0] == shape[0]


def _whole(node: Node, shape: tuple[int, ...]) -> bool:
    """Whether an array is the same for all rows."""
    return len(node.shape) < len(shape) or node.shape[0] == 1


def cut(node: Node, step: Step) -> bool:
    """Whether a loop takes a piece of an array at a time."""
    assert step.shape is not None
    return entries(node) > 1 if step.flat else _cut(node, step.shape)
