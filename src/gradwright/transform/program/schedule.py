"""The order in which a program is run, step after step: a node, or a loop over pieces of long arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any

from gradwright.transform.program.layout import CAST, PIECE, SHORT, SUM, UFUNC, Layout, entries
from gradwright.transform.program.node import CHECK, CONSTANT, HOST, INPUT, VARIABLE, Node, Program


@dataclass
class Step:
    """One node; or those that are computed piece by piece together.

    Attributes:
        nodes: in their order.
        shape: of the arrays that a loop goes over; None for a step that is none.
        flat: whether a piece is a number of entries; else it is a number of rows, the first axis being cut.
        most: how many entries a piece has at most.
    """

    nodes: list[Node] = field(default_factory=list)
    shape: tuple[int, ...] | None = None
    flat: bool = True
    most: int = PIECE

    def pieces(self) -> list[slice]:
        """Where each piece is, in entries or rows."""
        assert self.shape is not None
        length, row = (prod(self.shape), 1) if self.flat else (self.shape[0], prod(self.shape[1:]))
        size = max(self.most // row, 1)
        return [slice(k, min(k + size, length)) for k in range(0, length, size)]


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
                joins = shape is not None and looped.get(x) == shape and layout.way[x] != SUM
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
        step.flat &= _flat(node, shape, layout)
        if node in layout.factors:
            step.most = SHORT
    order = sorted(calls, key=lambda at: (at[0], at[1][0]))  # stable: otherwise as they were made
    return [calls[at] for at in order]


def _loop(node: Node, layout: Layout) -> tuple[int, ...] | None:
    """The shape of the arrays over which a node may be computed piece by piece, or None."""
    way = layout.way[node]
    if way not in (UFUNC, CAST, SUM):
        return None
    shape: tuple[int, ...] = next(node.nodes()).shape if way == SUM else node.shape
    if prod(shape) < 2 * PIECE or not (way == SUM or layout.row(node)):
        return None
    if _flat(node, shape, layout):
        return shape
    rows = not layout.exact(node) and shape[0] > 1 and prod(shape[1:]) <= PIECE
    return shape if rows and all(_cut(x, shape) or _whole(x, shape) for x in layout.reads(node)) else None


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
