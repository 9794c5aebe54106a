"""Kullback-Leibler divergences: a table of formulas by the classes of two distributions, which can be added to."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING, Any

from gradwright.base.changes import declares
from gradwright.base.source_line import warn
from gradwright.distributions.composed import Independent, TransformedDistribution
from gradwright.distributions.continuous import Cauchy, Gumbel, HalfNormal, Laplace, Normal, Uniform
from gradwright.distributions.discrete import Bernoulli, Binomial, Categorical, Geometric, OneHotCategorical, Poisson
from gradwright.distributions.distribution import LOG_2PI, ExponentialFamily
from gradwright.distributions.multivariate import (
    LowRankMultivariateNormal,
    MultivariateNormal,
    log_diagonal,
    squared_distance,
)
from gradwright.distributions.positive import Exponential, Gamma, Pareto
from gradwright.distributions.shares import Beta, ContinuousBernoulli, Dirichlet
from gradwright.distributions.utils import EULER, sum_rightmost
from gradwright.face.functions.algebra.solve import solve_triangular
from gradwright.face.functions.elementwise import where
from gradwright.face.functions.shape import broadcast_shapes
from gradwright.face.special_names import digamma, erf, xlogy
from gradwright.face.special_names import gammaln as lgamma
from gradwright.nn.functional.activation import logsigmoid

if TYPE_CHECKING:
    from gradwright.distributions.distribution import Distribution
    from gradwright.face.typing import Tensor

__all__ = ["kl_divergence", "register_kl"]

_Formula = Callable[..., Any]
_KL_REGISTRY: dict[tuple[type, type], _Formula] = {}
_KL_MEMOIZE: dict[tuple[type, type], Any] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[_Formula], _Formula]:
    """Register the decorated function of p and q as their divergence, for these classes and classes made of them.

    Raises TypeError unless both are classes: those of distributions, or abstract ones that some of them belong to.

        >>> from gradwright.distributions import Normal, register_kl
        >>> class Mine(Normal): pass
        >>> @register_kl(Mine, Normal)
        ... def kl_mine_normal(p, q):
        ...     return p.loc - q.loc
    """
    for name, kind in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(kind, type):
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {kind}")

    def enter(formula: _Formula) -> _Formula:
        _KL_REGISTRY[type_p, type_q] = formula
        _KL_MEMOIZE.clear()
        declares()
        return formula

    return enter


def _found(type_p: type, type_q: type) -> Any:
    """The formula of the nearest classes, nearest to p first. A RuntimeWarning if nearest to q first is another."""
    fits = [(p, q) for p, q in _KL_REGISTRY if issubclass(type_p, p) and issubclass(type_q, q)]
    if not fits:
        return NotImplemented
    first = min(fits, key=lambda pair: (_distance(type_p, pair[0]), _distance(type_q, pair[1])))
    other = min(fits, key=lambda pair: (_distance(type_q, pair[1]), _distance(type_p, pair[0])))
    if _KL_REGISTRY[first] is not _KL_REGISTRY[other]:
        warn(f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please "
             f"register_kl({first[0].__name__}, {other[1].__name__})", RuntimeWarning)  # fmt: skip
    return _KL_REGISTRY[first]


def _distance(kind: type, above: type) -> int:
    """How many classes there are between a class and one above it; more than all for an abstract one."""
    classes = kind.__mro__
    return classes.index(above) if above in classes else len(classes)


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The divergence E[log p(x) - log q(x)] of x drawn from p, one for each entry of the batch.

    It is infinite where p draws what q never does. NotImplementedError if no formula is registered for their classes.

        >>> from gradwright.distributions import Normal, kl_divergence
        >>> kl_divergence(Normal(1.0, 1.0), Normal(0.0, 1.0))
        tensor(0.5000)
    """
    kinds = type(p), type(q)
    if kinds not in _KL_MEMOIZE:
        _KL_MEMOIZE[kinds] = _found(*kinds)
    if _KL_MEMOIZE[kinds] is NotImplemented:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {kinds[0].__name__} and q type {kinds[1].__name__}: "
            "register_kl() adds one, or average p.log_prob(x) - q.log_prob(x) over x = p.rsample((n,))"
        )
    return _KL_MEMOIZE[kinds](p, q)


def _term(p: Any, q: Any, log_ratio: Any) -> Any:
    """p (log p - log q) of probabilities: 0 where p is 0, else infinite where q is 0."""
    return where(p == 0, 0.0, where(q == 0, math.inf, p * log_ratio))


_ALIKE: dict[type, _Formula] = {
    Beta: lambda p, q: kl_divergence(p._dirichlet, q._dirichlet),
    Cauchy: lambda p, q: ((p.scale + q.scale) ** 2 + (p.loc - q.loc) ** 2).log() - (4 * p.scale * q.scale).log(),
    Geometric: lambda p, q: -p.entropy() - (-q.probs).log1p() / p.probs - q.logits,
    HalfNormal: lambda p, q: kl_divergence(p.base_dist, q.base_dist),
    OneHotCategorical: lambda p, q: kl_divergence(p._categorical, q._categorical),
    Poisson: lambda p, q: where(p.rate == 0, q.rate, xlogy(p.rate, p.rate / q.rate) - p.rate + q.rate),
}
"""Of two of one class, where it is short. Cauchy's is from Chyzak and Nielsen (2019)."""

for _kind, _formula in _ALIKE.items():
    register_kl(_kind, _kind)(_formula)


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Any:
    success = _term(p.probs, q.probs, logsigmoid(p.logits) - logsigmoid(q.logits))
    return success + _term(1 - p.probs, 1 - q.probs, logsigmoid(-p.logits) - logsigmoid(-q.logits))


@register_kl(Binomial, Binomial)
def _binomial(p: Any, q: Any) -> Any:
    """NotImplementedError where q has more tries than p."""
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    return where(p.total_count > q.total_count, math.inf, p.total_count * _bernoulli(p, q))


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Any:
    return _term(p.probs, q.probs, p.logits - q.logits).sum(-1)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: Any, q: Any) -> Any:
    size = p._cont_bern_log_norm() - q._cont_bern_log_norm() + logsigmoid(-p.logits) - logsigmoid(-q.logits)
    return p.mean * (p.logits - q.logits) + size


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    whole = a.sum(-1)
    size = lgamma(whole) - lgamma(b.sum(-1)) - (lgamma(a) - lgamma(b)).sum(-1)
    return size + ((a - b) * (digamma(a) - digamma(whole).unsqueeze(-1))).sum(-1)


@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return ratio - 1 - ratio.log()


@register_kl(Gamma, Gamma)
def _gamma(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    shapes = lgamma(b) - lgamma(a) + (a - b) * digamma(a)
    return b * (p.rate / q.rate).log() + shapes + (q.rate - p.rate) * a / p.rate


@register_kl(Pareto, Pareto)
def _pareto(p: Any, q: Any) -> Any:
    ratio = q.alpha / p.alpha
    size = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return where(p.scale < q.scale, math.inf, size)


@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale) ** 2
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale) ** 2 - 1 - ratio.log())


@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Any:
    ratio, away = p.scale / q.scale, (p.loc - q.loc).abs()
    return ratio * (-away / p.scale).exp() + away / q.scale - 1 - ratio.log()


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Any, q: Any) -> Any:
    ratio, away = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return away - ratio.log() + ratio * EULER + (lgamma(1 + ratio) - away).exp() - (1 + EULER)


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Any:
    size = ((q.high - q.low) / (p.high - p.low)).log()
    return where((q.low > p.low) | (q.high < p.high), math.inf, size)


def _covariance(p: Any, q: Any) -> Any:
    """Of normal vectors by their Cholesky factors; ValueError if they have other lengths."""
    if p.event_shape != q.event_shape:
        raise ValueError("KL-divergence between two Multivariate Normals with different event shapes cannot be "
                         f"computed: {p.event_shape} and {q.event_shape}")  # fmt: skip
    ours, theirs = p.scale_tril, q.scale_tril
    n = p.event_shape[0]
    batch = broadcast_shapes(ours.shape[:-2], theirs.shape[:-2])
    between = solve_triangular(theirs.expand(*batch, n, n), ours.expand(*batch, n, n), upper=False)
    spread = (between**2).sum((-2, -1))
    size = log_diagonal(theirs) - log_diagonal(ours)
    return size + 0.5 * (spread + squared_distance(theirs, q.loc - p.loc) - n)


for _pair in product((MultivariateNormal, LowRankMultivariateNormal), repeat=2):
    register_kl(*_pair)(_covariance)


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Any:
    """NotImplementedError if other numbers of dims are taken for an event's."""
    n = p.reinterpreted_batch_ndims
    if n != q.reinterpreted_batch_ndims:
        raise NotImplementedError(f"KL between Independents of {n} and {q.reinterpreted_batch_ndims} dims is not "
                                  "implemented: expected the same number")  # fmt: skip
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), n)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: Any, q: Any) -> Any:
    """That of the bases, if the transforms are the same; else NotImplementedError."""
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError("KL between distributions after different transforms is not implemented: "
                                  f"{p.transforms} and {q.transforms}")  # fmt: skip
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p: Any, q: Any) -> Any:
    """F(q) - F(p) - <n_q - n_p, dF/dn_p>, by the natural parameters n; NotImplementedError for two classes."""
    if type(p) is not type(q):
        raise NotImplementedError("The cross KL-divergence between different exponential families cannot be computed "
                                  f"using Bregman divergences: {type(p).__name__} and {type(q).__name__}")  # fmt: skip
    value, terms = p._normalizer()
    result = q._log_normalizer(*q._natural_params) - value
    for (ours, slope), theirs in zip(terms, q._natural_params, strict=True):
        result = result - sum_rightmost((theirs - ours) * slope, ours.ndim - len(p.batch_shape))
    return result




def _mean_log(low: Any, high: Any) -> Any:
    """E[log x], x uniform from low to high; of no meaning, but finite, where either is below 0."""
    upper, lower = (xlogy(end, end) for end in (high.clamp(min=0), low.clamp(min=0)))
    return (upper - lower) / (high - low) - 1


_LOG: dict[type, _Formula] = {
    Beta: lambda p: digamma(p.concentration1) - digamma(p.concentration1 + p.concentration0),
    Exponential: lambda p: -EULER - p.rate.log(),
    Gamma: lambda p: digamma(p.concentration) - p.rate.log(),
    Pareto: lambda p: p.scale.log() + 1 / p.alpha,
    Uniform: lambda p: _mean_log(p.low, p.high),
}
_LOG_REST: dict[type, _Formula] = {
    Uniform: lambda p: _mean_log(1 - p.high, 1 - p.low),
}
_EXP: dict[type, _Formula] = {
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


_CLOSED: dict[type, tuple[list[type], _Formula]] = {
    Beta: ([Uniform], _to_beta),
    ContinuousBernoulli: (
        [Beta, Uniform], lambda p, q: p.mean * q.logits + logsigmoid(-q.logits) + q._cont_bern_log_norm()),
    Exponential: ([Beta, ContinuousBernoulli, Gamma, Pareto, Uniform], lambda p, q: q.rate.log() - q.rate * p.mean),
    Gamma: ([Beta, Exponential, Pareto, Uniform], _to_gamma),
    Gumbel: ([Exponential, Gamma, Normal, Uniform], _to_gumbel),
    Laplace: ([Normal], _to_laplace),
    Normal: (
        [Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Pareto, Uniform],
        lambda p, q: -0.5 * (p.variance + (p.mean - q.loc) ** 2) / q.scale**2 - q.scale.log() - LOG_2PI / 2),
    Pareto: ([Uniform], lambda p, q: q.alpha.log() + xlogy(q.alpha, q.scale) - (q.alpha + 1) * _of(_LOG, p)(p)),
    Uniform: ([Beta, ContinuousBernoulli], lambda p, q: -(q.high - q.low).log()),
}  # fmt: skip
"""Of each class of q those of p that have what it asks for, and E[log q(x)]."""

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


def _closed(expectation: _Formula) -> _Formula:
    def divergence(p: Any, q: Any) -> Any:
        (low, high), (first, last) = _of(_SPAN, p)(p), _of(_SPAN, q)(q)
        value = -p.entropy() - expectation(p, q)
        outside = (low < first) | (high > last)
        return value if outside is False else where(outside, math.inf, value)

    return divergence


def _infinite(p: Any, q: Any) -> Any:
    return p.mean.new_full(broadcast_shapes(p.batch_shape, q.batch_shape), math.inf)


for _q, (_classes, _expectation) in _CLOSED.items():
    for _p in _classes:
        register_kl(_p, _q)(_closed(_expectation))
for _p, _classes in _NEVER.items():
    for _q in _classes:
        register_kl(_p, _q)(_infinite)
register_kl(Bernoulli, Poisson)(lambda p, q: q.rate - p.entropy() - xlogy(p.probs, q.rate))
