"""One of several categories, as its number or as a vector with one 1, and how often each comes up in many tries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwright.base import dtypes
from gradwright.distributions import constraints
from gradwright.distributions.binary import Binomial
from gradwright.distributions.distribution import Distribution, breaks
from gradwright.distributions.utils import either, lazy_property, logits_to_probs, normalized, probs_to_logits
from gradwright.engine.grad_mode import no_grad
from gradwright.face import random
from gradwright.face.creation import arange, eye
from gradwright.face.scan import cumsum
from gradwright.face.scatter import gather
from gradwright.face.shape import broadcast_tensors
from gradwright.face.special_names import gammaln as lgamma
from gradwright.nn.functional.sparse import one_hot

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor

_CHANCES = {"probs": constraints.simplex, "logits": constraints.real_vector}


class Categorical(Distribution):
    """Category k with the probability p_k, along the last dim of ``probs`` or of ``logits``, log p.

    ``probs`` are divided by their sum, and ``logits`` shifted until their exponentials sum to 1. Raises ValueError
    unless one of them is given, with one dim or more.

    >>> import gradwright as gw
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
            ends = cumsum(p, -1)
            u = random.rand(self._extended_shape(sample_shape), dtype=p.dtype, device=p.device) * ends[..., -1]
            return (u.unsqueeze(-1) >= ends).sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        value, log_p = broadcast_tensors(self._checked(value).long().unsqueeze(-1), self.logits)
        return gather(log_p, -1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        return -(self.logits.clamp(min=dtypes.finfo(self.logits.dtype).min) * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._expanded(arange(self._num_events, device=self._param.device), expand)


class OfCategorical(Distribution):
    """What has a categorical distribution, and its probabilities along the one dim of an event."""

    arg_constraints = _CHANCES

    def _of(self, categorical: Any, validate_args: bool | None) -> None:
        self._keep(_categorical=categorical)
        Distribution.__init__(self, categorical.batch_shape, categorical.param_shape[-1:], validate_args)

    probs = property(lambda self: self._categorical.probs)
    logits = property(lambda self: self._categorical.logits)
    _param = property(lambda self: self._categorical._param)
    param_shape = property(lambda self: self._categorical.param_shape)


class OneHotCategorical(OfCategorical):
    """Vectors with a 1 at a category and else 0.

    Mean p. Arguments and errors are those of `Categorical`.

    >>> import gradwright as gw
    >>> d = gw.distributions.OneHotCategorical(gw.tensor([1.0, 3.0]))
    >>> d.log_prob(gw.tensor([0.0, 1.0])).exp()
    tensor(0.7500)
    >>> d.sample().sum()
    tensor(1.)
    """

    _categorical: Categorical
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs: Tensor | None = None, logits: Tensor | None = None,
                 validate_args: bool | None = None) -> None:  # fmt: skip
        self._of(Categorical(probs, logits, validate_args), validate_args)

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

    >>> import gradwright as gw
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

    >>> import gradwright as gw
    >>> d = gw.distributions.Multinomial(2, gw.tensor([0.5, 0.5]))
    >>> d.log_prob(gw.tensor([1.0, 1.0])).exp()
    tensor(0.5000)
    >>> d.mean
    tensor([1., 1.])
    """

    _categorical: Categorical
    def __init__(self, total_count: int = 1, probs: Tensor | None = None, logits: Tensor | None = None,
                 validate_args: bool | None = None) -> None:  # fmt: skip
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported: expected an int, but got "
                                      f"{type(total_count).__name__}")  # fmt: skip
        self.total_count = total_count
        self._of(Categorical(probs, logits, validate_args), validate_args)

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
