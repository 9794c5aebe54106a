"""Reductions: sums, means, products, extrema, spreads, norms, cumulative sums. ``axis`` is a tuple of axes, or None."""

from __future__ import annotations

import builtins
from math import prod as product

from gradwright.op import A, Sample, builtin

_AXES = [
    Sample(A(3, 4), axis=None, keepdims=False),
    Sample(A(3, 4), axis=(1,), keepdims=False),
    Sample(A(2, 3, 2), axis=(0, 2), keepdims=True),
    Sample(A(), axis=None, keepdims=False),
]
_APART = [
    Sample(A(3, 4, distinct=True), axis=None, keepdims=False),
    Sample(A(3, 4, distinct=True), axis=(1,), keepdims=False),
    Sample(A(2, 3, 2, distinct=True), axis=(0, 2), keepdims=True),
]
_SPREAD = [
    Sample(A(3, 4, distinct=True), axis=None, keepdims=False, correction=1),
    Sample(A(3, 4, distinct=True), axis=(1,), keepdims=False, correction=0),
    Sample(A(2, 3, 2, distinct=True), axis=(0, 2), keepdims=True, correction=1),
]


def spread(xp, g, shape, axis, keepdims):
    """``g``, the shape of a reduction's result, stretched back to the shape of its input."""
    return xp.broadcast_to(kept(xp, g, shape, axis, keepdims) if axis is not None or keepdims else g, shape)


def kept(xp, y, shape, axis, keepdims):
    """The result of a reduction with its reduced axes put back as length 1, so that it broadcasts to its input."""
    if keepdims or not shape:
        return y
    reduced = range(len(shape)) if axis is None else axis
    return xp.reshape(y, tuple(1 if i in reduced else n for i, n in enumerate(shape)))


def count(shape, axis):
    """How many entries each result of a reduction over ``axis`` is made of."""
    return product(shape if axis is None else [shape[i] for i in axis])


@builtin(kind="reduction", node="SumBackward0", samples=_AXES)
def sum(xp, x, *, axis=None, keepdims=False):
    """Sum of the entries over ``axis``; the sum of none is 0."""
    return xp.sum(x, axis=axis, keepdims=keepdims)


sum.vjp(x=lambda xp, g, x_shape, axis, keepdims: spread(xp, g, x_shape, axis, keepdims))


@builtin(kind="reduction", node="MeanBackward0", samples=_AXES)
def mean(xp, x, *, axis=None, keepdims=False):
    """Mean of the entries over ``axis``; the mean of none is NaN."""
    return xp.sum(x, axis=axis, keepdims=keepdims) / count(x.shape, axis)


mean.vjp(x=lambda xp, g, x_shape, axis, keepdims: spread(xp, g / (count(x_shape, axis) or 1), x_shape, axis, keepdims))


@builtin(
    kind="reduction",
    node="ProdBackward0",
    samples=[*_AXES, Sample(A(values=[[0.0, 2.0, 3.0], [1.0, 0.0, 0.0]]), axis=(1,), keepdims=False)],
)
def prod(xp, x, *, axis=None, keepdims=False):
    """Product of the entries over ``axis``; the product of none is 1. The derivative is right at zeros too."""
    return xp.prod(x, axis=axis, keepdims=keepdims)


def _prod_slope(xp, g, x, axis, keepdims):
    """g times the product of all *other* entries: running products from both ends, no division, so zeros are fine."""
    axes = tuple(range(x.ndim)) if axis is None else axis
    others = tuple(i for i in range(x.ndim) if i not in axes)
    rest = [x.shape[i] for i in others]
    lines = xp.reshape(xp.permute_dims(x, others + axes), (*rest, count(x.shape, axes)))
    n = lines.shape[-1]
    before, after = [xp.ones_like(lines[..., 0])] if n else [], [xp.ones_like(lines[..., 0])] if n else []
    for i in range(n - 1):
        before.append(before[-1] * lines[..., i])
        after.append(after[-1] * lines[..., n - 1 - i])
    if not n:
        return xp.zeros_like(x)
    left = xp.stack([b * a for b, a in zip(before, reversed(after), strict=True)], axis=-1)
    left = xp.reshape(left, (*rest, *(x.shape[i] for i in axes)))
    order = others + axes
    back = tuple(order.index(i) for i in range(x.ndim))
    return spread(xp, g, x.shape, axis, keepdims) * xp.permute_dims(left, back)


prod.vjp(x=_prod_slope)


def _extremum_slope(xp, g, x, out, axis, keepdims):
    """The cotangent goes to the largest (smallest) entry, in equal parts where several tie."""
    ties = xp.astype(x == kept(xp, out, x.shape, axis, keepdims), x.dtype)
    share = xp.sum(ties, axis=axis, keepdims=True) if x.ndim else ties
    return kept(xp, g, x.shape, axis, keepdims) * (ties / share)


@builtin(kind="reduction", node="AmaxBackward0", samples=_APART)
def max(xp, x, *, axis=None, keepdims=False):
    """Largest entry over ``axis``; tied entries share the cotangent equally."""
    return xp.max(x, axis=axis, keepdims=keepdims)


@builtin(kind="reduction", node="AminBackward0", samples=_APART)
def min(xp, x, *, axis=None, keepdims=False):
    """Smallest entry over ``axis``; tied entries share the cotangent equally."""
    return xp.min(x, axis=axis, keepdims=keepdims)


max.vjp(x=_extremum_slope)
min.vjp(x=_extremum_slope)


@builtin(kind="reduction", node="VarBackward0", samples=_SPREAD)
def var(xp, x, *, axis=None, keepdims=False, correction=1):
    """Variance over ``axis``: sum (x - mean)**2 / (n - correction); NaN if n <= correction, as 0/0."""
    return xp.sum(_centred(xp, x, axis) ** 2, axis=axis, keepdims=keepdims) / _freedom(x, axis, correction)


def _centred(xp, x, axis):
    total = xp.sum(x, axis=axis, keepdims=True) if x.ndim else x
    return x - total / count(x.shape, axis)


def _freedom(x, axis, correction):
    return builtins.max(count(x.shape, axis) - correction, 0)


def _var_slope(xp, g, x, axis, keepdims, correction):
    return kept(xp, g, x.shape, axis, keepdims) * (2 * _centred(xp, x, axis)) / _freedom(x, axis, correction)


var.vjp(x=_var_slope)


@builtin(kind="reduction", node="StdBackward0", samples=_SPREAD)
def std(xp, x, *, axis=None, keepdims=False, correction=1):
    """Standard deviation over ``axis``, the square root of the variance; slope 0 where it is 0."""
    squares = xp.sum(_centred(xp, x, axis) ** 2, axis=axis, keepdims=keepdims)
    return xp.sqrt(squares / _freedom(x, axis, correction))


def _std_slope(xp, g, x, out, axis, keepdims, correction):
    safe = xp.where(out == 0, xp.ones_like(out), out)
    return _var_slope(xp, g / (2 * safe), x, axis, keepdims, correction)


std.vjp(x=_std_slope)


@builtin(kind="reduction", node="LogsumexpBackward0", samples=_AXES[:3])
def logsumexp(xp, x, *, axis=None, keepdims=False):
    """log sum e**x over ``axis``, without overflow; -inf over none."""
    largest = xp.max if count(x.shape, axis) else xp.sum  # of none: 0
    top = largest(x, axis=axis, keepdims=True)
    top = xp.where(xp.isfinite(top), top, xp.zeros_like(top))
    out = xp.log(xp.sum(xp.exp(x - top), axis=axis, keepdims=True)) + top
    return out if keepdims else xp.squeeze(out, axis=tuple(range(x.ndim)) if axis is None else axis)


def _logsumexp_slope(xp, g, x, out, axis, keepdims):
    shape = x.shape
    return kept(xp, g, shape, axis, keepdims) * xp.exp(x - kept(xp, out, shape, axis, keepdims))


logsumexp.vjp(x=_logsumexp_slope)


@builtin(
    kind="reduction",
    node="LinalgVectorNormBackward0",
    samples=[
        Sample(A(3, 4, avoid=[0.0], distinct=True), ord=p, axis=axis, keepdims=False)
        for p in (2, 1, 3, float("inf"))
        for axis in (None, (1,))
    ]
    + [Sample(A(2, 3, avoid=[0.0]), ord=0.5, axis=(0,), keepdims=True)],
)
def vector_norm(xp, x, *, ord=2, axis=None, keepdims=False):
    """p-norm over ``axis``: (sum |x|**p)**(1/p); p = inf the largest, -inf the smallest |x|, 0 the count of nonzeros.

    At the kink x = 0 the slope is taken as 0.
    """
    a = xp.abs(x)
    if ord == float("inf"):
        return xp.max(a, axis=axis, keepdims=keepdims)
    if ord == -float("inf"):
        return xp.min(a, axis=axis, keepdims=keepdims)
    if ord == 0:
        return xp.sum(xp.astype(x != 0, x.dtype), axis=axis, keepdims=keepdims)
    if ord == 1:
        return xp.sum(a, axis=axis, keepdims=keepdims)
    if ord == 2:
        return xp.sqrt(xp.sum(x * x, axis=axis, keepdims=keepdims))
    return xp.sum(a**ord, axis=axis, keepdims=keepdims) ** (1 / ord)


def _norm_slope(xp, g, x, out, ord, axis, keepdims):
    g, out = kept(xp, g, x.shape, axis, keepdims), kept(xp, out, x.shape, axis, keepdims)
    if ord == 0:
        return g * xp.zeros_like(x)
    if ord == 1:
        return g * xp.sign(x)
    if ord in (float("inf"), -float("inf")):
        ties = xp.astype(xp.abs(x) == out, x.dtype)
        return g * xp.sign(x) * (ties / (xp.sum(ties, axis=axis, keepdims=True) if x.ndim else ties))
    one = xp.ones_like(x)
    safe, nonzero = xp.where(out == 0, xp.ones_like(out), out), x != 0
    if ord == 2:
        return g * (x / safe)
    a = xp.where(nonzero, xp.abs(x), one)
    return xp.where(nonzero, g * xp.sign(x) * (a / safe) ** (ord - 1), xp.zeros_like(x))


vector_norm.vjp(x=_norm_slope)


@builtin(kind="linear", node="CumsumBackward0", samples=[Sample(A(3, 4), axis=0), Sample(A(3, 4), axis=1)])
def cumulative_sum(xp, x, *, axis):
    """Running sum along ``axis``."""
    return xp.cumulative_sum(x, axis=axis)


cumulative_sum.vjp(
    x=lambda xp, g, axis: xp.flip(cumulative_sum(xp.flip(g, axis=(axis,)), axis=axis), axis=(axis,)),
)


@builtin(kind="reduction", samples=[Sample(A(3, 4), axis=None, keepdims=False)])
def any(xp, x, *, axis=None, keepdims=False):
    """Whether any entry is nonzero."""
    return xp.any(xp.astype(x, xp.bool), axis=axis, keepdims=keepdims)


@builtin(kind="reduction", samples=[Sample(A(3, 4), axis=None, keepdims=False)])
def all(xp, x, *, axis=None, keepdims=False):
    """Whether every entry is nonzero."""
    return xp.all(xp.astype(x, xp.bool), axis=axis, keepdims=keepdims)


@builtin(samples=[Sample(A(3, 4), axis=1, keepdims=False), Sample(A(3, 4), axis=None, keepdims=False)])
def argmax(xp, x, *, axis=None, keepdims=False):
    """Index of the first largest entry along ``axis`` (of the flattened array if None)."""
    return xp.argmax(x, axis=axis, keepdims=keepdims)


@builtin(samples=[Sample(A(3, 4), axis=1, keepdims=False), Sample(A(3, 4), axis=None, keepdims=False)])
def argmin(xp, x, *, axis=None, keepdims=False):
    """Index of the first smallest entry along ``axis`` (of the flattened array if None)."""
    return xp.argmin(x, axis=axis, keepdims=keepdims)
