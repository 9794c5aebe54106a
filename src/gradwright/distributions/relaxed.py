"""Continuous numbers in place of categories: draws that sharpen, as the temperature falls, and have derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwright.distributions import constraints
from gradwright.distributions.binary import BinaryParameter
from gradwright.distributions.categorical import Categorical, OfCategorical
from gradwright.distributions.transformed_distribution import TransformedDistribution
from gradwright.distributions.transforms import ExpTransform, SigmoidTransform
from gradwright.distributions.utils import broadcast_all, clamp_probs, normalized
from gradwright.face import random
from gradwright.face.elementwise import softplus
from gradwright.face.special_names import gammaln as lgamma

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor, Value


class _Sharper(TransformedDistribution):
    """A relaxed distribution made of one of its logarithms or logits."""

    temperature = property(lambda self: self.base_dist.temperature)
    probs = property(lambda self: self.base_dist.probs)
    logits = property(lambda self: self.base_dist.logits)


def _noise(like: Any, shape: Any) -> Any:
    return clamp_probs(random.rand(shape, dtype=like.dtype, device=like.device))


class LogitRelaxedBernoulli(BinaryParameter):
    """The logits of a relaxed Bernoulli variable: (logit p + logit u) / temperature, u uniform."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
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

    >>> import gradwright as gw
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
        self._of(Categorical(probs, logits, validate_args), validate_args)

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

    >>> import gradwright as gw
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
