"""Dropout layers. In evaluation they return their input."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from gradwright.nn import functional as F
from gradwright.nn.layer import layer
from gradwright.nn.module import Module

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor


@layer
class _Dropout(Module):
    _function: ClassVar[Callable[..., Any]]
    p: float = 0.5
    inplace: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {self.p}")

    def forward(self, input: Tensor) -> Tensor:
        """``input`` with some of it dropped in training; in evaluation ``input`` itself."""
        return self._function(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """In training, entries set to 0 with probability p, the others divided by 1 - p; any shape.

    Args:
        p: the probability to be dropped.
        inplace: overwrite the input.

    Raises ValueError unless p is from 0 to 1.

    >>> import gradwright as gw
    >>> Dropout(1.0)(gw.ones(3)), Dropout(1.0).eval()(gw.ones(3))
    (tensor([0., 0., 0.]), tensor([1., 1., 1.]))
    """

    _function = staticmethod(F.dropout)


class Dropout1d(_Dropout):
    """`Dropout` of whole channels: (N, C, L) or (C, L).

    >>> import gradwright as gw
    >>> Dropout1d(1.0)(gw.ones(1, 3))
    tensor([[0., 0., 0.]])
    """

    _function = staticmethod(F.dropout1d)


class Dropout2d(_Dropout):
    """`Dropout` of whole channels: (N, C, H, W). Three dims count as (N, C, L), with a warning.

    >>> import gradwright as gw
    >>> Dropout2d(1.0)(gw.ones(1, 1, 1, 3))
    tensor([[[[0., 0., 0.]]]])
    """

    _function = staticmethod(F.dropout2d)


class Dropout3d(_Dropout):
    """`Dropout` of whole channels: (N, C, D, H, W) or (C, D, H, W).

    >>> import gradwright as gw
    >>> Dropout3d(1.0)(gw.ones(1, 1, 1, 3))
    tensor([[[[0., 0., 0.]]]])
    """

    _function = staticmethod(F.dropout3d)


class _AlphaDropout(_Dropout):
    def forward(self, input: Tensor) -> Tensor:
        """``input`` with some of it dropped in training; in evaluation ``input`` itself. Never in place."""
        return self._function(input, self.p, self.training)  # as in PyTorch, which does not pass `inplace` on


class AlphaDropout(_AlphaDropout):
    """Dropout for `SELU`: entries set to its lower limit, and all scaled so that mean 0 and variance 1 persist.

    >>> import gradwright as gw
    >>> AlphaDropout(1.0)(gw.ones(3))
    tensor([0., 0., 0.])
    """

    _function = staticmethod(F.alpha_dropout)


class FeatureAlphaDropout(_AlphaDropout):
    """`AlphaDropout` of whole channels (dim 1): (N, C, *).

    >>> import gradwright as gw
    >>> FeatureAlphaDropout(1.0)(gw.ones(1, 3, 1)).flatten()
    tensor([0., 0., 0.])
    """

    _function = staticmethod(F.feature_alpha_dropout)
