"""Random numbers shaped and typed as parameters are, and operations by which draws move with their parameters.

What is drawn from gamma, Dirichlet and von Mises distributions has no formula in the parameters, but its distribution
function has: x moves such that F(x; a) stays,

    dx/da = -(dF/da) / p(x),    dF/da = integral of p(t) d(log p(t))/da from the lower end to x
                                      = minus that from x to the upper end.

The integral is taken on the side where log p changes with one sign, in the variable s with t = x e**s (gamma) or
logit t = logit x + s (beta), by a rule for integrands that decay from s = 0 on (64 nodes, about nine digits). It is
a sum of elementary operations, and so the derivative of the draw has derivatives itself. That of a von Mises draw is
taken by Gauss and Legendre's rule, from the middle or to the far end, on whichever side of it cos t - E[cos t] has one
sign.

Sources: Figurnov, Mohamed and Mnih, Implicit Reparameterization Gradients (2018); Takahasi and Mori (1974), for the
nodes s = exp(u - exp(-u)), evenly spaced in u.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradwright.base import dtypes
from gradwright.engine.apply import apply
from gradwright.engine.grad_mode import no_grad
from gradwright.face import random
from gradwright.ops.declare import op
from gradwright.ops.special import bessel_ie, digamma, igamma, lgamma
from gradwright.transform.batching.rules import Call, rule

_LOW, _HIGH, _COUNT = -3.6, 3.9, 64
_STEP = (_HIGH - _LOW) / (_COUNT - 1)
_PLACES = [math.exp(u - math.exp(-u)) for u in (_LOW + k * _STEP for k in range(_COUNT))]
_NODES = [(s, _STEP * s * (1 + math.exp(_STEP * -k - _LOW))) for k, s in enumerate(_PLACES)]
"""Places and weights of the rule."""
_GAUSS = [(float(0.5 + 0.5 * t), float(0.5 * w)) for t, w in zip(*np.polynomial.legendre.leggauss(48), strict=True)]
"""Of Gauss and Legendre's, from 0 to 1."""
_FAINT = 40.0
"""How far the logarithm of a density falls until it does not count."""


def _gamma_flow(xp: Any, a: Any, x: Any) -> Any:
    """dx/da of a draw x from Gamma(a, 1)."""
    lower = x < xp.maximum(a, xp.ones_like(a))
    rate = xp.where(lower, xp.where(a > 1, a - x + xp.sqrt(x), a), x - a + xp.sqrt(x))  # at which it decays
    unit = xp.where(lower, -1 / rate, 1 / rate)
    ahead = xp.log(x) - digamma(a)
    total = xp.zeros_like(x)
    for place, weight in _NODES:
        s = place * unit
        total = total + weight * xp.exp(a * s - x * xp.expm1(s)) * (ahead + s)
    return x * unit * total


def _beta_flow(xp: Any, a: Any, b: Any, x: Any) -> Any:
    """dx/da / (1 - x) of a draw x from Beta(a, b)."""
    whole, rest = a + b, 1 - x
    lower = x * whole < a
    near, power = xp.where(lower, x, rest), xp.where(lower, a, b)
    rate = xp.where(power > 1, power - whole * near + xp.sqrt(whole * near * (1 - near)), power)
    ahead = xp.log(x) - digamma(a) + digamma(whole)
    total = xp.zeros_like(x)
    for place, weight in _NODES:
        s = -place / rate
        bent = xp.log1p(near * xp.expm1(s))
        total = total + weight * xp.exp(power * s - whole * bent) * (ahead - bent + xp.where(lower, s, xp.zero(s)))
    return xp.where(lower, -x, x) * total / rate


def _angle_flow(xp: Any, k: Any, x: Any) -> Any:
    """dx/dk of a draw x from the von Mises distribution of concentration k around 0, from -pi to pi."""
    mean = bessel_ie(k, order=1) / bessel_ie(k, order=0)  # of cos x
    place, top = xp.abs(x), xp.cos(x)
    inner = top > mean
    last = top - _FAINT / k
    whole = last <= -1
    end = xp.where(whole, math.pi + xp.zero(x), xp.acos(xp.where(whole, xp.zero(last), last)))
    low, high = xp.where(inner, xp.zero(x), place), xp.where(inner, place, end)
    total = xp.zeros_like(x)
    for node, weight in _GAUSS:
        c = xp.cos(low + (high - low) * node)
        total = total + weight * xp.exp(k * (c - top)) * (c - mean)
    return xp.sign(x) * xp.where(inner, -total, total) * (high - low)


def _gamma_density(xp: Any, a: Any, x: Any) -> Any:
    return xp.exp((a - 1) * xp.log(x) - x - lgamma(a))


def _gamma_cdf_slope(xp: Any, g: Any, concentration: Any, x: Any) -> Any:
    inside = x > 0
    t = xp.where(inside, x, 1 + xp.zero(x))
    return xp.where(inside, -g * _gamma_flow(xp, concentration, t) * _gamma_density(xp, concentration, t), xp.zero(x))


@op(direct=True, kind="elementwise", node="GammaCdfBackward0")
def gamma_cdf(xp, concentration, x):
    """The distribution function of Gamma(concentration, 1) at x, `igamma`, with both derivatives."""
    return igamma(concentration, x)


gamma_cdf.vjp(
    concentration=_gamma_cdf_slope,
    x=lambda xp, g, concentration, x: g * _gamma_density(xp, concentration, x),
)


@op(direct=True, kind="elementwise", node="VonMisesBackward0")
def angle_draw(xp, concentration, draw):
    """``draw``, an angle drawn from the von Mises distribution around 0, which moves with the concentration.

    Both are arrays of one shape, dtype float; draws lie from -pi to pi.
    """
    return draw * xp.ones_like(concentration)


angle_draw.vjp(concentration=lambda xp, g, concentration, out: g * _angle_flow(xp, concentration, out))


@op(direct=True, kind="elementwise", node="StandardGammaBackward0")
def gamma_draw(xp, concentration, draw):
    """``draw``, a number drawn from Gamma(concentration, 1), which moves with the concentration as its quantile does.

    Both are arrays of one shape, dtype float; draws are above 0.
    """
    return draw * xp.ones_like(concentration)


@op(direct=True, node="DirichletBackward0")
def dirichlet_draw(xp, concentration, draw):
    """``draw``, drawn from Dirichlet(concentration) along the last axis; it moves with each concentration.

    Entry i moves as the quantile of its Beta distribution does, and the others make room in proportion.
    Both are arrays of one shape, dtype float; draws are above 0 and sum to 1.
    """
    return draw + xp.zeros_like(concentration)


@rule(dirichlet_draw)
def _batched(call: Call) -> Any:
    return call.of(call.all_first())


def _dirichlet_slope(xp: Any, g: Any, concentration: Any, out: Any) -> Any:
    others = xp.sum(concentration, axis=-1, keepdims=True) - concentration
    return _beta_flow(xp, concentration, others, out) * (g - xp.sum(g * out, axis=-1, keepdims=True))


gamma_draw.vjp(concentration=lambda xp, g, concentration, out: g * _gamma_flow(xp, concentration, out))
dirichlet_draw.vjp(concentration=_dirichlet_slope)


def normal(like: Any, shape: Any) -> Any:
    """Standard normal numbers of the dtype and on the device of ``like``."""
    return standard_normal(shape, like.dtype, like.device)


def standard_normal(shape: Any, dtype: Any, device: Any) -> Any:
    """Standard normal numbers; packages that stand on PyTorch take it from there, with these arguments."""
    return random.randn(shape, dtype=dtype, device=device)


def uniform(like: Any, shape: Any) -> Any:
    """Numbers from (0, 1), both ends left out."""
    info = dtypes.finfo(like.dtype)
    return random.rand(shape, dtype=like.dtype, device=like.device).clamp(info.tiny, 1 - info.eps / 2)


def exponential(like: Any, shape: Any) -> Any:
    """Standard exponential numbers, 0 left out."""
    drawn = random.exponential_(like.detach().new_empty(shape))
    return drawn.clamp(min=dtypes.finfo(like.dtype).tiny)


def cauchy(like: Any, shape: Any) -> Any:
    """Standard Cauchy numbers."""
    return random.cauchy_(like.detach().new_empty(shape))


def gamma(concentration: Any) -> Any:
    """Draws from Gamma(concentration, 1), which have derivatives by it."""
    with no_grad():
        drawn = random.drawn_by("standard_gamma", concentration).clamp(min=dtypes.finfo(concentration.dtype).tiny)
    return apply(gamma_draw, (concentration, drawn), {})


def angle(concentration: Any) -> Any:
    """Draws from the von Mises distribution around 0, which have derivatives by its concentration."""
    with no_grad():
        drawn = random.drawn_by("vonmises", concentration.new_zeros(concentration.shape), concentration)
    return apply(angle_draw, (concentration, drawn), {})


def dirichlet(concentration: Any) -> Any:
    """Draws from Dirichlet(concentration), along the last dim, which have derivatives by it.

    The gamma variables that they are shares of are drawn as logarithms: small concentrations do not underflow.
    """
    with no_grad():
        logs = random.drawn_by("log_gamma", concentration)
        info = dtypes.finfo(concentration.dtype)
        drawn = logs.softmax(-1).clamp(info.tiny, 1 - info.eps / 2)
    return apply(dirichlet_draw, (concentration, drawn), {})
