"""A program sorted into what C computes entry by entry, reductions, products, views, and calls that stay in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradwright.compilation.by_c.elements import Element, castable, element, known
from gradwright.compilation.by_c.gathers import Gather, Spread, gather_of, spread_of
from gradwright.compilation.by_c.lines import Line, line_of
from gradwright.compilation.by_c.places import Place, in_order, is_view, view
from gradwright.compilation.by_c.windows import Windows, as_view, windows_of, without_padding
from gradwright.compilation.node import CHECK, CONSTANT, HOST, INPUT, PICK, Node, Program

COPY = "copy"
_SHORT = 64
"""Checks of more bytes are left to Python."""
_REDUCTIONS = {
    "sum": "sum", "max": "max", "min": "min", "prod": "prod", "any": "any", "all": "all", "amax": "max", "amin": "min",
}  # fmt: skip


class Reduction(NamedTuple):
    """A reduction of a node over axes: ``kind`` is sum, prod, max, min, any or all; ``kept`` says which axes stay."""

    kind: str
    operand: Node
    kept: tuple[bool, ...]


class Product(NamedTuple):
    """A matrix product of two nodes of one dtype, float32 or float64."""

    left: Node
    right: Node


class Join(NamedTuple):
    """Arrays side by side: each part is a node that is written where it belongs in the whole."""

    parts: tuple[Node, ...]


class Check(NamedTuple):
    """A check that C makes: the bytes of ``operand``, in row-major order, are to be these."""

    operand: Node
    expected: bytes


Way = Element | Reduction | Product | Windows | Gather | Spread | Line | Join | Check | None


class Lowered:
    """The nodes that a program's results need, each in its way.

    Attributes:
        nodes: in order, without views.
        how: for each of them an Element, a Reduction, a Product, Windows, a Gather, a Spread, a Line, a Join, a Check,
            or None: a call.
        places: of every node that is an array, but of those that are not computed.
        part_of: for each part of a Join its node.
        outputs: for each output the node whose memory it is, which is no other's and no view, input or constant.
    """

    def __init__(self, program: Program, strides: Sequence[Any], exact: bool = False, blas: bool = True) -> None:
        self.program, self.exact, self.blas = program, exact, blas
        self.nodes: list[Node] = []
        self.how: dict[Node, Way] = {}
        self.part_of: dict[Node, Node] = {}
        self.places: dict[Node, Place] = {}
        self.views: dict[Node, Node] = {}
        self.same: dict[Node, Node] = {}
        self._around: dict[Any, Node] = {}
        given = dict(zip(program.inputs, strides, strict=True))
        self._to_the_bit = _checked(program.nodes)
        nodes = _needed(program, self._taken)
        for node in nodes:
            self._add(node, given.get(node))
        self.outputs: list[Node] = []
        for node in program.outputs:
            own = node in self.how and node not in self.outputs
            self.outputs.append(node if own else self._copied(node))

    def _add(self, node: Node, strides: Any = None) -> None:
        if node.op in (INPUT, CONSTANT):
            self._lie(node, strides)
            return
        if is_view(node) and node.args[0] in self.places:
            place = view(node, self.places[node.args[0]])
            if place is not None:
                self.places[node] = place
                self.views[node] = node.args[0]
                return
            if known(node.dtype) and node.op == "reshape":  # a copy of what it was, under another shape
                self.places[node] = Place(self._copied(node.args[0]), node.shape, in_order(node.shape), 0)
                return
        if node.op == "windows" and self._lies(node.args) and self._seen_through(node):
            return
        if node.op == "may_hold" and not node.kwargs and self._is_condition(node.args[0]):
            self.places[node] = Place(self._held(node), (), (), 0)
            return
        way = self._way(node)
        self.nodes.append(node)
        self.how[node] = way
        if node.shape is not None:
            self._lie(node)

    def _taken(self, node: Node) -> Iterable[Node]:
        """The nodes that are computed for a node; those of a sum of windows' products are not, one by one."""
        way = windows_of(node) if self.blas and self.rounds(node) else None
        return node.nodes() if way is None or way.kind != "weighed" else way.operands

    def _lie(self, node: Node, strides: Any = None) -> None:
        if strides is None and node.op == CONSTANT:
            strides = tuple(s // max(node.dtype.itemsize, 1) for s in node.args[0].strides)
        self.places[node] = Place(node, node.shape, in_order(node.shape) if strides is None else strides, 0)

    def _copied(self, node: Node) -> Node:
        """A new node that is a copy of one, in row-major order."""
        copy = node.like(COPY, (node,))
        self._add(copy)
        return copy

    def _seen_through(self, node: Node) -> bool:
        """Whether windows are a view: of their array, or of a copy with zeros around it."""
        x, lattice = node.args[0], node.kwargs["lattice"]
        place, way = as_view(lattice, self.places[x], node.shape), windows_of(node)
        if place is None and way is not None:
            padded = self._padded(node, x, way)
            seen = node.like("windows", (padded,), {"lattice": without_padding(lattice)})
            self._add(seen)
            self.same[node], place = seen, self.places[seen]
        elif place is not None:
            self.views[node] = x
        if place is not None:
            self.places[node] = place
        return place is not None

    def _is_condition(self, x: Any) -> bool:
        return isinstance(x, Node) and x in self.places and x.dtype == np.bool

    def _held(self, node: Node) -> Node:
        """A new node: whether a condition holds anywhere."""
        return self._new("any", node, (), np.dtype(bool), Reduction("any", x := node.args[0], (False,) * len(x.shape)))

    def _new(self, op: str, like: Node, shape: tuple[int, ...], dtype: Any, way: Way) -> Node:
        return self.enter(like.like(op, like.args, shape=shape, dtype=dtype), way)

    def enter(self, node: Node, way: Way) -> Node:
        """The node, which is computed in this way into memory of its own."""
        self.nodes.append(node)
        self.how[node] = way
        self._lie(node)
        return node

    def _joined(self, node: Node) -> Join | None:
        """A concatenation or a stack, part by part."""
        kwargs = dict(node.kwargs)
        axis = node.args[1] if len(node.args) == 2 else kwargs.pop("axis", 0)
        xs = node.args[0]
        if node.op not in ("concat", "stack") or kwargs or axis is None or not isinstance(xs, (tuple, list)):
            return None
        if not all(isinstance(x, Node) and x in self.places and castable(x.dtype, node.dtype) for x in xs):
            return None
        axis %= len(node.shape)
        strides, start, parts = in_order(node.shape), 0, []
        own = strides if node.op == "concat" else strides[:axis] + strides[axis + 1 :]
        for x in xs:
            part = self._new(COPY, node, x.shape, node.dtype, Element((x,), (x.dtype,), "{0}", x.dtype))
            self.places[part] = Place(part, x.shape, own, start)
            self.part_of[part] = node
            parts.append(part)
            start += strides[axis] * (x.shape[axis] if node.op == "concat" else 1)
        return Join(tuple(parts))

    def _batch_last(self, node: Node) -> Element:
        """A copy of a view whose first axis is the last."""
        x = node.args[0]
        of, turned = self.places[x], node.like("permute_dims", (x,))
        strides = (*of.strides[1:], of.strides[0])
        self.places[turned] = Place(of.root, node.shape, strides, of.start)
        return Element((turned,), (x.dtype,), "{0}", x.dtype)

    def _check(self, node: Node) -> Check | None:
        x, expected = node.args
        if not isinstance(x, Node) or x not in self.places or expected.nbytes > _SHORT:
            return None
        dtype = self.places[x].root.dtype
        if not known(dtype) or expected.dtype != dtype or expected.shape != self.places[x].shape:
            return None
        if not self.places[x].contiguous:
            x = self._copied(x)
        return Check(x, expected.tobytes())

    def root(self, node: Node) -> Node:
        """The node in whose memory a value lies; itself, if it is no array."""
        place = self.places.get(node)
        return node if place is None else place.root

    def rounds(self, node: Node) -> bool:
        """Whether a node may be rounded otherwise than NumPy's is."""
        return not self.exact and node not in self._to_the_bit

    def _way(self, node: Node) -> Way:
        if node.op == CHECK:
            return self._check(node)
        if node.op in ("concat", "stack") and known(node.dtype):
            return self._joined(node)
        if node.op == "batch_last" and known(node.dtype) and self._lies(node.args):
            return self._batch_last(node)
        if node.op in (HOST, PICK) or node.dtype is None:
            return None
        exact = not self.rounds(node)
        found: Any = element(node, exact)
        if found is not None and self._lies(o for o in found.operands if isinstance(o, Node)):
            return found
        by_index = gather_of(node, exact)
        if by_index is not None and self._lies(by_index.operands):
            return self._gathered(by_index)
        picked = spread_of(node)
        if picked is not None and self._lies(node.nodes()):
            if picked.base is not None and not self.places[picked.base].contiguous:
                return picked._replace(base=self._copied(picked.base))
            return picked
        line = line_of(node, exact)
        if line is not None and self._lies([line.operand]):
            whole = line.axis is None and not self.places[line.operand].contiguous
            return line._replace(operand=self._copied(line.operand)) if whole else line
        if exact:
            return None
        found = self._windows(node) or _reduction(node) or self._product(node)
        return found if found is not None and self._lies(o for o in found if isinstance(o, Node)) else None

    def _windows(self, node: Node) -> Windows | None:
        """Products with windows, whose operands lie in order, but for images, in which windows may lie otherwise."""
        found = windows_of(node)
        if found is None or not self._lies(found.operands) or (found.kind != "fold_windows" and not self.blas):
            return None
        if found.side_by_side:
            rows, images, *bias = found.operands
            images = self._padded(node, images, found)
            lattice, size = without_padding(found.lattice), images.shape[2:]
            found = found._replace(operands=(rows, images, *bias), lattice=lattice, size=size, as_it_lies=True)
        image = {"times": 1, "weigh": 1, "weighed": 1}.get(found.kind, -1)
        lies = [self.places[x].strides[-1] == 1 if k == image else self.places[x].contiguous
                for k, x in enumerate(found.operands)]  # fmt: skip
        return found._replace(operands=tuple(
            x if good else self._copied(x) for x, good in zip(found.operands, lies, strict=True)))  # fmt: skip

    def _padded(self, node: Node, x: Node, way: Windows) -> Node:
        """Images with their zeros around them."""
        size, _ = way.lattice.padded(way.size)
        if size == way.size:
            return x
        key = (x, way.lattice.padding)
        if key not in self._around:
            shape = (*x.shape[: -len(size)], *size)
            padded = Windows("padded", (x,), way.lattice, way.size)
            self._around[key] = self._new("padded", node, shape, x.dtype, padded)
        return self._around[key]

    def _gathered(self, found: Gather) -> Gather:
        """One whose first operand lies in order if it is copied."""
        first, *rest = found.operands
        if found.kind in ("take", "zeros") or self.places[first].contiguous:
            return found
        return found._replace(operands=(self._copied(first), *rest))

    def _lies(self, nodes: Iterable[Node]) -> bool:
        return all(node in self.places for node in nodes)

    def _product(self, node: Node) -> Product | None:
        if not self.blas or node.op not in ("matmul", "linalg.matmul") or node.kwargs or len(node.args) != 2:
            return None
        if node.dtype not in (np.float32, np.float64) or not self._lies(node.nodes()):
            return None
        left, right = node.args
        if left.dtype != node.dtype or right.dtype != node.dtype or 0 in (*left.shape, *right.shape):
            return None
        return Product(*(a if _matrix_strides(self.places[a]) else self._copied(a) for a in (left, right)))


def _matrix_strides(place: Place) -> bool:
    """Whether BLAS reads each matrix of it where it lies."""
    if len(place.shape) == 1:
        return place.strides[0] > 0 or place.shape[0] == 1
    (n, m), (far, near) = place.shape[-2:], place.strides[-2:]
    return ((near == 1 or m == 1) and (far >= max(m, 1) or n == 1)) or ((far == 1 or n == 1) and (near >= n or m == 1))


def _reduction(node: Node) -> Reduction | None:
    kind = _REDUCTIONS.get(node.op)
    if kind is None or not node.args or not isinstance(x := node.args[0], Node) or x.dtype is None:
        return None
    kwargs = dict(node.kwargs)
    axis = node.args[1] if len(node.args) == 2 else kwargs.pop("axis", None)
    kwargs.pop("keepdims", None)
    if kwargs.pop("dtype", node.dtype) is None or kwargs or len(node.args) > 2:
        return None
    if not known(x.dtype) or not known(node.dtype) or (kind in ("max", "min") and x.dtype != node.dtype):
        return None
    if kind == "prod" and node.dtype.kind == "f" and x.dtype != node.dtype:
        return None
    if x.dtype == bool and kind in ("max", "min"):
        kind = "any" if kind == "max" else "all"
    n = len(x.shape)
    axes = range(n) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    reduced = {a % n for a in axes} if n else set()
    return Reduction(kind, x, tuple(k not in reduced for k in range(n)))


def _needed(program: Program, taken: Callable[[Node], Iterable[Node]]) -> list[Node]:
    """The nodes that outputs and whatever is done besides need, in order."""
    needed = {*program.inputs, *program.outputs}
    for node in reversed(program.nodes):
        if node in needed or node.op in (HOST, CHECK):
            needed.add(node)
            needed.update(taken(node))
    return [node for node in program.nodes if node in needed]


def reads_floats(node: Node) -> bool:
    """Whether a node is a check of floats, which must be NumPy's to the last bit."""
    x = node.args[0] if node.op == CHECK else None
    return isinstance(x, Node) and x.dtype is not None and x.dtype.kind in "fc"


def _checked(nodes: list[Node]) -> set[Node]:
    """What checks of floats depend on: these compare with NumPy's numbers to the last bit."""
    found: set[Node] = set()
    for node in reversed(nodes):
        if reads_floats(node):
            found.add(node.args[0])
        elif node in found:
            found.update(node.nodes())
    return found
