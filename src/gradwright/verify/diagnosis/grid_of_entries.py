"""Which entries are compared where all of them would take too long: those on a grid through every tensor.

Along axes of one length the grid has the same indices in all tensors, so that what belongs together stays together: a
row of a matrix and the entry of a bias that is added to it, an entry and the one that it is transposed to. It takes in
the ends of an axis, neighbours, and for each index the one that mirrors it, for there gradients go wrong first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from gradwright.verify.numeric.budget import Cost

SIZES = (16, 12, 8, 6, 4, 2, 1)
"""How many indices of an axis are on a grid, at most."""
CALLS = 20
"""How many calls of the function it takes to measure the derivatives by one coordinate, typically."""
ENTRY = 400
"""How many bytes it takes to measure one entry of a Jacobian."""
ROOM = 2**27
"""How many bytes the Jacobians may take while they are measured."""


class Grid(NamedTuple):
    """Indices along axes.

    Attributes:
        most: how many indices an axis has on it, at most; 0 for all, of every axis.
        more: further indices, by the length of the axis.
    """

    most: int = 0
    more: tuple[tuple[int, int], ...] = ()

    @property
    def whole(self) -> bool:
        """Whether it is that of everything."""
        return not self.most

    def along(self, n: int) -> Any:
        """The indices along an axis of this length."""
        if self.whole or n <= self.most:
            return np.arange(n)
        r, *others = np.random.default_rng(n).integers(0, n, self.most).tolist()
        half = [0, r, 1, r + 1, *others][: self.most // 2]
        found = {*half, *(n - 1 - i for i in half)} or {r}
        found |= {i for size, i in self.more if size == n}
        return np.array(sorted(i for i in found if 0 <= i < n))

    def flat(self, shape: tuple[int, ...]) -> Any:
        """The entries of a tensor of this shape that are on the grid, counted through; None for all of them."""
        axes = [self.along(n) for n in shape]
        if all(len(a) == n for a, n in zip(axes, shape, strict=True)):
            return None
        return np.ravel_multi_index(np.ix_(*axes), shape).reshape(-1)

    def cut(self, array: Any) -> Any:
        """The entries of an array that are on it."""
        return array if self.whole or not array.ndim else array[np.ix_(*map(self.along, array.shape))]

    def through(self, shape: tuple[int, ...], entry: int) -> Grid:
        """The grid with this entry of a tensor of this shape on it, too."""
        index = np.unravel_index(entry, shape)
        return self._replace(more=(*self.more, *zip(shape, map(int, index), strict=True)))


WHOLE = Grid()
"""The grid of everything."""


def fitting(cost: Cost, rows: Iterable[Any], columns: Iterable[Any], budget: float) -> Grid:
    """The largest grid that can be measured in so many seconds; that of everything, if there is time and memory.

    ``rows`` and ``columns`` are the tensors along the sides of the Jacobians.
    """
    rows, columns = list(rows), list(columns)
    grids = [WHOLE, *map(Grid, SIZES)]
    for grid in grids:
        n, m = _count(grid, rows), _count(grid, columns)
        if time_of(cost, n, m) <= budget and memory_of(n, m) <= ROOM:
            break
    return grid


def time_of(cost: Cost, rows: int, columns: int) -> float:
    """Seconds that it takes to measure so many rows and columns."""
    return CALLS * rows * cost.call + columns * cost.passes


def memory_of(rows: int, columns: int) -> float:
    """Bytes that it takes."""
    return float(rows) * columns * ENTRY


def _count(grid: Grid, tensors: list[Any]) -> int:
    """How many coordinates of tensors are on a grid."""
    sizes = [np.prod([len(grid.along(n)) for n in t.array.shape], dtype=np.int64) for t in tensors]
    return sum(int(n) * (2 if t.array.dtype.kind == "c" else 1) for n, t in zip(sizes, tensors, strict=True))
