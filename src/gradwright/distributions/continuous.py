"""Numbers with a place and a width: normal, Cauchy, Laplace, Gumbel, uniform, von Mises, and what is made of these."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwright.base import dtypes
from gradwright.distributions import constraints, draws
from gradwright.distributions.composed import Folded, TransformedDistribution
from gradwright.distributions.distribution import LOG_2PI, Distribution, ExponentialFamily
from gradwright.distributions.transforms import AffineTransform, ExpTransform, StickBreakingTransform
from gradwright.distributions.utils import EULER, broadcast_all
from gradwright.face.functions.elementwise import where
from gradwright.face.special_names import erf, erfinv, i0e, i1e

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor, Value


class LocationScale(Distribution):
    """What has a ``loc`` and a positive ``scale``: its density depends on z = (x - loc) / scale alone."""

    loc: Tensor
    scale: Tensor
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Value, scale: Value, validate_args: bool | None = None) -> None:
        self._hold(validate_args, loc=loc, scale=scale)

    mode = property(lambda self: self.loc)

    def _z(self, value: Any) -> Any:
        return (self._checked(value) - self.loc) / self.scale


class Normal(ExponentialFamily, LocationScale):
    """exp(-((x - loc) / scale)**2 / 2) / (scale sqrt(2 pi)).

    Raises ValueError unless ``scale`` is positive.

    >>> d = gw.distributions.Normal(0.0, 1.0)
    >>> d.log_prob(gw.tensor(0.0)).exp()
    tensor(0.3989)
    >>> d.cdf(gw.tensor(0.0)), d.entropy()
    (tensor(0.5000), tensor(1.4189))
    """

    mean = property(lambda self: self.loc)
    stddev = property(lambda self: self.scale)
    variance = property(lambda self: self.scale**2)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.loc + draws.normal(self.loc, self._extended_shape(sample_shape)) * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        return -0.5 * self._z(value) ** 2 - self.scale.log() - LOG_2PI / 2

    def cdf(self, value: Tensor) -> Tensor:
        return 0.5 * (1 + erf((self._checked(value) - self.loc) / (self.scale * math.sqrt(2))))

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Tensor:
        return 0.5 + LOG_2PI / 2 + self.scale.log()


class LogNormal(TransformedDistribution):
    """The exponential of a normal variable.

    Of mean ``loc`` and deviation ``scale``, which is positive: ValueError else. Mean e**(loc + scale**2 / 2).

    >>> d = gw.distributions.LogNormal(0.0, 1.0)
    >>> d.log_prob(gw.tensor(1.0)).exp()
    tensor(0.3989)
    >>> d.mean
    tensor(1.6487)
    """

    arg_constraints = LocationScale.arg_constraints
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

    >>> d = gw.distributions.LogisticNormal(gw.zeros(2), gw.ones(2))
    >>> d.sample().sum().round(decimals=4)
    tensor(1.)
    """

    arg_constraints = LocationScale.arg_constraints
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc: Value, scale: Value, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args)
        if not base.batch_shape:
            base = base.expand((1,))
        super().__init__(base, StickBreakingTransform(), validate_args)

    loc = property(lambda self: self.base_dist.base_dist.loc)
    scale = property(lambda self: self.base_dist.base_dist.scale)


class Cauchy(LocationScale):
    """1 / (pi scale (1 + z**2)), z = (x - loc) / scale; it has neither mean nor variance.

    Raises ValueError unless ``scale`` is positive.

    >>> d = gw.distributions.Cauchy(0.0, 1.0)
    >>> d.log_prob(gw.tensor(1.0)).exp()
    tensor(0.1592)
    >>> d.icdf(gw.tensor(0.75)).round(decimals=4)
    tensor(1.)
    """

    mean = property(lambda self: self.loc.new_full(self.loc.shape, math.nan))
    variance = property(lambda self: self.loc.new_full(self.loc.shape, math.inf))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.loc + draws.cauchy(self.loc, self._extended_shape(sample_shape)) * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        return -math.log(math.pi) - self.scale.log() - (self._z(value) ** 2).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        return self._z(value).atan() / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return (math.pi * (value - 0.5)).tan() * self.scale + self.loc

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + self.scale.log()


class HalfCauchy(Folded):
    """The absolute value of a Cauchy variable around 0.

    Raises ValueError unless ``scale`` is positive.

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


class Laplace(LocationScale):
    """exp(-|x - loc| / scale) / (2 scale).

    Mean loc, variance 2 scale**2. Raises ValueError unless ``scale`` is positive.

    >>> d = gw.distributions.Laplace(0.0, 1.0)
    >>> d.log_prob(gw.tensor(0.0)).exp()
    tensor(0.5000)
    >>> d.variance
    tensor(2.)
    """

    mean = property(lambda self: self.loc)
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

    >>> d = gw.distributions.Gumbel(0.0, 1.0)
    >>> d.log_prob(gw.tensor(0.0)).exp()
    tensor(0.3679)
    >>> d.mean
    tensor(0.5772)
    """

    loc: Tensor
    scale: Tensor
    arg_constraints = LocationScale.arg_constraints
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


class VonMises(Distribution):
    """exp(k cos(x - loc)) / (2 pi I0(k)), k the concentration. Angles are in radians; draws lie from -pi to pi.

    The Bessel functions need SciPy. (PyTorch's draws have no derivatives.)

    Mean loc. Raises ValueError unless ``concentration`` is positive.

    >>> d = gw.distributions.VonMises(0.0, 1.0)
    >>> d.log_prob(gw.tensor(0.0)).exp()
    tensor(0.3417)
    >>> d.mean
    tensor(0.)
    """

    concentration: Tensor
    loc: Tensor
    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Value, concentration: Value, validate_args: bool | None = None) -> None:
        self._hold(validate_args, loc=loc, concentration=concentration)

    mean = mode = property(lambda self: self.loc)

    @property
    def variance(self) -> Tensor:
        """The circular variance, 1 - I1(k) / I0(k)."""
        return 1 - i1e(self.concentration) / i0e(self.concentration)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        turned = self.loc + draws.angle(self.concentration.expand(self._extended_shape(sample_shape)))
        return (turned + math.pi) % (2 * math.pi) - math.pi

    def log_prob(self, value: Tensor) -> Tensor:
        k, away = self.concentration, self._checked(value) - self.loc
        return k * (away.cos() - 1) - i0e(k).log() - LOG_2PI
