"""Divergences between distributions of two classes: -H(p) - E[log q(x)], by a few expectations of x drawn from p.

What each p offers is a table: its mean and variance, E[log x], E[log(1 - x)] and E[exp(-t x)] where they have a closed
form. What each q asks for is its log density in these. Where p draws what q never does the divergence is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gradwright.distributions.binary import Bernoulli, Binomial, Poisson
from gradwright.distributions.continuous_bernoulli import ContinuousBernoulli
from gradwright.distributions.dirichlet import Beta
from gradwright.distributions.distribution import LOG_2PI
from gradwright.distributions.gamma import Gamma
from gradwright.distributions.kl import register_kl
from gradwright.distributions.location_scale import Gumbel, Laplace, Uniform
from gradwright.distributions.normal import Normal
from gradwright.distributions.positive import Exponential, Pareto
from gradwright.distributions.utils import EULER
from gradwright.face.elementwise import where
from gradwright.face.shape import broadcast_shapes
from gradwright.face.special_names import digamma, erf, xlogy
from gradwright.face.special_names import gammaln as lgamma
from gradwright.nn.functional.activation import logsigmoid

_Expectation = Callable[..., Any]


def _mean_log(low: Any, high: Any) -> Any:
    """E[log x], x uniform from low to high; of no meaning, but finite, where either is below 0."""
    upper, lower = (xlogy(end, end) for end in (high.clamp(min=0), low.clamp(min=0)))
    return (upper - lower) / (high - low) - 1


_LOG: dict[type, _Expectation] = {
    Beta: lambda p: digamma(p.concentration1) - digamma(p.concentration1 + p.concentration0),
    Exponential: lambda p: -EULER - p.rate.log(),
    Gamma: lambda p: digamma(p.concentration) - p.rate.log(),
    Pareto: lambda p: p.scale.log() + 1 / p.alpha,
    Uniform: lambda p: _mean_log(p.low, p.high),
}
_LOG_REST: dict[type, _Expectation] = {
    Uniform: lambda p: _mean_log(1 - p.high, 1 - p.low),
}
_EXP: dict[type, _Expectation] = {
    Exponential: lambda p, t: p.rate / (p.rate + t),
    Gamma: lambda p, t: (1 + t / p.rate) ** -p.concentration,
    Normal: lambda p, t: (t * (t * p.scale**2 / 2 - p.loc)).exp(),
    Uniform: lambda p, t: ((-t * p.low).exp() - (-t * p.high).exp()) / (t * (p.high - p.low)),
}
_SPAN: dict[type, Callable[[Any], tuple[Any, Any]]] = {
    Beta: lambda p: (0.0, 1.0),
    ContinuousBernoulli: lambda p: (0.0, 1.0),
    Exponential: lambda p: (0.0, math.inf),
    Gamma: lambda p: (0.0, math.inf),
    Gumbel: lambda p: (-math.inf, math.inf),
    Laplace: lambda p: (-math.inf, math.inf),
    Normal: lambda p: (-math.inf, math.inf),
    Pareto: lambda p: (p.scale, math.inf),
    Uniform: lambda p: (p.low, p.high),
}
"""Where each has its density: from the first to the second."""


def _of(table: dict[type, Any], p: Any) -> Any:
    """What a table has for the class of p, or for the nearest one that this is made of."""
    return next(table[kind] for kind in type(p).__mro__ if kind in table)


def _to_beta(p: Any, q: Any) -> Any:
    a, b = q.concentration1, q.concentration0
    logs = (a - 1) * _of(_LOG, p)(p) + (b - 1) * _of(_LOG_REST, p)(p)
    return logs + lgamma(a + b) - lgamma(a) - lgamma(b)


def _to_continuous_bernoulli(p: Any, q: Any) -> Any:
    return p.mean * q.logits + logsigmoid(-q.logits) + q._cont_bern_log_norm()


def _to_exponential(p: Any, q: Any) -> Any:
    return q.rate.log() - q.rate * p.mean


def _to_gamma(p: Any, q: Any) -> Any:
    a = q.concentration
    return a * q.rate.log() - lgamma(a) + (a - 1) * _of(_LOG, p)(p) - q.rate * p.mean


def _to_gumbel(p: Any, q: Any) -> Any:
    return (q.loc - p.mean) / q.scale - (q.loc / q.scale).exp() * _of(_EXP, p)(p, 1 / q.scale) - q.scale.log()


def _to_laplace(p: Any, q: Any) -> Any:
    away = p.loc - q.loc
    z = away / p.scale
    distance = math.sqrt(2 / math.pi) * p.scale * (-0.5 * z**2).exp() + away * erf(z / math.sqrt(2))
    return -distance / q.scale - (2 * q.scale).log()


def _to_normal(p: Any, q: Any) -> Any:
    return -0.5 * (p.variance + (p.mean - q.loc) ** 2) / q.scale**2 - q.scale.log() - LOG_2PI / 2


def _to_pareto(p: Any, q: Any) -> Any:
    return q.alpha.log() + xlogy(q.alpha, q.scale) - (q.alpha + 1) * _of(_LOG, p)(p)


def _to_uniform(p: Any, q: Any) -> Any:
    return -(q.high - q.low).log()


_CLOSED: dict[_Expectation, tuple[type, list[type]]] = {
    _to_beta: (Beta, [Uniform]),
    _to_continuous_bernoulli: (ContinuousBernoulli, [Beta, Uniform]),
    _to_exponential: (Exponential, [Beta, ContinuousBernoulli, Gamma, Pareto, Uniform]),
    _to_gamma: (Gamma, [Beta, Exponential, Pareto, Uniform]),
    _to_gumbel: (Gumbel, [Exponential, Gamma, Normal, Uniform]),
    _to_laplace: (Laplace, [Normal]),
    _to_normal: (Normal, [Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Pareto, Uniform]),
    _to_pareto: (Pareto, [Uniform]),
    _to_uniform: (Uniform, [Beta, ContinuousBernoulli]),
}
"""E[log q(x)], the class of q, and those of p that have what it asks for."""

_NEVER: dict[type, list[type]] = {
    Beta: [Pareto],
    ContinuousBernoulli: [Pareto],
    Exponential: [Beta, ContinuousBernoulli, Pareto, Uniform],
    Gamma: [Beta, ContinuousBernoulli, Pareto, Uniform],
    Gumbel: [Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform],
    Laplace: [Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform],
    Normal: [Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform],
    Pareto: [Beta, ContinuousBernoulli, Uniform],
    Poisson: [Bernoulli, Binomial],
}
"""Of each class of p those of q that never draw all that it does, whatever the parameters."""


def _closed(expectation: _Expectation) -> _Expectation:
    def divergence(p: Any, q: Any) -> Any:
        (low, high), (first, last) = _of(_SPAN, p)(p), _of(_SPAN, q)(q)
        value = -p.entropy() - expectation(p, q)
        outside = (low < first) | (high > last)
        return value if outside is False else where(outside, math.inf, value)

    return divergence


def _infinite(p: Any, q: Any) -> Any:
    return p.mean.new_full(broadcast_shapes(p.batch_shape, q.batch_shape), math.inf)


for _expectation, (_q, _classes) in _CLOSED.items():
    for _p in _classes:
        register_kl(_p, _q)(_closed(_expectation))
for _p, _classes in _NEVER.items():
    for _q in _classes:
        register_kl(_p, _q)(_infinite)


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Any, q: Any) -> Any:
    return q.rate - p.entropy() - xlogy(p.probs, q.rate)
