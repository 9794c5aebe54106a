"""Windows of images as columns, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradwright.nn import functional as F
from gradwright.nn.layer import layer
from gradwright.nn.module import Module

if TYPE_CHECKING:
    from gradwright.face.typing import Ints, Tensor


@layer
class Unfold(Module):
    """The windows of an image as columns: (N, C, H, W) or (C, H, W) to (N, C kH kW, number of windows).

    Args:
        kernel_size: the size of a window; all sizes are one number for both axes or one for each.
        dilation: from one entry of a window to the next.
        padding: zeros added on all sides.
        stride: from one window to the next.

    Raises RuntimeError in the call if the windows are larger than the input.

    >>> import gradwright as gw
    >>> Unfold((1, 2))(gw.tensor([[[1.0, 2.0, 3.0]]]))
    tensor([[1., 2.],
            [2., 3.]])
    """

    kernel_size: Ints
    dilation: Ints = 1
    padding: Ints = 0
    stride: Ints = 1

    def forward(self, input: Tensor) -> Tensor:
        """`functional.unfold` of ``input``."""
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)


@layer
class Fold(Module):
    """The adjoint of `Unfold`: (N, C kH kW, number of windows) to (N, C, *output_size); what overlaps adds up.

    ``output_size`` is the size of the image, one number or (H, W); the other arguments are those of `Unfold`.

    Raises RuntimeError in the call unless there is a column for each window.

    >>> import gradwright as gw
    >>> Fold((1, 3), (1, 2))(gw.tensor([[1.0, 2.0], [2.0, 3.0]]))
    tensor([[[1., 4., 3.]]])
    """

    output_size: Ints
    kernel_size: Ints
    dilation: Ints = 1
    padding: Ints = 0
    stride: Ints = 1

    def forward(self, input: Tensor) -> Tensor:
        """`functional.fold` of ``input``."""
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)
