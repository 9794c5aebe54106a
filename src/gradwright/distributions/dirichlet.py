"""Shares of a whole: the beta and Dirichlet distributions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gradwright.distributions import constraints, draws
from gradwright.distributions.distribution import ExponentialFamily
from gradwright.distributions.utils import broadcast_all
from gradwright.face.elementwise import where
from gradwright.face.join import stack
from gradwright.face.special_names import digamma, xlogy
from gradwright.face.special_names import gammaln as lgamma
from gradwright.nn.functional.sparse import one_hot

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor, Value


class Dirichlet(ExponentialFamily):
    """Points x of the simplex, along the last dim: the product of x_i**(a_i - 1) over B(a), a the concentration.

    Mean a / sum a. Raises ValueError unless a is positive, of at least one dim.

    >>> import gradwright as gw
    >>> d = gw.distributions.Dirichlet(gw.tensor([1.0, 1.0]))
    >>> d.log_prob(gw.tensor([0.25, 0.75])).exp()
    tensor(1.)
    >>> d.mean
    tensor([0.5000, 0.5000])
    """

    concentration: Tensor
    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.ndim < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self._keep(1, concentration=concentration)
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args)

    mean = property(lambda self: self.concentration / self.concentration.sum(-1, True))

    @property
    def mode(self) -> Tensor:
        above = (self.concentration - 1).clamp(min=0)
        mode = above / above.sum(-1, True)
        corner = one_hot(mode.argmax(-1), mode.shape[-1]).type_as(mode)
        return where((self.concentration < 1).all(-1, keepdim=True), corner, mode)

    @property
    def variance(self) -> Tensor:
        a, total = self.concentration, self.concentration.sum(-1, True)
        return a * (total - a) / (total**2 * (total + 1))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return draws.dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        value, a = self._checked(value), self.concentration
        return xlogy(a - 1, value).sum(-1) + lgamma(a.sum(-1)) - lgamma(a).sum(-1)

    def entropy(self) -> Tensor:
        a, total = self.concentration, self.concentration.sum(-1)
        size = lgamma(a).sum(-1) - lgamma(total)
        return size - (a.shape[-1] - total) * digamma(total) - ((a - 1) * digamma(a)).sum(-1)


class Beta(ExponentialFamily):
    """x**(a - 1) (1 - x)**(b - 1) / B(a, b) from 0 to 1, a and b the concentrations 1 and 0.

    Mean a / (a + b). Raises ValueError unless both are positive.

    >>> import gradwright as gw
    >>> d = gw.distributions.Beta(2.0, 2.0)
    >>> d.log_prob(gw.tensor(0.5)).exp()
    tensor(1.5000)
    >>> d.mean
    tensor(0.5000)
    """

    _dirichlet: Dirichlet
    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Value, concentration0: Value, validate_args: bool | None = None) -> None:
        both = stack(broadcast_all(concentration1, concentration0), -1)
        self._keep(_dirichlet=Dirichlet(both, validate_args))
        super().__init__(both.shape[:-1], validate_args=validate_args)

    concentration1 = property(lambda self: self._dirichlet.concentration[..., 0])
    concentration0 = property(lambda self: self._dirichlet.concentration[..., 1])
    mean = property(lambda self: self._dirichlet.mean[..., 0])
    mode = property(lambda self: self._dirichlet.mode[..., 0])
    variance = property(lambda self: self._dirichlet.variance[..., 0])

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._dirichlet.rsample(sample_shape)[..., 0]

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        return self._dirichlet.log_prob(stack([value, 1.0 - value], -1))

    def entropy(self) -> Tensor:
        return self._dirichlet.entropy()
