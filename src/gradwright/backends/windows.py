"""Sliding windows over the last axes of an array, as convolution and pooling see them, and their adjoint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import product
from math import inf, prod
from operator import add
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from gradwright.backends import where_is


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


def fold_windows(x: Any, *, size: Any, lattice: Lattice) -> Any:
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


_PIECE = 1 << 21
"""Bytes of windows that are laid out at a time: more, and they leave the cache before they are read."""

_GAPS = 1.2
"""How many places of a padded array there may be for each that begins a window."""

_SMALL = 1 << 21
"""How many multiplications may be in the product for one image: larger ones BLAS shares out among threads."""


def _parts(n: int, each: int) -> list[slice]:
    """A batch of ``n`` in parts, if each of it takes so many bytes."""
    step = max(1, _PIECE // max(each, 1))
    step = max(1, -(-n // max(1, -(-n // step))))
    return [slice(i, min(i + step, n)) for i in range(0, max(n, 1), step)]


def times_windows(rows: Any, x: Any, bias: Any = None, *, lattice: Lattice) -> Any:
    """(groups, O, C * kernel) times the windows of (N, groups * C, *size), plus a bias: (N, groups * O, *count)."""
    groups, out, height = rows.shape
    n, count = len(x), lattice.count(x.shape[2:])
    bias = None if bias is None else bias.reshape(groups, out, 1)
    size = x.shape[2:]
    if _go_end_to_end(rows, n, size, lattice):
        chain = _EndToEnd(x.shape[1], n, size, lattice, x.dtype, height + out)
        return chain.times(rows, x, bias, np.empty((n, out, *count), x.dtype))
    rows = np.ascontiguousarray(rows)  # BLAS takes no kernel that is read backwards
    y: Any = None
    places = prod(count)
    for part in _parts(n, groups * height * places * x.itemsize):
        cols = windows(x[part], lattice=lattice).reshape(-1, groups, height, places)
        y = np.empty((n, groups, out, places), x.dtype) if y is None else y
        made = np.matmul(rows, cols, out=y[part])
        if bias is not None:
            made += bias
    return y.reshape(n, groups * out, *count)


def spread_windows(rows: Any, x: Any, *, size: Any, lattice: Lattice) -> Any:
    """The adjoint of `times_windows`: (groups, O, C * kernel), (N, groups * O, *count) -> (N, groups * C, *size)."""
    groups, out, height = rows.shape
    n, count, channels = len(x), x.shape[2:], groups * height // prod(lattice.kernel)
    if _go_end_to_end(rows, n, size, lattice) and np.isfinite(rows).all():
        chain = _EndToEnd(channels, n, size, lattice, x.dtype, height + out)
        return chain.spread(rows, x, np.empty((n, channels, *size), x.dtype))
    places, turned, made = prod(count), rows.swapaxes(1, 2), []
    for part in _parts(n, groups * height * places * x.itemsize):
        g = x[part].reshape(-1, groups, out, places)
        cols = turned * g if out == 1 else np.matmul(turned, g)
        cols = cols.reshape(-1, channels, *lattice.kernel, *count)
        made.append(fold_windows(cols, size=size, lattice=lattice))
    return _joined(made)


def weigh_windows(y: Any, x: Any, *, lattice: Lattice) -> Any:
    """The adjoint by rows, of each image: (N, groups, O, places), (N, groups C, *size) -> (N, groups, O, C kernel)."""
    _, groups, _, places = y.shape
    height = x.shape[1] // groups * prod(lattice.kernel)
    made = []
    for part in _parts(len(x), groups * height * places * x.itemsize):
        cols = windows(x[part], lattice=lattice).reshape(-1, groups, height, places)
        made.append(np.matmul(y[part], cols.swapaxes(2, 3)))
    return _joined(made)


def _joined(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


@lru_cache(256)
def _lie_close(lattice: Lattice, size: tuple[int, ...]) -> float:
    """The places of an array with its padding, if about as many windows begin at them; else infinitely many."""
    places = prod(lattice.padded(size)[0])
    close = max(lattice.stride) == 1 < prod(lattice.kernel) and places <= _GAPS * prod(lattice.count(size))
    return places if close else inf


def _go_end_to_end(rows: Any, n: int, size: tuple[int, ...], lattice: Lattice) -> bool:
    """Whether `_EndToEnd` is quicker: several images, each with a small product, and windows that lie close."""
    groups, out, height = rows.shape
    return groups == 1 and out <= height and n > 1 and out * height * _lie_close(lattice, size) < _SMALL


class _EndToEnd:
    """Padded images end to end, in which a window begins at every place.

    So each entry of all windows is one long row, and a product with small matrices is one of large ones. The windows
    that reach over an edge are left out of results, and filled with zeros where they are given.

    Attributes:
        parts: of the batch, handled one after another.
        images: for the padded images, a row for each channel; there are zeros around them.
        length: how many places there are at most.
        shifts: how far behind the first one the entries of a window lie.
    """

    def __init__(self, channels: int, n: int, size: Any, lattice: Lattice, dtype: Any, beside: int) -> None:
        self._whole, self._middle = lattice.padded(size)
        self._begins = (..., *map(slice, lattice.count(size)))
        self._places = prod(self._whole)
        self.shifts = lattice.shifts(self._whole)
        self.parts = _parts(n, beside * self._places * dtype.itemsize)
        self.length = self.parts[0].stop * self._places
        self.images = np.zeros((channels, self.length + self.shifts[-1]), dtype)

    def _of(self, array: Any, n: int) -> Any:
        """The first ``n`` images in an array with their places as its last axis: (n, channels, *whole)."""
        flat = array.reshape(-1, array.shape[-1])[:, : n * self._places]
        return flat.reshape(-1, n, *self._whole).swapaxes(0, 1)

    def inside(self, n: int) -> Any:
        """The first ``n`` images without their padding."""
        return self._of(self.images, n)[self._middle]

    def at_windows(self, array: Any, n: int) -> Any:
        """What an array has for the windows in the first ``n`` images."""
        return self._of(array, n)[self._begins]

    def ends(self) -> Iterator[tuple[slice, int, int]]:
        """Each part, how many images it has, and where these end."""
        for part in self.parts:
            n = part.stop - part.start
            yield part, n, n * self._places

    def times(self, rows: Any, x: Any, bias: Any, y: Any) -> Any:
        """`times_windows` of one group, written to ``y``."""
        (_, out, height), entries = rows.shape, len(self.shifts)
        cols, made = (np.empty((k, self.length), x.dtype) for k in (height, out))
        by_shift = cols.reshape(-1, entries, self.length)
        for part, n, end in self.ends():
            self.inside(n)[...] = x[part]
            for k, shift in enumerate(self.shifts):
                by_shift[:, k, :end] = self.images[:, shift : shift + end]
            np.matmul(rows[0], cols[:, :end], out=made[:, :end])
            if bias is not None:
                made += bias[0]
            y[part] = self.at_windows(made, n)
        return y

    def spread(self, rows: Any, x: Any, y: Any) -> Any:
        """`spread_windows` of one group, written to ``y``."""
        _, out, height = rows.shape
        given, cols = np.zeros((out, self.length), x.dtype), np.empty((height, self.length), x.dtype)
        by_shift = cols.reshape(-1, len(self.shifts), self.length)
        for part, n, end in self.ends():
            self.at_windows(given, n)[...] = x[part]
            np.matmul(rows[0].T, given[:, :end], out=cols[:, :end])
            self.images[...] = 0
            for k, shift in enumerate(self.shifts):
                self.images[:, shift : shift + end] += by_shift[:, k, :end]
            y[part] = self.inside(n)
        return y


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
        ends = [xp.zeros((*x.shape[:axis], p, *x.shape[axis + 1 :]), dtype=x.dtype, device=where_is(x))
                for p in (before, max(after, 0))]  # fmt: skip
        x = xp.concat([ends[0], x, ends[1]], axis=axis)
    count = lattice.count(size)
    parts = [x[where] for _, where in lattice.entries(count)]
    return xp.reshape(xp.stack(parts, axis=x.ndim - n), (*x.shape[:-n], *lattice.kernel, *count))


def generic_fold_windows(xp: Any, x: Any, *, size: Any, lattice: Lattice) -> Any:
    """`fold_windows` in the standard: axis by axis, the entries of the kernel spread out and added up."""
    n = len(size)
    whole, middle = lattice.padded(size)
    lead = (slice(None),) * (x.ndim - 2 * n)
    for k, stride, dilation, m in zip(lattice.kernel, lattice.stride, lattice.dilation, whole, strict=True):
        x = reduce(add, [_spread(xp, x[(*lead, i, ...)], len(lead) + n - 1, stride, i * dilation, m) for i in range(k)])
    return x[middle]


def generic_times_windows(xp: Any, rows: Any, x: Any, bias: Any = None, *, lattice: Lattice) -> Any:
    """`times_windows` in the standard."""
    groups, out, height = rows.shape
    count = lattice.count(x.shape[2:])
    cols = xp.reshape(xp.windows(x, lattice=lattice), (x.shape[0], groups, height, prod(count)))
    y = xp.reshape(xp.matmul(rows, cols), (x.shape[0], groups * out, *count))
    return y if bias is None else y + xp.reshape(bias, (-1, *(1,) * len(count)))


def generic_spread_windows(xp: Any, rows: Any, x: Any, *, size: Any, lattice: Lattice) -> Any:
    """`spread_windows` in the standard."""
    groups, out, height = rows.shape
    n, count = x.shape[0], x.shape[2:]
    cols = xp.matmul(xp.permute_dims(rows, (0, 2, 1)), xp.reshape(x, (n, groups, out, prod(count))))
    cols = xp.reshape(cols, (n, groups * height // prod(lattice.kernel), *lattice.kernel, *count))
    return xp.fold_windows(cols, size=size, lattice=lattice)


def generic_weigh_windows(xp: Any, y: Any, x: Any, *, lattice: Lattice) -> Any:
    """`weigh_windows` in the standard."""
    n, groups, _, places = y.shape
    cols = xp.reshape(xp.windows(x, lattice=lattice), (n, groups, x.shape[1] // groups * prod(lattice.kernel), places))
    return xp.matmul(y, xp.permute_dims(cols, (0, 1, 3, 2)))


def _spread(xp: Any, x: Any, axis: int, stride: int, start: int, size: int) -> Any:
    """Zeros, ``size`` of them along ``axis``, with the entries of ``x`` at start, start + stride, ..."""
    before, count, after = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]

    def zeros(*shape: int) -> Any:
        return xp.zeros((*before, *shape, *after), dtype=x.dtype, device=where_is(x))

    x = xp.concat([xp.expand_dims(x, axis=axis + 1), zeros(count, stride - 1)], axis=axis + 1)
    reach = max((count - 1) * stride + 1, 0)
    x = xp.reshape(x, (*before, count * stride, *after))[(*(slice(None),) * axis, slice(reach), ...)]
    return xp.concat([zeros(start), x, zeros(size - start - reach)], axis=axis)
