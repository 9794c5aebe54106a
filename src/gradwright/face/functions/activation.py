"""Activations that are also methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwright import backends
from gradwright.base import dtypes
from gradwright.engine.apply import apply, apply_one
from gradwright.face.reading.torch import tensor_arg
from gradwright.ops import activation as _activation

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor

__all__ = ["hardshrink", "prelu"]


def floating_arg(function: str, value: Any, argument: str = "input", position: int = 1) -> Any:
    """``value`` if it is a tensor of real floating-point numbers.

    Raises TypeError if it is no tensor, NotImplementedError if it is one of another dtype.
    """
    x = tensor_arg(function, value, argument, position)
    d = dtypes.of(x.array.dtype)
    if not d.is_floating_point:
        raise NotImplementedError(
            f"{function}(): not implemented for {d}: argument '{argument}' must be floating point; convert it with "
            ".to(dtype)"
        )
    return x


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """x where abs x > lambd, with slope 1, else 0, with slope 0.

    Shape: any. Raises NotImplementedError unless of floating-point numbers.

    >>> gw.nn.functional.hardshrink(gw.tensor([-1.0, 0.5, 2.0]))
    tensor([-1.,  0.,  2.])
    """
    return apply_one(_activation.hardshrink, floating_arg("hardshrink", input), {"lambd": lambd})


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """x above 0, weight x elsewhere; ``weight`` is one number, or one for each channel (dim 1 of ``input``).

    Shape: that of ``input``. The slope at 0 is ``weight``. Raises RuntimeError if the weight has another shape or
    dtype.

    >>> gw.nn.functional.prelu(gw.tensor([[-1.0, -1.0, 2.0]]), gw.tensor([0.1, 0.2, 0.3]))
    tensor([[-0.1000, -0.2000,  2.0000]])
    """
    x, weight = tensor_arg("prelu", input), tensor_arg("prelu", weight, "weight", 2)
    shape, w = x.array.shape, weight.array
    if backends.differ("prelu", x.array, w):
        raise RuntimeError(f"prelu: Type promoting not supported. Got {x.dtype} and {weight.dtype}. "
                           f"{dtypes.remedy(x.dtype, weight.dtype)}")  # fmt: skip
    if w.ndim > 1:
        raise RuntimeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {w.ndim}")
    if w.size != 1:
        if not shape:
            raise RuntimeError("prelu: Not allow zero-dim input tensor.")
        channels = shape[1] if len(shape) > 1 else 1
        if channels != w.size:
            raise RuntimeError(
                "prelu: Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{w.size} and channel size = {channels}."
            )
    if w.ndim:
        weight = weight.reshape((1, -1, *(1,) * (len(shape) - 2)) if len(shape) > 1 else (1,) * len(shape))
    return apply(_activation.prelu, (floating_arg("prelu", x), weight), {})
