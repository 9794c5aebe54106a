"""Fake quantisation: numbers rounded as a quantised tensor would hold them; their gradient passes straight through.

There are no quantised tensors themselves.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from gradwright.base.errors import kind, size
from gradwright.face.reading.torch import tensor_arg
from gradwright.face.tensor import Tensor
from gradwright.function.contract.surrogate import surrogate
from gradwright.function.function import Function

__all__ = ["fake_quantize_per_channel_affine", "fake_quantize_per_tensor_affine"]


@surrogate("straight-through: 1 where the number fits between quant_min and quant_max, 0 elsewhere")
class FakeQuantize(Function):
    """(clamp(round(x / scale) + zero_point, low, high) - zero_point) scale."""

    @staticmethod
    def forward(ctx: Any, x: Any, scale: Any, zero_point: Any, low: int, high: int) -> Any:
        q = (x * (1 / scale)).round() + zero_point
        ctx.save_for_backward((q >= low) & (q <= high))
        return ((q.clamp(low, high) - zero_point) * scale).to(x.dtype)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (inside,) = ctx.saved_tensors
        return g * inside, None, None, None, None


def fake_quantize_per_tensor_affine(input: Any, scale: Any, zero_point: Any, quant_min: int, quant_max: int) -> Any:
    """``input`` as it would come back from whole numbers between ``quant_min`` and ``quant_max``.

    With q = round(x / scale) + zero_point, kept between the two, it is (q - zero_point) scale; the gradient passes
    where q needed not be kept. ``scale`` and ``zero_point`` are numbers or tensors of one, and have no derivative.

    Raises RuntimeError unless quant_min <= zero_point <= quant_max.

    >>> fake_quantize_per_tensor_affine(gw.tensor([0.12, 0.5, 9.0]), 0.1, 0, 0, 15)
    tensor([0.1000, 0.5000, 1.5000])
    """
    x = tensor_arg("fake_quantize_per_tensor_affine", input)
    step, zero = (float(_one("scale", scale, Real)), int(_one("zero_point", zero_point, Integral)))
    _ordered(quant_min, quant_max)
    if not quant_min <= zero <= quant_max:
        raise RuntimeError(f"`zero_point` must be between `quant_min` and `quant_max`, but got {zero}")
    return FakeQuantize.apply(x, step, zero, quant_min, quant_max)


def fake_quantize_per_channel_affine(input: Any, scale: Any, zero_point: Any, axis: int, quant_min: int,
                                     quant_max: int) -> Any:  # fmt: skip
    """`fake_quantize_per_tensor_affine` with a scale and a zero point for each place along ``axis``.

    Raises RuntimeError if their length is not that of ``axis``, or a zero point is not between the two ends.
    """
    x = tensor_arg("fake_quantize_per_channel_affine", input)
    _ordered(quant_min, quant_max)
    if not -x.ndim <= axis < x.ndim:
        raise IndexError(f"`axis` must be between 0 and number of dimensions of input, but got {axis}")
    scale = tensor_arg("fake_quantize_per_channel_affine", scale, "scale", 2)
    zero_point = tensor_arg("fake_quantize_per_channel_affine", zero_point, "zero_point", 3)
    parts = scale, zero_point
    for name, t in zip(("scale", "zero_point"), parts, strict=True):
        if t.ndim != 1 or t.size(0) != x.size(axis):
            raise RuntimeError(f"`{name}` must be of one dim, as long as dim {axis} of the input, {x.size(axis)}, but "
                               f"got {size(t.shape)}")  # fmt: skip
    if not bool(((zero_point >= quant_min) & (zero_point <= quant_max)).all()):
        raise RuntimeError("`zero_point` must be between `quant_min` and `quant_max`.")
    shape = [1] * x.ndim
    shape[axis] = -1
    step, zero = (t.detach().reshape(shape).to(x.dtype) for t in parts)
    return FakeQuantize.apply(x, step, zero, quant_min, quant_max)


def _one(name: str, value: Any, wanted: type) -> Any:
    if not isinstance(value, Tensor):
        if not isinstance(value, wanted):
            what = "whole number" if wanted is Integral else "number"
            raise TypeError(f"fake_quantize_per_tensor_affine(): expected `{name}` to be a {what}, or a tensor of one, "
                            f"but got {kind(value)}")  # fmt: skip
        return value
    if value.numel() != 1:
        raise RuntimeError(f"`{name}` must be a number, or a tensor of one, but got {size(value.shape)}")
    return value.detach().item()


def _ordered(low: int, high: int) -> None:
    if low > high:
        raise RuntimeError(f"`quant_min` should be less than or equal to `quant_max`, but got {low} and {high}")
