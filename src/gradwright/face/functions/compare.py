"""Whole-tensor questions under PyTorch's names; the answers are Python booleans and carry no history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradwright import backends
from gradwright.base import dtypes
from gradwright.engine.apply import apply
from gradwright.engine.base import TensorBase
from gradwright.face.reading.torch import tensor_arg
from gradwright.ops import piecewise as _piecewise

if TYPE_CHECKING:
    from typing_extensions import TypeIs  # a checker brings it

    from gradwright.face.typing import Tensor

__all__ = [
    "allclose", "equal", "is_floating_point", "is_tensor", "isclose", "numel",
]  # fmt: skip


def is_tensor(obj: object) -> TypeIs[Tensor]:
    """Whether ``obj`` is a tensor."""
    return isinstance(obj, TensorBase)


def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype of ``input`` is a floating-point one."""
    return bool(dtypes.kind(tensor_arg("is_floating_point", input).array.dtype) == "f")


def numel(input: Tensor) -> int:
    """How many elements ``input`` has."""
    return int(tensor_arg("numel", input).array.size)


def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same size and the same elements (NaN equals nothing)."""
    a, b = tensor_arg("equal", input), tensor_arg("equal", other, "other", 2)
    return a.array.shape == b.array.shape and bool((a == b).all())


def isclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """For each pair of elements, whether ``|input - other| <= atol + rtol |other|``.

    Raises RuntimeError if the two differ in dtype, or a tolerance is negative.
    """
    a, b = tensor_arg("isclose", input), tensor_arg("isclose", other, "other", 2)
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if tolerance < 0:
            raise RuntimeError(f"isclose(): {name} must be greater than or equal to zero, but got {tolerance}")
    if backends.differ("isclose", a.array, b.array):
        raise RuntimeError(f"isclose(): {a.dtype} did not match {b.dtype}: convert one with .to(dtype)")
    given = {"rtol": float(rtol), "atol": float(atol), "equal_nan": bool(equal_nan)}
    return apply(_piecewise.isclose, (a, b), given)


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether `isclose` holds for every pair of elements."""
    return bool(isclose(input, other, rtol, atol, equal_nan).all())
