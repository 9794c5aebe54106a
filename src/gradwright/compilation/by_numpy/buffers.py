"""Memory for the values of a program, made before it runs: what is no longer needed is written over."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwright.compilation.by_numpy.layout import CALL, OWN, UFUNC, VIEW, Layout, Step, cut
from gradwright.compilation.node import HOST, Node, Program
from gradwright.compilation.rewriting import elementwise

_ALIGNED = 64


class Pool:
    """Blocks of memory, some of them free."""

    def __init__(self) -> None:
        self.free: list[Any] = []
        self.bytes = 0

    def take(self, nbytes: int) -> Any:
        """A block of at least this many bytes: the smallest free one, unless that is much too large, or a new one."""
        fitting = [b for b in self.free if nbytes <= b.nbytes <= 4 * nbytes + 4096]
        if fitting:
            best = min(fitting, key=lambda b: b.nbytes)
            self.free = [b for b in self.free if b is not best]
            return best
        raw = np.empty(nbytes + _ALIGNED, np.uint8)
        start = -raw.__array_interface__["data"][0] % _ALIGNED
        self.bytes += raw.nbytes
        return raw[start : start + nbytes]

    def give(self, block: Any) -> None:
        """A block is free again."""
        self.free.append(block)


def array(block: Any, shape: Any, dtype: Any, strides: Any = None) -> Any:
    """An array at the start of a block."""
    return np.ndarray(shape, dtype, block, 0, strides)


class Buffers:
    """The memory of a program.

    Attributes:
        arrays: for each node that is computed into memory which is there already, it.
        scratch: for each node of a loop that only the loop needs, a block for a piece of it.
        last: for each owner of memory the number of the last step that reads it; that of all steps for outputs.
    """

    def __init__(
        self, program: Program, layout: Layout, order: list[Step], elsewhere: set[Node], inside: set[Node]
    ) -> None:
        """Lay memory out.

        Args:
            program, layout, order: what it is for.
            elsewhere: the nodes that are computed into other memory than these buffers.
            inside: those that only the loop they are in needs.
        """
        self.arrays: dict[Node, Any] = {}
        self.scratch: dict[Node, Any] = {}
        self.last: dict[Node, int] = {}
        self._layout, self._pool, self._blocks = layout, Pool(), dict[Node, Any]()
        for k, step in enumerate(order):
            for node in step.nodes:
                for x in layout.reads(node):
                    for owner in layout.owners[x]:
                        self.last[owner] = k
        for node in program.outputs:
            for owner in layout.owners[node]:
                self.last[owner] = len(order)
        ending: dict[int, list[Node]] = {}
        for k, step in enumerate(order):
            kept = [n for n in step.nodes if layout.way[n] in OWN and n not in elsewhere and n not in inside]
            for node in kept:
                block = self._over(node, k, step)
                if block is None:
                    block = self._pool.take(node.dtype.itemsize * max(_size(node), 1))
                self._blocks[node] = block
                self.arrays[node] = array(block, node.shape, node.dtype, layout.shown[node].strides)
                ending.setdefault(self.last.get(node, k), []).append(node)
            if step.shape is not None:
                self._within(step, inside)
            for node in ending.get(k, ()):
                if node in self._blocks:
                    self._pool.give(self._blocks.pop(node))

    @property
    def bytes(self) -> int:
        """How much memory there is."""
        return self._pool.bytes

    def _over(self, node: Node, k: int, step: Step) -> Any:
        """The block of an operand that nothing needs after this step, and that may be written over; or None."""
        if step.shape is not None or self._layout.way[node] != UFUNC:
            return None
        for x in node.nodes():
            if self.last.get(x) == k and x in self._blocks:
                a, b = self._layout.shown[x], self._layout.shown[node]
                if (a.shape, a.dtype, a.strides) == (b.shape, b.dtype, b.strides):
                    return self._blocks.pop(x)
        return None

    def _within(self, step: Step, inside: set[Node]) -> None:
        """Blocks for pieces, each free again when the last node of the loop that reads it has run."""
        size = max(_product(piece.shape) for piece in step.pieces())
        last = {x: node for node in step.nodes for x in self._layout.reads(node)}
        held: dict[Node, Any] = {}
        for node in step.nodes:
            ending = [x for x in dict.fromkeys(self._layout.reads(node)) if x in held and last[x] is node]
            if node in inside and self._layout.way[node] in OWN:
                same = [x for x in ending if x.dtype == node.dtype and self._layout.way[node] == UFUNC]
                block = held.pop(same[0]) if same else self._pool.take(size * node.dtype.itemsize)
                held[node] = self.scratch[node] = block
            for x in ending:
                if x in held:
                    self._pool.give(held.pop(x))
        for block in held.values():
            self._pool.give(block)


def _size(node: Node) -> int:
    return _product(node.shape)


def _product(shape: Any) -> int:
    found = 1
    for n in shape:
        found *= n
    return found


_CERTAIN = frozenset({
    "sum", "max", "min", "prod", "any", "all", "matmul", "where", "permute_dims", "reshape", "broadcast_to", "getitem",
    "concat", "stack", "sort", "argsort", "argmax", "argmin", "zeros_like", "ones_like", "tril", "triu", "flip",
    "cumulative_sum", "cumulative_prod", "squeeze", "expand_dims", "windows", "fold_windows", "times_windows",
    "weigh_windows", "spread_windows", "pick",
})  # fmt: skip
_DIVISIONS = frozenset({"floor_divide", "remainder", "fmod", "power"})
"""Of whole numbers these may raise."""


def escaping(program: Program, layout: Layout) -> set[Node]:
    """The nodes whose values somebody else may keep: they are made anew each time."""
    found = {x for k, x in enumerate(program.outputs) if program.writes[k] is None}
    for node in program.nodes:
        if node.op == HOST:
            found.update(owner for x in node.nodes() for owner in layout.owners[x])
    for x in [*found]:
        if layout.way[x] == VIEW:
            found |= layout.owners[x]
    return found


def written_in_place(program: Program, layout: Layout, order: list[Step]) -> dict[Node, Node]:
    """For each node that is computed into the memory of an input, as the last that may need it, that input."""
    outputs, writes = program.outputs, program.writes
    found: dict[Node, Node] = {}
    at = {node: k for k, step in enumerate(order) for node in step.nodes}
    readers: dict[Node, list[Node]] = {}
    for node in at:
        for owner in {owner for x in layout.reads(node) for owner in layout.owners[x]}:
            readers.setdefault(owner, []).append(node)
    last_raise = max([k for k, step in enumerate(order) if not _sure(step, layout)], default=-1)
    for k, node in enumerate(outputs):
        w = writes[k]
        if w is None or outputs.count(node) > 1 or writes.count(w) > 1 or layout.way[node] != UFUNC:
            continue
        place = program.inputs[w]
        kept = layout.shown.get(place)
        if kept is None or place.shape != node.shape or place.dtype != node.dtype or at[node] < last_raise:
            continue
        if any(place in layout.owners[x] for x in outputs):
            continue
        if layout.exact(node) and layout.shown[node].strides != kept.strides:
            continue
        if _read_before(place, readers.get(place, []), node, at[node], at, layout, order[at[node]]):
            found[node] = place
    return found


def _read_before(place: Node, readers: list[Node], node: Node, now: int, at: dict[Node, int], layout: Layout,
                 step: Step) -> bool:  # fmt: skip
    """Whether nothing reads the memory of an input once a node has been computed, which may read it itself."""
    for other in readers:
        if at[other] > now:
            return False
        if at[other] < now or step.shape is None:
            continue
        late = step.nodes.index(other) > step.nodes.index(node)
        elsewhere = any(x is not place and place in layout.owners[x] for x in layout.reads(other))
        if late or elsewhere or not cut(place, step):
            return False
    return step.shape is None or not step.flat or layout.row(place)


def inside(program: Program, layout: Layout, order: list[Step]) -> set[Node]:
    """The nodes of loops that nothing else needs."""
    found: set[Node] = set()
    outputs = set(program.outputs)
    elsewhere = {x for step in order for node in step.nodes for x in layout.reads(node)
                 if step.shape is None or x not in step.nodes}  # fmt: skip
    for step in order:
        if step.shape is not None:
            found.update(n for n in step.nodes if n not in outputs and n not in elsewhere)
    return found


def _sure(step: Step, layout: Layout) -> bool:
    """Whether a step cannot raise."""
    return all(layout.way[n] != CALL or _certain(n) for n in step.nodes)


def _certain(node: Node) -> bool:
    """Whether a function cannot raise for other values of its arguments."""
    if node.op in _DIVISIONS:
        return node.dtype is not None and node.dtype.kind in "fc"
    return node.op in _CERTAIN or elementwise(node.op)
