"""PyTorch's top-level forms of convolution, pooling and resampling."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from gradwright.face.reading.torch import tensor_arg
from gradwright.face.reference import attach
from gradwright.nn.functional import conv as _conv
from gradwright.nn.functional.conv import (
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)
from gradwright.nn.functional.grid import MODES, PADDINGS, affine_grid, grid_sample
from gradwright.nn.functional.pixel import channel_shuffle, native_channel_shuffle, pixel_shuffle, pixel_unshuffle
from gradwright.nn.functional.pool import (
    adaptive_avg_pool1d,
    adaptive_max_pool1d_with_indices,
    avg_pool1d,
    max_pool1d,
    max_pool1d_with_indices,
    max_pool2d,
    max_pool3d,
)
from gradwright.nn.functional.resize import resized

if TYPE_CHECKING:
    from gradwright.face.typing import Ints, Tensor

__all__ = [
    "adaptive_avg_pool1d", "adaptive_max_pool1d", "affine_grid_generator", "avg_pool1d", "channel_shuffle", "conv1d",
    "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "convolution",
    "grid_sampler", "grid_sampler_2d", "grid_sampler_3d", "max_pool1d", "max_pool1d_with_indices", "max_pool2d",
    "max_pool3d", "native_channel_shuffle", "pixel_shuffle", "pixel_unshuffle", "_upsample_bilinear2d_aa",
]  # fmt: skip


def convolution(input: Tensor, weight: Tensor, bias: Tensor | None, stride: Sequence[int], padding: Sequence[int],
                dilation: Sequence[int], transposed: bool, output_padding: Sequence[int],
                groups: int) -> Tensor:  # fmt: skip
    """`nn.functional.conv1d`, `conv2d` or `conv3d`, as the weight has axes; with ``transposed`` their adjoints."""
    n = tensor_arg("convolution", weight, "weight", 2).ndim - 2
    if n not in (1, 2, 3):
        raise RuntimeError(f"convolution(): expected a weight of 3, 4 or 5 axes, but got {n + 2} axes")
    if transposed:
        return getattr(_conv, f"conv_transpose{n}d")(
            input, weight, bias, stride, padding, output_padding, groups, dilation
        )
    return getattr(_conv, f"conv{n}d")(input, weight, bias, stride, padding, dilation, groups)


def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """`nn.functional.conv1d` with time first: input (T, N, C), weight (k, C, O), result (T', N, O)."""
    y = conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad)
    return y.permute(2, 0, 1)


def adaptive_max_pool1d(input: Tensor, output_size: Ints) -> tuple[Tensor, Tensor]:
    """`nn.functional.adaptive_max_pool1d` with ``return_indices=True``."""
    return adaptive_max_pool1d_with_indices(input, output_size)


def grid_sampler(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int,
                 align_corners: bool) -> Tensor:  # fmt: skip
    """`nn.functional.grid_sample` with numbers for modes: bilinear, nearest, bicubic; zeros, border, reflection."""
    return grid_sample(input, grid, MODES[interpolation_mode], PADDINGS[padding_mode], align_corners)


grid_sampler_2d = grid_sampler_3d = grid_sampler


def affine_grid_generator(theta: Tensor, size: Sequence[int], align_corners: bool) -> Tensor:
    """`nn.functional.affine_grid`."""
    return affine_grid(theta, size, align_corners)


def _upsample_bilinear2d_aa(input: Any, output_size: Any, align_corners: bool, scale_factors: Any = None, *,
                            scales_h: float | None = None, scales_w: float | None = None) -> Any:  # fmt: skip
    """`nn.functional.interpolate`, bilinear and antialiased; the factors stand in one list or apart."""
    factors = list(scale_factors or (scales_h, scales_w))
    if output_size is None:
        output_size = [int(m * f) for m, f in zip(input.array.shape[2:], factors, strict=True)]
    return resized(input, "bilinear", output_size, factors, align_corners, antialias=True)


def max_pool2d_with_indices_backward(grad_output: Any, input: Any, kernel_size: Any, stride: Any, padding: Any,
                                     dilation: Any, ceil_mode: bool, indices: Any) -> Any:  # fmt: skip
    """What `max_pool2d` passes back: ``grad_output`` added at ``indices``."""
    shape = input.array.shape
    rows = (prod(shape[:-2]), prod(indices.array.shape[-2:]))
    flat = grad_output.new_zeros((rows[0], prod(shape[-2:])))
    return flat.scatter_add(1, indices.reshape(rows), grad_output.reshape(rows)).reshape(shape)


attach(globals(), "layers")
