"""How the values of a program will lie in memory, and in which order they are computed."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any, NamedTuple

import numpy as np

from gradwright.backends.numpy import laid_as
from gradwright.compilation.node import (
    CHECK,
    CONSTANT,
    HOST,
    INPUT,
    PICK,
    VARIABLE,
    VIEWS,
    Node,
    Program,
    compute,
    function,
)
from gradwright.compilation.rewriting import checked, elementwise

GIVEN, NUMBER, UFUNC, CAST, CHOICE, VIEW, COPY, SUM, LINES, PRODUCT, CALL = (
    "given", "number", "ufunc", "cast", "choice", "view", "copy", "sum", "lines", "product", "call"
)
"""How a node is computed:

- ``given``: an input or a constant.
- ``number``: one number (of NumPy's), by Python's operators or a ufunc.
- ``ufunc``, ``cast``, ``choice``, ``copy``, ``product``, ``lines``: into an array that is there already, by a ufunc,
  `astype`, `where`, a reshape that cannot be a view, a product of matrices, a sum over some of the axes.
- ``view``: of an array that is there already.
- ``sum``: a sum over all axes of an array whose entries lie one after another.
- ``call``: by its function, which makes what it returns.
"""
OWN = (UFUNC, CAST, CHOICE, COPY, PRODUCT, LINES)
"""The ways of computing that fill memory which is there already."""
LONG = 32768
"""Entries from which arrays are computed piece by piece."""
SHORT = 8192
"""Entries up to which BLAS takes no threads for a scalar product, and adds few enough numbers one by one."""
FEW = 256
"""Numbers that may be added one by one."""
_NEW = frozenset({
    "sum", "max", "min", "prod", "any", "all", "matmul", "where", "concat", "stack", "take", "cumulative_sum", "sort",
    "argsort", "argmax", "argmin", "cumulative_prod", "zeros_like", "ones_like", "take_along_axis", "linalg.inv",
    "linalg.solve", "linalg.det", "at_index", "repeat",
})  # fmt: skip
"""Functions whose results are always new memory."""


class Layout:
    """What is known of the values of a program before it runs.

    Attributes:
        way: for each node how it is computed.
        shown: for each node whose strides are known an array that has them, with whatever values: of the memory that
            its owner shows.
        owners: for each node those whose memory its value may be in, itself among them if it has memory of its own;
            more than one where that is not known.
        factors: for each sum of products that is computed as a scalar product the two arrays.
        merged: the products in these, which are not computed.
        axes: for each sum over some axes these.
    """

    def __init__(self, program: Program, exact: bool, inputs: dict[Node, Any]) -> None:
        self.way: dict[Node, str] = {}
        self.shown: dict[Node, Any] = dict(inputs)
        self.owners: dict[Node, frozenset[Node]] = {}
        self.factors: dict[Node, tuple[Node, Node]] = {}
        self.axes: dict[Node, tuple[int, ...]] = {}
        self.merged: set[Node] = set()
        self._exact = set(program.nodes) if exact else checked(program)
        for node in program.nodes:
            self._look(node)
        users = program.users()
        for node in program.nodes:
            last = self.axes.get(node) == (len(node.shape or ()),)  # so that no axis is kept with length 1
            if self.way[node] == SUM or (self.way[node] == LINES and last):
                x = node.args[0]
                if len(users[x]) == 1 and x not in program.outputs and (pair := self._factors(x)):
                    self.factors[node] = pair
                    self.merged.add(x)

    def _factors(self, node: Node) -> tuple[Node, Node] | None:
        """The two arrays of a product whose sum a scalar product gives."""
        if self.way[node] != UFUNC or node.op not in ("multiply", "square") or self.exact(node):
            return None
        a, b = node.args[0], node.args[-1]
        arrays = all(isinstance(x, Node) and x.shape == node.shape and x.dtype == node.dtype for x in (a, b))
        long = entries(node) <= SHORT or entries(node) >= LONG
        return (a, b) if arrays and long and self.row(a) and self.row(b) else None

    def reads(self, node: Node) -> list[Node]:
        """The values looked at to compute a node."""
        return [*self.factors[node]] if node in self.factors else [*node.nodes()]

    def _look(self, node: Node) -> None:
        own = frozenset([node])
        if node.op in (INPUT, CONSTANT):
            self.way[node], self.owners[node] = GIVEN, own
            if node.op == CONSTANT:
                self.shown[node] = node.args[0]
            return
        self.way[node], shown = self._way(node)
        if shown is not None:
            self.shown[node] = shown
        if self.way[node] == VIEW:
            self.owners[node] = self.owners[node.args[0]]
        elif self.way[node] in (NUMBER, SUM) or node.op == CHECK:
            self.owners[node] = frozenset()
        elif self.way[node] == CALL and node.op not in _NEW and not _certain(node):
            self.owners[node] = frozenset().union(own, *(self.owners[x] for x in node.nodes()))
        else:
            self.owners[node] = own

    def _way(self, node: Node) -> tuple[str, Any]:
        """How a node is computed, and an array with the strides of its value."""
        nodes = [*node.nodes()]
        if node.shape is None or node.op in (HOST, CHECK, PICK) or not nodes:
            return CALL, None
        if _certain(node):
            return (NUMBER, None) if node.shape == () else self._into(UFUNC, node, nodes)
        x = nodes[0]
        if node.op == "astype" and not node.shape and len(node.args) == 2 and node.dtype.kind == "f":
            return (NUMBER, None) if x.dtype.kind in "fiub" and not x.shape else (CALL, None)
        if node.shape and node.op == "astype" and len(nodes) == 1 and x.shape == node.shape:
            return self._into(CAST, node, nodes)
        if node.op in VIEWS and x in self.shown:
            found = compute(node, *node.with_args(self.shown.__getitem__))
            if np.may_share_memory(found, self.shown[x]):
                return VIEW, found
            if node.op == "reshape" and found.size:
                return COPY, np.empty(node.shape, node.dtype)
            return CALL, None
        if self.exact(node):
            return CALL, None
        if node.op == "where" and node.shape and len(node.args) == 3 and len(node.kwargs) == 0 and len(nodes) == 3:
            same = all(v.dtype == node.dtype for v in nodes[1:]) and node.dtype.char in "fd"
            if same and x.dtype == bool and x.shape == node.shape:
                return CHOICE, np.empty(node.shape, node.dtype)
        if node.op == "matmul" and node.shape and len(nodes) == 2 and not node.kwargs and node.dtype.kind in "fc":
            if all(v.dtype == node.dtype for v in nodes):
                return PRODUCT, np.empty(node.shape, node.dtype)
        elif node.op == "sum" and node.shape == () and node.dtype.char in "fd" and x.dtype == node.dtype:
            return (SUM, None) if self.row(x) else (CALL, None)
        elif node.op == "sum" and node.shape and node.dtype.char in "fd" and x.dtype == node.dtype and entries(x):
            axis = node.kwargs.get("axis")
            if self.row(x) and axis is not None and node.kwargs.keys() <= {"axis", "keepdims"} and len(node.args) == 1:
                axes = axis if isinstance(axis, tuple) else (axis,)
                self.axes[node] = tuple(sorted(a % len(x.shape) for a in axes))
                return LINES, np.empty(node.shape, node.dtype)
        return CALL, None

    def _into(self, way: str, node: Node, nodes: list[Node]) -> tuple[str, Any]:
        if way == CAST and nodes[0] in self.shown:
            return way, laid_as(self.shown[nodes[0]], node.dtype)
        if not self.exact(node):
            return way, np.empty(node.shape, node.dtype)
        if any(x.shape and x not in self.shown for x in nodes):
            return CALL, None
        given = [self.shown[x] for x in nodes if x.shape]
        flags: Any = [["readonly"]] * len(given) + [["writeonly", "allocate"]]
        walk = np.nditer([*given, None], ["zerosize_ok", "refs_ok"], flags, [*(a.dtype for a in given), node.dtype])
        found = walk.operands[-1]
        return (way, found) if found.shape == node.shape else (CALL, None)

    def exact(self, node: Node) -> bool:
        """Whether a node is to have the bits that it has call by call."""
        return node in self._exact

    def row(self, node: Node) -> bool:
        """Whether the entries of an array lie one after another in row-major order, for all that is known."""
        return node in self.shown and bool(self.shown[node].flags.c_contiguous)


def _certain(node: Node) -> bool:
    """Whether a node is a ufunc of arrays and numbers, which makes new memory or fills what it is given."""
    return (
        node.shape is not None
        and elementwise(node.op)
        and not node.kwargs
        and isinstance(function(node.op), np.ufunc)
        and all(isinstance(x, (Node, int, float, complex, np.number)) for x in node.args)
        and all(x.dtype is not None for x in node.nodes())
    )


def entries(node: Node) -> int:
    """How many entries the value of a node has."""
    return prod(node.shape) if node.shape is not None else 0


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
