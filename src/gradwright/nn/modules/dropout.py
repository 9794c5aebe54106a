"""Dropout layers. In evaluation they return their input; ValueError unless ``p``, the probability, is from 0 to 1."""

from __future__ import annotations

from gradwright.face.tensor import Tensor
from gradwright.nn import functional as F
from gradwright.nn.layer import layer
from gradwright.nn.modules.applied import Applied

__all__ = ["Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout"]


@layer
class _Dropout(Applied):
    p: float = 0.5
    inplace: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {self.p}")

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout, function=F.dropout):
    """In training, entries set to 0 with probability p, the others divided by 1 - p; ``inplace`` in the input."""


class Dropout1d(_Dropout, function=F.dropout1d):
    """`Dropout` of whole channels of signals: (N, C, L) or (C, L)."""


class Dropout2d(_Dropout, function=F.dropout2d):
    """`Dropout` of whole channels of images: (N, C, H, W). Three dims count as (N, C, L), with a warning."""


class Dropout3d(_Dropout, function=F.dropout3d):
    """`Dropout` of whole channels of volumes: (N, C, D, H, W) or (C, D, H, W)."""


class _AlphaDropout(_Dropout):
    def forward(self, input: Tensor) -> Tensor:
        """``input`` with some of it dropped in training; in evaluation ``input`` itself. Never in place."""
        return self._function(input, self.p, self.training)  # as in PyTorch, which does not pass `inplace` on


class AlphaDropout(_AlphaDropout, function=F.alpha_dropout):
    """Dropout for `SELU`: entries set to its lower limit, and all scaled so that mean 0 and variance 1 persist."""


class FeatureAlphaDropout(_AlphaDropout, function=F.feature_alpha_dropout):
    """`AlphaDropout` of whole channels (dim 1): (N, C, *)."""
