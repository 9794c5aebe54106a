"""The functions that formulas use and the array API lacks, written with nothing but the standard: slow, and right.

A backend module takes from here what its library cannot do better. Writing at an index rests on one trick: reading the
positions 0, 1, 2, ... at that index says which entries it names.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from gradwright.backends import order, where_is
from gradwright.backends.generic_linalg import Linalg
from gradwright.backends.host import Hosted
from gradwright.backends.scipy import Special
from gradwright.backends.steps import places
from gradwright.backends.windows import (
    generic_fold_windows,
    generic_spread_windows,
    generic_times_windows,
    generic_weigh_windows,
    generic_windows,
)


def zeros_like(xp: Any, x: Any, *, shape: Any = None, dtype: Any = None) -> Any:
    """Zeros on the device of ``x``, of its shape and dtype unless others are named."""
    return xp.zeros(x.shape if shape is None else shape, dtype=x.dtype if dtype is None else dtype, device=where_is(x))


def zero(xp: Any, x: Any) -> Any:
    """A 0 to set beside ``x``."""
    return zeros_like(xp, x, shape=())


def ones_like(xp: Any, x: Any, *, shape: Any = None, dtype: Any = None) -> Any:
    """Ones on the device of ``x``, of its shape and dtype unless others are named."""
    return xp.ones(x.shape if shape is None else shape, dtype=x.dtype if dtype is None else dtype, device=where_is(x))


def conj(xp: Any, x: Any) -> Any:
    """The complex conjugate; ``x`` itself if it is real."""
    return xp.conj(x) if xp.isdtype(x.dtype, "complex floating") else x


def to_complex(xp: Any, real: Any, imag: Any) -> Any:
    """The complex numbers with these parts. (``real + 1j * imag`` is NaN where ``imag`` is infinite.)"""
    real, imag = xp.broadcast_arrays(real, imag)
    kind = xp.result_type(real, xp.complex64)

    def upwards(y: float) -> Any:
        return xp.asarray(complex(-0.0, y), dtype=kind, device=where_is(real))  # x + -0.0 is x, for -0.0 too

    size = xp.abs(imag)
    finite = xp.isfinite(size)
    up = upwards(1.0) * xp.astype(xp.where(finite, size, zeros_like(xp, size)), kind)
    up = xp.where(finite, up, xp.where(xp.isnan(size), upwards(float("nan")), upwards(float("inf"))))
    out = xp.astype(real, kind) + up
    return xp.where(xp.signbit(imag), xp.conj(out), out)


def view_as_real(xp: Any, x: Any) -> Any:
    """Complex numbers as pairs of reals in a new last axis."""
    return xp.stack([xp.real(x), xp.imag(x)], axis=-1)


def view_as_complex(xp: Any, x: Any) -> Any:
    """Pairs of reals, the last axis, as complex numbers."""
    return to_complex(xp, x[..., 0], x[..., 1])


def _positions(xp: Any, x: Any) -> Any:
    """For each entry of ``x`` its place in row-major order."""
    return xp.reshape(xp.arange(prod(x.shape), device=where_is(x)), x.shape)


HERE = "array"
"""Stands in a key for an index array or a mask; the arrays themselves are apart."""


def within(key: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """``key``, without arrays, with slices that stay inside the shape: a library need not take others."""
    rest = len(shape) - sum(k is not None and k is not ... for k in key)
    out: list[Any] = []
    axis = 0
    for k in key:
        if isinstance(k, slice) and rest >= 0:
            start, stop, step = k.indices(shape[axis])
            k = slice(start, None if stop < 0 else stop, step) if range(start, stop, step) else slice(0, 0)
        out.append(k)
        axis = axis + (rest if k is ... else k is not None)
    return tuple(out)


def at(xp: Any, x: Any, *places: Any, key: Any) -> Any:
    """``x[key]``, with ``places``, index arrays in range and masks, where the key says `HERE`; ints are taken first."""
    masks = [xp.isdtype(p.dtype, "bool") for p in places]
    dims = [p.ndim if mask else 1 for p, mask in zip(places, masks, strict=True)]
    rest = x.ndim - sum(dims) - sum(k is not None and k is not ... and k is not HERE for k in key)
    basic: list[Any] = []
    arrays: list[tuple[int, Any]] = []
    given = zip(places, masks, strict=True)
    for k in key:
        if k is not HERE:
            basic += [slice(None)] * rest if k is ... else [k]
            continue
        place, mask = next(given)
        new = mask and not place.ndim  # a mask without dimensions is one of a new axis
        for one in xp.nonzero(xp.reshape(place, (1,)) if new else place) if mask else (place,):
            arrays.append((sum(type(b) is not int for b in basic), one))
            basic.append(None if new else slice(None))
    x = x[within((*basic, ...), x.shape)]
    return _gathered(xp, x, *zip(*arrays, strict=True)) if arrays else x


def _gathered(xp: Any, x: Any, axes: Sequence[int], arrays: Sequence[Any]) -> Any:
    """The entries of ``x`` at index arrays that stand for these axes; the result stands there if they are together."""
    arrays = xp.broadcast_arrays(*arrays)
    others = [i for i in range(x.ndim) if i not in axes]
    flat: Any = 0
    for n, place in zip([x.shape[i] for i in axes], arrays, strict=True):
        flat = flat * n + xp.remainder(place, xp.asarray(max(n, 1), dtype=place.dtype, device=where_is(place)))
    shape = [x.shape[i] for i in others]
    lines = xp.reshape(xp.permute_dims(x, (*axes, *others)), (prod(x.shape[i] for i in axes), *shape))
    out = xp.reshape(xp.take(lines, xp.reshape(flat, (-1,)), axis=0), (*flat.shape, *shape))
    if axes[-1] - axes[0] != len(axes) - 1:
        return out
    n = flat.ndim
    return xp.permute_dims(out, (*range(n, n + axes[0]), *range(n), *range(n + axes[0], out.ndim)))


def put(xp: Any, x: Any, value: Any, *places: Any, key: Any, accumulate: bool = False) -> Any:
    """A copy of ``x`` in which ``x[key]`` is ``value``, or has ``value`` added (repeated indices add up)."""
    return _write(xp, x, value, at(xp, _positions(xp, x), *places, key=key), accumulate=accumulate)


def unindex(xp: Any, x: Any, *places: Any, shape: tuple[int, ...], key: Any) -> Any:
    """Zeros of ``shape`` with ``x`` added at ``key`` (repeated indices add up)."""
    return xp.put(xp.zeros_like(x, shape=shape), x, *places, key=key, accumulate=True)


def _write(xp: Any, x: Any, value: Any, at: Any, *, accumulate: bool) -> Any:
    """``x`` with ``value`` written, the last where several go to one place, or added, at the positions ``at``."""
    value = xp.reshape(xp.broadcast_to(xp.astype(value, x.dtype), at.shape), (-1,))
    if not value.shape[0]:
        return xp.asarray(x, copy=True)
    hit = xp.reshape(at, (-1, 1)) == xp.reshape(_positions(xp, x), (1, -1))
    if accumulate:
        sent = xp.where(hit, xp.reshape(value, (-1, 1)), zeros_like(xp, value, shape=(1, 1)))
        return x + xp.reshape(xp.sum(sent, axis=0, dtype=x.dtype), x.shape)
    order = xp.reshape(xp.arange(value.shape[0], device=where_is(x)), (-1, 1))
    last = xp.max(xp.where(hit, order, -1), axis=0)
    written = xp.where(last < 0, xp.reshape(x, (-1,)), xp.take(value, xp.where(last < 0, 0, last)))
    return xp.reshape(written, x.shape)


def _named(xp: Any, x: Any, index: Any, axis: int) -> Any:
    """The places in row-major order of the entries that ``index`` names along ``axis``."""
    within = tuple(slice(None) if k == axis else slice(n) for k, n in enumerate(index.shape))
    return xp.take_along_axis(_positions(xp, x)[within], index, axis=axis)


def take_along_axis(xp: Any, x: Any, index: Any, *, axis: int) -> Any:
    """y[i, j] = x[i, index[i, j]] along ``axis``; the index may be shorter than ``x`` along the others."""
    return xp.reshape(xp.take(xp.reshape(x, (-1,)), xp.reshape(_named(xp, x, index, axis), (-1,))), index.shape)


def scatter(xp: Any, x: Any, index: Any, src: Any, *, axis: int) -> Any:
    """A copy of ``x`` with ``src`` written at ``index``, which names no place twice, along ``axis``."""
    return _write(xp, x, src, _named(xp, x, index, axis), accumulate=False)


def scatter_add(xp: Any, x: Any, index: Any, src: Any, *, axis: int) -> Any:
    """A copy of ``x`` with ``src`` added at ``index`` along ``axis``."""
    if any(m != n for k, (m, n) in enumerate(zip(index.shape, x.shape, strict=True)) if k != axis):
        return _write(xp, x, src, _named(xp, x, index, axis), accumulate=True)
    # Line by line: to look for each entry in all of x would take the product of the two sizes in memory.
    index, src = (xp.expand_dims(xp.moveaxis(a, axis, -1), axis=-1) for a in (index, xp.astype(src, x.dtype)))
    hit = index == xp.arange(x.shape[axis], dtype=index.dtype, device=where_is(x))
    sent = xp.where(hit, src, zeros_like(xp, src, shape=(1,)))
    return x + xp.moveaxis(xp.sum(sent, axis=-2, dtype=x.dtype), -1, axis)


def bincount(xp: Any, x: Any, weights: Any = None, *, length: int) -> Any:
    """How often 0, 1, ... ``length`` - 1, which is all there is, occur in ``x``, or the sums of their ``weights``."""
    weights = xp.ones(x.shape, dtype=xp.int64, device=where_is(x)) if weights is None else weights
    return xp.scatter_add(xp.zeros((length,), dtype=weights.dtype, device=where_is(x)), x, weights, axis=0)


def histogram(xp: Any, x: Any, bins: int, range: tuple[float, float]) -> tuple[Any, Any]:
    """How many entries fall into each of so many equal parts of a range, and the edges between them."""
    edges = xp.linspace(*range, bins + 1, dtype=x.dtype, device=where_is(x))
    x = xp.reshape(x, (-1,))
    place = xp.where(x == edges[bins], bins, xp.searchsorted(edges, x, side="right"))
    return xp.bincount(xp.where(xp.isnan(x), 0, place), length=bins + 2)[1 : bins + 1], edges


def _sent(xp: Any, x: Any, index: Any, src: Any, axis: int, otherwise: Any) -> Any:
    """For each entry of ``src`` and each of ``x``: that of ``src`` where it goes there, else ``otherwise``."""
    hit = xp.reshape(_named(xp, x, index, axis), (-1, 1)) == xp.reshape(_positions(xp, x), (1, -1))
    return xp.where(hit, xp.reshape(src, (-1, 1)), xp.reshape(otherwise, (1, -1)))


def scatter_max(xp: Any, x: Any, index: Any, src: Any, *, axis: int) -> Any:
    """A copy of ``x`` in which each place is the largest of its value and what of ``src`` goes there."""
    return xp.maximum(x, xp.reshape(xp.max(_sent(xp, x, index, src, axis, x), axis=0), x.shape))


def scatter_prod(xp: Any, x: Any, index: Any, src: Any, *, axis: int) -> Any:
    """A copy of ``x`` in which each place is multiplied by what of ``src`` goes there."""
    return x * xp.reshape(xp.prod(_sent(xp, x, index, src, axis, ones_like(xp, x)), axis=0), x.shape)


def unstride(xp: Any, x: Any, *, source: Any, target: Any, write: Any = None) -> Any:
    """Memory in which ``x`` lies as ``source`` (a shape, strides, where it starts), read as ``target``.

    What ``source`` lays on one place adds up; the memory is 0 where it lays nothing.
    """

    def places(shape: Any, strides: Any, start: int) -> Any:
        where = xp.full(shape, start - low, dtype=xp.int64, device=where_is(x))
        for axis, (n, stride) in enumerate(zip(shape, strides, strict=True)):
            where = where + xp.reshape(xp.arange(n, device=where_is(x)) * stride, (n,) + (1,) * (len(shape) - axis - 1))
        return where

    low = min(source[2], target[2])
    room = 1 + max(start - low + sum(max(n - 1, 0) * s for n, s in zip(shape, strides, strict=True))
                   for shape, strides, start in (source, target))  # fmt: skip
    memory = zeros_like(xp, x, shape=(room,))
    memory = (write or partial(put, xp))(memory, x, places(*source), key=(HERE,), accumulate=True)
    return xp.reshape(xp.take(memory, xp.reshape(places(*target), (-1,)), axis=0), target[0])


def restride(xp: Any, x: Any, *, source: Any, target: Any, write: Any = None) -> Any:
    """`unstride`, in which entries of ``x`` that ``source`` lays on one place are one entry: there is their mean."""
    out = unstride(xp, x, source=source, target=target, write=write)
    if not overlapping(*source[:2]):
        return out
    count = unstride(xp, ones_like(xp, x), source=source, target=target, write=write)
    return out / xp.maximum(count, ones_like(xp, count))


def overlapping(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether two entries may lie at one place, as in an expanded tensor or in sliding windows."""
    reach = 1
    for step, n in sorted((abs(s), n) for s, n in zip(strides, shape, strict=True) if n > 1):
        if step < reach:
            return True
        reach += step * (n - 1)
    return False


def write_view(xp: Any, base: Any, value: Any, *, steps: Any) -> Any:
    """A copy of ``base`` in which the region that the chain ``steps`` of views shows is ``value``."""
    pairs = xp.isdtype(base.dtype, "complex floating")
    where = places(base.shape, pairs, steps)
    if xp.isdtype(value.dtype, "complex floating"):  # where parts are written, of numbers without the other part
        value = view_as_real(xp, value) if prod(value.shape) < where.size else xp.real(value)
    old, new = (xp.reshape(a, (-1,)) for a in (view_as_real(xp, base) if pairs else base, value))
    source = np.arange(prod(old.shape))
    source[where] = np.arange(where.size) + source.size
    out = xp.take(xp.concat([old, new]), xp.asarray(source, device=where_is(base)), axis=0)
    return view_as_complex(xp, xp.reshape(out, (*base.shape, 2))) if pairs else xp.reshape(out, base.shape)


def einsum(xp: Any, *xs: Any, equation: str) -> Any:
    """The sum of products that ``equation`` names (``ij,jk->ik``: one letter an axis, none twice in one operand)."""
    operands, result = equation.split("->")
    terms = operands.split(",")
    letters = result + "".join(sorted(set(operands) - {*result, ","}))
    product: Any = None
    for term, x in zip(terms, xs, strict=True):
        size = dict(zip(term, x.shape, strict=True))
        ordered = xp.permute_dims(x, tuple(term.index(c) for c in letters if c in size))
        stretched = xp.reshape(ordered, tuple(size.get(c, 1) for c in letters))
        product = stretched if product is None else product * stretched
    return xp.sum(product, axis=tuple(range(len(result), len(letters))))


def fmod(xp: Any, x: Any, y: Any) -> Any:
    """What is left of x after taking away y as often as it goes in, with the sign of x."""
    size = xp.remainder(xp.abs(x), xp.abs(y))
    return xp.where(x < 0, -size, size)


def exp2(xp: Any, x: Any) -> Any:
    """2**x."""
    return 2.0**x


def may_hold(xp: Any, condition: Any, *, often: bool = False) -> bool:
    """Whether a condition may hold anywhere: what is computed for that case alone may be left out if not.

    True, since it is not known; a library whose values are cheap to look at may look. A compiled step, made again when
    what was looked at has changed, does not look at what ``often`` does.
    """
    return True


def batch_last(xp: Any, x: Any) -> Any:
    """(N, ...) -> (..., N)."""
    return xp.permute_dims(x, (*range(1, x.ndim), 0))


class Extended:
    """The namespace of an array library that keeps to the standard, with these functions added."""

    def __init__(self, xp: Any) -> None:
        self.__name__ = xp.__name__
        self._xp = xp
        self.linalg = Linalg(xp)
        self.special = Hosted(xp, Special())
        for f in (
            at, batch_last, conj, einsum, exp2, fmod, may_hold, ones_like, put, scatter, scatter_add, scatter_max,
            scatter_prod, restride, take_along_axis, to_complex, unstride, view_as_complex, view_as_real, write_view,
            zero, zeros_like,
        ):  # fmt: skip
            setattr(self, f.__name__, partial(f, xp))
        self.bincount, self.histogram = partial(bincount, self), partial(histogram, self)
        self.unindex = partial(unindex, self)
        for name in order.GENERIC:
            setattr(self, name, partial(order.GENERIC[name], xp))
        self.windows, self.fold_windows = partial(generic_windows, xp), partial(generic_fold_windows, xp)
        self.times_windows = partial(generic_times_windows, self)
        self.spread_windows = partial(generic_spread_windows, self)
        self.weigh_windows = partial(generic_weigh_windows, self)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._xp, name)

    def __repr__(self) -> str:
        return f"<array namespace {self.__name__}>"
