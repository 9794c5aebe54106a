"""Distributions of positive numbers, made by inverting their distribution functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwright.distributions import constraints, draws
from gradwright.distributions.distribution import Distribution, ExponentialFamily
from gradwright.distributions.location_scale import Uniform
from gradwright.distributions.transformed_distribution import TransformedDistribution
from gradwright.distributions.transforms import AffineTransform, ExpTransform, PowerTransform
from gradwright.distributions.utils import EULER, broadcast_all
from gradwright.face.elementwise import where
from gradwright.face.special_names import digamma
from gradwright.face.special_names import gammaln as lgamma

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor, Value


class Exponential(ExponentialFamily):
    """rate exp(-rate x).

    Mean 1 / rate. Raises ValueError unless the rate is positive.

    >>> import gradwright as gw
    >>> d = gw.distributions.Exponential(2.0)
    >>> d.log_prob(gw.tensor(0.0)).exp()
    tensor(2.)
    >>> d.mean
    tensor(0.5000)
    """

    rate: Tensor
    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, rate: Value, validate_args: bool | None = None) -> None:
        self._hold(validate_args, rate=rate)

    mean = stddev = property(lambda self: self.rate.reciprocal())
    mode = property(lambda self: self.rate.new_zeros(self.rate.shape))
    variance = property(lambda self: self.rate**-2)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return draws.exponential(self.rate, self._extended_shape(sample_shape)) / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        return self.rate.log() - self.rate * self._checked(value)

    def cdf(self, value: Tensor) -> Tensor:
        return 1 - (-self.rate * self._checked(value)).exp()

    def icdf(self, value: Tensor) -> Tensor:
        return -(-value).log1p() / self.rate

    def entropy(self) -> Tensor:
        return 1.0 - self.rate.log()


class Pareto(TransformedDistribution):
    """alpha scale**alpha / x**(alpha + 1) from scale on.

    Mean alpha scale / (alpha - 1) for alpha > 1, else inf. Raises ValueError unless both are positive.

    >>> import gradwright as gw
    >>> d = gw.distributions.Pareto(1.0, 2.0)
    >>> d.log_prob(gw.tensor(1.0)).exp()
    tensor(2.)
    >>> d.mean
    tensor(2.)
    """

    alpha: Tensor
    scale: Tensor
    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale: Value, alpha: Value, validate_args: bool | None = None) -> None:
        scale, alpha = broadcast_all(scale, alpha)
        self._keep(scale=scale, alpha=alpha)
        super().__init__(Exponential(alpha, validate_args), [ExpTransform(), AffineTransform(0, scale)], validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """From ``scale`` on."""
        return constraints.greater_than_eq(self.scale)

    mode = property(lambda self: self.scale)

    @property
    def mean(self) -> Tensor:
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    @property
    def variance(self) -> Tensor:
        a = self.alpha.clamp(min=2)
        return self.scale**2 * a / ((a - 1) ** 2 * (a - 2))

    def entropy(self) -> Tensor:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class Weibull(TransformedDistribution):
    """(k / scale) z**(k - 1) exp(-z**k), z = x / scale, k the concentration.

    Mean scale Gamma(1 + 1 / k). Raises ValueError unless both are positive.

    >>> import gradwright as gw
    >>> d = gw.distributions.Weibull(1.0, 1.0)
    >>> d.log_prob(gw.tensor(1.0)).exp()
    tensor(0.3679)
    >>> d.mean
    tensor(1.)
    """

    concentration: Tensor
    scale: Tensor
    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale: Value, concentration: Value, validate_args: bool | None = None) -> None:
        wide, k = broadcast_all(scale, concentration)
        self._keep(scale=wide, concentration=k)
        super().__init__(Exponential(wide.new_ones(wide.shape), validate_args),
                         [PowerTransform(1 / k), AffineTransform(0, wide)], validate_args)  # fmt: skip

    mean = property(lambda self: self.scale * lgamma(1 + 1 / self.concentration).exp())
    mode = property(lambda self: self.scale * ((self.concentration - 1) / self.concentration)
                    ** self.concentration.reciprocal())  # fmt: skip

    @property
    def variance(self) -> Tensor:
        n = 1 / self.concentration
        return self.scale**2 * (lgamma(1 + 2 * n).exp() - (2 * lgamma(1 + n)).exp())

    def entropy(self) -> Tensor:
        return EULER * (1 - self.concentration.reciprocal()) + (self.scale / self.concentration).log() + 1


class Kumaraswamy(TransformedDistribution):
    """a b x**(a - 1) (1 - x**a)**(b - 1) from 0 to 1, a and b the concentrations 1 and 0.

    Mean b B(1 + 1 / a, b). Raises ValueError unless both are positive.

    >>> import gradwright as gw
    >>> d = gw.distributions.Kumaraswamy(1.0, 1.0)
    >>> d.log_prob(gw.tensor(0.5)).exp()
    tensor(1.)
    >>> d.mean
    tensor(0.5000)
    """

    concentration0: Tensor
    concentration1: Tensor
    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Value, concentration0: Value, validate_args: bool | None = None) -> None:
        a, b = broadcast_all(concentration1, concentration0)
        self._keep(concentration1=a, concentration0=b)
        base = Uniform(a.new_zeros(a.shape), a.new_ones(a.shape), validate_args)
        super().__init__(base, [PowerTransform(1 / b), AffineTransform(1.0, -1.0), PowerTransform(1 / a)],
                         validate_args)  # fmt: skip

    def _moment(self, n: int) -> Any:
        b, one = self.concentration0, 1 + n / self.concentration1
        return (lgamma(one) + lgamma(b) - lgamma(one + b)).exp() * b

    mean = property(lambda self: self._moment(1))
    variance = property(lambda self: self._moment(2) - self._moment(1) ** 2)

    @property
    def mode(self) -> Tensor:
        """((a - 1) / (a b - 1))**(1 / a); NaN where a < 1 or b < 1. (PyTorch's is NaN everywhere.)"""
        a, b = self.concentration1, self.concentration0
        mode = ((a - 1) / (a * b - 1)) ** a.reciprocal()
        return where((a < 1) | (b < 1), math.nan, mode)

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        return (1 - 1 / b) + (1 - 1 / a) * (digamma(b + 1) + EULER) - a.log() - b.log()


class GeneralizedPareto(Distribution):
    """(1 + c z)**(-1 - 1/c) / scale, z = (x - loc) / scale >= 0, c the concentration; exp(-z) / scale where c = 0.

    For c < 0 it ends at loc - scale / c.

    Raises ValueError unless ``scale`` is positive.

    >>> import gradwright as gw
    >>> d = gw.distributions.GeneralizedPareto(0.0, 1.0, 0.0)
    >>> d.log_prob(gw.tensor(1.0)).exp()
    tensor(0.3679)
    >>> d.mean
    tensor(1.)
    """

    concentration: Tensor
    loc: Tensor
    scale: Tensor
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True

    def __init__(self, loc: Value, scale: Value, concentration: Value, validate_args: bool | None = None) -> None:
        self._hold(validate_args, loc=loc, scale=scale, concentration=concentration)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """From ``loc`` to the end."""
        c = self.concentration
        return constraints.interval(self.loc, where(c < 0, self.loc - self.scale / c, math.inf))

    mode = property(lambda self: self.loc)

    @property
    def mean(self) -> Tensor:
        c = self.concentration
        return where(c < 1, self.loc + self.scale / (1 - c), math.nan)

    @property
    def variance(self) -> Tensor:
        c = self.concentration
        return where(c < 0.5, self.scale**2 / ((1 - c) ** 2 * (1 - 2 * c)), math.nan)

    def _hazard(self, value: Any) -> tuple[Any, Any]:
        """H = -log of the survival function, log(1 + c z) / c, and log(1 + c z); limits where c = 0 and at the ends."""
        z, c = (self._checked(value) - self.loc) / self.scale, self.concentration
        z = z.clamp(min=0)
        flat = c.abs() < 1e-9
        size = (c * z).clamp(min=-1).log1p()
        return where(flat, z, size / where(flat, 1.0, c)), size

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.icdf(draws.uniform(self.loc, self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        hazard, size = self._hazard(value)
        inside = value >= self.loc
        return where(inside, -hazard - size, -math.inf) - self.scale.log()

    def log_survival_function(self, value: Any) -> Any:
        """The logarithm of the probability of what is above ``value``."""
        return -self._hazard(value)[0]

    def log_cdf(self, value: Any) -> Any:
        """The logarithm of the probability of what is not above ``value``."""
        return (-(-self._hazard(value)[0]).expm1()).log()

    def cdf(self, value: Tensor) -> Tensor:
        return -(-self._hazard(value)[0]).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        c, hazard = self.concentration, -(-value).log1p()
        flat = c.abs() < 1e-9
        return self.loc + self.scale * where(flat, hazard, (c * hazard).expm1() / where(flat, 1.0, c))

    def entropy(self) -> Tensor:
        return self.scale.log() + self.concentration + 1
