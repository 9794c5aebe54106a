"""Pooling: what sliding windows add up to, and where their largest entries stand.

How windows lie over the last axes is said by a `gradwright.backends.windows.Lattice`. A place is counted in row-major
order within those axes.
"""

from __future__ import annotations

from functools import reduce
from math import prod

from gradwright.backends.windows import Lattice
from gradwright.ops.declare import A, Sample, builtin

_LINE = Lattice((3,), (2,), (1,), ((1, 1),))
_PLANE = Lattice((2, 2), (1, 2), (2, 1), ((0, 1), (1, -1)))
_WHOLE = Lattice((2, 3), (1, 1), (1, 1), ((0, 0), (0, 0)))
_SAMPLES = [(A(2, 4), _LINE), (A(1, 3, 4), _PLANE), (A(2, 2, 3), _WHOLE)]
_MEANS = [(*_SAMPLES[0], ((1, 3),)), (*_SAMPLES[1], (2, (1, 3))), (*_SAMPLES[2], 4)]


def _reduced(xp, combine, whole, x, fill, lattice):
    """Each window's entries combined, axis by axis; ``fill`` stands around x, ``whole`` combines along an axis."""
    n = len(lattice.kernel)
    count = lattice.count(x.shape[-n:])
    for axis, (k, s, d, pad, c) in enumerate(
        zip(lattice.kernel, lattice.stride, lattice.dilation, lattice.padding, count, strict=True), x.ndim - n
    ):
        if any(p > 0 for p in pad):
            ends = [xp.zeros_like(x, shape=(*x.shape[:axis], max(p, 0), *x.shape[axis + 1 :])) + fill for p in pad]
            x = xp.concat([ends[0], x, ends[1]], axis=axis)
        if c == 1 and k == x.shape[axis]:
            x = whole(x, axis=axis, keepdims=True)
        else:
            lines = (slice(None),) * axis
            x = reduce(combine, [x[(*lines, slice(i * d, i * d + (c - 1) * s + 1, s), ...)] for i in range(k)])
    return x if max(lattice.kernel) > 1 else xp.asarray(x, copy=True)


@builtin(kind="linear", rows=True, node="AvgPoolBackward0",
         samples=[Sample(x, lattice=at, divisor=d) for x, at, d in _MEANS])  # fmt: skip
def mean_windows(xp, x, *, lattice, divisor):
    """The sum of each window divided: (..., *size) -> (..., *count), zeros around x.

    ``divisor`` is a number, or has for each axis a number or one number for each window.
    """
    return _divided(xp, _reduced(xp, lambda a, b: a + b, xp.sum, x, 0, lattice), divisor)


def _divided(xp, y, divisor):
    if not isinstance(divisor, tuple):
        return y / divisor
    for i, d in enumerate(reversed(divisor)):
        if isinstance(d, tuple):
            d = xp.reshape(xp.asarray(list(d), dtype=y.dtype, device=y.device), (-1, *(1,) * i))
        y = y / d
    return y


@builtin(
    kind="linear",
    node="AvgPoolBackwardBackward0",
    samples=[
        Sample(A(*at.count(x.shape[-len(at.kernel) :])), size=x.shape[-len(at.kernel) :], lattice=at, divisor=d)
        for x, at, d in _MEANS[:2]
    ],
)
def unmean_windows(xp, x, *, size, lattice, divisor):
    """The adjoint of `mean_windows`: (..., *count) -> (..., *size)."""
    n = len(size)
    lead, count = x.shape[: x.ndim - n], x.shape[x.ndim - n :]
    x = xp.reshape(_divided(xp, x, divisor), (*lead, *(1,) * n, *count))
    return xp.fold_windows(xp.broadcast_to(x, (*lead, *lattice.kernel, *count)), size=size, lattice=lattice)


def _unmean(xp, g, x_shape, lattice, divisor):
    size = x_shape[len(x_shape) - len(lattice.kernel) :]
    return unmean_windows(g, size=size, lattice=lattice, divisor=divisor)


mean_windows.vjp(x=_unmean)
unmean_windows.vjp(x=lambda xp, g, lattice, divisor: mean_windows(g, lattice=lattice, divisor=divisor))


@builtin(node="MaxPoolWithIndicesBackward0",
         samples=[Sample(A(*x.shape, distinct=True), lattice=at) for x, at in _SAMPLES], switch="x",
         remade=True)  # fmt: skip
def max_windows(xp, x, *, lattice):
    """The largest entry of each window: (..., *size) -> (..., *count). Of equal ones the first has the slope."""
    lowest = xp.iinfo(x.dtype).min if xp.isdtype(x.dtype, "integral") else -float("inf")
    return _reduced(xp, xp.maximum, xp.max, x, lowest, lattice)


def _planes(xp, x, n):
    """``x`` with its last n axes made one, and all others."""
    lead = x.ndim - n
    return xp.reshape(x, (prod(x.shape[:lead]), prod(x.shape[lead:])))


def _to_the_largest(xp, g, x, out, lattice):
    n = len(lattice.kernel)
    places = _planes(xp, places_in_windows(x, out, lattice=lattice), n)
    flat = xp.zeros_like(g, shape=(places.shape[0], prod(x.shape[x.ndim - n :])))
    return xp.reshape(xp.scatter_add(flat, places, _planes(xp, g, n), axis=1), x.shape)


max_windows.vjp(x=_to_the_largest)


@builtin(samples=[Sample(A(2, 4), A(2, 2), lattice=_LINE), Sample(A(1, 3, 4), A(1, 2, 2), lattice=_PLANE)])
def places_in_windows(xp, x, y, *, lattice):
    """The place in x of the first entry of each window that is not below y[window], of the last NaN if that is NaN."""
    n = len(lattice.kernel)
    size, count = x.shape[-n:], y.shape[-n:]
    read, entries = xp.windows(x, lattice=lattice), prod(lattice.kernel)
    dtype = xp.uint8 if entries < 256 else xp.int32

    def largest_code(will_do, rank):
        codes = (
            xp.astype(will_do(read[(..., *at, *(slice(None),) * n)]), dtype)
            * _inside(xp, x, at, count, lattice, dtype, rank(k))
            for k, (at, _) in enumerate(lattice.entries(count))
        )
        return reduce(xp.maximum, codes)

    code, shifts = largest_code(lambda entry: ~(entry < y), lambda k: entries - k), lattice.shifts(size)[::-1]
    nan = y != y
    if xp.may_hold(nan):  # of these the last
        late = largest_code(lambda entry: entry != entry, lambda k: k + 1)
        code = xp.where(nan, entries - late + 1, code)
    table = xp.asarray([0, *shifts], dtype=xp.int64, device=x.device)
    place = xp.reshape(xp.take(table, xp.reshape(code, (-1,)), axis=0), code.shape)
    for i, (c, stride, (before, _)) in enumerate(zip(count, lattice.stride, lattice.padding, strict=True)):
        first = (xp.arange(c, device=x.device) * stride - before) * prod(size[i + 1 :])
        place = place + xp.reshape(first, (c, *(1,) * (n - 1 - i)))
    return place


def _inside(xp, x, at, count, lattice, dtype, value):
    """``value`` for the windows whose entry ``at`` lies in x, 0 for those where it lies in the padding."""
    for i, (k, m, c) in enumerate(zip(at, x.shape[-len(count) :], count, strict=True)):
        before, _ = lattice.padding[i]
        first = k * lattice.dilation[i] - before
        last = first + (c - 1) * lattice.stride[i]
        if first < 0 or last >= m:
            where = xp.arange(c, device=x.device) * lattice.stride[i] + first
            inside = xp.reshape((where >= 0) & (where < m), (c, *(1,) * (len(count) - 1 - i)))
            value = xp.astype(inside, dtype) * value
    return value
