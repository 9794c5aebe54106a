"""Activations: logistic and its kin, the linear units, the shrinkages, softmax.

At a kink each takes the slope that PyTorch takes; the docstring says which. Where x is NaN, so is y.
"""

from __future__ import annotations

from gradwright.ops.declare import A, Sample, builtin, op
from gradwright.ops.piecewise import unless
from gradwright.ops.reduce import balanced, centred, of_softmax
from gradwright.ops.shape import sum_to

_REAL = [Sample(A(3, 4)), Sample(A())]
_ROWS = [Sample(A(3, 4), axis=1), Sample(A(3, 4), axis=0), Sample(A(5), axis=-1), Sample(A(2, 3, 2), axis=1)]
_GELU, _CUBIC = 0.7978845608028654, 0.044715  # sqrt(2/pi), and the fit of the approximation


def log1p_exp(xp, z):
    """log(1 + e**z) for z <= 0, with the rounding error of the sum put back: NumPy's log1p takes five times as long."""
    e = xp.exp(z)
    total = 1 + e
    return xp.log(total) + (e - (total - 1)) / total


@builtin(complex="holomorphic", kind="elementwise", node="SigmoidBackward0", samples=_REAL)
def sigmoid(xp, x):
    """Logistic function, y = 1/(1 + e**-x), dy/dx = y (1 - y)."""
    return 1 / (1 + xp.exp(-x))


sigmoid.vjp(x=lambda xp, g, out: g * (out * (1 - out)))


@builtin(kind="elementwise", node="LogSigmoidBackward0", samples=_REAL)
def log_sigmoid(xp, x):
    """y = log sigmoid(x) without overflow, dy/dx = sigmoid(-x)."""
    return xp.minimum(x, xp.zero(x)) - log1p_exp(xp, -xp.abs(x))


@op(direct=True, complex="holomorphic", kind="elementwise", samples=_REAL)
def logistic(xp, x):
    """`sigmoid` where x is kept anyway: its derivatives are made of x, and so are exact where y rounds to 1."""
    return 1 / (1 + xp.exp(-x))


logistic.vjp(x=lambda xp, g, x: g * (logistic(x) * logistic(-x)))
log_sigmoid.vjp(x=lambda xp, g, x: g * logistic(-x))


@builtin(kind="elementwise", node="SoftplusBackward0",
         samples=[Sample(A(3, 4), beta=1.0, threshold=20.0), Sample(A(3, 4), beta=2.0, threshold=20.0)])  # fmt: skip
def softplus(xp, x, *, beta, threshold):
    """y = log(1 + e**(beta x)) / beta, the line y = x where beta x > threshold; dy/dx = sigmoid(beta x)."""
    z = beta * x
    bend = log1p_exp(xp, -xp.abs(z)) + xp.maximum(z, xp.zero(z))
    return xp.where(z > threshold, x, bend / beta)


softplus.vjp(x=lambda xp, g, x, beta, threshold: xp.where(beta * x > threshold, g, g * logistic(beta * x)))


@builtin(complex="holomorphic", kind="elementwise", node="SiluBackward0", samples=_REAL)
def silu(xp, x):
    """y = x s with s = sigmoid(x), dy/dx = s (1 + x (1 - s))."""
    return x / (1 + xp.exp(-x))


@op(direct=True, complex="holomorphic", kind="elementwise", samples=_REAL)
def _silu_slope(xp, x):
    s = 1 / (1 + xp.exp(-x))
    return s * (1 + x * (1 - s))


_silu_slope.vjp(x=lambda xp, g, x: g * (logistic(x) * logistic(-x) * (2 - x * xp.tanh(0.5 * x))))
silu.vjp(x=lambda xp, g, x: g * _silu_slope(x))


def _mish_parts(xp, x):
    """e**x, and tanh(log(1 + e**x)) = n/(n + 2) as n = e**x (e**x + 2); past x = 40 that is 1 in any float."""
    e = xp.exp(xp.clip(x, None, 40.0))
    return e, e * (e + 2)


@builtin(kind="elementwise", node="MishBackward0", samples=_REAL)
def mish(xp, x):
    """y = x t with t = tanh(log(1 + e**x)), dy/dx = t + x (1 - t**2) sigmoid(x)."""
    _, n = _mish_parts(xp, x)
    return x * (n / (n + 2))


def _mish_slope(xp, g, x):
    e, n = _mish_parts(xp, x)
    d = n + 2
    return g * (n / d + xp.clip(x, None, 40.0) * (4 * e * (e + 1) / d / d))


mish.vjp(x=_mish_slope)


@builtin(kind="elementwise", node="GeluBackward0", samples=_REAL)
def gelu_tanh(xp, x):
    """y = x (1 + tanh u)/2 with u = sqrt(2/pi) (x + 0.044715 x**3): nearly x Phi(x)."""
    return x * (0.5 + 0.5 * xp.tanh((_GELU * x) * (1 + _CUBIC * (x * x))))


def _gelu_tanh_slope(xp, g, x):
    x = xp.clip(x, -100.0, 100.0)  # beyond, where a square may overflow, the slope is 0 or 1
    square = x * x
    t = xp.tanh((_GELU * x) * (1 + _CUBIC * square))
    return g * (0.5 + 0.5 * t + (x * (1 - t * t)) * (0.5 * _GELU + (1.5 * _GELU * _CUBIC) * square))


gelu_tanh.vjp(x=_gelu_tanh_slope)


@builtin(kind="elementwise", node="EluBackward0",
         samples=[Sample(A(3, 4, avoid=[0.0]), alpha=1.0, scale=1.0, input_scale=1.0),
                  Sample(A(3, 4, avoid=[0.0]), alpha=1.6, scale=1.05, input_scale=0.5)])  # fmt: skip
def elu(xp, x, *, alpha, scale, input_scale):
    """y = scale x above 0, scale alpha (e**(input_scale x) - 1) below, whose slope is taken at x = 0."""
    t = xp.tanh((0.5 * input_scale) * xp.minimum(x, xp.zero(x)))  # e**z - 1 = 2 t/(1 - t), exact near 0
    below = (2 * alpha * scale) * (t / (1 - t))
    above = xp.maximum(x, xp.zero(x))
    return below + (above if scale == 1 else scale * above)


def _elu_slope(xp, g, x, alpha, scale, input_scale):
    z = xp.minimum(x, xp.zero(x))
    e = xp.exp(z if input_scale == 1 else input_scale * z)
    if alpha * input_scale == 1:
        return g * (e if scale == 1 else scale * e)
    return g * xp.where(x > 0, xp.zero(x) + scale, (alpha * scale * input_scale) * e)


elu.vjp(x=_elu_slope)


@builtin(kind="elementwise", node="LeakyReluBackward0", switch="x",
         samples=[Sample(A(3, 4, avoid=[0.0]), slope=0.01), Sample(A(3, avoid=[0.0]), slope=-1.5)])  # fmt: skip
def leaky_relu(xp, x, *, slope):
    """y = x above 0, slope x elsewhere; at x = 0 the derivative is ``slope``."""
    return xp.maximum(x, slope * x) if 0 <= slope <= 1 else xp.where(x > 0, x, slope * x)


leaky_relu.vjp(x=lambda xp, g, x, slope: xp.where(x > 0, g, slope * g))


@builtin(kind="elementwise", node="DivBackward0", samples=[Sample(A(3, 4, avoid=[0.0]))])
def softsign(xp, x):
    """y = x/(1 + |x|), dy/dx = 1/(1 + |x|)**2; the second slope is taken as 0 at the kink x = 0."""
    return x / (xp.abs(x) + 1)


def _softsign_slope(xp, g, x):
    r = 1 / (xp.abs(x) + 1)
    return g * r * r


softsign.vjp(x=_softsign_slope)


@builtin(kind="elementwise", node="PreluKernelBackward0", switch="x",
         samples=[Sample(A(3, 4, avoid=[0.0]), A(3, 4)), Sample(A(2, 3, 2, avoid=[0.0]), A(3, 1))])  # fmt: skip
def prelu(xp, x, weight):
    """y = x above 0, weight x elsewhere; at x = 0 the derivative is ``weight``."""
    return xp.where(x > 0, x, weight * x)


prelu.vjp(
    x=lambda xp, g, x, weight: xp.where(x > 0, g, weight * g),
    weight=lambda xp, g, x: unless(xp, x > 0, g * x),
)

_BOUNDS = [Sample(A(3, 4, avoid=[-1.0, 0.5]), min=-1.0, max=0.5), Sample(A(avoid=[0.0, 1.0]), min=0.0, max=1.0)]


@builtin(kind="elementwise", node="HardtanhBackward0", samples=_BOUNDS, switch="x")
def hardtanh(xp, x, *, min, max):
    """x kept between two numbers; unlike that of `clip` the slope is 0 at the bounds."""
    return xp.clip(x, min, max)


hardtanh.vjp(x=lambda xp, g, x, min, max: xp.where((x > min) & (x < max), g, xp.zero(g)))

_THREE = [Sample(A(3, 4, low=-5.0, high=5.0, avoid=[-3.0, 3.0]))]


@builtin(kind="elementwise", node="HardsigmoidBackward0", samples=_THREE, switch="x")
def hardsigmoid(xp, x):
    """y = x/6 + 1/2 kept between 0 and 1; slope 0 at both kinks, x = -3 and 3."""
    return xp.clip(x / 6 + 0.5, 0.0, 1.0)


hardsigmoid.vjp(x=lambda xp, g, x: xp.where((x > -3) & (x < 3), g / 6, xp.zero(g)))


@builtin(kind="elementwise", node="HardswishBackward0", samples=_THREE)
def hardswish(xp, x):
    """y = x hardsigmoid(x); slope 0 at the kink x = -3, 1 at x = 3."""
    return x * xp.clip(x / 6 + 0.5, 0.0, 1.0)


hardswish.vjp(x=lambda xp, g, x: g * xp.where(x >= 3, xp.zero(x) + 1, unless(xp, x <= -3, x / 3 + 0.5)))

_SHRINK = [Sample(A(3, 4, avoid=[-0.7, 0.7]), lambd=0.7), Sample(A(avoid=[0.0]), lambd=0.0)]


@builtin(kind="elementwise", node="HardshrinkBackward0", samples=_SHRINK, switch="x")
def hardshrink(xp, x, *, lambd):
    """y = x where abs x > lambd, else 0; slope 0 at the jumps."""
    return unless(xp, xp.abs(x) <= lambd, x)


@builtin(kind="elementwise", node="SoftshrinkBackward0", samples=_SHRINK, switch="x")
def softshrink(xp, x, *, lambd):
    """x moved towards 0 by lambd, and to 0 if it is nearer; slope 0 at the kinks."""
    return x - xp.clip(x, -lambd, lambd)


for _shrink in (hardshrink, softshrink):
    _shrink.vjp(x=lambda xp, g, x, lambd: xp.where(xp.abs(x) > lambd, g, xp.zero(g)))


@builtin(kind="elementwise", node="ThresholdBackward0",
         samples=[Sample(A(3, 4, avoid=[0.5]), threshold=0.5, value=-2.0)], switch="x")  # fmt: skip
def threshold(xp, x, *, threshold, value):
    """y = x above the threshold, else ``value``, with slope 0."""
    return xp.where(x <= threshold, xp.zero(x) + value, x)


threshold.vjp(x=lambda xp, g, x, threshold: unless(xp, x <= threshold, g))


def _top(xp, x, axis):
    """What is taken from x before exponentials, against overflow: its largest entries; nothing if there are none."""
    return xp.max(x, axis=axis, keepdims=True) if x.shape[axis] else 0


@builtin(node="SoftmaxBackward0", ufuncs=True, samples=_ROWS)
def softmax(xp, x, *, axis):
    """y_i = e**x_i / sum_j e**x_j along ``axis``; dx = y (g - sum(g y))."""
    e = xp.exp(x - _top(xp, x, axis))
    return e / xp.sum(e, axis=axis, keepdims=True)


def _softmax_slope(xp, g, out, axis):
    return of_softmax(g, out, axis=axis)


softmax.vjp(x=_softmax_slope).jvp(x=_softmax_slope)


@builtin(node="SafeSoftmaxBackward0", samples=[Sample(A(2, 3, 4), A(3, 4), axis=-1), Sample(A(3, 4), A(3, 1), axis=1)])
def masked_softmax(xp, x, mask, *, axis):
    """`softmax` of x + mask, which broadcasts to x; 0 along lines where all of that is -inf."""
    z = x + mask
    top = _top(xp, z, axis)
    e = xp.exp(z - xp.where(xp.isfinite(top), top, xp.zeros_like(top)) if z.shape[axis] else z)
    total = xp.sum(e, axis=axis, keepdims=True)
    return e / xp.where(total == 0, xp.ones_like(total), total)


masked_softmax.vjp(
    x=_softmax_slope,
    mask=lambda xp, g, out, axis, mask_shape: sum_to(xp, _softmax_slope(xp, g, out, axis), mask_shape),
)
masked_softmax.jvp(
    x=_softmax_slope,
    mask=lambda xp, t, out, axis: of_softmax(xp.broadcast_to(t, out.shape), out, axis=axis),
)


def log_sum(xp, x, axis):
    """x less its largest along ``axis``, and log sum_j e**x_j of that."""
    shifted = x - _top(xp, x, axis)
    return shifted, xp.log(xp.sum(xp.exp(shifted), axis=axis, keepdims=True))


@builtin(node="LogSoftmaxBackward0", ufuncs=True, samples=_ROWS)
def log_softmax(xp, x, *, axis):
    """y = x - log sum_j e**x_j along ``axis``; dx = g - e**y sum(g)."""
    shifted, total = log_sum(xp, x, axis)
    return shifted - total


def _log_softmax_slope(xp, g, out, axis):
    p = xp.exp(out)
    return balanced(g - p * xp.sum(g, axis=axis, keepdims=True), p, axis=axis)


def _log_softmax_tangent(xp, t, out, axis):
    p = xp.exp(out)
    return centred(t - xp.sum(p * t, axis=axis, keepdims=True), p, axis=axis)


log_softmax.vjp(x=_log_softmax_slope).jvp(x=_log_softmax_tangent)
