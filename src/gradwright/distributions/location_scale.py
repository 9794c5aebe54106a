"""Distributions on the real line with a place and a width: Cauchy, Laplace, Gumbel, uniform."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwright.base import dtypes
from gradwright.distributions import constraints, draws
from gradwright.distributions.distribution import Distribution
from gradwright.distributions.folded import Folded
from gradwright.distributions.transformed_distribution import TransformedDistribution
from gradwright.distributions.transforms import AffineTransform, ExpTransform
from gradwright.distributions.utils import EULER, broadcast_all
from gradwright.face.elementwise import where

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor, Value

_PLACE = {"loc": constraints.real, "scale": constraints.positive}


class Cauchy(Distribution):
    """1 / (pi scale (1 + z**2)), z = (x - loc) / scale; it has neither mean nor variance.

    Raises ValueError unless ``scale`` is positive.

    >>> import gradwright as gw
    >>> d = gw.distributions.Cauchy(0.0, 1.0)
    >>> d.log_prob(gw.tensor(1.0)).exp()
    tensor(0.1592)
    >>> d.icdf(gw.tensor(0.75)).round(decimals=4)
    tensor(1.)
    """

    loc: Tensor
    scale: Tensor
    arg_constraints = _PLACE
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Value, scale: Value, validate_args: bool | None = None) -> None:
        self._hold(validate_args, loc=loc, scale=scale)

    mean = property(lambda self: self.loc.new_full(self.loc.shape, math.nan))
    mode = property(lambda self: self.loc)
    variance = property(lambda self: self.loc.new_full(self.loc.shape, math.inf))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        u = draws.uniform(self.loc, self._extended_shape(sample_shape))
        return self.loc + ((u - 0.5) * math.pi).tan() * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        z = (self._checked(value) - self.loc) / self.scale
        return -math.log(math.pi) - self.scale.log() - (z**2).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        return ((self._checked(value) - self.loc) / self.scale).atan() / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return (math.pi * (value - 0.5)).tan() * self.scale + self.loc

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + self.scale.log()


class HalfCauchy(Folded):
    """The absolute value of a Cauchy variable around 0.

    Raises ValueError unless ``scale`` is positive.

    >>> import gradwright as gw
    >>> d = gw.distributions.HalfCauchy(1.0)
    >>> d.log_prob(gw.tensor(1.0)).exp()
    tensor(0.3183)
    >>> d.mean
    tensor(inf)
    """

    def __init__(self, scale: Value, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), validate_args)

    mean = property(lambda self: self.scale.new_full(self.scale.shape, math.inf))
    variance = property(lambda self: self.base_dist.variance)


class Laplace(Distribution):
    """exp(-|x - loc| / scale) / (2 scale).

    Mean loc, variance 2 scale**2. Raises ValueError unless ``scale`` is positive.

    >>> import gradwright as gw
    >>> d = gw.distributions.Laplace(0.0, 1.0)
    >>> d.log_prob(gw.tensor(0.0)).exp()
    tensor(0.5000)
    >>> d.variance
    tensor(2.)
    """

    loc: Tensor
    scale: Tensor
    arg_constraints = _PLACE
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Value, scale: Value, validate_args: bool | None = None) -> None:
        self._hold(validate_args, loc=loc, scale=scale)

    mean = mode = property(lambda self: self.loc)
    variance = property(lambda self: 2 * self.scale**2)
    stddev = property(lambda self: math.sqrt(2) * self.scale)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.icdf(draws.uniform(self.loc, self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        return -(2 * self.scale).log() - (self._checked(value) - self.loc).abs() / self.scale

    def cdf(self, value: Tensor) -> Tensor:
        away = self._checked(value) - self.loc
        return 0.5 - 0.5 * away.sign() * (-away.abs() / self.scale).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        side = value - 0.5
        return self.loc - self.scale * side.sign() * (-2 * side.abs()).log1p()

    def entropy(self) -> Tensor:
        return 1 + (2 * self.scale).log()


class Uniform(Distribution):
    """1 / (high - low) from low to high.

    Mean (low + high) / 2. Raises ValueError unless low < high.

    >>> import gradwright as gw
    >>> d = gw.distributions.Uniform(0.0, 2.0)
    >>> d.log_prob(gw.tensor(1.0)).exp()
    tensor(0.5000)
    >>> d.mean
    tensor(1.)
    """

    high: Tensor
    low: Tensor
    has_rsample = True

    def __init__(self, low: Value, high: Value, validate_args: bool | None = None) -> None:
        self._hold(validate_args, low=low, high=high)

    @property
    def arg_constraints(self) -> dict[str, Any]:
        return {"low": constraints.less_than(self.high), "high": constraints.greater_than(self.low)}

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """From low to high."""
        return constraints.interval(self.low, self.high)

    mean = property(lambda self: (self.high + self.low) / 2)
    mode = property(lambda self: math.nan * self.high)
    stddev = property(lambda self: (self.high - self.low) / math.sqrt(12))
    variance = property(lambda self: (self.high - self.low) ** 2 / 12)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.low + draws.uniform(self.low, self._extended_shape(sample_shape)) * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        inside = (self.low <= value) & (value < self.high)
        return where(inside, 0.0, -math.inf).type_as(self.low) - (self.high - self.low).log()

    def cdf(self, value: Tensor) -> Tensor:
        return ((self._checked(value) - self.low) / (self.high - self.low)).clamp(0, 1)

    def icdf(self, value: Tensor) -> Tensor:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        return (self.high - self.low).log()


class Gumbel(TransformedDistribution):
    """exp(-(z + exp(-z))) / scale, z = (x - loc) / scale: how the largest of many draws lies.

    Mean loc + 0.5772 scale. Raises ValueError unless ``scale`` is positive.

    >>> import gradwright as gw
    >>> d = gw.distributions.Gumbel(0.0, 1.0)
    >>> d.log_prob(gw.tensor(0.0)).exp()
    tensor(0.3679)
    >>> d.mean
    tensor(0.5772)
    """

    loc: Tensor
    scale: Tensor
    arg_constraints = _PLACE
    support = constraints.real

    def __init__(self, loc: Value, scale: Value, validate_args: bool | None = None) -> None:
        place, spread = broadcast_all(loc, scale)
        self._keep(loc=place, scale=spread)
        info = dtypes.finfo(place.dtype)
        low = place.new_full(place.shape, info.tiny)
        super().__init__(Uniform(low, low.new_full(low.shape, 1 - info.eps), validate_args), [
            ExpTransform().inv, AffineTransform(0, -1), ExpTransform().inv, AffineTransform(place, -spread),
        ], validate_args)  # fmt: skip

    mean = property(lambda self: self.loc + self.scale * EULER)
    mode = property(lambda self: self.loc)
    stddev = property(lambda self: math.pi / math.sqrt(6) * self.scale)
    variance = property(lambda self: self.stddev**2)

    def log_prob(self, value: Tensor) -> Tensor:
        z = (self.loc - self._checked(value)) / self.scale
        return z - z.exp() - self.scale.log()

    def entropy(self) -> Tensor:
        return self.scale.log() + 1 + EULER
