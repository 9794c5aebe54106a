"""Softmax and its kin as modules: entries along one dim made to sum to 1. The shape and dtype stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradwright.base.errors import size
from gradwright.nn import functional as F
from gradwright.nn.layer import layer
from gradwright.nn.module import Module

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor


@layer
class Softmax(Module):
    """y_i = exp(x_i) / sum_j exp(x_j) along ``dim``; without a ``dim``, see `functional.softmax`.

    Raises IndexError if the input has no such dim.

    >>> Softmax(dim=1)
    Softmax(dim=1)
    """

    dim: int | None = None

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim, _stacklevel=5)


@layer
class Softmin(Module):
    """`Softmax` of -x.

    >>> import gradwright as gw
    >>> Softmin(dim=0)(gw.tensor([1.0, 2.0]))
    tensor([0.7311, 0.2689])
    """

    dim: int | None = None

    def forward(self, input: Tensor) -> Tensor:
        return F.softmin(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
    """`Softmax` over the channels, (n, channels, height, width), or without n. ValueError for other numbers of dims.

    >>> import gradwright as gw
    >>> Softmax2d()(gw.zeros(2, 1, 2))
    tensor([[[0.5000, 0.5000]],
            [[0.5000, 0.5000]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead: shape "
                             f"{size(input.shape)}")  # fmt: skip
        return F.softmax(input, -3)


@layer
class LogSoftmax(Module):
    """y_i = x_i - log sum_j exp(x_j) along ``dim``: the logarithm of `Softmax`, without overflow.

    >>> import gradwright as gw
    >>> LogSoftmax(dim=0)(gw.tensor([0.0, 1000.0]))
    tensor([-1000.,     0.])
    """

    dim: int | None = None

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim, _stacklevel=5)
