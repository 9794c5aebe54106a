"""The normal distribution and what is made of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gradwright.distributions import constraints, draws
from gradwright.distributions.distribution import LOG_2PI, ExponentialFamily
from gradwright.distributions.folded import Folded
from gradwright.distributions.transformed_distribution import TransformedDistribution
from gradwright.distributions.transforms import ExpTransform, StickBreakingTransform
from gradwright.face.special_names import erf, erfinv

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor, Value


class Normal(ExponentialFamily):
    """exp(-((x - loc) / scale)**2 / 2) / (scale sqrt(2 pi)).

    Raises ValueError unless ``scale`` is positive.

    >>> import gradwright as gw
    >>> d = gw.distributions.Normal(0.0, 1.0)
    >>> d.log_prob(gw.tensor(0.0)).exp()
    tensor(0.3989)
    >>> d.cdf(gw.tensor(0.0)), d.entropy()
    (tensor(0.5000), tensor(1.4189))
    """

    loc: Tensor
    scale: Tensor
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Value, scale: Value, validate_args: bool | None = None) -> None:
        self._hold(validate_args, loc=loc, scale=scale)

    mean = mode = property(lambda self: self.loc)
    stddev = property(lambda self: self.scale)
    variance = property(lambda self: self.scale**2)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.loc + draws.normal(self.loc, self._extended_shape(sample_shape)) * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        z = (self._checked(value) - self.loc) / self.scale
        return -0.5 * z**2 - self.scale.log() - LOG_2PI / 2

    def cdf(self, value: Tensor) -> Tensor:
        return 0.5 * (1 + erf((self._checked(value) - self.loc) / (self.scale * math.sqrt(2))))

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Tensor:
        return 0.5 + LOG_2PI / 2 + self.scale.log()


class LogNormal(TransformedDistribution):
    """The exponential of a normal variable.

    Of mean ``loc`` and deviation ``scale``, which is positive: ValueError else. Mean e**(loc + scale**2 / 2).

    >>> import gradwright as gw
    >>> d = gw.distributions.LogNormal(0.0, 1.0)
    >>> d.log_prob(gw.tensor(1.0)).exp()
    tensor(0.3989)
    >>> d.mean
    tensor(1.6487)
    """

    arg_constraints = Normal.arg_constraints
    support = constraints.positive
    has_rsample = True

    def __init__(self, loc: Value, scale: Value, validate_args: bool | None = None) -> None:
        super().__init__(Normal(loc, scale, validate_args), ExpTransform(), validate_args)

    loc = property(lambda self: self.base_dist.loc)
    scale = property(lambda self: self.base_dist.scale)
    mean = property(lambda self: (self.loc + self.scale**2 / 2).exp())
    mode = property(lambda self: (self.loc - self.scale**2).exp())
    variance = property(lambda self: (self.scale**2).expm1() * (2 * self.loc + self.scale**2).exp())

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() + self.loc


class HalfNormal(Folded):
    """The absolute value of a normal variable of mean 0.

    Mean scale sqrt(2 / pi). Raises ValueError unless ``scale`` is positive.

    >>> import gradwright as gw
    >>> d = gw.distributions.HalfNormal(1.0)
    >>> d.log_prob(gw.tensor(0.0)).exp()
    tensor(0.7979)
    >>> d.mean
    tensor(0.7979)
    """

    def __init__(self, scale: Value, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), validate_args)

    mean = property(lambda self: self.scale * math.sqrt(2 / math.pi))
    variance = property(lambda self: self.scale**2 * (1 - 2 / math.pi))


class LogisticNormal(TransformedDistribution):
    """Normal vectors broken off a stick, as `StickBreakingTransform` does: points of a simplex.

    Raises ValueError unless ``scale`` is positive.

    >>> import gradwright as gw
    >>> d = gw.distributions.LogisticNormal(gw.zeros(2), gw.ones(2))
    >>> d.sample().sum().round(decimals=4)
    tensor(1.)
    """

    arg_constraints = Normal.arg_constraints
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc: Value, scale: Value, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args)
        if not base.batch_shape:
            base = base.expand((1,))
        super().__init__(base, StickBreakingTransform(), validate_args)

    loc = property(lambda self: self.base_dist.base_dist.loc)
    scale = property(lambda self: self.base_dist.base_dist.scale)
