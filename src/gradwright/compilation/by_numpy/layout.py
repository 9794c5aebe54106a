"""How the values of a program will lie in memory: which are numbers, which views, which need memory of their own."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gradwright.backends.numpy import laid_as
from gradwright.compilation.interpreted import compute, function
from gradwright.compilation.node import CHECK, CONSTANT, HOST, INDEX, INPUT, PICK, Node, Program
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
_VIEWS = frozenset({"reshape", "permute_dims", "broadcast_to", INDEX, "real", "imag", "linalg.diagonal", "flip"})
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
        """What is looked at to compute a node."""
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
        if node.op in _VIEWS and x in self.shown:
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
