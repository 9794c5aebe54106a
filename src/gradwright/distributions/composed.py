"""Distributions made of others: with batch dims as dims of the event, after a change of variables, and mixtures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gradwright.base.dtypes import Size
from gradwright.distributions import constraints
from gradwright.distributions.discrete import Categorical
from gradwright.distributions.distribution import Distribution
from gradwright.distributions.transforms import AbsTransform, ComposeTransform, Transform
from gradwright.distributions.utils import sum_rightmost
from gradwright.engine.grad_mode import no_grad
from gradwright.face.functions.elementwise import where
from gradwright.face.functions.reduce import logsumexp
from gradwright.face.functions.scatter import gather
from gradwright.face.tensor import Tensor


class Independent(Distribution):
    """``base_distribution`` with its last ``reinterpreted_batch_ndims`` batch dims as dims of the event.

    Probabilities of what is drawn together multiply. Raises ValueError if the batch has fewer dims.

    >>> normal = gw.distributions.Normal(gw.zeros(2, 3), 1.0)
    >>> d = gw.distributions.Independent(normal, 1)
    >>> d.batch_shape, d.event_shape
    (torch.Size([2]), torch.Size([3]))
    >>> d.log_prob(gw.zeros(2, 3)).shape
    torch.Size([2])
    """

    arg_constraints: dict[str, Any] = {}

    def __init__(self, base_distribution: Distribution, reinterpreted_batch_ndims: int,
                 validate_args: bool | None = None) -> None:  # fmt: skip
        batch, n = base_distribution.batch_shape, reinterpreted_batch_ndims
        if n > len(batch):
            raise ValueError("Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                             f"{n} vs {len(batch)}")  # fmt: skip
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, n
        cut = len(batch) - n
        super().__init__(batch[:cut], batch[cut:] + base_distribution.event_shape, validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._copy(batch_shape, _instance)
        n = self.reinterpreted_batch_ndims
        new.base_dist = self.base_dist.expand(Size(batch_shape) + self._event_shape[:n])
        return new

    has_rsample = property(lambda self: self.base_dist.has_rsample)
    has_enumerate_support = property(
        lambda self: self.base_dist.has_enumerate_support and not self.reinterpreted_batch_ndims
    )
    mean = property(lambda self: self.base_dist.mean)
    mode = property(lambda self: self.base_dist.mode)
    variance = property(lambda self: self.base_dist.variance)

    @constraints.dependent_property
    def support(self) -> Any:
        """That of the base, with more dims in an event."""
        base, n = self.base_dist.support, self.reinterpreted_batch_ndims
        return constraints.independent(base, n) if n else base

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """That of the base; NotImplementedError if dims of its batch are dims of the event."""
        if self.reinterpreted_batch_ndims:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self) -> str:
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"


class TransformedDistribution(Distribution):
    """The distribution of f(x), where x is drawn from ``base_distribution`` and f is made of ``transforms``.

    log p(f(x)) = log p(x) - log |det df/dx|. Raises ValueError if ``transforms`` is no transform and no list of some,
    or if the base has fewer dims than an event of theirs.

    >>> base = gw.distributions.Normal(0.0, 1.0)
    >>> d = gw.distributions.TransformedDistribution(base, [gw.distributions.ExpTransform()])
    >>> d.log_prob(gw.tensor(1.0)).exp()
    tensor(0.3989)
    """

    arg_constraints: dict[str, Any] = {}
    transforms: list[Transform]

    def __init__(self, base_distribution: Distribution, transforms: Transform | list[Transform],
                 validate_args: bool | None = None) -> None:  # fmt: skip
        if isinstance(transforms, Transform):
            transforms = [transforms]
        elif not isinstance(transforms, list):
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        if not all(isinstance(t, Transform) for t in transforms):
            raise ValueError("transforms must be a Transform or a list of Transforms")
        self.transforms = transforms
        whole = ComposeTransform(transforms)
        need, made = whole.domain.event_dim, whole.codomain.event_dim
        shape = base_distribution.batch_shape + base_distribution.event_shape
        if len(shape) < need:
            raise ValueError(f"base_distribution needs to have shape with size at least {need}, but got {shape}.")
        after = Size(whole.forward_shape(shape))
        before = Size(whole.inverse_shape(after))
        if shape != before:
            base_distribution = base_distribution.expand(before[: len(before) - len(base_distribution.event_shape)])
        if need > len(base_distribution.event_shape):
            base_distribution = Independent(base_distribution, need - len(base_distribution.event_shape))
        self.base_dist = base_distribution
        cut = len(after) - max(made, len(base_distribution.event_shape) + made - need)
        Distribution.__init__(self, after[:cut], after[cut:], validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._copy(batch_shape, _instance)
        before = Size(ComposeTransform(self.transforms).inverse_shape(new._batch_shape + self._event_shape))
        new.base_dist = self.base_dist.expand(before[: len(before) - len(self.base_dist.event_shape)])
        return new

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        """The codomain of the last transform, with as many dims as an event has."""
        if not self.transforms:
            return self.base_dist.support
        last = self.transforms[-1].codomain
        more = len(self._event_shape) - last.event_dim
        return constraints.independent(last, more) if more > 0 else last

    has_rsample = property(lambda self: self.base_dist.has_rsample)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            return self._forward(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._forward(self.base_dist.rsample(sample_shape))

    def _forward(self, x: Any) -> Any:
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value: Tensor) -> Tensor:
        y = self._checked(value)
        dims = len(self._event_shape)
        total: Any = 0.0
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            dims += transform.domain.event_dim - transform.codomain.event_dim
            change = transform.log_abs_det_jacobian(x, y)
            total = total - sum_rightmost(change, dims - transform.domain.event_dim)
            y = x
        return total + sum_rightmost(self.base_dist.log_prob(y), dims - len(self.base_dist.event_shape))

    def _rising(self, p: Any) -> Any:
        """``p``, or 1 - p where the transforms decrease."""
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        return p if isinstance(sign, int) and sign == 1 else sign * (p - 0.5) + 0.5

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of what is not above ``value``; NotImplementedError unless the transforms are monotonic."""
        value = self._checked(value)
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        return self._rising(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        """The quantile; NotImplementedError unless the transforms are monotonic."""
        return self._forward(self.base_dist.icdf(self._rising(value)))


class Folded(TransformedDistribution):
    """The absolute value of a variable whose density is symmetric around 0: twice that density above 0."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, base: Any, validate_args: bool | None = None) -> None:
        super().__init__(base, AbsTransform(), validate_args)

    scale = property(lambda self: self.base_dist.scale)
    mode = property(lambda self: self.scale.new_zeros(self.scale.shape))

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        return where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        return 2 * self.base_dist.cdf(self._checked(value)) - 1

    def icdf(self, value: Tensor) -> Tensor:
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)


class MixtureSameFamily(Distribution):
    """One of several components, which are the last batch dim of a distribution, chosen by a `Categorical` one.

    Raises ValueError if these are not of those classes, or if their shapes do not go together.

    >>> weights = gw.distributions.Categorical(gw.tensor([1.0, 1.0]))
    >>> parts = gw.distributions.Normal(gw.tensor([-1.0, 3.0]), 1.0)
    >>> d = gw.distributions.MixtureSameFamily(weights, parts)
    >>> d.mean, d.variance
    (tensor(1.), tensor(5.))
    """

    _component_distribution: Distribution
    _mixture_distribution: Categorical
    arg_constraints: dict[str, Any] = {}

    def __init__(self, mixture_distribution: Categorical, component_distribution: Distribution,
                 validate_args: bool | None = None) -> None:  # fmt: skip
        mixture, component = mixture_distribution, component_distribution
        if not isinstance(mixture, Categorical):
            raise ValueError("The Mixture distribution needs to be an instance of torch.distributions.Categorical, but "
                             f"it is of {type(mixture).__name__}")  # fmt: skip
        if not isinstance(component, Distribution):
            raise ValueError("The Component distribution needs to be an instance of torch.distributions.Distribution, "
                             f"but it is of {type(component).__name__}")  # fmt: skip
        if not component.batch_shape:
            raise ValueError("the components are the last dim of component_distribution.batch_shape, but it has none")
        batch, count = component.batch_shape[:-1], component.batch_shape[-1]
        for i, j in zip(reversed(mixture.batch_shape), reversed(batch), strict=False):
            if 1 not in (i, j) and i != j:
                raise ValueError(f"`mixture_distribution.batch_shape` ({mixture.batch_shape}) is not compatible with "
                                 f"`component_distribution.batch_shape`({batch})")  # fmt: skip
        if mixture._num_events != count:
            raise ValueError(f"`mixture_distribution component` ({mixture._num_events}) does not equal "
                             f"`component_distribution.batch_shape[-1]` ({count})")  # fmt: skip
        self._keep(_mixture_distribution=mixture)
        self._keep(1, _component_distribution=component)
        self._num_component, self._event_ndims = count, len(component.event_shape)
        super().__init__(batch, component.event_shape, validate_args)

    mixture_distribution = property(lambda self: self._mixture_distribution)
    component_distribution = property(lambda self: self._component_distribution)

    @constraints.dependent_property
    def support(self) -> Any:
        """Where each component has its own."""
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    def _pad(self, value: Any) -> Any:
        """``value`` with a dim for the components."""
        return value.unsqueeze(-1 - self._event_ndims)

    def _mixed(self, values: Any) -> Any:
        """The mean over components of what each has."""
        shares = self._mixture_distribution.probs
        shares = shares.reshape((*shares.shape, *(1,) * self._event_ndims))
        return (shares * values).sum(-1 - self._event_ndims)

    mean = property(lambda self: self._mixed(self._component_distribution.mean))

    @property
    def variance(self) -> Tensor:
        """The mean of the components' variances and the variance of their means."""
        component = self._component_distribution
        return self._mixed(component.variance) + self._mixed((component.mean - self._pad(self.mean)) ** 2)

    def cdf(self, x: Any) -> Any:
        each = self._component_distribution.cdf(self._pad(self._checked(x)))
        return (each * self._mixture_distribution.probs).sum(-1)

    def log_prob(self, x: Any) -> Any:
        each = self._component_distribution.log_prob(self._pad(self._checked(x)))
        return logsumexp(each + self._mixture_distribution.logits, -1)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draws of all components, of which one each is taken."""
        with no_grad():
            dim = len(sample_shape) + len(self._batch_shape)
            chosen = self._mixture_distribution.expand(self._batch_shape).sample(sample_shape)
            chosen = chosen.reshape((*chosen.shape, 1, *(1,) * self._event_ndims))
            drawn = self._component_distribution.sample(sample_shape)
            return gather(drawn, dim, chosen.expand(*chosen.shape[: dim + 1], *self._event_shape)).squeeze(dim)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self._mixture_distribution},\n  {self._component_distribution})"
