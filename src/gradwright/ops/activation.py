"""Smooth activations."""

from __future__ import annotations

from gradwright.op import A, Sample, builtin

_ROWS = [Sample(A(3, 4), axis=1), Sample(A(3, 4), axis=0), Sample(A(5), axis=-1), Sample(A(2, 3, 2), axis=1)]


@builtin(kind="elementwise", node="SigmoidBackward0", samples=[Sample(A(3, 4)), Sample(A())])
def sigmoid(xp, x):
    """Logistic function, y = 1/(1 + e**-x), dy/dx = y (1 - y)."""
    return 1 / (1 + xp.exp(-x))


sigmoid.vjp(x=lambda xp, g, out: g * (out * (1 - out)))


@builtin(
    kind="elementwise",
    node="SoftplusBackward0",
    samples=[Sample(A(3, 4), beta=1.0, threshold=20.0), Sample(A(3, 4), beta=2.0, threshold=20.0)],
)
def softplus(xp, x, *, beta, threshold):
    """y = log(1 + e**(beta x)) / beta, the line y = x where beta x > threshold; dy/dx = sigmoid(beta x)."""
    z = beta * x
    bend = xp.log1p(xp.exp(-xp.abs(z))) + xp.where(z > 0, z, xp.zeros_like(z))
    return xp.where(z > threshold, x, bend / beta)


softplus.vjp(
    x=lambda xp, g, x, beta, threshold: xp.where(beta * x > threshold, g, g * sigmoid(beta * x)),
)


def _top(xp, x, axis):
    """What is taken from x before exponentials, against overflow: its largest entries; nothing if there are none."""
    return xp.max(x, axis=axis, keepdims=True) if x.shape[axis] else 0


@builtin(node="SoftmaxBackward0", samples=_ROWS)
def softmax(xp, x, *, axis):
    """y_i = e**x_i / sum_j e**x_j along ``axis``; dx = y (g - sum(g y))."""
    e = xp.exp(x - _top(xp, x, axis))
    return e / xp.sum(e, axis=axis, keepdims=True)


softmax.vjp(x=lambda xp, g, out, axis: out * (g - xp.sum(g * out, axis=axis, keepdims=True)))


@builtin(node="LogSoftmaxBackward0", samples=_ROWS)
def log_softmax(xp, x, *, axis):
    """y = x - log sum_j e**x_j along ``axis``; dx = g - e**y sum(g)."""
    shifted = x - _top(xp, x, axis)
    return shifted - xp.log(xp.sum(xp.exp(shifted), axis=axis, keepdims=True))


log_softmax.vjp(x=lambda xp, g, out, axis: g - xp.exp(out) * xp.sum(g, axis=axis, keepdims=True))
