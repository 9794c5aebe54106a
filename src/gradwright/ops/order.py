"""What depends on the order of entries: extrema, their positions, medians. ``axis`` is a tuple of axes, or None."""

from __future__ import annotations

from gradwright.op import A, Sample, builtin
from gradwright.ops.reduce import kept

_APART = [
    Sample(A(3, 4, distinct=True), axis=None, keepdims=False),
    Sample(A(3, 4, distinct=True), axis=(1,), keepdims=False),
    Sample(A(2, 3, 2, distinct=True), axis=(0, 2), keepdims=True),
]
_WHOLE = [Sample(A(3, 4, distinct=True)), Sample(A(2, 2, 2, distinct=True)), Sample(A())]
_POSITION = [Sample(A(3, 4), axis=1, keepdims=False), Sample(A(3, 4), axis=None, keepdims=False)]


@builtin(kind="reduction", node="AmaxBackward0", samples=_APART)
def max(xp, x, *, axis=None, keepdims=False):
    """Largest entry over ``axis``; tied entries share the cotangent equally, and at NaN it is NaN."""
    return xp.max(x, axis=axis, keepdims=keepdims)


@builtin(kind="reduction", node="AminBackward0", samples=_APART)
def min(xp, x, *, axis=None, keepdims=False):
    """Smallest entry over ``axis``; tied entries share the cotangent equally, and at NaN it is NaN."""
    return xp.min(x, axis=axis, keepdims=keepdims)


def _extremum_slope(xp, g, x, out, axis, keepdims):
    ties = xp.astype(x == kept(xp, out, x.shape, axis, keepdims), x.dtype)
    share = xp.sum(ties, axis=axis, keepdims=True) if x.ndim else ties
    return kept(xp, g, x.shape, axis, keepdims) * (ties / share)


max.vjp(x=_extremum_slope)
min.vjp(x=_extremum_slope)


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
