"""Which functions of sliding windows (`gradwright.backends.windows`) C does, and how the windows lie."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np

from gradwright.backends.windows import Lattice
from gradwright.compilation.by_c.elements import known
from gradwright.compilation.by_c.places import Place
from gradwright.compilation.node import Node

_BLOCK = 1 << 18
"""Bytes of windows that are laid out at a time, before a product reads them: they stay in the cache."""
_LINE, _HIGH = 16, 1024
"""How many windows lie side by side, at least, and how many entries they have, at most, where nothing is laid out."""


class Windows(NamedTuple):
    """One of these functions.

    Attributes:
        kind: "times", "spread", "weigh" (of each image), "weighed" (their sum), "fold_windows" or "padded".
        operands: nodes: rows, images, bias; rows, results; results, images; windows; images.
        lattice: how windows lie.
        size: of an image.
        as_it_lies: whether results are computed without columns, from images as they lie.
    """

    kind: str
    operands: tuple[Node, ...]
    lattice: Lattice
    size: tuple[int, ...]
    as_it_lies: bool = False

    @property
    def windows(self) -> tuple[int, ...]:
        """How many windows there are along each axis."""
        return self.lattice.count(self.size)

    @property
    def dtype(self) -> np.dtype:
        """Of all operands and the result."""
        return self.operands[0].dtype

    @property
    def height(self) -> int:
        """How many entries of an image a window of one group has."""
        if self.kind in ("times", "spread"):
            return int(self.operands[0].shape[-1])
        channels, groups = self.operands[1].shape[1], self.operands[0].shape[1]
        return channels // groups * prod(self.lattice.kernel)

    @property
    def step(self) -> int:
        """How many lines of windows, along the first axis, are laid out at a time."""
        first, *rest = self.windows
        most = max(1, _BLOCK // (self.height * prod(rest) * self.dtype.itemsize))
        return -(-first // -(-first // most))

    @property
    def side_by_side(self) -> bool:
        """Whether windows lie in long enough lines, and are small enough, that columns only cost."""
        if self.kind in ("spread", "fold_windows", "padded") or max(self.lattice.kernel) == 1:
            return False
        summed = self.kind != "weigh" or self.operands[1].shape[0] == 1
        return summed and self.lattice.stride[-1] == 1 and self.windows[-1] >= _LINE and self.height <= _HIGH

    @property
    def scratch(self) -> int:
        """How many bytes they take."""
        if self.as_it_lies or self.kind in ("fold_windows", "padded"):
            return 0
        return self.height * self.step * prod(self.windows[1:]) * self.dtype.itemsize


def windows_of(node: Node) -> Windows | None:
    """What C does for a node; None if that is no function of windows, or of none."""
    found = _found(node)
    if found is None or found.dtype != node.dtype or any(x.dtype != node.dtype for x in found.operands):
        return None
    wide = found.kind in ("padded", "fold_windows") or node.dtype.kind == "f"
    sizes = (node.shape, found.size, found.windows, *(x.shape for x in found.operands))
    return found if wide and known(node.dtype) and all(n > 0 for s in sizes for n in s) else None


def _found(node: Node) -> Windows | None:
    lattice = node.kwargs.get("lattice")
    if node.op == "sum" and node.args and isinstance(x := node.args[0], Node) and x.op == "weigh_windows":
        kwargs = {k: v for k, v in node.kwargs.items() if k != "axis"}
        axis = node.args[1] if len(node.args) == 2 else node.kwargs.get("axis")
        of = _found(x)
        return None if of is None or kwargs or axis not in (0, (0,)) else of._replace(kind="weighed")
    if not isinstance(lattice, Lattice) or not all(isinstance(x, Node) or x is None for x in node.args):
        return None
    nodes, n = tuple(x for x in node.args if x is not None), len(lattice.kernel)
    if node.op == "times_windows":
        return Windows("times", nodes, lattice, nodes[1].shape[2:])
    if node.op == "weigh_windows":
        return Windows("weigh", nodes, lattice, nodes[1].shape[2:])
    if node.op == "spread_windows":
        return Windows("spread", nodes, lattice, node.shape[2:])
    if node.op == "fold_windows":
        return Windows("fold_windows", nodes, lattice, node.shape[-n:])
    return Windows("padded", nodes, lattice, nodes[0].shape[-n:]) if node.op == "windows" else None


def as_view(lattice: Lattice, of: Place, shape: tuple[int, ...]) -> Place | None:
    """Where the windows of what lies somewhere do; None if there are to be zeros around it."""
    n = len(lattice.kernel)
    size = of.shape[-n:]
    if lattice.padded(size)[0] != size:
        return None
    steps = of.strides[-n:]
    strides = [p * m for by in (lattice.dilation, lattice.stride) for p, m in zip(steps, by, strict=True)]
    return Place(of.root, shape, (*of.strides[:-n], *strides), of.start)


def without_padding(lattice: Lattice) -> Lattice:
    """The windows of the padded array."""
    left_out = tuple((0, min(after, 0)) for _, after in lattice.padding)
    return Lattice(lattice.kernel, lattice.stride, lattice.dilation, left_out)
