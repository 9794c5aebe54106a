"""Mixtures of distributions of one class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwright.distributions import constraints
from gradwright.distributions.categorical import Categorical
from gradwright.distributions.distribution import Distribution
from gradwright.engine.grad_mode import no_grad
from gradwright.face.reduce import logsumexp
from gradwright.face.scatter import gather

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor


class MixtureSameFamily(Distribution):
    """One of several components, which are the last batch dim of a distribution, chosen by a `Categorical` one.

    Raises ValueError if these are not of those classes, or if their shapes do not go together.

    >>> import gradwright as gw
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
