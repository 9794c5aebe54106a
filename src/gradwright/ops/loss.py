"""Losses, entry by entry."""

from __future__ import annotations

from gradwright.ops.activation import hardtanh, log1p_exp, log_sum, logistic, softmax
from gradwright.ops.declare import A, Sample, builtin, op
from gradwright.ops.reduce import balanced, count
from gradwright.ops.scatter import pick, scatter_add

_DISTINCT = A(3, 4, low=-3.0, high=3.0, distinct=True, avoid=[0.0])
_PROBABILITY = A(3, 4, low=0.1, high=0.9)


@builtin(kind="elementwise", node="HuberLossBackward0",
         samples=[Sample(_DISTINCT, A(values=[[0.0] * 4] * 3), delta=d) for d in (1.05, 0.35)])  # fmt: skip
def huber(xp, x, y, *, delta):
    """d**2/2 for a difference d = x - y of at most delta, the tangent beyond; slope delta at both kinks."""
    d = x - y
    inner = xp.clip(d, -delta, delta)
    return inner * (d - 0.5 * inner)


huber.vjp(
    x=lambda xp, g, x, y, delta: g * hardtanh(x - y, min=-delta, max=delta),
    y=lambda xp, g, x, y, delta: g * hardtanh(y - x, min=-delta, max=delta),
)


@builtin(kind="elementwise", node="BinaryCrossEntropyWithLogitsBackward0", samples=[Sample(A(3, 4), A(3, 4))])
def binary_cross_entropy_with_logits(xp, x, target):
    """-t log s - (1 - t) log(1 - s) with s = sigmoid(x), without overflow; dx = s - t, dt = -x."""
    return xp.maximum(x, xp.zero(x)) - x * target + log1p_exp(xp, -xp.abs(x))


@op(direct=True, kind="elementwise", samples=[Sample(A(3, 4), A(3, 4))])
def _excess(xp, x, target):
    """sigmoid(x) - t; where both are nearly 1, too."""
    e = xp.exp(x)
    if not xp.may_hold(e > 1e18, often=True):
        return ((1 - target) * e - target) / (1 + e)
    e = xp.minimum(e, xp.zero(x) + float(xp.finfo(x.dtype).max) / 16)
    q = 1 / (1 + e)
    return (1 - target) * (e * q) - target * q


_excess.vjp(x=lambda xp, g, x: g * (logistic(x) * logistic(-x)), target=lambda xp, g: -g)
binary_cross_entropy_with_logits.vjp(
    x=lambda xp, g, x, target: g * _excess(x, target),
    target=lambda xp, g, x: -g * x,
)


def _log(xp, x):
    """log x, from -100 on, so that a probability of 0 costs no more than that."""
    return xp.clip(xp.log(x), -100.0, None)


@builtin(kind="elementwise", node="BinaryCrossEntropyBackward0", samples=[Sample(_PROBABILITY, A(3, 4))])
def binary_cross_entropy(xp, x, target):
    """-t log x - (1 - t) log(1 - x) with logarithms of at least -100; dx = (x - t)/(x (1 - x)), finite at 0 and 1."""
    return (target - 1) * xp.clip(xp.log1p(-x), -100.0, None) - target * _log(xp, x)


binary_cross_entropy.vjp(
    x=lambda xp, g, x, target: g * (x - target) / xp.clip((1 - x) * x, 1e-12, None),
    target=lambda xp, g, x: g * (_log(xp, 1 - x) - _log(xp, x)),
)


_CHOSEN = [
    *[Sample(A(3, 4), A(values=[2, 0, 3]), axis=1, reduction=how) for how in ("none", "sum", "mean")],
    Sample(A(2, 3, 2), A(values=[[1, 0], [2, 2]]), axis=1, reduction="none"),
]


@builtin(node="NllLossBackward0", multilinear=True, samples=_CHOSEN)
def nll(xp, x, target, *, axis, reduction):
    """-x at ``target``, numbers along ``axis``, which goes; of that the mean, the sum or (none) all."""
    return _reduced(xp, -pick(x, xp.expand_dims(target, axis=axis), axis=axis, keepdims=False), reduction)


@builtin(node="NllLossBackward0", samples=_CHOSEN)
def cross_entropy(xp, x, target, *, axis, reduction):
    """log sum_j e**x_j - x at ``target``, numbers along ``axis``, which goes; dx = softmax(x), less 1 there.

    Of that the mean, the sum or (none) all.
    """
    shifted, total = log_sum(xp, x, axis)
    there = xp.take_along_axis(shifted, xp.expand_dims(target, axis=axis), axis=axis)
    return _reduced(xp, xp.squeeze(total - there, axis=(axis,)), reduction)


def _reduced(xp, losses, reduction):
    if reduction == "none":
        return losses
    return xp.sum(losses) / count(losses.shape, None) if reduction == "mean" else xp.sum(losses)


def _for_each(xp, g, target, axis, reduction):
    """The places of the targets along ``axis``, and the cotangent of the loss at each."""
    at = xp.expand_dims(target, axis=axis)
    g = g / (count(target.shape, None) or 1) if reduction == "mean" else g
    return at, xp.reshape(g, at.shape) if reduction == "none" else xp.broadcast_to(g, at.shape)


def _at_target(xp, g, x_shape, target, axis, reduction):
    at, g = _for_each(xp, g, target, axis, reduction)
    return scatter_add(xp.zeros_like(g, shape=x_shape), at, -g, axis=axis)


def _less_one(xp, g, x, target, axis, reduction):
    at, g = _for_each(xp, g, target, axis, reduction)
    p = softmax(x, axis=axis)
    return balanced(scatter_add(p * g, at, -g, axis=axis), p, axis=axis)


def _pushed(xp, t, x, target, axis, reduction):
    there = pick(t, xp.expand_dims(target, axis=axis), axis=axis, keepdims=True)
    return _reduced(xp, xp.sum(softmax(x, axis=axis) * (t - there), axis=axis), reduction)


nll.vjp(x=_at_target)
cross_entropy.vjp(x=_less_one).jvp(x=_pushed)
