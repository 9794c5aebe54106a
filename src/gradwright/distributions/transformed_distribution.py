"""A distribution after a change of variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwright.base.dtypes import Size
from gradwright.distributions import constraints
from gradwright.distributions.distribution import Distribution
from gradwright.distributions.independent import Independent
from gradwright.distributions.transforms import ComposeTransform, Transform
from gradwright.distributions.utils import sum_rightmost
from gradwright.engine.grad_mode import no_grad

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor


class TransformedDistribution(Distribution):
    """The distribution of f(x), where x is drawn from ``base_distribution`` and f is made of ``transforms``.

    log p(f(x)) = log p(x) - log |det df/dx|. Raises ValueError if ``transforms`` is no transform and no list of some,
    or if the base has fewer dims than an event of theirs.

    >>> import gradwright as gw
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
