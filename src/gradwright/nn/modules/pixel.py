"""Layers that trade channels for pixels, or change the order of channels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradwright.nn import functional as F
from gradwright.nn.layer import layer
from gradwright.nn.module import Module

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor


@layer
class PixelShuffle(Module):
    """(..., C r**2, H, W) to (..., C, H r, W r): channels become pixels, r = ``upscale_factor``.

    Raises RuntimeError in the call unless r**2 divides the channels.

    >>> import gradwright as gw
    >>> PixelShuffle(2)(gw.arange(4.0).reshape(4, 1, 1))
    tensor([[[0., 1.],
             [2., 3.]]])
    """

    upscale_factor: int

    def forward(self, input: Tensor) -> Tensor:
        """`functional.pixel_shuffle` of ``input``."""
        return F.pixel_shuffle(input, self.upscale_factor)


@layer
class PixelUnshuffle(Module):
    """(..., C, H r, W r) to (..., C r**2, H, W): the inverse of `PixelShuffle`, r = ``downscale_factor``.

    Raises RuntimeError in the call unless r divides height and width.

    >>> import gradwright as gw
    >>> PixelUnshuffle(2)(gw.arange(4.0).reshape(1, 2, 2)).flatten()
    tensor([0., 1., 2., 3.])
    """

    downscale_factor: int

    def forward(self, input: Tensor) -> Tensor:
        """`functional.pixel_unshuffle` of ``input``."""
        return F.pixel_unshuffle(input, self.downscale_factor)


@layer
class ChannelShuffle(Module):
    """(N, C, *): the channels, laid out as ``groups`` rows, read by columns.

    Raises RuntimeError in the call unless ``groups`` divides C.

    >>> import gradwright as gw
    >>> ChannelShuffle(2)(gw.arange(4.0).reshape(1, 4, 1)).flatten()
    tensor([0., 2., 1., 3.])
    """

    groups: int

    def forward(self, input: Tensor) -> Tensor:
        """`functional.channel_shuffle` of ``input``."""
        return F.channel_shuffle(input, self.groups)
