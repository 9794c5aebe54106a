"""Pooling to a given size, over one, two and three axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

from gradwright.nn import functional as F
from gradwright.nn.layer import layer
from gradwright.nn.module import Module

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor


@layer
class _AdaptiveAvgPool(Module):
    _function: ClassVar[Callable[..., Any]]
    output_size: int | Sequence[int | None] | None

    def forward(self, input: Tensor) -> Tensor:
        """The means of ``input`` over as many windows as ``output_size`` says."""
        return self._function(input, self.output_size)


@layer
class _AdaptiveMaxPool(Module):
    _function: ClassVar[Callable[..., Any]]
    output_size: int | Sequence[int | None] | None
    return_indices: bool = field(default=False, repr=False)

    def forward(self, input: Tensor) -> Tensor:
        """The largest entries of ``input`` in as many windows; with ``return_indices`` a pair, with their places."""
        return self._function(input, self.output_size, self.return_indices)


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """Means over windows that cover the input evenly: (N, C, L) or (C, L) to (N, C, output_size).

    Window o of O runs from floor(o L / O) to ceil((o + 1) L / O).

    >>> import gradwright as gw
    >>> AdaptiveAvgPool1d(2)(gw.tensor([[1.0, 2.0, 3.0]]))
    tensor([[1.5000, 2.5000]])
    """

    _function = staticmethod(F.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """Means over windows that cover the input evenly: (N, C, H, W) or (C, H, W) to (N, C, *output_size).

    ``output_size`` is one number for both axes or one for each; where it is None, the axis stays as it is.

    >>> import gradwright as gw
    >>> AdaptiveAvgPool2d((1, None))(gw.ones(1, 2, 5, 7)).shape
    torch.Size([1, 2, 1, 7])
    """

    _function = staticmethod(F.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """Means over windows that cover the input evenly: (N, C, D, H, W) or (C, D, H, W) to (N, C, *output_size).

    >>> import gradwright as gw
    >>> AdaptiveAvgPool3d(2)(gw.ones(1, 3, 4, 5)).shape
    torch.Size([1, 2, 2, 2])
    """

    _function = staticmethod(F.adaptive_avg_pool3d)


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """The largest entries of windows that cover the input evenly: (N, C, L) or (C, L) to (N, C, output_size).

    The windows are those of `AdaptiveAvgPool1d`; ``return_indices`` adds the places of the entries.

    >>> import gradwright as gw
    >>> AdaptiveMaxPool1d(2)(gw.tensor([[1.0, 2.0, 3.0]]))
    tensor([[2., 3.]])
    """

    _function = staticmethod(F.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """The largest entries of windows that cover the input evenly: (N, C, H, W) or (C, H, W) to (N, C, *output_size).

    >>> import gradwright as gw
    >>> AdaptiveMaxPool2d((1, None))(gw.ones(1, 2, 5, 7)).shape
    torch.Size([1, 2, 1, 7])
    """

    _function = staticmethod(F.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """The largest entries of windows that cover the input evenly: (N, C, D, H, W), with or without N, to a size.

    >>> import gradwright as gw
    >>> AdaptiveMaxPool3d(2)(gw.ones(1, 3, 4, 5)).shape
    torch.Size([1, 2, 2, 2])
    """

    _function = staticmethod(F.adaptive_max_pool3d)
