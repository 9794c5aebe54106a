"""How draws from gamma and Dirichlet distributions move with their parameters: operations that hand on what was drawn.

What is drawn has no formula in the parameters, but its distribution function has: x moves such that F(x; a) stays,

    dx/da = -(dF/da) / p(x),    dF/da = integral of p(t) d(log p(t))/da from the lower end to x
                                      = minus that from x to the upper end.

The integral is taken on the side where log p changes with one sign, in the variable s with t = x e**s (gamma) or
logit t = logit x + s (beta), by a rule for integrands that decay from s = 0 on (64 nodes, about nine digits). It is
a sum of elementary operations, and so the derivative of the draw has derivatives itself.

Sources: Figurnov, Mohamed and Mnih, Implicit Reparameterization Gradients (2018); Takahasi and Mori (1974), for the
nodes s = exp(u - exp(-u)), evenly spaced in u.
"""

from __future__ import annotations

import math
from typing import Any

from gradwright.op import op
from gradwright.ops.special import digamma
from gradwright.transform.batching.rules import Call, rule

_LOW, _HIGH, _COUNT = -3.6, 3.9, 64
_STEP = (_HIGH - _LOW) / (_COUNT - 1)
_PLACES = [math.exp(u - math.exp(-u)) for u in (_LOW + k * _STEP for k in range(_COUNT))]
_NODES = [(s, _STEP * s * (1 + math.exp(_STEP * -k - _LOW))) for k, s in enumerate(_PLACES)]
"""Places and weights of the rule."""


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


@op(kind="elementwise", node="StandardGammaBackward0")
def gamma_draw(xp, concentration, draw):
    """``draw``, a number drawn from Gamma(concentration, 1), which moves with the concentration as its quantile does.

    Both are arrays of one shape, dtype float; draws are above 0.
    """
    return draw * xp.ones_like(concentration)


@op(node="DirichletBackward0")
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
