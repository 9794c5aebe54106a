"""Distributions of the absolute value of a variable that is symmetric around 0."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwright.distributions import constraints
from gradwright.distributions.transformed_distribution import TransformedDistribution
from gradwright.distributions.transforms import AbsTransform
from gradwright.face.elementwise import where

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor


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
