"""Pooling layers over one, two and three axes: the largest entry, the mean or the p-norm of each window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from gradwright.nn.functional.geometry import per_axis
from gradwright.nn.layer import layer
from gradwright.nn.modules.applied import Dimensional

if TYPE_CHECKING:
    from gradwright.face.typing import Ints, Tensor

__all__ = [
    "MaxPool1d", "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d", "AvgPool1d", "AvgPool2d",
    "AvgPool3d", "LPPool1d", "LPPool2d", "LPPool3d", "FractionalMaxPool2d", "FractionalMaxPool3d", "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d", "AdaptiveMaxPool3d",
]  # fmt: skip


@layer
class _MaxPool(Dimensional):
    _calls = "max_pool{n}d"

    kernel_size: Ints
    stride: Ints | None = None
    padding: Ints = 0
    dilation: Ints = 1
    return_indices: bool = field(default=False, repr=False)
    ceil_mode: bool = False

    def __post_init__(self) -> None:
        self.stride = self.kernel_size if self.stride is None else self.stride


class MaxPool1d(_MaxPool, axes=1):
    """The largest entry of each window of a signal."""


class MaxPool2d(_MaxPool, axes=2):
    """The largest entry of each window of an image."""


class MaxPool3d(_MaxPool, axes=3):
    """The largest entry of each window of a volume."""


class _MaxUnpool(Dimensional):
    _calls = "max_unpool{n}d"

    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]

    def __init__(self, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0) -> None:
        super().__init__()
        given = {"kernel_size": kernel_size, "stride": kernel_size if stride is None else stride, "padding": padding}
        for name, value in given.items():
            setattr(self, name, per_axis(self._get_name(), name, value, self._axes))

    def forward(  # type: ignore[override]
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        """Zeros of ``output_size`` with the entries of ``input`` at their places ``indices``."""
        return self._function(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool, axes=1):
    """The way back from `MaxPool1d`."""


class MaxUnpool2d(_MaxUnpool, axes=2):
    """The way back from `MaxPool2d`."""


class MaxUnpool3d(_MaxUnpool, axes=3):
    """The way back from `MaxPool3d`."""


@layer
class _AvgPool(Dimensional):
    _calls = "avg_pool{n}d"

    kernel_size: Ints
    stride: Ints | None = None
    padding: Ints = 0
    ceil_mode: bool = field(default=False, repr=False)
    count_include_pad: bool = field(default=True, repr=False)

    def __post_init__(self) -> None:
        self.stride = self.kernel_size if self.stride is None else self.stride


class AvgPool1d(_AvgPool, axes=1):
    """The mean of each window of a signal."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("kernel_size", "stride", "padding"):
            setattr(self, name, per_axis("AvgPool1d", name, getattr(self, name), 1))


@layer
class _AvgPoolNd(_AvgPool):
    divisor_override: int | None = field(default=None, repr=False)


class AvgPool2d(_AvgPoolNd, axes=2):
    """The mean of each window of an image."""


class AvgPool3d(_AvgPoolNd, axes=3):
    """The mean of each window of a volume."""


@layer
class _LPPool(Dimensional):
    _calls = "lp_pool{n}d"

    norm_type: float
    kernel_size: Ints
    stride: Ints | None = None
    ceil_mode: bool = False

    def forward(self, input: Tensor) -> Tensor:
        """The p-norm of each window of ``input``."""
        return self._function(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool1d(_LPPool, axes=1):
    """(sum x**p)**(1/p) of each window of a signal."""


class LPPool2d(_LPPool, axes=2):
    """(sum x**p)**(1/p) of each window of an image."""


class LPPool3d(_LPPool, axes=3):
    """(sum x**p)**(1/p) of each window of a volume."""


class _FractionalMaxPool(Dimensional):
    _calls = "fractional_max_pool{n}d"

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


class FractionalMaxPool2d(_FractionalMaxPool, axes=2):
    """The largest entries of windows of an image at random distances."""


class FractionalMaxPool3d(_FractionalMaxPool, axes=3):
    """The largest entries of windows of a volume at random distances."""


@layer
class _AdaptiveAvgPool(Dimensional):
    _calls = "adaptive_avg_pool{n}d"

    output_size: int | Sequence[int | None] | None


class AdaptiveAvgPool1d(_AdaptiveAvgPool, axes=1):
    """Means over windows that cover a signal evenly."""


class AdaptiveAvgPool2d(_AdaptiveAvgPool, axes=2):
    """Means over windows that cover an image evenly."""


class AdaptiveAvgPool3d(_AdaptiveAvgPool, axes=3):
    """Means over windows that cover a volume evenly."""


@layer
class _AdaptiveMaxPool(Dimensional):
    _calls = "adaptive_max_pool{n}d"

    output_size: int | Sequence[int | None] | None
    return_indices: bool = field(default=False, repr=False)


class AdaptiveMaxPool1d(_AdaptiveMaxPool, axes=1):
    """The largest entries of windows that cover a signal evenly."""


class AdaptiveMaxPool2d(_AdaptiveMaxPool, axes=2):
    """The largest entries of windows that cover an image evenly."""


class AdaptiveMaxPool3d(_AdaptiveMaxPool, axes=3):
    """The largest entries of windows that cover a volume evenly."""
