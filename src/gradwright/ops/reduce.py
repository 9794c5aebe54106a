"""Reductions: sums, means, products, spreads, norms. ``axis`` is a tuple of axes, or None."""

from __future__ import annotations

from math import prod as product

from gradwright.ops.arithmetic import power
from gradwright.ops.complex import is_complex, out_of_range, real_part
from gradwright.ops.declare import A, Sample, builtin, op

_INF = float("inf")
_AXES = [
    Sample(A(3, 4), axis=None, keepdims=False),
    Sample(A(3, 4), axis=(1,), keepdims=False),
    Sample(A(2, 3, 2), axis=(0, 2), keepdims=True),
    Sample(A(), axis=None, keepdims=False),
]
_SPREAD = [
    Sample(A(3, 4, distinct=True), axis=None, keepdims=False, correction=1),
    Sample(A(3, 4, distinct=True), axis=(1,), keepdims=False, correction=0),
    Sample(A(2, 3, 2, distinct=True), axis=(0, 2), keepdims=True, correction=1),
    Sample(A(3, 4, complex=True), axis=(1,), keepdims=False, correction=1),
]


def spread(xp, g, shape, axis, keepdims):
    """``g``, the shape of a reduction's result, stretched back to the shape of its input."""
    return xp.broadcast_to(keepdim(xp, g, shape, axis, keepdims) if axis is not None or keepdims else g, shape)


def keepdim(xp, y, shape, axis, keepdims):
    """The result of a reduction with its reduced axes put back as length 1, so that it broadcasts to its input."""
    if keepdims or not shape:
        return y
    reduced = range(len(shape)) if axis is None else axis
    return xp.reshape(y, tuple(1 if i in reduced else n for i, n in enumerate(shape)))


def along(xp, slope, t, axis, keepdims):
    """The tangent of a real reduction with this slope by each entry: sum Re(conj(slope) t)."""
    return xp.sum(real_part(xp, xp.conj(slope) * t) if is_complex(xp, t) else slope * t, axis=axis, keepdims=keepdims)


def count(shape, axis):
    """How many entries each result of a reduction over ``axis`` is made of."""
    return product(shape if axis is None else [shape[i] for i in axis])


@builtin(complex="general", kind="reduction", node="SumBackward0", multilinear=True, samples=_AXES)
def sum(xp, x, *, axis=None, keepdims=False):
    """Sum of the entries over ``axis``; the sum of none is 0."""
    return xp.sum(x, axis=axis, keepdims=keepdims)


sum.vjp(x=lambda xp, g, x_shape, axis, keepdims: spread(xp, g, x_shape, axis, keepdims))


@builtin(complex="general", kind="reduction", node="MeanBackward0", multilinear=True, samples=_AXES)
def mean(xp, x, *, axis=None, keepdims=False):
    """Mean of the entries over ``axis``; the mean of none is NaN."""
    return xp.sum(x, axis=axis, keepdims=keepdims) / count(x.shape, axis)


mean.vjp(x=lambda xp, g, x_shape, axis, keepdims: spread(xp, g / (count(x_shape, axis) or 1), x_shape, axis, keepdims))


@builtin(complex="holomorphic", kind="reduction", node="ProdBackward0",
         samples=[*_AXES, Sample(A(values=[[0.0, 2.0, 3.0], [1.0, 0.0, 0.0]]), axis=(1,), keepdims=False)])  # fmt: skip
def prod(xp, x, *, axis=None, keepdims=False):
    """Product of the entries over ``axis``; the product of none is 1. The derivative is right at zeros too."""
    return xp.prod(x, axis=axis, keepdims=keepdims)


def products_of_others(xp, x):
    """Of each entry, the product of the others in its line, the last axis: of pairs of entries, then within pairs."""
    half = x.shape[-1] // 2
    if not half:
        return xp.ones_like(x)
    a, b, rest = x[..., :half], x[..., half : 2 * half], x[..., 2 * half :]
    others = products_of_others(xp, xp.concat([a * b, rest], axis=-1) if rest.shape[-1] else a * b)
    mine = others[..., :half]
    return xp.concat([mine * b, mine * a, others[..., half:]], axis=-1)


def _prod_slope(xp, g, x, axis, keepdims):
    """g times the product of all *other* entries; no division, so zeros are fine."""
    axes = tuple(range(x.ndim)) if axis is None else axis
    if count(x.shape, axes) == 1:
        return keepdim(xp, g, x.shape, axis, keepdims) * power(x, exponent=0)  # 1, which has a derivative: 0
    order = tuple(i for i in range(x.ndim) if i not in axes) + axes
    moved = xp.permute_dims(x, order)
    lines = xp.reshape(moved, (*moved.shape[: x.ndim - len(axes)], count(x.shape, axes)))
    others = xp.reshape(products_of_others(xp, lines), moved.shape)
    return keepdim(xp, g, x.shape, axis, keepdims) * xp.permute_dims(others, tuple(map(order.index, range(x.ndim))))


prod.vjp(x=_prod_slope)


@builtin(complex="general", kind="reduction", node="VarBackward0", samples=_SPREAD)
def var(xp, x, *, axis=None, keepdims=False, correction=1):
    """Variance over ``axis``: sum |x - mean|**2 / (n - correction).

    If n <= correction it divides by 0: inf, or NaN if all entries are equal.
    """
    return xp.sum(_square(xp, _centred(xp, x, axis)), axis=axis, keepdims=keepdims) / _freedom(x, axis, correction)


def _square(xp, x):
    return real_part(xp, x * xp.conj(x)) if is_complex(xp, x) else x * x


def _centred(xp, x, axis):
    total = xp.sum(x, axis=axis, keepdims=True) if x.ndim else x
    return x - total / (count(x.shape, axis) or 1)


def _freedom(x, axis, correction):
    return max(count(x.shape, axis) - correction, 0)


def _var_slope(xp, g, x, axis, keepdims, correction):
    return keepdim(xp, g, x.shape, axis, keepdims) * (2 * _centred(xp, x, axis)) / _freedom(x, axis, correction)


def _var_tangent(xp, t, x, axis, keepdims, correction):
    return 2 * along(xp, _centred(xp, x, axis), t, axis, keepdims) / _freedom(x, axis, correction)


var.vjp(x=_var_slope)
var.jvp(x=_var_tangent)


@builtin(complex="general", kind="reduction", node="StdBackward0", samples=_SPREAD)
def std(xp, x, *, axis=None, keepdims=False, correction=1):
    """Standard deviation over ``axis``, the square root of the variance; slope 0 where it is 0."""
    x, freedom = _centred(xp, x, axis), _freedom(x, axis, correction)
    total = xp.sum(_square(xp, x), axis=axis, keepdims=keepdims)
    return _in_range(xp, total, xp.sqrt(total / freedom), x, 2, axis, keepdims, freedom**0.5)


def _std_slope(xp, g, x, out, axis, keepdims, correction):
    g = keepdim(xp, g / _freedom(x, axis, correction), x.shape, axis, keepdims)
    out = keepdim(xp, out, x.shape, axis, keepdims)
    return g * (_centred(xp, x, axis) / xp.where(out == 0, xp.zero(out) + _INF, out))


def _std_tangent(xp, t, x, out, axis, keepdims, correction):
    return along(xp, _std_slope(xp, xp.ones_like(out), x, out, axis, keepdims, correction), t, axis, keepdims)


std.vjp(x=_std_slope)
std.jvp(x=_std_tangent)


@builtin(complex="holomorphic", kind="reduction", node="LogsumexpBackward0", samples=_AXES[:3])
def logsumexp(xp, x, *, axis=None, keepdims=False):
    """log sum e**x over ``axis``, without overflow; -inf, with slope 0, over none and where all entries are -inf."""
    largest = xp.max if count(x.shape, axis) else xp.sum  # of none: 0
    top = largest(real_part(xp, x), axis=axis, keepdims=True)
    top = xp.where(xp.isfinite(top), top, xp.zeros_like(top))
    out = xp.log(xp.sum(xp.exp(x - top), axis=axis, keepdims=True)) + top
    return out if keepdims else xp.squeeze(out, axis=tuple(range(x.ndim)) if axis is None else axis)


def _peaked(xp, p):
    """Whether one share may be nearly all: what is left to the others would drown in its rounding."""
    return xp.may_hold((xp.abs(p) if is_complex(xp, p) else p) > 0.875, often=True)


@op(direct=True, complex="holomorphic")
def of_softmax(xp, v, p, *, axis):
    """(diag(p) - p p^T) v, the product with softmax's derivative."""
    if not _peaked(xp, p):
        return (v - xp.sum(v * p, axis=axis, keepdims=True)) * p
    v = v - xp.sum(v * p, axis=axis, keepdims=True)  # with mean 0 but for rounding: so once more
    return (v - xp.sum(v * p, axis=axis, keepdims=True)) * p


@op(direct=True, complex="holomorphic")
def balanced(xp, v, p, *, axis):
    """v, whose sum is 0 but for rounding, exactly so: less p 1^T v, as in log softmax's derivative."""
    return v - p * xp.sum(v, axis=axis, keepdims=True) if _peaked(xp, p) else v


@op(direct=True, complex="holomorphic")
def centred(xp, v, p, *, axis):
    """v, whose mean by the shares p is 0 but for rounding, exactly so: less 1 p^T v."""
    return v - xp.sum(v * p, axis=axis, keepdims=True) if _peaked(xp, p) else v


of_softmax.vjp(
    v=lambda xp, g, p, axis: of_softmax(g, p, axis=axis),
    p=lambda xp, g, v, p, axis: g * (v - xp.sum(v * p, axis=axis, keepdims=True))
    - v * xp.sum(g * p, axis=axis, keepdims=True),
)
balanced.vjp(
    v=lambda xp, g, p, axis: g - xp.sum(g * p, axis=axis, keepdims=True),
    p=lambda xp, g, v, axis: -g * xp.sum(v, axis=axis, keepdims=True),
)
centred.vjp(
    v=lambda xp, g, p, axis: g - p * xp.sum(g, axis=axis, keepdims=True),
    p=lambda xp, g, v, axis: -v * xp.sum(g, axis=axis, keepdims=True),
)


@op(direct=True, complex="holomorphic")
def shares(xp, x, total, *, axis):
    """e**x / sum e**x over ``axis``, with the logarithm ``total`` of that sum; 0 where it is -inf."""
    return xp.exp(x - xp.where(real_part(xp, total) == -_INF, xp.zero(total), total))


shares.vjp(x=lambda xp, g, out, axis: of_softmax(g, out, axis=axis), total=lambda xp, g, total: xp.zeros_like(total))


def _logsumexp_slope(xp, g, x, out, axis, keepdims):
    g, out = keepdim(xp, g, x.shape, axis, keepdims), keepdim(xp, out, x.shape, axis, keepdims)
    return g * shares(x, out, axis=axis)


def _logsumexp_tangent(xp, t, x, out, axis, keepdims):
    return xp.sum(t * shares(x, keepdim(xp, out, x.shape, axis, keepdims), axis=axis), axis=axis, keepdims=keepdims)


logsumexp.vjp(x=_logsumexp_slope)
logsumexp.jvp(x=_logsumexp_tangent)


@builtin(complex="general", kind="reduction", node="LinalgVectorNormBackward0",
         samples=[Sample(A(3, 4, avoid=[0.0], distinct=True), ord=p, axis=axis, keepdims=False) for p in (2, 1, 3, _INF)
         for axis in (None, (1,))] + [Sample(A(2, 3, avoid=[0.0]), ord=0.5, axis=(0,), keepdims=True)]
         + [Sample(A(2, 3, avoid=[0.0], complex=True), ord=p, axis=(1,), keepdims=False)
         for p in (1, 2, 3)])  # fmt: skip
def vector_norm(xp, x, *, ord=2, axis=None, keepdims=False):
    """p-norm over ``axis``: (sum |x|**p)**(1/p); p = inf the largest, -inf the smallest |x|, 0 the count of nonzeros.

    Without overflow. At the kink x = 0 the slope is taken as 0; the second derivative of a norm of 0 is NaN.
    """
    if ord == 2:
        total = xp.sum(_square(xp, x), axis=axis, keepdims=keepdims)
        return _in_range(xp, total, xp.sqrt(total), x, ord, axis, keepdims)
    a = xp.abs(x)
    if ord == 0:
        return xp.sum(xp.astype(a != 0, a.dtype), axis=axis, keepdims=keepdims)
    if ord == 1:
        return xp.sum(a, axis=axis, keepdims=keepdims)
    if ord in (_INF, -_INF):
        return (xp.max if ord > 0 else xp.min)(a, axis=axis, keepdims=keepdims)
    total = xp.sum(a**ord, axis=axis, keepdims=keepdims)
    return _in_range(xp, total, xp.pow(total, 1 / ord), x, ord, axis, keepdims)


def _in_range(xp, total, out, x, ord, axis, keepdims, divisor=1):
    """The norms ``out``, over a ``divisor``, by scaled entries where a sum of powers is `out_of_range`."""
    lost = out_of_range(xp, total)
    return xp.where(lost, _scaled_norm(xp, x, ord, axis, keepdims) / divisor, out) if xp.may_hold(lost) else out


def _scaled_norm(xp, x, ord, axis, keepdims):
    a = xp.abs(x)
    if not count(x.shape, axis):
        return xp.sum(a, axis=axis, keepdims=keepdims)
    top = (xp.min if ord < 0 else xp.max)(a, axis=axis, keepdims=True) if x.ndim else a
    top = xp.where((top > 0) & (top < _INF), top, xp.zero(top) + 1)
    out = xp.sum((a / top) ** ord, axis=axis, keepdims=True) ** (1 / ord) * top
    return out if keepdims else xp.squeeze(out, axis=tuple(range(x.ndim)) if axis is None else axis)


def _norm_slope(xp, g, x, out, ord, axis, keepdims):
    g, out = keepdim(xp, g, x.shape, axis, keepdims), keepdim(xp, out, x.shape, axis, keepdims)
    if ord == 0:
        return g * xp.zeros_like(x)
    if ord == 1:
        return g * xp.sign(x)
    if ord in (_INF, -_INF):
        a = xp.abs(x)
        ties = xp.astype(a == out, a.dtype)
        return g * (ties / (xp.sum(ties, axis=axis, keepdims=True) if x.ndim else ties)) * xp.sign(x)
    one = xp.ones_like(out) if ord < 0 else 1 + xp.sqrt(out)  # where the norm is 0, and its second slope then NaN
    safe = xp.where(out == 0, one, out)
    if ord == 2:
        return g * (x / safe)
    nonzero = (x != 0) & (out != 0) if ord < 0 else x != 0
    a = xp.abs(xp.where(nonzero, x, xp.ones_like(x)))
    return g * xp.where(nonzero, (a / safe) ** (ord - 1) * xp.sign(x), xp.zeros_like(x))


def _norm_tangent(xp, t, x, out, ord, axis, keepdims):
    return along(xp, _norm_slope(xp, xp.ones_like(out), x, out, ord, axis, keepdims), t, axis, keepdims)


vector_norm.vjp(x=_norm_slope)
vector_norm.jvp(x=_norm_tangent)


@builtin(complex="general", kind="reduction", samples=[Sample(A(3, 4), axis=None, keepdims=False)])
def any(xp, x, *, axis=None, keepdims=False):
    """Whether any entry is nonzero."""
    return xp.any(xp.astype(x, xp.bool), axis=axis, keepdims=keepdims)


@builtin(complex="general", kind="reduction", samples=[Sample(A(3, 4), axis=None, keepdims=False)])
def all(xp, x, *, axis=None, keepdims=False):
    """Whether every entry is nonzero."""
    return xp.all(xp.astype(x, xp.bool), axis=axis, keepdims=keepdims)
