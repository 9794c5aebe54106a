"""Normalisations: entries brought to mean 0 and variance 1, or to mean square 1, over some axes."""

from __future__ import annotations

from dataclasses import replace

from gradwright.ops.declare import A, Sample, builtin
from gradwright.ops.reduce import count

_GROUPS = [Sample(A(3, 4), axis=(1,), eps=1e-5), Sample(A(2, 3, 2), axis=(0, 2), eps=0.1)]


def _mean(xp, x, axis):
    return xp.sum(x, axis=axis, keepdims=True) / (count(x.shape, axis) or 1)


@builtin(node="NativeBatchNormBackward0", samples=_GROUPS, several=True)
def standardize(xp, x, *, axis, eps):
    """y = (x - mean)/sqrt(var + eps) over ``axis``; the results are y, mean and var, these with axes of length 1."""
    mean = _mean(xp, x, axis)
    centred = x - mean
    var = _mean(xp, centred * centred, axis)
    return [centred * (1 / xp.sqrt(var + eps)), mean, var]


def _standardize_slope(xp, g, out, axis, eps):
    """With r = 1/sqrt(var + eps): r (g - mean g - y mean(g y)), and what comes through the mean and the variance."""
    (g, g_mean, g_var), (y, _, var) = g, out
    n, spread = count(y.shape, axis) or 1, xp.sqrt(var + eps)
    r = 1 / spread
    along = g_var * spread * (2 / n) - r * _mean(xp, g * y, axis)
    return g * r + y * along + (g_mean / n - r * _mean(xp, g, axis))


def _standardize_tangent(xp, t, out, axis, eps):
    y, _, var = out
    spread, mean = xp.sqrt(var + eps), _mean(xp, t, axis)
    moved = t - mean
    along = _mean(xp, y * moved, axis)
    return [(moved - y * along) / spread, mean, 2 * spread * along]


standardize.vjp(x=_standardize_slope)
standardize.jvp(x=_standardize_tangent)

# For a y that is given away as it is, perhaps to be written in place: keeps x as well.
standardize_shown = replace(standardize, samples=(), rules={}, remade=True)
standardize_shown.vjp(x=lambda xp, g, x, out, axis, eps: _standardize_slope(xp, g, out, axis, eps))


@builtin(node="FusedRmsNormBackward0", samples=_GROUPS, complex="holomorphic")
def rms_normalize(xp, x, *, axis, eps):
    """y = r x with r = 1/sqrt(mean x**2 + eps) over ``axis``; dx = r (g - y mean(g y))."""
    return x * (1 / xp.sqrt(_mean(xp, x * x, axis) + eps))


def _rms_slope(xp, g, x, axis, eps):
    r = 1 / xp.sqrt(_mean(xp, x * x, axis) + eps)
    return g * r - x * ((r * r * r) * _mean(xp, g * x, axis))


rms_normalize.vjp(x=_rms_slope)
rms_normalize.jvp(x=_rms_slope)  # the Jacobian is symmetric
