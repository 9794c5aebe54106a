"""Channels into pixels, pixels into channels, and channels shuffled."""

from __future__ import annotations

from typing import Any

from gradwright.base.errors import kind
from gradwright.base.errors import size as text
from gradwright.face.reading.torch import tensor_arg
from gradwright.face.tensor import Tensor

__all__ = ["channel_shuffle", "native_channel_shuffle", "pixel_shuffle", "pixel_unshuffle"]


def _blocks(function: str, input: Any, factor: int, name: str) -> tuple[Any, tuple[int, ...], int, int, int]:
    """``input``, its leading axes, channels, height and width."""
    x = tensor_arg(function, input)
    shape = x.array.shape
    if not hasattr(factor, "__index__"):
        raise TypeError(f"{function}(): argument '{name}' must be int, not {kind(factor)}")
    if len(shape) < 3:
        raise RuntimeError(f"{function} expects input to have at least 3 dimensions, but got input with {len(shape)}")
    if factor <= 0:
        raise RuntimeError(f"{function} expects a positive {name}, but got {factor}")
    return x, shape[:-3], *shape[-3:]


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """(*, C r r, H, W) -> (*, C, H r, W r), r being ``upscale_factor``: r r channels fill a square of pixels.

    Raises RuntimeError unless r r divides the channels, or for fewer than 3 dims.

    >>> pixel_shuffle(gw.arange(4.0).reshape(4, 1, 1), 2)
    tensor([[[0., 1.],
             [2., 3.]]])
    """
    r = upscale_factor
    x, lead, c, h, w = _blocks("pixel_shuffle", input, r, "upscale_factor")
    if c % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
            f"but input.size(-3)={c} is not divisible by {r * r}"
        )
    n = len(lead)
    split = x.reshape(*lead, c // (r * r), r, r, h, w)
    return split.permute(*range(n + 1), n + 3, n + 1, n + 4, n + 2).reshape(*lead, c // (r * r), h * r, w * r)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """The inverse of `pixel_shuffle`: (*, C, H r, W r) -> (*, C r r, H, W), r being ``downscale_factor``.

    Raises RuntimeError if the last two sizes do not divide by r, or there are fewer than 3 dims.

    >>> gw.nn.functional.pixel_unshuffle(gw.arange(4.0).reshape(1, 2, 2), 2).flatten()
    tensor([0., 1., 2., 3.])
    """
    r = downscale_factor
    x, lead, c, h, w = _blocks("pixel_unshuffle", input, r, "downscale_factor")
    for name, length, at in (("height", h, -2), ("width", w, -1)):
        if length % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but input.size({at})={length} is "
                f"not divisible by {r}"
            )
    n = len(lead)
    split = x.reshape(*lead, c, h // r, r, w // r, r)
    return split.permute(*range(n + 1), n + 2, n + 4, n + 1, n + 3).reshape(*lead, c * r * r, h // r, w // r)


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """(N, C, *): the channels, laid out as ``groups`` rows, read by columns.

    Raises RuntimeError unless ``groups`` divides C, or for fewer than 3 dims.

    >>> channel_shuffle(gw.arange(4.0).reshape(1, 4, 1), 2).flatten()
    tensor([0., 2., 1., 3.])
    """
    x = tensor_arg("channel_shuffle", input)
    shape = x.array.shape
    if len(shape) < 3:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {text(shape)}")
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    if shape[1] % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {shape[1]} channels and {groups} groups."
        )
    return x.reshape(shape[0], groups, shape[1] // groups, -1).transpose(1, 2).reshape(shape)


native_channel_shuffle = channel_shuffle
