"""Distributions of positive numbers: exponential, gamma, and what is made of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwright.distributions import constraints, draws
from gradwright.distributions.composed import TransformedDistribution
from gradwright.distributions.continuous import Uniform
from gradwright.distributions.distribution import Distribution, ExponentialFamily
from gradwright.distributions.draws import gamma_cdf
from gradwright.distributions.transforms import AffineTransform, ExpTransform, PowerTransform
from gradwright.distributions.utils import EULER, broadcast_all
from gradwright.engine.apply import apply
from gradwright.face.functions.elementwise import where
from gradwright.face.special_names import digamma, xlogy
from gradwright.face.special_names import gammaln as lgamma

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor, Value


class Exponential(ExponentialFamily):
    """rate exp(-rate x).

    Mean 1 / rate. Raises ValueError unless the rate is positive.

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


_SHAPE = {"concentration": constraints.positive, "rate": constraints.positive}


class Gamma(ExponentialFamily):
    """rate**a x**(a - 1) exp(-rate x) / Gamma(a), a the concentration.

    Mean a / rate, variance a / rate**2; draws have derivatives by both. Raises ValueError unless both are positive.

    >>> d = gw.distributions.Gamma(1.0, 2.0)
    >>> d.log_prob(gw.tensor(0.0)).exp()
    tensor(2.)
    >>> d.mean
    tensor(0.5000)
    """

    concentration: Tensor
    rate: Tensor
    arg_constraints: dict[str, Any] = _SHAPE
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, concentration: Value, rate: Value, validate_args: bool | None = None) -> None:
        self._hold(validate_args, concentration=concentration, rate=rate)

    mean = property(lambda self: self.concentration / self.rate)
    mode = property(lambda self: ((self.concentration - 1) / self.rate).clamp(min=0))
    variance = property(lambda self: self.concentration / self.rate**2)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return draws.gamma(self.concentration.expand(self._extended_shape(sample_shape))) / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        value, a = self._checked(value), self.concentration
        return xlogy(a, self.rate) + xlogy(a - 1, value) - self.rate * value - lgamma(a)

    def cdf(self, value: Tensor) -> Tensor:
        return apply(gamma_cdf, broadcast_all(self.concentration, self.rate * self._checked(value)), {})

    def entropy(self) -> Tensor:
        a = self.concentration
        return a - self.rate.log() + lgamma(a) + (1 - a) * digamma(a)


class Chi2(Gamma):
    """The sum of the squares of ``df`` standard normal variables: Gamma(df / 2, 1 / 2).

    Mean df. Raises ValueError unless it is positive.

    >>> d = gw.distributions.Chi2(2.0)
    >>> d.log_prob(gw.tensor(2.0)).exp()
    tensor(0.1839)
    >>> d.mean
    tensor(2.)
    """

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df: Value, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args)

    df = property(lambda self: self.concentration * 2)


class InverseGamma(TransformedDistribution):
    """One over a gamma variable.

    Mean rate / (a - 1) for a > 1, else inf. Raises ValueError unless both are positive.

    >>> d = gw.distributions.InverseGamma(3.0, 1.0)
    >>> d.log_prob(gw.tensor(1.0)).exp()
    tensor(0.1839)
    >>> d.mean
    tensor(0.5000)
    """

    arg_constraints = _SHAPE
    support = constraints.positive
    has_rsample = True

    def __init__(self, concentration: Value, rate: Value, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args)
        super().__init__(base, PowerTransform(-base.rate.new_ones(())), validate_args)

    concentration = property(lambda self: self.base_dist.concentration)
    rate = property(lambda self: self.base_dist.rate)
    mode = property(lambda self: self.rate / (self.concentration + 1))

    @property
    def mean(self) -> Tensor:
        a = self.concentration
        return where(a > 1, self.rate / (a - 1), math.inf)

    @property
    def variance(self) -> Tensor:
        a = self.concentration
        return where(a > 2, self.rate**2 / ((a - 1) ** 2 * (a - 2)), math.inf)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a + self.rate.log() + lgamma(a) - (1 + a) * digamma(a)


class StudentT(Distribution):
    """loc + scale n / sqrt(c / df): n standard normal, c chi-squared of ``df`` degrees of freedom.

    Mean loc for df > 1, else NaN. Raises ValueError unless ``df`` and ``scale`` are positive.

    >>> d = gw.distributions.StudentT(1.0)
    >>> d.log_prob(gw.tensor(0.0)).exp()
    tensor(0.3183)
    >>> d.mean
    tensor(nan)
    """

    df: Tensor
    loc: Tensor
    scale: Tensor
    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, df: Value, loc: Value = 0.0, scale: Value = 1.0, validate_args: bool | None = None) -> None:
        self._hold(validate_args, df=df, loc=loc, scale=scale)

    mean = property(lambda self: where(self.df <= 1, math.nan, self.loc))
    mode = property(lambda self: self.loc)

    @property
    def variance(self) -> Tensor:
        finite = where(self.df > 2, self.scale**2 * self.df / (self.df - 2), math.inf)
        return where(self.df <= 1, math.nan, finite)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        normal = draws.normal(self.df, shape)
        return self.loc + self.scale * normal * (2 * draws.gamma((self.df / 2).expand(shape)) / self.df).rsqrt()

    def log_prob(self, value: Tensor) -> Tensor:
        df, z = self.df, (self._checked(value) - self.loc) / self.scale
        size = self.scale.log() + 0.5 * (df.log() + math.log(math.pi)) + lgamma(0.5 * df) - lgamma(0.5 * (df + 1))
        return -0.5 * (df + 1) * (z**2 / df).log1p() - size

    def entropy(self) -> Tensor:
        df, half = self.df, 0.5 * (self.df + 1)
        beta = lgamma(0.5 * df) + 0.5 * math.log(math.pi) - lgamma(half)
        return self.scale.log() + half * (digamma(half) - digamma(0.5 * df)) + 0.5 * df.log() + beta


class FisherSnedecor(Distribution):
    """(a / df1) / (b / df2), a and b chi-squared of ``df1`` and ``df2`` degrees of freedom.

    Mean df2 / (df2 - 2) for df2 > 2, else NaN. Raises ValueError unless both are positive.

    >>> d = gw.distributions.FisherSnedecor(2.0, 4.0)
    >>> d.log_prob(gw.tensor(1.0)).exp()
    tensor(0.2963)
    >>> d.mean
    tensor(2.)
    """

    df1: Tensor
    df2: Tensor
    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: Value, df2: Value, validate_args: bool | None = None) -> None:
        self._hold(validate_args, df1=df1, df2=df2)

    mean = property(lambda self: where(self.df2 > 2, self.df2 / (self.df2 - 2), math.nan))

    @property
    def mode(self) -> Tensor:
        place = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return where(self.df1 > 2, place, math.nan)

    @property
    def variance(self) -> Tensor:
        m, n = self.df1, self.df2
        spread = 2 * n**2 * (m + n - 2) / (m * (n - 2) ** 2 * (n - 4))
        return where(n > 4, spread, math.nan)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        above, beneath = (draws.gamma((df / 2).expand(shape)) / df for df in (self.df1, self.df2))
        return above / beneath

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        a, b, ratio = self.df1 / 2, self.df2 / 2, self.df1 / self.df2
        size = lgamma(a + b) - lgamma(a) - lgamma(b)
        return size + a * ratio.log() + (a - 1) * value.log() - (a + b) * (ratio * value).log1p()
