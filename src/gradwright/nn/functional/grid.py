"""Reading images and volumes at the points of a grid, whose coordinates run from -1 to 1 across the input."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

from gradwright.base import dtypes
from gradwright.base.errors import size as text
from gradwright.face import creation
from gradwright.face.functions.join import cat
from gradwright.face.reading.torch import tensor_arg
from gradwright.face.tensor import Tensor

__all__ = ["affine_grid", "grid_sample"]

MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")


def _aligned(align_corners: bool | None) -> bool:
    if align_corners is None:
        warnings.warn(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please "
            "specify align_corners=True if the old behavior is desired. See the documentation of grid_sample for "
            "details.",
            stacklevel=3,
        )
    return bool(align_corners)


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """The grid for `grid_sample` that maps a result of ``size`` (N, C, *out) through theta: (N, *out, n).

    theta: (N, n, n + 1), one affine map (matrix and shift) each, for n = 2 or 3 axes.

    Raises NotImplementedError for a size of other than 4 or 5 numbers, ValueError for a theta that does not fit.

    >>> theta = gw.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    >>> gw.nn.functional.affine_grid(theta, (1, 1, 1, 2), align_corners=True)
    tensor([[[[-1.,  0.],
              [ 1.,  0.]]]])
    """
    theta = tensor_arg("affine_grid", theta, "theta")
    align = _aligned(align_corners)
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    n = len(size) - 2
    if n not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size "
            f"{size}."
        )
    if theta.array.ndim != 3 or theta.array.shape[1:] != (n, n + 1):
        raise ValueError(
            f"Expected a batch of {n}D affine matrices of shape Nx{n}x{n + 1} for size {size}. Got {theta.shape}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    out = tuple(size[2:])
    axes: list[Any] = []
    like: dict[str, Any] = {"dtype": theta.dtype, "device": theta.device}
    for i, m in reversed(list(enumerate(out))):
        ends = (m - 1) / m if not align else 1.0
        line = creation.linspace(-ends, ends, m, **like) if m > 1 else creation.zeros(1, **like)
        axes.append(line.reshape(-1, *(1,) * (n - 1 - i)).expand(*out).reshape(-1, 1))
    base = cat([*axes, creation.ones(prod(out), 1, **like)], 1)
    return (base @ theta.transpose(1, 2)).reshape(theta.array.shape[0], *out, n)


def _checked(input: Any, grid: Any, mode: str) -> tuple[Any, Any, int]:
    x, grid = tensor_arg("grid_sampler", input), tensor_arg("grid_sampler", grid, "grid", 2)
    shape, points, n = x.array.shape, grid.array.shape, x.array.ndim - 2
    if n not in (2, 3) or len(points) != n + 2:
        raise RuntimeError(
            "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got input with "
            f"sizes {text(shape)} and grid with sizes {text(points)}"
        )
    if points[0] != shape[0]:
        raise RuntimeError(
            "grid_sampler(): expected grid and input to have same batch size, but got input with sizes "
            f"{text(shape)} and grid with sizes {text(points)}"
        )
    if points[-1] != n:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {n} in last dimension, but got grid with sizes {text(points)}"
        )
    if 0 in shape[2:]:
        raise RuntimeError(
            f"grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes {text(shape)}"
        )
    if mode == "bicubic" and n != 2:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    if x.dtype is not grid.dtype:
        raise RuntimeError(f"grid_sampler(): expected input and grid of one dtype, but got {x.dtype} and {grid.dtype}")
    return x, grid, n


def _inside(at: Any, m: int, padding_mode: str, align: bool) -> Any:
    """Coordinates brought into the input by a padding mode; its entries are at 0, 1, ..., m - 1."""
    if padding_mode == "reflection":
        low, span = (0.0, m - 1.0) if align else (-0.5, float(m))
        if span == 0:
            return at * 0
        away = (at - low).abs() % (2 * span)
        at = (span - (away - span).abs()) + low
    return at if padding_mode == "zeros" else at.clamp(0, m - 1)


def _cubic(t: Any, a: float = -0.75) -> list[Any]:
    """The weights of the entries at -1, 0, 1 and 2 for a point at t, by cubic convolution."""

    def near(s: Any) -> Any:
        return ((a + 2) * s - (a + 3)) * s * s + 1

    def far(s: Any) -> Any:
        return ((a * s - 5 * a) * s + 8 * a) * s - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


def _entries(at: Any, m: int, mode: str, padding_mode: str, align: bool) -> list[tuple[Any, Any]]:
    """For points along an axis of m entries: the indices to read, and their weights (0 outside the input)."""
    at = ((at + 1) * (m - 1) if align else (at + 1) * m - 1) / 2
    at = at if mode == "bicubic" else _inside(at, m, padding_mode, align)
    low = at.detach().round() if mode == "nearest" else at.detach().floor()
    t = at - low
    weights = [t * 0 + 1] if mode == "nearest" else [1 - t, t] if mode == "bilinear" else _cubic(t)
    found = []
    for k, weight in enumerate(weights, -1 if mode == "bicubic" else 0):
        place = low + k
        if mode == "bicubic":
            place = _inside(place, m, padding_mode, align)
        if padding_mode == "zeros":
            weight = weight * ((place >= 0) & (place <= m - 1)).to(weight.dtype)
        found.append((place.nan_to_num(0.0).clamp(0, m - 1).to(dtypes.int64), weight))
    return found


def grid_sample(input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros",
                align_corners: bool | None = None) -> Tensor:  # fmt: skip
    """``input`` (N, C, *size), of 2 or 3 axes n, read at the points of ``grid`` (N, *out, n): (N, C, *out).

    The last axis of the grid holds x, y(, z): x runs along the last axis of the input, from -1 to 1. These are the
    outermost entries with ``align_corners``, else their outer edges. Modes: "bilinear" (in volumes trilinear),
    "nearest", "bicubic" (images only). Outside, ``padding_mode`` puts "zeros", the nearest entry ("border"), or the
    mirror image ("reflection").

    Slopes by the grid are those of the polynomial between two entries, and 0 by "nearest".

    Raises ValueError for another mode; RuntimeError for sizes and dtypes that do not fit.

    >>> grid = gw.tensor([[[[0.0, 0.0], [1.0, 0.0]]]])
    >>> gw.nn.functional.grid_sample(gw.tensor([[[[1.0, 2.0]]]]), grid, align_corners=True)
    tensor([[[[1.5000, 2.0000]]]])
    """
    if mode not in MODES:
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in PADDINGS:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    align = _aligned(align_corners)
    x, grid, n = _checked(input, grid, mode)
    batch, channels, *size = x.array.shape
    out = grid.array.shape[1:-1]
    axes = [_entries(grid[..., n - 1 - i], m, mode, padding_mode, align) for i, m in enumerate(size)]
    pixels = x.reshape(batch, channels, prod(size)).transpose(1, 2).reshape(-1, channels)
    first = creation.arange(batch, device=x.device).reshape(-1, *(1,) * n)
    y: Any = 0
    for corner in product(*axes):
        place: Any = first
        weight: Any = 1
        for (index, w), m in zip(corner, size, strict=True):
            place, weight = place * m + index, weight * w
        y = y + pixels.index_select(0, place.flatten()) * weight.reshape(-1, 1)
    return y.reshape(batch, prod(out), channels).transpose(1, 2).reshape(batch, channels, *out)
