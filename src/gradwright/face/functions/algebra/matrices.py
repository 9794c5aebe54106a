"""Reading matrices: what every function of linear algebra checks, with PyTorch's messages."""

from __future__ import annotations

from typing import Any

from gradwright import backends
from gradwright.base import dtypes
from gradwright.engine.base import wrap
from gradwright.face.reading.common import native
from gradwright.face.reading.torch import tensor_arg

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
    if backends.differ(name, a.array, b.array):
        first, second = names.split(" and ")
        raise RuntimeError(
            f"{name}: Expected {names} to have the same dtype, but found {first} of type {legacy(a)} and {second} of "
            f"type {legacy(b)} instead: convert one, with .to({b.dtype}) or .to({a.dtype})"
        )


def eye(like: Any, m: int, n: int | None = None) -> Any:
    """The identity matrix in the library, on the device and in the dtype of ``like``."""
    a = like.array
    return wrap(backends.namespace(a).eye(m, n, dtype=a.dtype, device=a.device))


def zeros(like: Any, *shape: int, dtype: Any = None) -> Any:
    """Zeros in the library, on the device and, unless another is named, in the dtype of ``like``."""
    space = backends.namespace(like.array)
    return wrap(space.zeros_like(like.array, shape=shape, dtype=None if dtype is None else native(space, dtype)))


def no_info(A: Any) -> Any:
    """The ``info`` of matrices of which none has failed."""
    space = backends.namespace(A.array)
    return wrap(space.zeros_like(A.array, shape=A.array.shape[:-2], dtype=space.int32))


def may_have_failed(x: Any) -> bool:
    """Whether a result may have NaN, which is how a matrix that has failed is seen."""
    space = backends.namespace(x.array)
    return space.may_hold(space.isnan(x.array))


def first(info: Any) -> int:
    """The first number other than 0, for an error."""
    return next(k for k in backends.to_host(info.array).reshape(-1).tolist() if k)


def adjoint(x: Any) -> Any:
    """Each matrix transposed and conjugated."""
    return x.mT.conj() if dtypes.of(x.array.dtype).is_complex else x.mT


def column(x: Any) -> Any:
    """Vectors, in the last dim, as columns."""
    return x.unsqueeze(-1)
