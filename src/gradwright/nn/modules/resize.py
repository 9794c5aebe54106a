"""Upsampling layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gradwright.nn import functional as F
from gradwright.nn.layer import layer
from gradwright.nn.module import Module

if TYPE_CHECKING:
    from gradwright.face.typing import Ints, Tensor


@layer
class Upsample(Module):
    """(N, C, *size) to another size; one, two or three axes, as the mode says. See `functional.interpolate`.

    Args:
        size: the size of the output, one number or one for each axis; this or the next.
        scale_factor: how much larger it is.
        mode: "nearest", "linear", "bilinear", "bicubic" or "trilinear".
        align_corners: whether the outermost entries stay where they are.
        recompute_scale_factor: whether to scale by the ratio of the rounded sizes.

    Raises ValueError in the call unless exactly one of ``size`` and ``scale_factor`` is given.

    >>> import gradwright as gw
    >>> Upsample(scale_factor=2, mode="nearest")(gw.tensor([[[1.0, 2.0]]]))
    tensor([[[1., 1., 2., 2.]]])
    """

    size: Ints | None = None
    scale_factor: float | Sequence[float] | None = None
    mode: str = "nearest"
    align_corners: bool | None = None
    recompute_scale_factor: bool | None = None

    def __post_init__(self) -> None:
        factor = self.scale_factor
        if factor is not None:
            self.scale_factor = tuple(map(float, factor)) if isinstance(factor, Sequence) else float(factor)

    def forward(self, input: Tensor) -> Tensor:
        """``input`` (N, C, *size) to another size."""
        return F.interpolate(
            input, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor
        )

    def extra_repr(self) -> str:
        which = "size" if self.scale_factor is None else "scale_factor"
        return f"{which}={getattr(self, which)!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """(N, C, H, W) to another size, each entry the nearest one.

    >>> import gradwright as gw
    >>> UpsamplingNearest2d(scale_factor=2)(gw.tensor([[[[1.0, 2.0]]]]))
    tensor([[[[1., 1., 2., 2.],
              [1., 1., 2., 2.]]]])
    """

    def __init__(self, size: Ints | None = None, scale_factor: float | Sequence[float] | None = None) -> None:
        super().__init__(size, scale_factor, "nearest")


class UpsamplingBilinear2d(Upsample):
    """(N, C, H, W) to another size by straight lines, corners aligned.

    >>> import gradwright as gw
    >>> UpsamplingBilinear2d((1, 3))(gw.tensor([[[[1.0, 2.0]]]]))
    tensor([[[[1.0000, 1.5000, 2.0000]]]])
    """

    def __init__(self, size: Ints | None = None, scale_factor: float | Sequence[float] | None = None) -> None:
        super().__init__(size, scale_factor, "bilinear", align_corners=True)
