"""Counts and categories."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwright.base import dtypes
from gradwright.distributions import constraints, draws
from gradwright.distributions.distribution import Distribution, ExponentialFamily, breaks
from gradwright.distributions.utils import (
    broadcast_all,
    either,
    lazy_property,
    logits_to_probs,
    normalized,
    probs_to_logits,
)
from gradwright.engine.grad_mode import no_grad
from gradwright.face import random
from gradwright.face.creation import arange, eye
from gradwright.face.functions.elementwise import where
from gradwright.face.functions.scatter import gather
from gradwright.face.functions.shape import broadcast_tensors
from gradwright.face.special_names import gammaln as lgamma
from gradwright.face.special_names import logit, xlogy
from gradwright.nn.functional.activation import logsigmoid
from gradwright.nn.functional.sparse import one_hot

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor, Value


class BinaryParameter(Distribution):
    """What has the probability of a success, ``probs``, or its ``logits``, log(p / (1 - p)): either gives the other."""

    _given: str
    arg_constraints: dict[str, Any] = {"probs": constraints.unit_interval, "logits": constraints.real}

    def __init__(self, probs: Value | None = None, logits: Value | None = None,
                 validate_args: bool | None = None) -> None:  # fmt: skip
        self._hold_either(probs, logits, validate_args)

    @lazy_property
    def logits(self) -> Any:
        """log(p / (1 - p))."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Any:
        """The probability of a success."""
        return logits_to_probs(self.logits, is_binary=True)

    _param = property(lambda self: getattr(self, self._given))
    param_shape = property(lambda self: self._param.shape)


def _log_chances(value: Any, total: Any, logits: Any) -> Any:
    """log(p**value (1 - p)**(total - value)), of the logits of p."""
    return value * logsigmoid(logits) + (total - value) * logsigmoid(-logits)


class Bernoulli(ExponentialFamily, BinaryParameter):
    """1 with probability p, else 0.

    Mean p, variance p (1 - p). Raises ValueError unless one of ``probs``, in [0, 1], and ``logits`` is given.

    >>> d = gw.distributions.Bernoulli(0.25)
    >>> d.log_prob(gw.tensor([0.0, 1.0])).exp()
    tensor([0.7500, 0.2500])
    >>> d.mean, d.variance
    (tensor(0.2500), tensor(0.1875))
    """

    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    mean = property(lambda self: self.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))

    @property
    def mode(self) -> Tensor:
        """1 or 0, whichever is more probable; NaN where they are equally so."""
        return where(self.probs == 0.5, math.nan, (self.probs >= 0.5).to(self.probs.dtype))

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            return random.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        logits, value = broadcast_all(self.logits, self._checked(value))
        return _log_chances(value, 1, logits)

    def entropy(self) -> Tensor:
        return -_log_chances(self.probs, 1, self.logits)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._expanded(arange(2, dtype=self._param.dtype, device=self._param.device), expand)

    _natural_params = property(lambda self: (logit(self.probs),))

    def _log_normalizer(self, *natural_params: Any) -> Any:
        return -logsigmoid(-natural_params[0])


class Geometric(BinaryParameter):
    """How many failures come before the first success: p (1 - p)**k. (`Tensor.geometric_` counts the success too.)

    Mean (1 - p) / p. Raises ValueError unless one of ``probs``, in (0, 1], and ``logits`` is given.

    >>> d = gw.distributions.Geometric(0.5)
    >>> d.log_prob(gw.tensor([0.0, 1.0, 2.0])).exp()
    tensor([0.5000, 0.2500, 0.1250])
    >>> d.mean
    tensor(1.)
    """

    support = constraints.nonnegative_integer

    def __init__(self, probs: Value | None = None, logits: Value | None = None,
                 validate_args: bool | None = None) -> None:  # fmt: skip
        super().__init__(probs, logits, validate_args)
        if self._validate_args and probs is not None:
            self._check("probs", constraints.positive)

    mean = property(lambda self: 1 / self.probs - 1)
    mode = property(lambda self: self.probs.new_zeros(self.probs.shape))
    variance = property(lambda self: (1 / self.probs - 1) / self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            u = draws.uniform(self.probs, self._extended_shape(sample_shape))
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        value, p = broadcast_all(self._checked(value), self.probs)
        sure = (p == 1) & (value == 0)
        return value * (-where(sure, 0.0, p)).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        return -_log_chances(self.probs, 1, self.logits) / self.probs


class Binomial(BinaryParameter):
    """How many of ``total_count`` tries succeed.

    Mean n p, variance n p (1 - p), n the count. Raises ValueError for parameters outside their range.

    >>> d = gw.distributions.Binomial(2, 0.5)
    >>> d.log_prob(gw.tensor([0.0, 1.0, 2.0])).exp()
    tensor([0.2500, 0.5000, 0.2500])
    >>> d.mean
    tensor(1.)
    """

    total_count: Any
    arg_constraints = {"total_count": constraints.nonnegative_integer, **BinaryParameter.arg_constraints}
    has_enumerate_support = True

    def __init__(self, total_count: Value = 1, probs: Value | None = None, logits: Value | None = None,
                 validate_args: bool | None = None) -> None:  # fmt: skip
        self._hold_either(probs, logits, validate_args, total_count=_as_count(total_count, probs, logits))

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """From 0 to the number of tries."""
        return constraints.integer_interval(0, self.total_count)

    mean = property(lambda self: self.total_count * self.probs)
    mode = property(lambda self: ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count))
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return random.drawn_by("binomial", self.total_count.expand(shape).long(), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        value, n = self._checked(value), self.total_count
        ways = lgamma(n + 1) - lgamma(value + 1) - lgamma(n - value + 1)
        return ways + _log_chances(value, n, self.logits)

    def _count(self, what: str) -> int:
        """The number of tries, if it is one for all."""
        n = int(self.total_count.max())
        if not self.total_count.min() == n:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{what}`.")
        return n

    def entropy(self) -> Tensor:
        """The entropy; NotImplementedError unless the number of tries is one for all."""
        self._count("entropy")
        log_p = self.log_prob(self.enumerate_support(False))
        return -(log_p.exp() * log_p).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All numbers of successes; NotImplementedError unless the number of tries is one for all."""
        n = self._count("enumerate_support")
        return self._expanded(arange(1 + n, dtype=self._param.dtype, device=self._param.device), expand)


class NegativeBinomial(BinaryParameter):
    """How many successes come before ``total_count`` failures: Gamma(k + n) / (k! Gamma(n)) p**k (1 - p)**n.

    Mean n p / (1 - p), n the failures, p in [0, 1). Raises ValueError for parameters outside their range.

    >>> d = gw.distributions.NegativeBinomial(1.0, 0.5)
    >>> d.log_prob(gw.tensor([0.0, 1.0])).exp()
    tensor([0.5000, 0.2500])
    >>> d.mean
    tensor(1.)
    """

    total_count: Any
    arg_constraints = {"total_count": constraints.greater_than_eq(0),
                       "probs": constraints.half_open_interval(0.0, 1.0), "logits": constraints.real}  # fmt: skip
    support = constraints.nonnegative_integer

    def __init__(self, total_count: Value, probs: Value | None = None, logits: Value | None = None,
                 validate_args: bool | None = None) -> None:  # fmt: skip
        self._hold_either(probs, logits, validate_args, total_count=_as_count(total_count, probs, logits))

    mean = property(lambda self: self.total_count * self.logits.exp())
    mode = property(lambda self: ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0))
    variance = property(lambda self: self.mean / (-self.logits).sigmoid())

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            rate = random.drawn_by("standard_gamma", self.total_count.expand(shape)) * self.logits.exp()
            return random.poisson(rate)

    def log_prob(self, value: Tensor) -> Tensor:
        value, n = self._checked(value), self.total_count
        ways = lgamma(n + value) - lgamma(1 + value) - lgamma(n)
        ways = where(n + value == 0, 0.0, ways)
        return ways + _log_chances(value, n + value, self.logits)


class Poisson(ExponentialFamily):
    """rate**k exp(-rate) / k!.

    Mean and variance are the rate, at least 0. Draws have no derivatives. Raises ValueError for a negative rate.

    >>> d = gw.distributions.Poisson(2.0)
    >>> d.log_prob(gw.tensor([0.0, 1.0])).exp()
    tensor([0.1353, 0.2707])
    >>> d.mean
    tensor(2.)
    """

    rate: Tensor
    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Value, validate_args: bool | None = None) -> None:
        self._hold(validate_args, rate=rate)

    mean = variance = property(lambda self: self.rate)
    mode = property(lambda self: self.rate.floor())

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            return random.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        rate, value = broadcast_all(self.rate, self._checked(value))
        return xlogy(value, rate) - rate - lgamma(value + 1)

    _natural_params = property(lambda self: (self.rate.log(),))

    def _log_normalizer(self, *natural_params: Any) -> Any:
        return natural_params[0].exp()


def _as_count(total_count: Any, probs: Any, logits: Any) -> Any:
    """A count in the dtype of the parameter beside it."""
    param = probs if logits is None else logits
    both = hasattr(total_count, "type_as") and hasattr(param, "dtype")
    return total_count.type_as(param) if both else total_count


_CHANCES = {"probs": constraints.simplex, "logits": constraints.real_vector}


class Categorical(Distribution):
    """Category k with the probability p_k, along the last dim of ``probs`` or of ``logits``, log p.

    ``probs`` are divided by their sum, and ``logits`` shifted until their exponentials sum to 1. Raises ValueError
    unless one of them is given, with one dim or more.

    >>> d = gw.distributions.Categorical(gw.tensor([1.0, 3.0]))
    >>> d.probs
    tensor([0.2500, 0.7500])
    >>> d.log_prob(gw.tensor(1)).exp(), d.entropy()
    (tensor(0.7500), tensor(0.5623))
    """

    arg_constraints = _CHANCES
    has_enumerate_support = True

    def __init__(self, probs: Tensor | None = None, logits: Tensor | None = None,
                 validate_args: bool | None = None) -> None:  # fmt: skip
        self._given = either(probs, logits)
        param: Any = probs if logits is None else logits
        if param.ndim < 1:
            raise ValueError(f"`{self._given}` parameter must be at least one-dimensional.")
        self._keep(1, **{self._given: param / param.sum(-1, keepdim=True) if logits is None else normalized(logits)})
        super().__init__(param.shape[:-1], validate_args=validate_args)

    @lazy_property
    def logits(self) -> Any:
        """The logarithms of the probabilities."""
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self) -> Any:
        """The probabilities."""
        return logits_to_probs(self.logits)

    _param = property(lambda self: getattr(self, self._given))
    param_shape = property(lambda self: self._param.shape)
    _num_events = property(lambda self: self._param.shape[-1])

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """The numbers of the categories, from 0."""
        return constraints.integer_interval(0, self._num_events - 1)

    mean = variance = property(lambda self: self.probs.new_full(self._batch_shape, math.nan))
    mode = property(lambda self: self.probs.argmax(-1))

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            p = self.probs.double()
            if breaks(constraints.nonnegative, p):
                raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
            shape = self._extended_shape(sample_shape)
            if not math.prod(shape):
                return p.new_zeros(shape, dtype=dtypes.int64)
            drawn = random.multinomial(p.reshape(-1, p.shape[-1]), math.prod(sample_shape), True)
            return drawn.mT.reshape(shape)

    def log_prob(self, value: Tensor) -> Tensor:
        value, log_p = broadcast_tensors(self._checked(value).long().unsqueeze(-1), self.logits)
        return gather(log_p, -1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        return -(self.logits.clamp(min=dtypes.finfo(self.logits.dtype).min) * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._expanded(arange(self._num_events, device=self._param.device), expand)


class OfCategorical(Distribution):
    """What has a categorical distribution, and its probabilities along the one dim of an event."""

    _categorical: Categorical
    arg_constraints = _CHANCES

    def __init__(self, probs: Tensor | None = None, logits: Tensor | None = None,
                 validate_args: bool | None = None) -> None:  # fmt: skip
        categorical = Categorical(probs, logits, validate_args)
        self._keep(_categorical=categorical)
        super().__init__(categorical.batch_shape, categorical.param_shape[-1:], validate_args)

    probs = property(lambda self: self._categorical.probs)
    logits = property(lambda self: self._categorical.logits)
    _param = property(lambda self: self._categorical._param)
    param_shape = property(lambda self: self._categorical.param_shape)


class OneHotCategorical(OfCategorical):
    """Vectors with a 1 at a category and else 0.

    Mean p. Arguments and errors are those of `Categorical`.

    >>> d = gw.distributions.OneHotCategorical(gw.tensor([1.0, 3.0]))
    >>> d.log_prob(gw.tensor([0.0, 1.0])).exp()
    tensor(0.7500)
    >>> d.sample().sum()
    tensor(1.)
    """

    support = constraints.one_hot
    has_enumerate_support = True

    mean = property(lambda self: self.probs)
    mode = property(lambda self: self._hot(self._categorical.mode))
    variance = property(lambda self: self.probs * (1 - self.probs))

    def _hot(self, number: Any) -> Any:
        return one_hot(number, self._event_shape[0]).to(self._param.dtype)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._hot(self._categorical.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        return self._categorical.log_prob(self._checked(value).argmax(-1))

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        n = self._event_shape[0]
        values = eye(n, dtype=self._param.dtype, device=self._param.device)
        values = values.reshape((n, *(1,) * len(self._batch_shape), n))
        return values.expand(-1, *self._batch_shape, -1) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """The same, with the derivatives of the probabilities taken for those of what is drawn.

    They are biased: how a draw jumps is unlike how its mean moves. (Bengio, Léonard and Courville, 2013)

    >>> p = gw.tensor([1.0, 3.0], requires_grad=True)
    >>> d = gw.distributions.OneHotCategoricalStraightThrough(p)
    >>> d.rsample()[0].backward()
    >>> p.grad
    tensor([ 0.1875, -0.0625])
    """

    has_rsample = True

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.sample(sample_shape) + (self.probs - self.probs.detach())


class Multinomial(OfCategorical):
    """How often each category comes up in ``total_count`` tries, one number for the whole batch.

    Raises NotImplementedError if that is no int. `log_prob` takes vectors of any total.

    Mean n p, n the tries.

    >>> d = gw.distributions.Multinomial(2, gw.tensor([0.5, 0.5]))
    >>> d.log_prob(gw.tensor([1.0, 1.0])).exp()
    tensor(0.5000)
    >>> d.mean
    tensor([1., 1.])
    """

    def __init__(self, total_count: int = 1, probs: Tensor | None = None, logits: Tensor | None = None,
                 validate_args: bool | None = None) -> None:  # fmt: skip
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported: expected an int, but got "
                                      f"{type(total_count).__name__}")  # fmt: skip
        self.total_count = total_count
        super().__init__(probs, logits, validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        """Vectors of counts up to the number of tries."""
        return constraints.multinomial(self.total_count)

    mean = property(lambda self: self.probs * self.total_count)
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        tries = self._categorical.sample((self.total_count, *sample_shape))
        counts = self.probs.new_zeros((*tries.shape[1:], *self._event_shape))
        return counts.scatter_add_(-1, tries.movedim(0, -1), counts.new_ones(()).expand(*tries.shape[1:], len(tries)))

    def log_prob(self, value: Tensor) -> Tensor:
        logits, value = broadcast_tensors(self.logits, self._checked(value))
        impossible = (value == 0) & (logits == -math.inf)
        ways = lgamma(value.sum(-1) + 1) - lgamma(value + 1).sum(-1)
        return ways + (logits.masked_fill(impossible, 0) * value).sum(-1)

    def entropy(self) -> Tensor:
        """n H - log n! + the sum over categories of E[log k!], H that of one try and k binomial."""
        n = self._param.new_tensor(self.total_count)
        count = Binomial(self.total_count, self.probs, validate_args=False)
        values = count.enumerate_support(False)[1:]
        spread = (count.log_prob(values).exp() * lgamma(values + 1)).sum((0, -1))
        return n * self._categorical.entropy() - lgamma(n + 1) + spread
