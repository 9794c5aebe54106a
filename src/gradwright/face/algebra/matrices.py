"""Reading matrices: what every function of linear algebra checks, with PyTorch's messages."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwright import dtypes
from gradwright.engine.base import wrap
from gradwright.reading.torch import tensor_arg

_NAMES = {"float16": "Half", "int64": "Long", "int32": "Int", "int16": "Short", "int8": "Char", "uint8": "Byte",
          "bool": "Bool", "float32": "Float", "float64": "Double", "complex64": "ComplexFloat",
          "complex128": "ComplexDouble"}  # fmt: skip


def legacy(x: Any) -> str:
    """The dtype as PyTorch's older messages call it."""
    name = dtypes.of(x.array.dtype).name
    return _NAMES.get(name, name)


def floating(name: str, x: Any, argument: str = "A", position: int = 1) -> Any:
    """``x``, a tensor of float32, float64 or their complex partners."""
    d = dtypes.of(tensor_arg(name, x, argument, position).array.dtype)
    if d.category < dtypes.FLOAT:
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {legacy(x)} for "
                           f"argument '{argument}': convert it with .float() or .double()")  # fmt: skip
    if d.is_floating_point and d not in (dtypes.float32, dtypes.float64):
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {legacy(x)} for "
                           f"argument '{argument}': convert it with .float()")  # fmt: skip
    return x


def matrix(name: str, x: Any, argument: str = "A", position: int = 1) -> Any:
    """``x``, one or more matrices of floating point or complex numbers."""
    if tensor_arg(name, x, argument, position).array.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {argument} must have at least 2 dimensions. Got {x.array.ndim}: "
                           "a vector becomes a matrix with .unsqueeze(0)")  # fmt: skip
    return floating(name, x, argument, position)


def square(name: str, x: Any, argument: str = "A", position: int = 1) -> Any:
    """``x``, one or more square matrices."""
    m, n = matrix(name, x, argument, position).array.shape[-2:]
    if m != n:
        raise RuntimeError(f"{name}: {argument} must be batches of square matrices, but they are {m} by {n} matrices")
    return x


def same_dtype(name: str, a: Any, b: Any, names: str = "A and B") -> None:
    """RuntimeError if the dtypes differ."""
    if a.array.dtype != b.array.dtype:
        first, second = names.split(" and ")
        raise RuntimeError(
            f"{name}: Expected {names} to have the same dtype, but found {first} of type {legacy(a)} and {second} of "
            f"type {legacy(b)} instead: convert one, with .to({b.dtype}) or .to({a.dtype})"
        )


def eye(like: Any, m: int, n: int | None = None) -> Any:
    """The identity matrix in the dtype of ``like``."""
    return wrap(np.eye(m, n, dtype=like.array.dtype))


def adjoint(x: Any) -> Any:
    """Each matrix transposed and conjugated."""
    return x.mT.conj() if dtypes.kind(x.array.dtype) == "c" else x.mT


def column(x: Any) -> Any:
    """Vectors, in the last dim, as columns."""
    return x.unsqueeze(-1)
