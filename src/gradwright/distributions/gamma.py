"""The gamma distribution, and what is made of gamma variables: chi-squared, inverse gamma, Student's t, Fisher's F."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwright.distributions import constraints, draws
from gradwright.distributions.distribution import Distribution, ExponentialFamily
from gradwright.distributions.implicit import gamma_cdf
from gradwright.distributions.transformed_distribution import TransformedDistribution
from gradwright.distributions.transforms import PowerTransform
from gradwright.distributions.utils import broadcast_all
from gradwright.engine.apply import apply
from gradwright.face.elementwise import where
from gradwright.face.special_names import digamma, xlogy
from gradwright.face.special_names import gammaln as lgamma

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor, Value

_SHAPE = {"concentration": constraints.positive, "rate": constraints.positive}


class Gamma(ExponentialFamily):
    """rate**a x**(a - 1) exp(-rate x) / Gamma(a), a the concentration.

    Mean a / rate, variance a / rate**2; draws have derivatives by both. Raises ValueError unless both are positive.

    >>> import gradwright as gw
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

    >>> import gradwright as gw
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

    >>> import gradwright as gw
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

    >>> import gradwright as gw
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
        spread = (2 * draws.gamma((self.df / 2).expand(shape)) / self.df).rsqrt()
        return self.loc + self.scale * draws.normal(self.df, shape) * spread

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

    >>> import gradwright as gw
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
