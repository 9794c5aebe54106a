"""Shares of a whole: numbers between 0 and 1 and points of the simplex."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwright.distributions import constraints, draws
from gradwright.distributions.composed import TransformedDistribution
from gradwright.distributions.discrete import BinaryParameter, OfCategorical
from gradwright.distributions.distribution import ExponentialFamily
from gradwright.distributions.transforms import ExpTransform, SigmoidTransform
from gradwright.distributions.utils import broadcast_all, clamp_probs, lazy_property, logits_to_probs, normalized
from gradwright.face import random
from gradwright.face.functions.elementwise import softplus, where
from gradwright.face.functions.join import stack
from gradwright.face.special_names import digamma, xlogy
from gradwright.face.special_names import gammaln as lgamma
from gradwright.nn.functional.activation import logsigmoid
from gradwright.nn.functional.sparse import one_hot

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor, Value


class Dirichlet(ExponentialFamily):
    """Points x of the simplex, along the last dim: the product of x_i**(a_i - 1) over B(a), a the concentration.

    Mean a / sum a. Raises ValueError unless a is positive, of at least one dim.

    >>> d = gw.distributions.Dirichlet(gw.tensor([1.0, 1.0]))
    >>> d.log_prob(gw.tensor([0.25, 0.75])).exp()
    tensor(1.)
    >>> d.mean
    tensor([0.5000, 0.5000])
    """

    concentration: Tensor
    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.ndim < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self._keep(1, concentration=concentration)
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args)

    mean = property(lambda self: self.concentration / self.concentration.sum(-1, True))

    @property
    def mode(self) -> Tensor:
        above = (self.concentration - 1).clamp(min=0)
        mode = above / above.sum(-1, True)
        corner = one_hot(mode.argmax(-1), mode.shape[-1]).type_as(mode)
        return where((self.concentration < 1).all(-1, keepdim=True), corner, mode)

    @property
    def variance(self) -> Tensor:
        a, total = self.concentration, self.concentration.sum(-1, True)
        return a * (total - a) / (total**2 * (total + 1))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return draws.dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        value, a = self._checked(value), self.concentration
        return xlogy(a - 1, value).sum(-1) + lgamma(a.sum(-1)) - lgamma(a).sum(-1)

    def entropy(self) -> Tensor:
        a, total = self.concentration, self.concentration.sum(-1)
        size = lgamma(a).sum(-1) - lgamma(total)
        return size - (a.shape[-1] - total) * digamma(total) - ((a - 1) * digamma(a)).sum(-1)


class Beta(ExponentialFamily):
    """x**(a - 1) (1 - x)**(b - 1) / B(a, b) from 0 to 1, a and b the concentrations 1 and 0.

    Mean a / (a + b). Raises ValueError unless both are positive.

    >>> d = gw.distributions.Beta(2.0, 2.0)
    >>> d.log_prob(gw.tensor(0.5)).exp()
    tensor(1.5000)
    >>> d.mean
    tensor(0.5000)
    """

    _dirichlet: Dirichlet
    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Value, concentration0: Value, validate_args: bool | None = None) -> None:
        both = stack(broadcast_all(concentration1, concentration0), -1)
        self._keep(_dirichlet=Dirichlet(both, validate_args))
        super().__init__(both.shape[:-1], validate_args=validate_args)

    concentration1 = property(lambda self: self._dirichlet.concentration[..., 0])
    concentration0 = property(lambda self: self._dirichlet.concentration[..., 1])
    mean = property(lambda self: self._dirichlet.mean[..., 0])
    mode = property(lambda self: self._dirichlet.mode[..., 0])
    variance = property(lambda self: self._dirichlet.variance[..., 0])

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._dirichlet.rsample(sample_shape)[..., 0]

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        return self._dirichlet.log_prob(stack([value, 1.0 - value], -1))

    def entropy(self) -> Tensor:
        return self._dirichlet.entropy()


_NEAR, _FLAT = 0.3, 1e-3
_LOG_NORM = (math.log(2), 1 / 12, -7 / 1440, 31 / 90720, -127 / 4838400, 73 / 34214400, -691 * 2047 / 7846046208000)
_MEAN = (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000)
_VARIANCE = (1 / 12, -1 / 240, 1 / 6048, -1 / 172800, 1 / 5322240, -691 / 118879488000)
"""Of the log normaliser, of the mean less 1/2 over the logit, and of the variance: series in the logit squared."""


def _series(terms: Sequence[float], x: Any) -> Any:
    total: Any = terms[-1]
    for term in terms[-2::-1]:
        total = total * x + term
    return total


class ContinuousBernoulli(ExponentialFamily, BinaryParameter):
    """p**x (1 - p)**(1 - x) C(p) from 0 to 1, where C = t / tanh(t / 2) with the logit t of p.

    ``probs`` is the p of this density and not the mean. ``lims`` is accepted: the series around p = 1/2 is taken where
    it is precise.

    Raises ValueError unless one of ``probs``, in [0, 1], and ``logits`` is given.

    >>> d = gw.distributions.ContinuousBernoulli(0.5)
    >>> d.log_prob(gw.tensor(0.25)).exp()
    tensor(1.)
    >>> d.mean
    tensor(0.5000)
    """

    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, probs: Value | None = None, logits: Value | None = None,
                 lims: tuple[float, float] = (0.499, 0.501), validate_args: bool | None = None) -> None:  # fmt: skip
        self._hold_either(probs, logits, validate_args)
        if probs is not None:
            self._keep(probs=clamp_probs(self.probs))

    @lazy_property
    def probs(self) -> Any:
        """The p of the density."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _by_size(self, t: Any, formula: Any, series: Any) -> Any:
        """``formula`` of the logits, and ``series`` of those close to 0, where it loses digits."""
        near = t.abs() < _NEAR
        return where(near, series(where(near, t, 0.0)), formula(where(near, 1.0, t)))

    def _cont_bern_log_norm(self) -> Any:
        return self._by_size(self.logits, lambda t: (t / (t / 2).tanh()).log(), lambda t: _series(_LOG_NORM, t**2))

    @property
    def mean(self) -> Tensor:
        return self._by_size(self.logits, lambda t: 0.5 + 0.5 / (t / 2).tanh() - 1 / t,
                           lambda t: 0.5 + t * _series(_MEAN, t**2))  # fmt: skip

    @property
    def variance(self) -> Tensor:
        return self._by_size(self.logits, lambda t: 1 / t**2 - ((t / 2).tanh() ** -2 - 1) / 4,
                           lambda t: _series(_VARIANCE, t**2))  # fmt: skip

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.icdf(draws.uniform(self.probs, self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        t, value = broadcast_all(self.logits, self._checked(value))
        return value * logsigmoid(t) + (1 - value) * logsigmoid(-t) + self._cont_bern_log_norm()

    def cdf(self, value: Tensor) -> Tensor:
        t, value = broadcast_all(self.logits, self._checked(value).clamp(0, 1))
        around = value + t * value * (value - 1) * (0.5 + t * (2 * value - 1) / 12)
        return self._from_the_top(t, value, around, lambda x, s: (x * s).expm1() / s.expm1())

    def icdf(self, value: Tensor) -> Tensor:
        t, value = broadcast_all(self.logits, value)
        around = value + t * value * (1 - value) * (0.5 + t * (1 - 2 * value) / 6)
        return self._from_the_top(t, value, around, lambda p, s: (p * s.expm1()).log1p() / s)

    def _from_the_top(self, t: Any, value: Any, around: Any, formula: Any) -> Any:
        """A formula for logits below 0, taken from the other end for those above; ``around`` close to 0."""
        flat, rising = t.abs() < _FLAT, t > 0
        found = formula(where(rising, 1 - value, value), where(flat, -1.0, -t.abs()))
        return where(flat, around, where(rising, 1 - found, found))

    def entropy(self) -> Tensor:
        return -self.mean * self.logits - logsigmoid(-self.logits) - self._cont_bern_log_norm()

    _natural_params = property(lambda self: (self.logits,))

    def _log_normalizer(self, *natural_params: Any) -> Any:
        of = ContinuousBernoulli(logits=natural_params[0], validate_args=False)
        return -logsigmoid(-of.logits) - of._cont_bern_log_norm()


class _Sharper(TransformedDistribution):
    """A relaxed distribution made of one of its logarithms or logits."""

    temperature = property(lambda self: self.base_dist.temperature)
    probs = property(lambda self: self.base_dist.probs)
    logits = property(lambda self: self.base_dist.logits)


def _noise(like: Any, shape: Any) -> Any:
    return clamp_probs(random.rand(shape, dtype=like.dtype, device=like.device))


class LogitRelaxedBernoulli(BinaryParameter):
    """The logits of a relaxed Bernoulli variable: (logit p + logit u) / temperature, u uniform."""

    support = constraints.real
    has_rsample = True

    def __init__(self, temperature: Value, probs: Value | None = None, logits: Value | None = None,
                 validate_args: bool | None = None) -> None:  # fmt: skip
        self.temperature = temperature
        self._hold_either(probs, logits, validate_args)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        u = _noise(self._param, self._extended_shape(sample_shape))
        return (u.log() - (-u).log1p() + self.logits) / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        logits, value = broadcast_all(self.logits, self._checked(value))
        z = logits - value * self.temperature
        return self._log_temperature() + z - 2 * softplus(z)

    def _log_temperature(self) -> Any:
        return broadcast_all(self.temperature, self._param)[0].log()


class RelaxedBernoulli(_Sharper):
    """Numbers between 0 and 1, close to either where the ``temperature`` is low.

    The sigmoid of `LogitRelaxedBernoulli`, whose errors it has; draws have derivatives.

    >>> d = gw.distributions.RelaxedBernoulli(gw.tensor(0.5), gw.tensor([0.5]))
    >>> d.log_prob(gw.tensor([0.5])).exp()
    tensor([0.5000])
    """

    arg_constraints = LogitRelaxedBernoulli.arg_constraints
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, temperature: Value, probs: Value | None = None, logits: Value | None = None,
                 validate_args: bool | None = None) -> None:  # fmt: skip
        base = LogitRelaxedBernoulli(temperature, probs, logits, validate_args)
        super().__init__(base, SigmoidTransform(), validate_args)


class ExpRelaxedCategorical(OfCategorical):
    """The logarithms of a relaxed one-hot vector: log softmax((log p + g) / temperature), g of Gumbel(0, 1)."""

    support = constraints.real_vector
    has_rsample = True

    def __init__(self, temperature: Value, probs: Tensor | None = None, logits: Tensor | None = None,
                 validate_args: bool | None = None) -> None:  # fmt: skip
        self.temperature = temperature
        super().__init__(probs, logits, validate_args)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        g = -(-_noise(self._param, self._extended_shape(sample_shape)).log()).log()
        return normalized((self.logits + g) / self.temperature)

    def log_prob(self, value: Tensor) -> Tensor:
        n = self._event_shape[0]
        logits, value = broadcast_all(self.logits, self._checked(value))
        temperature = broadcast_all(self.temperature, logits.new_zeros(()))[0]
        size = lgamma(logits.new_tensor(float(n))) + (n - 1) * temperature.log()
        return normalized(logits - value * temperature).sum(-1) + size


class RelaxedOneHotCategorical(_Sharper):
    """Points of the simplex, close to its corners where the ``temperature`` is low.

    The exponential of the relaxed logarithms; draws have derivatives.

    >>> d = gw.distributions.RelaxedOneHotCategorical(gw.tensor(1.0), gw.tensor([0.5, 0.5]))
    >>> d.sample().sum().round(decimals=4)
    tensor(1.)
    """

    arg_constraints = OfCategorical.arg_constraints
    support = constraints.simplex
    has_rsample = True

    def __init__(self, temperature: Value, probs: Tensor | None = None, logits: Tensor | None = None,
                 validate_args: bool | None = None) -> None:  # fmt: skip
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args)
        super().__init__(base, ExpTransform(), validate_args)
