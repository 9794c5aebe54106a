"""Layers that move entries: channels into pixels, windows into columns, dims joined and split, and other sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gradwright.base.errors import kind
from gradwright.nn import functional as F
from gradwright.nn.layer import layer
from gradwright.nn.module import Module
from gradwright.nn.modules.applied import Applied

if TYPE_CHECKING:
    from gradwright.face.typing import Ints, Tensor

__all__ = [
    "PixelShuffle", "PixelUnshuffle", "ChannelShuffle", "Unfold", "Fold", "Upsample", "UpsamplingNearest2d",
    "UpsamplingBilinear2d", "Flatten", "Unflatten",
]  # fmt: skip


@layer
class PixelShuffle(Applied, function=F.pixel_shuffle):
    """(..., C r**2, H, W) to (..., C, H r, W r): channels become pixels, r = ``upscale_factor``."""

    upscale_factor: int


@layer
class PixelUnshuffle(Applied, function=F.pixel_unshuffle):
    """(..., C, H r, W r) to (..., C r**2, H, W): the inverse of `PixelShuffle`, r = ``downscale_factor``."""

    downscale_factor: int


@layer
class ChannelShuffle(Applied, function=F.channel_shuffle):
    """(N, C, *): the channels, laid out as ``groups`` rows, read by columns."""

    groups: int


@layer
class Unfold(Applied, function=F.unfold):
    """The windows of an image as columns: (N, C, H, W) or (C, H, W) to (N, C kH kW, number of windows)."""

    kernel_size: Ints
    dilation: Ints = 1
    padding: Ints = 0
    stride: Ints = 1


@layer
class Fold(Applied, function=F.fold):
    """The adjoint of `Unfold`: (N, C kH kW, number of windows) to (N, C, *output_size); what overlaps adds up."""

    output_size: Ints
    kernel_size: Ints
    dilation: Ints = 1
    padding: Ints = 0
    stride: Ints = 1


@layer
class Upsample(Applied, function=F.interpolate):
    """(N, C, *size) to another size; one, two or three axes, as the mode says."""

    size: Ints | None = None
    scale_factor: float | Sequence[float] | None = None
    mode: str = "nearest"
    align_corners: bool | None = None
    recompute_scale_factor: bool | None = None

    def __post_init__(self) -> None:
        factor = self.scale_factor
        if factor is not None:
            self.scale_factor = tuple(map(float, factor)) if isinstance(factor, Sequence) else float(factor)

    def extra_repr(self) -> str:
        which = "size" if self.scale_factor is None else "scale_factor"
        return f"{which}={getattr(self, which)!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """(N, C, H, W) to another size, each entry the nearest one.

    >>> UpsamplingNearest2d(scale_factor=2)(gw.tensor([[[[1.0, 2.0]]]]))
    tensor([[[[1., 1., 2., 2.],
              [1., 1., 2., 2.]]]])
    """

    def __init__(self, size: Ints | None = None, scale_factor: float | Sequence[float] | None = None) -> None:
        super().__init__(size, scale_factor, "nearest")


class UpsamplingBilinear2d(Upsample):
    """(N, C, H, W) to another size by straight lines, corners aligned.

    >>> UpsamplingBilinear2d((1, 3))(gw.tensor([[[[1.0, 2.0]]]]))
    tensor([[[[1.0000, 1.5000, 2.0000]]]])
    """

    def __init__(self, size: Ints | None = None, scale_factor: float | Sequence[float] | None = None) -> None:
        super().__init__(size, scale_factor, "bilinear", align_corners=True)


@layer
class Flatten(Module):
    """The dims from ``start_dim`` to ``end_dim`` as one: (N, ...) to (N, product of the rest) unless told otherwise.

    >>> Flatten()(gw.ones(5, 2, 3)).shape
    torch.Size([5, 6])
    """

    start_dim: int = 1
    end_dim: int = -1

    def forward(self, input: Tensor) -> Tensor:
        """``input.flatten(start_dim, end_dim)``."""
        return input.flatten(self.start_dim, self.end_dim)


@layer
class Unflatten(Module):
    """The dim ``dim`` as several: sizes ``unflattened_size``, of which one may be -1.

    Raises TypeError unless ``dim`` is an int and the sizes are a tuple or list of ints.

    >>> Unflatten(1, (2, -1))(gw.ones(5, 6)).shape
    torch.Size([5, 2, 3])
    """

    dim: int
    unflattened_size: Sequence[int]

    def __post_init__(self) -> None:
        if not isinstance(self.dim, int):
            raise TypeError(f"dim must be an int: dims have no names, but got {kind(self.dim)}")
        if not isinstance(self.unflattened_size, (tuple, list)):
            raise TypeError(f"unflattened_size must be a tuple of ints, but found type {kind(self.unflattened_size)}")
        for at, n in enumerate(self.unflattened_size):
            if not isinstance(n, int):
                raise TypeError(
                    f"unflattened_size must be tuple of ints, but found element of type {kind(n)} at pos {at}"
                )

    def forward(self, input: Tensor) -> Tensor:
        """``input.unflatten(dim, unflattened_size)``."""
        return input.unflatten(self.dim, self.unflattened_size)
