"""Padding of the last axes, and the normalisation that looks at neighbouring channels through such a padding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gradwright.base.errors import size as text
from gradwright.face.functions.join import cat
from gradwright.face.functions.rearrange import constant_pad_nd, flip
from gradwright.face.reading.torch import tensor_arg
from gradwright.face.tensor import Tensor
from gradwright.nn.functional.pool import avg_pool3d

__all__ = ["local_response_norm", "pad"]


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """``input`` with ``pad`` = (before, after) of the last axis, then of the one before it, ...; negative ones cut off.

    Modes: "constant" (``value``, or 0); "reflect" (mirrored at the outermost entries, which are not repeated);
    "replicate" (the outermost entries again); "circular" (from the other end).

    Raises RuntimeError if there are more pads than axes or, in the last three modes, if an axis is too short for them;
    NotImplementedError for another mode, or for a number of axes that PyTorch does not pad in that mode.

    >>> pad(gw.tensor([[1.0, 2.0, 3.0]]), (2, 1), "reflect")
    tensor([[3., 2., 1., 2., 3., 2.]])
    """
    x = tensor_arg("pad", input)
    if not isinstance(pad, Iterable) or not all(hasattr(p, "__index__") for p in pad):
        raise TypeError(f"pad(): argument 'pad' (position 2) must be tuple of ints, but got {pad!r}")
    pads = tuple(p.__index__() for p in pad)
    ndim = x.array.ndim
    if len(pads) % 2:
        raise RuntimeError(f"pad(): Padding length must be divisible by 2, but got {len(pads)}")
    if len(pads) > 2 * ndim:
        raise RuntimeError(
            "pad(): Padding length should be less than or equal to two times the input dimension but got padding "
            f"length {len(pads)} and input of dimension {ndim}"
        )
    if mode == "constant":
        return constant_pad_nd(x, pads, 0 if value is None else value)
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if mode not in _PADDED:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    axes = len(pads) // 2
    if axes not in (1, 2, 3) or ndim not in (axes + 1, axes + 2):
        raise NotImplementedError(
            f"Padding size {len(pads)} is not supported for {ndim}D input tensor.\nSupported combinations for "
            "non-constant padding:\n  - 2D or 3D input: padding size = 2 (pads last dimension)\n  - 3D or 4D input: "
            "padding size = 4 (pads last 2 dimensions)\n  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )
    if 0 in x.array.shape[ndim - axes - 1 :]:
        raise RuntimeError(f"pad(): expected input with non-zero dimensions, but got: {text(x.array.shape)}")
    for i in range(axes):
        x = _PADDED[mode](x, ndim - 1 - i, pads[2 * i], pads[2 * i + 1])
    return x


def _cut(x: Any, axis: int, before: int, after: int) -> Any:
    """``x`` without what negative pads cut off."""
    first, last = max(-before, 0), x.array.shape[axis] - max(-after, 0)
    if first >= last:
        raise RuntimeError(f"pad(): padding ({before}, {after}) leaves nothing of dimension {axis}")
    return x.narrow(axis, first, last - first) if last - first < x.array.shape[axis] else x


def _reflected(x: Any, axis: int, before: int, after: int) -> Any:
    m = x.array.shape[axis]
    if max(before, after) >= m:
        raise RuntimeError(
            "pad(): Padding size should be less than the corresponding input dimension, but got: padding "
            f"({before}, {after}) at dimension {axis} of input {text(x.array.shape)}"
        )
    parts = [flip(x.narrow(axis, 1, before), axis)] if before > 0 else []
    parts.append(x)
    parts += [flip(x.narrow(axis, m - 1 - after, after), axis)] if after > 0 else []
    return _cut(cat(parts, axis), axis, min(before, 0), min(after, 0))


def _replicated(x: Any, axis: int, before: int, after: int) -> Any:
    shape, m = x.array.shape, x.array.shape[axis]
    ends = ((0, before), (m - 1, after))
    first, last = (
        [x.narrow(axis, at, 1).expand(*shape[:axis], n, *shape[axis + 1 :])] if n > 0 else [] for at, n in ends
    )
    return _cut(cat([*first, x, *last], axis), axis, min(before, 0), min(after, 0))


def _wrapped(x: Any, axis: int, before: int, after: int) -> Any:
    m = x.array.shape[axis]
    if max(before, after) > m:
        raise RuntimeError(f"pad(): Padding value causes wrapping around more than once: ({before}, {after}) of {m}")
    x = _cut(x, axis, before, after)
    m = x.array.shape[axis]
    if max(before, after) > m:
        raise RuntimeError(f"pad(): padding ({before}, {after}) needs more entries than it leaves of dimension {axis}")
    first = [x.narrow(axis, m - before, before)] if before > 0 else []
    last = [x.narrow(axis, 0, after)] if after > 0 else []
    return cat([*first, x, *last], axis)


_PADDED = {"reflect": _reflected, "replicate": _replicated, "circular": _wrapped}


def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """x / (k + alpha m)**beta, m the mean of x**2 over ``size`` neighbouring channels; input (N, C, *size).

    Raises ValueError for an input of fewer than 3 axes.

    Channels beyond the ends count as 0. RuntimeError unless ``size`` is positive.

    >>> gw.nn.functional.local_response_norm(gw.ones(1, 3, 1), 3, alpha=3.0, beta=1.0)
    tensor([[[0.3333],
             [0.2500],
             [0.3333]]])
    """
    x = tensor_arg("local_response_norm", input)
    shape = x.array.shape
    if len(shape) < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {len(shape)} dimensions)")
    if x.array.size == 0:
        return x
    squares = (x * x).reshape(shape[0], 1, shape[1], 1, -1)
    around = constant_pad_nd(squares, (0, 0, 0, 0, size // 2, (size - 1) // 2))
    return x / (avg_pool3d(around, (size, 1, 1), stride=1).reshape(shape) * alpha + k) ** beta
