"""The continuous Bernoulli distribution: x of a success and 1 - x of a failure, of any share x."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwright.distributions import constraints, draws
from gradwright.distributions.binary import BinaryParameter
from gradwright.distributions.distribution import ExponentialFamily
from gradwright.distributions.utils import broadcast_all, clamp_probs, lazy_property, logits_to_probs
from gradwright.face.elementwise import where
from gradwright.nn.functional.activation import logsigmoid

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor, Value

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

    >>> import gradwright as gw
    >>> d = gw.distributions.ContinuousBernoulli(0.5)
    >>> d.log_prob(gw.tensor(0.25)).exp()
    tensor(1.)
    >>> d.mean
    tensor(0.5000)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
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

    def _apart(self, t: Any, formula: Any, series: Any) -> Any:
        """``formula`` of the logits, and ``series`` of those close to 0, where it loses digits."""
        near = t.abs() < _NEAR
        return where(near, series(where(near, t, 0.0)), formula(where(near, 1.0, t)))

    def _cont_bern_log_norm(self) -> Any:
        return self._apart(self.logits, lambda t: (t / (t / 2).tanh()).log(), lambda t: _series(_LOG_NORM, t**2))

    @property
    def mean(self) -> Tensor:
        return self._apart(self.logits, lambda t: 0.5 + 0.5 / (t / 2).tanh() - 1 / t,
                           lambda t: 0.5 + t * _series(_MEAN, t**2))  # fmt: skip

    @property
    def variance(self) -> Tensor:
        return self._apart(self.logits, lambda t: 1 / t**2 - ((t / 2).tanh() ** -2 - 1) / 4,
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
