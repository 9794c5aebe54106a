"""Sliding windows over the last axes of an array, as convolution and pooling see them, and their adjoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import product
from math import prod
from operator import add
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided


@dataclass(frozen=True)
class Lattice:
    """How windows lie, with one entry per axis.

    An axis of n entries has (n + before + after - dilation (kernel - 1) - 1) // stride + 1 windows.
    """

    kernel: tuple[int, ...]
    """Entries in a window."""
    stride: tuple[int, ...]
    """From one window to the next."""
    dilation: tuple[int, ...]
    """From one entry of a window to the next."""
    padding: tuple[tuple[int, int], ...]
    """Entries added before and after; with fewer than none after, the last windows are left out."""

    def beside(self) -> Lattice:
        """The same windows, of one array after another: along a further, last axis they have one entry."""
        return Lattice((*self.kernel, 1), (*self.stride, 1), (*self.dilation, 1), (*self.padding, (0, 0)))

    def count(self, size: Sequence[int]) -> tuple[int, ...]:
        """How many windows there are along each axis."""
        return tuple(
            (n + before + after - d * (k - 1) - 1) // s + 1
            for n, k, s, d, (before, after) in zip(
                size, self.kernel, self.stride, self.dilation, self.padding, strict=True
            )
        )

    def tiles(self, size: Sequence[int]) -> bool:
        """Whether the windows lie side by side and are all there is."""
        single = all(d == 1 and before == 0 for d, (before, _) in zip(self.dilation, self.padding, strict=True))
        whole = tuple(c * k for c, k in zip(self.count(size), self.kernel, strict=True))
        return single and self.kernel == self.stride and whole == tuple(size)

    def padded(self, size: Sequence[int]) -> tuple[tuple[int, ...], tuple[Any, ...]]:
        """The size with its padding, and the index at which the array stands in it."""
        whole = tuple(n + before + max(after, 0) for n, (before, after) in zip(size, self.padding, strict=True))
        middle = (slice(before, before + n) for n, (before, _) in zip(size, self.padding, strict=True))
        return whole, (..., *middle)

    def entries(self, count: tuple[int, ...]) -> list[tuple[tuple[int, ...], tuple[Any, ...]]]:
        """For each entry of a window its index in the kernel, and the index that reads it from all windows."""
        return _entries(self, count)

    def shifts(self, size: Sequence[int]) -> list[int]:
        """For each entry of a window how far it lies behind the first one, in row-major order of the array."""
        steps = [prod(size[i + 1 :]) for i in range(len(size))]
        return [
            sum(k * d * s for k, d, s in zip(at, self.dilation, steps, strict=True))
            for at in product(*map(range, self.kernel))
        ]


@lru_cache(256)
def _entries(lattice: Lattice, count: tuple[int, ...]) -> list[tuple[tuple[int, ...], tuple[Any, ...]]]:
    found = []
    for at in product(*map(range, lattice.kernel)):
        starts = [k * d for k, d in zip(at, lattice.dilation, strict=True)]
        ends = [a + (c - 1) * s + 1 for a, c, s in zip(starts, count, lattice.stride, strict=True)]
        found.append((at, (..., *map(slice, starts, ends, lattice.stride))))
    return found


_TILED = 16
"""For windows of more entries, side by side, it is quicker to lay them out than to write entry after entry."""


def windows(x: Any, *, lattice: Lattice) -> Any:
    """(..., *size) -> (..., *kernel, *count), zeros around: a read-only view of ``x``, or of a padded copy."""
    n = len(lattice.kernel)
    size = x.shape[-n:]
    x = np.ascontiguousarray(x)
    whole, middle = lattice.padded(size)
    if whole != size:
        inner, x = x, np.zeros((*x.shape[:-n], *whole), x.dtype)
        x[middle] = inner
    steps = x.strides[-n:]
    strides = [p * m for by in (lattice.dilation, lattice.stride) for p, m in zip(steps, by, strict=True)]
    shape = (*x.shape[:-n], *lattice.kernel, *lattice.count(size))
    return as_strided(x, shape, (*x.strides[:-n], *strides), writeable=False)


def unwindows(x: Any, *, size: Any, lattice: Lattice) -> Any:
    """(..., *kernel, *count) -> (..., *size): each entry added where `windows` reads it."""
    n = len(size)
    lead = x.ndim - 2 * n
    if prod(lattice.kernel) > _TILED and lattice.tiles(size):
        pairs = [lead + i + k for i in range(n) for k in (n, 0)]
        return x.transpose(*range(lead), *pairs).reshape(*x.shape[:lead], *size)
    whole, middle = lattice.padded(size)
    out = np.zeros((*x.shape[:lead], *whole), x.dtype)
    every = (slice(None),) * n
    for at, where in lattice.entries(x.shape[-n:]):
        out[where] += x[(..., *at, *every)]
    return out if whole == size else np.ascontiguousarray(out[middle])


_FAR, _ROWS = 1024, 8
"""Rows that lie a multiple of so many bytes apart share their places in the cache, which holds this many of them."""


def batch_last(x: Any) -> Any:
    """(N, ...) -> (..., N), in row-major order."""
    rows = x.reshape(x.shape[0], prod(x.shape[1:]))
    out = np.empty(rows.shape[::-1], x.dtype)
    step = max(rows.shape[0], 1) if rows.strides[0] % _FAR else _ROWS
    for i in range(0, rows.shape[0], step):
        out[:, i : i + step] = rows[i : i + step].T
    return out.reshape(*x.shape[1:], x.shape[0])


def generic_windows(xp: Any, x: Any, *, lattice: Lattice) -> Any:
    """`windows` in the standard, entry by entry of the kernel."""
    n = len(lattice.kernel)
    size = x.shape[-n:]
    for axis, (before, after) in enumerate(lattice.padding, x.ndim - n):
        ends = [xp.zeros((*x.shape[:axis], p, *x.shape[axis + 1 :]), dtype=x.dtype, device=x.device)
                for p in (before, max(after, 0))]  # fmt: skip
        x = xp.concat([ends[0], x, ends[1]], axis=axis)
    count = lattice.count(size)
    parts = [x[where] for _, where in lattice.entries(count)]
    return xp.reshape(xp.stack(parts, axis=x.ndim - n), (*x.shape[:-n], *lattice.kernel, *count))


def generic_unwindows(xp: Any, x: Any, *, size: Any, lattice: Lattice) -> Any:
    """`unwindows` in the standard: axis by axis, the entries of the kernel spread out and added up."""
    n = len(size)
    whole, middle = lattice.padded(size)
    lead = (slice(None),) * (x.ndim - 2 * n)
    for k, stride, dilation, m in zip(lattice.kernel, lattice.stride, lattice.dilation, whole, strict=True):
        x = reduce(add, [_spread(xp, x[(*lead, i, ...)], len(lead) + n - 1, stride, i * dilation, m) for i in range(k)])
    return x[middle]


def _spread(xp: Any, x: Any, axis: int, stride: int, start: int, size: int) -> Any:
    """Zeros, ``size`` of them along ``axis``, with the entries of ``x`` at start, start + stride, ..."""
    before, count, after = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]

    def zeros(*shape: int) -> Any:
        return xp.zeros((*before, *shape, *after), dtype=x.dtype, device=x.device)

    x = xp.concat([xp.expand_dims(x, axis=axis + 1), zeros(count, stride - 1)], axis=axis + 1)
    reach = max((count - 1) * stride + 1, 0)
    x = xp.reshape(x, (*before, count * stride, *after))[(*(slice(None),) * axis, slice(reach), ...)]
    return xp.concat([zeros(start), x, zeros(size - start - reach)], axis=axis)
