"""What depends on the order of entries: extrema, their positions, medians. ``axis`` is a tuple of axes, or None."""

from __future__ import annotations

from gradwright.ops.declare import A, Sample, builtin
from gradwright.ops.reduce import keepdim

_DISTINCT = [
    Sample(A(3, 4, distinct=True), axis=None, keepdims=False),
    Sample(A(3, 4, distinct=True), axis=(1,), keepdims=False),
    Sample(A(2, 3, 2, distinct=True), axis=(0, 2), keepdims=True),
]
_WHOLE = [Sample(A(3, 4, distinct=True)), Sample(A(2, 2, 2, distinct=True)), Sample(A())]
_POSITION = [Sample(A(3, 4), axis=1, keepdims=False), Sample(A(3, 4), axis=None, keepdims=False)]


@builtin(kind="reduction", node="AmaxBackward0", samples=_DISTINCT)
def max(xp, x, *, axis=None, keepdims=False):
    """Largest entry over ``axis``; tied entries share the cotangent equally, and at NaN it is NaN."""
    return xp.max(x, axis=axis, keepdims=keepdims)


@builtin(kind="reduction", node="AminBackward0", samples=_DISTINCT)
def min(xp, x, *, axis=None, keepdims=False):
    """Smallest entry over ``axis``; tied entries share the cotangent equally, and at NaN it is NaN."""
    return xp.min(x, axis=axis, keepdims=keepdims)


def _extremum_slope(xp, g, x, out, axis, keepdims):
    ties = xp.astype(x == keepdim(xp, out, x.shape, axis, keepdims), x.dtype)
    share = xp.sum(ties, axis=axis, keepdims=True) if x.ndim else ties
    return keepdim(xp, g, x.shape, axis, keepdims) * (ties / share)


def _extremum_tangent(xp, t, x, out, axis, keepdims):
    if not x.ndim:
        return t
    ties = xp.astype(x == keepdim(xp, out, x.shape, axis, keepdims), x.dtype)
    return xp.sum(ties * t, axis=axis, keepdims=keepdims) / xp.sum(ties, axis=axis, keepdims=keepdims)


max.vjp(x=_extremum_slope)
min.vjp(x=_extremum_slope)
max.jvp(x=_extremum_tangent)
min.jvp(x=_extremum_tangent)


@builtin(node="MaxBackward1", samples=_WHOLE)
def largest(xp, x):
    """Largest entry of all; entries equal to it, or NaN as it is, share the cotangent equally."""
    return xp.max(x, axis=None, keepdims=False)


@builtin(node="MinBackward1", samples=_WHOLE)
def smallest(xp, x):
    """Smallest entry of all; entries equal to it, or NaN as it is, share the cotangent equally."""
    return xp.min(x, axis=None, keepdims=False)


@builtin(node="MedianBackward0", samples=_WHOLE)
def median(xp, x):
    """Middle entry of all, the lower of two, NaN if there is one; entries equal to it share the cotangent equally."""
    ordered = xp.sort(xp.reshape(x, (-1,)))
    n = ordered.shape[0]
    return xp.where(xp.isnan(ordered[n - 1]), ordered[n - 1], ordered[(n - 1) // 2])


@builtin(node="NanmedianBackward0", samples=_WHOLE)
def nanmedian(xp, x):
    """Middle entry of those that are not NaN, the lower of two; entries equal to it share the cotangent equally."""
    flat = xp.reshape(x, (-1,))
    n = xp.sum(xp.astype(~xp.isnan(flat), xp.int64), axis=None, keepdims=True)
    return xp.reshape(xp.take(xp.sort(flat), (n - xp.astype(n > 0, xp.int64)) // 2, axis=0), ())


def _equals_share(xp, g, x, out):
    found = xp.astype((x == out) | (xp.isnan(x) & xp.isnan(out)), g.dtype)
    return g * (found / xp.sum(found, axis=None, keepdims=False))


for _whole in (largest, smallest, median, nanmedian):
    _whole.vjp(x=_equals_share)


@builtin(samples=_POSITION)
def argmax(xp, x, *, axis=None, keepdims=False):
    """Index of the first largest entry along ``axis`` (of the flattened array if None)."""
    return xp.argmax(x, axis=axis, keepdims=keepdims)


@builtin(samples=_POSITION)
def argmin(xp, x, *, axis=None, keepdims=False):
    """Index of the first smallest entry along ``axis`` (of the flattened array if None)."""
    return xp.argmin(x, axis=axis, keepdims=keepdims)


@builtin(samples=[Sample(A(3, 4, distinct=True), axis=1, descending=d) for d in (False, True)])
def argsort(xp, x, *, axis, descending):
    """The indices that sort along ``axis``; equal entries keep their order, and NaN counts as the largest."""
    if not descending:
        return xp.argsort(x, axis=axis, stable=True)
    return x.shape[axis] - 1 - xp.flip(xp.argsort(xp.flip(x, axis=axis), axis=axis, stable=True), axis=axis)


@builtin(samples=[Sample(A(3, 4, distinct=True), k=2, axis=1, largest=largest) for largest in (False, True)])
def argtop(xp, x, *, k, axis, largest):
    """Where the k largest or smallest along ``axis`` stand, in order."""
    return xp.argtop(x, k=k, axis=axis, largest=largest)


@builtin(samples=[Sample(A(3, 4, distinct=True), k=2, axis=1)])
def argselect(xp, x, *, k, axis):
    """Where the k-th smallest along ``axis``, counted from 0, stands; ``axis`` is kept."""
    return xp.argselect(x, k=k, axis=axis)


@builtin(samples=[Sample(A(3, 4, distinct=True), axis=1, nan=nan) for nan in (False, True)])
def argmedian(xp, x, *, axis, nan):
    """Where the middle entry along ``axis`` stands, the lower of two; if ``nan`` counts, the first one, else none."""
    n = x.shape[axis]
    missing = xp.isnan(x)
    if nan:
        where = xp.argselect(x, k=(n - 1) // 2, axis=axis)
        first = xp.argmax(xp.astype(missing, xp.uint8), axis=axis, keepdims=True)
        return xp.where(xp.any(missing, axis=axis, keepdims=True), first, where)
    there = n - xp.sum(xp.astype(missing, xp.int64), axis=axis, keepdims=True)
    return xp.take_along_axis(xp.argsort(x, axis=axis, stable=True), (there - xp.astype(there > 0, xp.int64)) // 2,
                              axis=axis)  # fmt: skip


@builtin(samples=[Sample(A(values=[[1, 2, 2], [3, 3, 0]]), axis=1)])
def argmode(xp, x, *, axis):
    """Where the most frequent entry along ``axis``, the smallest of several, stands last; ``axis`` is kept."""
    n = x.shape[axis]
    order = xp.argsort(x, axis=axis, stable=True)
    ordered = xp.take_along_axis(x, order, axis=axis)
    place = xp.reshape(xp.arange(n, device=x.device), (-1,) + (1,) * (x.ndim - axis - 1))
    lead = (slice(None),) * axis
    same = ordered[(*lead, slice(1, n), ...)] == ordered[(*lead, slice(0, n - 1), ...)]
    same = xp.concat([xp.zeros_like(same, shape=(*x.shape[:axis], 1, *x.shape[axis + 1 :])), same], axis=axis)
    start = xp.running_extremum(place * xp.astype(~same, place.dtype), axis=axis, largest=True)
    longest = xp.argmax(place - start, axis=axis, keepdims=True)
    return xp.take_along_axis(order, longest, axis=axis)


@builtin(samples=[Sample(A(3, 4, distinct=True), axis=1, largest=largest) for largest in (False, True)])
def argrunning(xp, x, *, axis, largest):
    """Where the largest or smallest so far along ``axis`` stands, the last of several; NaN counts as either."""
    x = xp.astype(x, xp.uint8) if xp.isdtype(x.dtype, "bool") else x
    found = x == xp.running_extremum(x, axis=axis, largest=largest)
    found = found | xp.isnan(x) if xp.isdtype(x.dtype, "real floating") else found
    place = xp.reshape(xp.arange(x.shape[axis], device=x.device), (-1,) + (1,) * (x.ndim - axis - 1))
    return xp.running_extremum(place * xp.astype(found, place.dtype), axis=axis, largest=True)
