"""Divergences between two distributions of one class."""

from __future__ import annotations

import math
from typing import Any

from gradwright.distributions.binary import Bernoulli, Binomial, Geometric, Poisson
from gradwright.distributions.categorical import Categorical, OneHotCategorical
from gradwright.distributions.continuous_bernoulli import ContinuousBernoulli
from gradwright.distributions.dirichlet import Beta, Dirichlet
from gradwright.distributions.distribution import ExponentialFamily
from gradwright.distributions.gamma import Gamma
from gradwright.distributions.independent import Independent
from gradwright.distributions.kl import kl_divergence, register_kl
from gradwright.distributions.location_scale import Cauchy, Gumbel, Laplace, Uniform
from gradwright.distributions.multivariate_normal import (
    LowRankMultivariateNormal,
    MultivariateNormal,
    log_diagonal,
    squared_distance,
)
from gradwright.distributions.normal import HalfNormal, Normal
from gradwright.distributions.positive import Exponential, Pareto
from gradwright.distributions.transformed_distribution import TransformedDistribution
from gradwright.distributions.utils import EULER, sum_rightmost
from gradwright.face.algebra.solve import solve_triangular
from gradwright.face.elementwise import where
from gradwright.face.shape import broadcast_shapes
from gradwright.face.special_names import digamma, xlogy
from gradwright.face.special_names import gammaln as lgamma
from gradwright.nn.functional.activation import logsigmoid


def _term(p: Any, q: Any, log_ratio: Any) -> Any:
    """p (log p - log q) of probabilities: 0 where p is 0, else infinite where q is 0."""
    return where(p == 0, 0.0, where(q == 0, math.inf, p * log_ratio))


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


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot_categorical(p: Any, q: Any) -> Any:
    return kl_divergence(p._categorical, q._categorical)


@register_kl(Geometric, Geometric)
def _geometric(p: Any, q: Any) -> Any:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(Poisson, Poisson)
def _poisson(p: Any, q: Any) -> Any:
    return where(p.rate == 0, q.rate, xlogy(p.rate, p.rate / q.rate) - p.rate + q.rate)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: Any, q: Any) -> Any:
    size = p._cont_bern_log_norm() - q._cont_bern_log_norm() + logsigmoid(-p.logits) - logsigmoid(-q.logits)
    return p.mean * (p.logits - q.logits) + size


@register_kl(Beta, Beta)
def _beta(p: Any, q: Any) -> Any:
    return _dirichlet(p._dirichlet, q._dirichlet)


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


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: Any, q: Any) -> Any:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Any, q: Any) -> Any:
    """From Chyzak and Nielsen (2019)."""
    return ((p.scale + q.scale) ** 2 + (p.loc - q.loc) ** 2).log() - (4 * p.scale * q.scale).log()


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


for _p in (MultivariateNormal, LowRankMultivariateNormal):
    for _q in (MultivariateNormal, LowRankMultivariateNormal):
        register_kl(_p, _q)(_covariance)


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
