"""Pooling layers: the largest entry, the mean or the p-norm of each window, over one, two and three axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

from gradwright.nn import functional as F
from gradwright.nn.functional.geometry import per_axis
from gradwright.nn.layer import layer
from gradwright.nn.module import Module

if TYPE_CHECKING:
    from gradwright.face.typing import Ints, Tensor


class _Pool(Module):
    """A layer that hands its settings to a function."""

    _function: ClassVar[Callable[..., Any]]


@layer
class _MaxPool(_Pool):
    kernel_size: Ints
    stride: Ints | None = None
    padding: Ints = 0
    dilation: Ints = 1
    return_indices: bool = field(default=False, repr=False)
    ceil_mode: bool = False

    def __post_init__(self) -> None:
        self.stride = self.kernel_size if self.stride is None else self.stride

    def forward(self, input: Tensor) -> Tensor:
        """The largest entry of each window of ``input``; with ``return_indices`` a pair, of them and their places."""
        return self._function(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices
        )


class MaxPool1d(_MaxPool):
    """The largest entry of each window: (N, C, L) or (C, L) to (N, C, L').

    L' = (L + 2 padding - dilation (kernel_size - 1) - 1) / stride + 1, rounded down, or up with ``ceil_mode``.

    Args:
        kernel_size: entries in a window.
        stride: from one window to the next; ``kernel_size`` if it is None.
        padding: entries of -inf added before and after; at most half of ``kernel_size``.
        dilation: from one entry of a window to the next.
        return_indices: whether to return the places of the largest entries, too, as `MaxUnpool1d` takes them.
        ceil_mode: whether windows may reach over the end.

    Of equal entries the first has the slope.

    >>> import gradwright as gw
    >>> MaxPool1d(2)(gw.tensor([[1.0, 3.0, 2.0, 0.0]]))
    tensor([[3., 2.]])
    """

    _function = staticmethod(F.max_pool1d)


class MaxPool2d(_MaxPool):
    """The largest entry of each window: (N, C, H, W) or (C, H, W) to (N, C, H', W').

    The arguments are those of `MaxPool1d`, one number for both axes or one for each.

    >>> import gradwright as gw
    >>> MaxPool2d(3, stride=2, padding=1)(gw.ones(1, 2, 8, 9)).shape
    torch.Size([1, 2, 4, 5])
    """

    _function = staticmethod(F.max_pool2d)


class MaxPool3d(_MaxPool):
    """The largest entry of each window: (N, C, D, H, W) or (C, D, H, W) to (N, C, D', H', W').

    The arguments are those of `MaxPool1d`, one number for all axes or one for each.

    >>> import gradwright as gw
    >>> MaxPool3d((1, 2, 2))(gw.ones(1, 2, 3, 4, 4)).shape
    torch.Size([1, 2, 3, 2, 2])
    """

    _function = staticmethod(F.max_pool3d)


class _MaxUnpool(_Pool):
    _axes: ClassVar[int]
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]

    def __init__(self, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0) -> None:
        super().__init__()
        given = {"kernel_size": kernel_size, "stride": kernel_size if stride is None else stride, "padding": padding}
        for name, value in given.items():
            setattr(self, name, per_axis(self._get_name(), name, value, self._axes))

    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Zeros of ``output_size`` with the entries of ``input`` at their places ``indices``."""
        return self._function(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool):
    """The way back from `MaxPool1d`: its values at their places, zeros elsewhere; (N, C, L) or (C, L) to (N, C, L').

    L' = (L - 1) stride - 2 padding + kernel_size, or what ``output_size`` names in the call.

    Args:
        kernel_size: entries in a window.
        stride: from one window to the next; ``kernel_size`` if it is None.
        padding: what was added before and after.

    Raises ValueError for an ``output_size`` out of reach; RuntimeError for places outside it, or not one per entry.

    >>> import gradwright as gw
    >>> pooled = MaxPool1d(2, return_indices=True)(gw.tensor([[1.0, 3.0, 2.0, 0.0]]))
    >>> MaxUnpool1d(2)(*pooled)
    tensor([[0., 3., 2., 0.]])
    """

    _axes = 1
    _function = staticmethod(F.max_unpool1d)


class MaxUnpool2d(_MaxUnpool):
    """The way back from `MaxPool2d`: (N, C, H, W) or (C, H, W) to (N, C, H', W'); see `MaxUnpool1d`.

    >>> import gradwright as gw
    >>> MaxUnpool2d(2)(gw.ones(1, 1, 1, 1), gw.tensor([[[[3]]]]))
    tensor([[[[0., 0.],
              [0., 1.]]]])
    """

    _axes = 2
    _function = staticmethod(F.max_unpool2d)


class MaxUnpool3d(_MaxUnpool):
    """The way back from `MaxPool3d`: (N, C, D, H, W) or (C, D, H, W) to (N, C, D', H', W'); see `MaxUnpool1d`.

    >>> import gradwright as gw
    >>> MaxUnpool3d(2)(*MaxPool3d(2, return_indices=True)(gw.ones(1, 4, 4, 4))).shape
    torch.Size([1, 4, 4, 4])
    """

    _axes = 3
    _function = staticmethod(F.max_unpool3d)


@layer
class _AvgPool(_Pool):
    kernel_size: Ints
    stride: Ints | None = None
    padding: Ints = 0
    ceil_mode: bool = field(default=False, repr=False)
    count_include_pad: bool = field(default=True, repr=False)

    def __post_init__(self) -> None:
        self.stride = self.kernel_size if self.stride is None else self.stride

    def forward(self, input: Tensor) -> Tensor:
        """The mean of each window of ``input``."""
        return self._function(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad,
            getattr(self, "divisor_override", None),
        )  # fmt: skip


class AvgPool1d(_AvgPool):
    """The mean of each window: (N, C, L) or (C, L) to (N, C, L').

    L' = (L + 2 padding - kernel_size) / stride + 1, rounded down, or up with ``ceil_mode``.

    Args:
        kernel_size: entries in a window.
        stride: from one window to the next; ``kernel_size`` if it is None.
        padding: zeros added before and after; at most half of ``kernel_size``.
        ceil_mode: whether windows may reach over the end.
        count_include_pad: whether the zeros count.

    >>> import gradwright as gw
    >>> AvgPool1d(2)(gw.tensor([[1.0, 3.0, 2.0, 0.0]]))
    tensor([[2., 1.]])
    """

    _function = staticmethod(F.avg_pool1d)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("kernel_size", "stride", "padding"):
            setattr(self, name, per_axis("AvgPool1d", name, getattr(self, name), 1))


@layer
class _AvgPoolNd(_AvgPool):
    divisor_override: int | None = field(default=None, repr=False)


class AvgPool2d(_AvgPoolNd):
    """The mean of each window: (N, C, H, W) or (C, H, W) to (N, C, H', W').

    The arguments are those of `AvgPool1d`, one number for both axes or one for each; and ``divisor_override``: by what
    the sums are divided instead of the number of entries.

    >>> import gradwright as gw
    >>> AvgPool2d(2, divisor_override=1)(gw.ones(1, 2, 4))
    tensor([[[4., 4.]]])
    """

    _function = staticmethod(F.avg_pool2d)


class AvgPool3d(_AvgPoolNd):
    """The mean of each window: (N, C, D, H, W) or (C, D, H, W) to (N, C, D', H', W').

    The arguments are those of `AvgPool2d`, one number for all axes or one for each.

    >>> import gradwright as gw
    >>> AvgPool3d(2)(gw.ones(1, 2, 2, 4))
    tensor([[[[1., 1.]]]])
    """

    _function = staticmethod(F.avg_pool3d)


@layer
class _LPPool(_Pool):
    norm_type: float
    kernel_size: Ints
    stride: Ints | None = None
    ceil_mode: bool = False

    def forward(self, input: Tensor) -> Tensor:
        """The p-norm of each window of ``input``."""
        return self._function(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool1d(_LPPool):
    """(sum x**p)**(1/p) of each window: (N, C, L) or (C, L) to (N, C, L'); without absolute values.

    L' = (L - kernel_size) / stride + 1, rounded down, or up with ``ceil_mode``.

    Args:
        norm_type: p.
        kernel_size: entries in a window.
        stride: from one window to the next; ``kernel_size`` if it is None.
        ceil_mode: whether windows may reach over the end.

    Where the sum is 0, so is the slope for p = 1, and it is not a number for others.

    >>> import gradwright as gw
    >>> LPPool1d(2, 2)(gw.tensor([[3.0, 4.0]]))
    tensor([[5.]])
    """

    _function = staticmethod(F.lp_pool1d)


class LPPool2d(_LPPool):
    """(sum x**p)**(1/p) of each window: (N, C, H, W) or (C, H, W) to (N, C, H', W'); see `LPPool1d`.

    >>> import gradwright as gw
    >>> LPPool2d(2, (1, 2))(gw.tensor([[[3.0, 4.0]]]))
    tensor([[[5.]]])
    """

    _function = staticmethod(F.lp_pool2d)


class LPPool3d(_LPPool):
    """(sum x**p)**(1/p) of each window: (N, C, D, H, W) or (C, D, H, W) to (N, C, D', H', W'); see `LPPool1d`.

    >>> import gradwright as gw
    >>> LPPool3d(1, 2)(gw.ones(1, 2, 2, 4))
    tensor([[[[8., 8.]]]])
    """

    _function = staticmethod(F.lp_pool3d)


class _FractionalMaxPool(_Pool):
    _axes: ClassVar[int]
    kernel_size: tuple[int, ...]
    output_size: tuple[int, ...] | None
    output_ratio: tuple[float, ...] | None
    return_indices: bool

    def __init__(self, kernel_size: Ints, output_size: Ints | None = None,
                 output_ratio: float | Sequence[float] | None = None,
                 return_indices: bool = False, _random_samples: Tensor | None = None) -> None:  # fmt: skip
        super().__init__()
        name, n = self._get_name(), self._axes
        if (output_size is None) == (output_ratio is None):
            both = "only one of output_size and output_ratio may be specified"
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio"
                             if output_size is None else both)  # fmt: skip
        self.kernel_size = per_axis(name, "kernel_size", kernel_size, n)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else per_axis(name, "output_size", output_size, n)
        self.output_ratio = None
        if output_ratio is not None:
            ratios = tuple(output_ratio) if isinstance(output_ratio, Sequence) else (output_ratio,) * n
            if not all(0 < r < 1 for r in ratios):
                raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")
            self.output_ratio = ratios

    def forward(self, input: Tensor) -> Tensor:
        """The largest entry of each window of ``input``; with ``return_indices`` a pair, of them and their places."""
        return self._function(input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices,
                              _random_samples=self._random_samples)  # fmt: skip


class FractionalMaxPool2d(_FractionalMaxPool):
    """The largest entries of windows at random distances: (N, C, H, W) or (C, H, W) to (N, C, *output_size).

    Graham, arXiv:1412.6071; `functional.fractional_max_pool2d` has the formula.

    Args:
        kernel_size: entries in a window: one number for both axes or one for each.
        output_size: the size of the output; this or the next.
        output_ratio: that, as a part of the input's size, between 0 and 1.
        return_indices: whether to return the places of the largest entries, too.

    Raises ValueError unless exactly one of ``output_size`` and ``output_ratio`` is given.

    >>> import gradwright as gw
    >>> FractionalMaxPool2d(2, output_ratio=0.5)(gw.ones(1, 3, 9, 12)).shape
    torch.Size([1, 3, 4, 6])
    """

    _axes = 2
    _function = staticmethod(F.fractional_max_pool2d)


class FractionalMaxPool3d(_FractionalMaxPool):
    """`FractionalMaxPool2d` over three axes: (N, C, D, H, W) or (C, D, H, W) to (N, C, *output_size).

    >>> import gradwright as gw
    >>> FractionalMaxPool3d(2, output_size=3)(gw.ones(1, 2, 5, 6, 7)).shape
    torch.Size([1, 2, 3, 3, 3])
    """

    _axes = 3
    _function = staticmethod(F.fractional_max_pool3d)
