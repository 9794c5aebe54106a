"""Products of vectors and matrices under PyTorch's names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwright import backends
from gradwright.base import dtypes
from gradwright.base.errors import size as _text
from gradwright.engine.apply import apply, direct
from gradwright.engine.base import TensorBase
from gradwright.engine.numbers import number
from gradwright.face.functions.algebra.einsum import einsum
from gradwright.face.functions.algebra.matrices import legacy
from gradwright.face.functions.elementwise import mul
from gradwright.face.reading.torch import tensor_arg
from gradwright.native import early
from gradwright.ops import linalg as _linalg

if TYPE_CHECKING:
    from gradwright.face.typing import Number, Tensor

__all__ = [
    "addbmm", "addmm", "addmv", "addr", "baddbmm", "bmm", "dot", "einsum", "ger", "matmul", "mm", "mv", "outer",
]  # fmt: skip

_mv, _bmm = _linalg.matmul.variant("MvBackward0"), _linalg.matmul.variant("BmmBackward0")
_dot, _mm = _linalg.matmul.variant("DotBackward0"), _linalg.matmul
_by_rows, _by_columns = direct(_mm, 2), direct(_linalg.matmul_by_columns, 2)
_affine = direct(_linalg.linear, 3)


def _product(name: str, op: Any, a: Any, b: Any, ndims: tuple[int, int] | None, second: str) -> Any:
    if not isinstance(a, TensorBase) or not isinstance(b, TensorBase):
        if getattr(a, "is_sparse", False):
            return a @ b
        a = tensor_arg(name, a)
        if getattr(b, "is_sparse", False):
            return b.__rmatmul__(a)
        tensor_arg(name, b, second, 2)
    x, y = a.array, b.array
    if x.dtype is not y.dtype and a.dtype is not b.dtype:
        raise RuntimeError(
            f"{name}(): expected m1 and m2 to have the same dtype, but got {a.dtype} and {b.dtype}: convert one, with "
            f".to({b.dtype}) or .to({a.dtype})"
        )
    if ndims is not None and (x.ndim, y.ndim) != ndims:
        wanted = f"{ndims[0]} and {ndims[1]}"
        raise RuntimeError(f"{name}(): expected tensors of {wanted} dims, but got {x.ndim} and {y.ndim}")
    if not x.ndim or not y.ndim:
        raise RuntimeError(f"{name}(): both arguments need to be at least 1D, but they are {x.ndim}D and {y.ndim}D")
    if x.shape[-1] != y.shape[-2 if y.ndim > 1 else 0]:
        raise RuntimeError(
            f"{name}(): mat1 and mat2 shapes cannot be multiplied ({_text(x.shape)} and {_text(y.shape)}: "
            f"{x.shape[-1]} columns against {y.shape[-2 if y.ndim > 1 else 0]} rows)"
        )
    if op is _mm and y.ndim == 2 and x.ndim == 2 and in_columns(y):
        op = _linalg.matmul_by_columns
    return apply(op, (a, b), {})


def in_columns(array: Any) -> bool:
    """Whether a matrix lies column by column in memory, and not row by row."""
    flags = getattr(array, "flags", None)
    if flags is None:  # what is traced takes the way of the run without a trace: the other may round otherwise
        flags = getattr(getattr(array, "plain", None), "flags", None)
    return flags is not None and flags.f_contiguous and not flags.c_contiguous


@early("matmul", _by_rows, _by_columns)
def matmul(input: Tensor, other: Tensor) -> Tensor:
    """Matrix product over the last two dims; the others broadcast. A vector is a row at left, a column at right."""
    if isinstance(input, TensorBase) and isinstance(other, TensorBase):
        x, y = input.array, other.array
        if x.ndim == y.ndim == 2 and x.dtype is y.dtype and x.shape[1] == y.shape[0]:
            return (_by_columns if in_columns(y) else _by_rows)(input, other, {})
    ndims = (getattr(getattr(input, "array", None), "ndim", 2), getattr(getattr(other, "array", None), "ndim", 2))
    op = {(1, 1): _dot, (2, 1): _mv, (2, 2): _mm}.get(ndims, _bmm if max(ndims) > 2 else _mm)
    return _product("matmul", op, input, other, None, "other")


@early("matmul", _by_rows, _by_columns)
def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """Product of two matrices."""
    return _product("mm", _mm, input, mat2, (2, 2), "mat2")


def mv(input: Tensor, vec: Tensor) -> Tensor:
    """Product of a matrix and a vector."""
    return _product("mv", _mv, input, vec, (2, 1), "vec")


def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Products of two stacks of matrices of the same length."""
    a, b = tensor_arg("bmm", input), tensor_arg("bmm", mat2, "mat2", 2)
    if a.array.ndim == b.array.ndim == 3 and a.array.shape[0] != b.array.shape[0]:
        raise RuntimeError(f"bmm(): batches differ: {_text(a.array.shape)} and {_text(b.array.shape)}")
    return _product("bmm", _bmm, a, b, (3, 3), "mat2")


def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """Inner product of two vectors."""
    return _product("dot", _dot, input, tensor, (1, 1), "tensor")


def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Outer product of two vectors."""
    a, b = tensor_arg("outer", input), tensor_arg("outer", vec2, "vec2", 2)
    if a.array.ndim != 1 or b.array.ndim != 1:
        raise RuntimeError(f"outer(): expected two 1D tensors, but got {a.array.ndim}D and {b.array.ndim}D")
    return mul(a.unsqueeze(1), b)


ger = outer


def _added(name: str, input: Any, product: Any, beta: Any, alpha: Any) -> Any:
    """beta input + alpha product; ``input`` broadcasts, and is left out, NaN and all, if beta is 0."""
    x, shape = tensor_arg(name, input), product.array.shape
    beta, alpha = number(name, "beta", beta), number(name, "alpha", alpha)
    if dtypes.kind(product.array.dtype) in "iu":
        beta, alpha = int(beta), int(alpha)
    tail = (1,) * (len(shape) - x.array.ndim) + x.array.shape
    if x.array.ndim > len(shape) or any(n not in (1, m) for n, m in zip(tail, shape, strict=True)):
        have = _text(x.array.shape)
        raise RuntimeError(
            f"{name}(): The expanded size of the tensor {_text(shape)} must match the existing size {have}"
        )
    out = product if alpha == 1 else product * alpha
    return out if beta == 0 else out + (x if beta == 1 else x * beta)


def _alike(name: str, input: Any, product: Any) -> Any:
    if backends.differ(name, tensor_arg(name, input).array, product.array):
        raise RuntimeError(f"{name}(): expected input, m1 and m2 to have the same dtype, but got {input.dtype} and "
                           f"{product.dtype}: convert one with .to({product.dtype})")  # fmt: skip
    return input


def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """beta input + alpha mat1 mat2, of matrices."""
    product = _product("addmm", _mm, mat1, mat2, (2, 2), "mat2")
    return _added("addmm", _alike("addmm", input, product), product, beta, alpha)


def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """beta input + alpha mat vec, of a matrix and a vector."""
    product = _product("addmv", _mv, mat, vec, (2, 1), "vec")
    return _added("addmv", _alike("addmv", input, product), product, beta, alpha)


def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """beta input + alpha vec1 vec2^T, of vectors."""
    a, b = tensor_arg("addr", vec1, "vec1", 2), tensor_arg("addr", vec2, "vec2", 3)
    product = outer(a, b)
    if dtypes.kind(product.array.dtype) in "biu" and any(isinstance(n, float) for n in (beta, alpha)):
        raise RuntimeError("addr(): For integral input tensors, beta and alpha must not be floating point numbers.")
    if dtypes.kind(product.array.dtype) == "b" and dtypes.kind(tensor_arg("addr", input).array.dtype) == "b":
        return (input & bool(beta)) | (product & bool(alpha))
    return _added("addr", input, product, beta, alpha)


def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """beta input + alpha batch1 batch2, of stacks of matrices."""
    product = bmm(batch1, batch2)
    return _added("baddbmm", _alike("baddbmm", input, product), product, beta, alpha)


def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """beta input + alpha times the sum of the products of two stacks of matrices."""
    product = bmm(batch1, batch2).sum(0, dtype=batch1.dtype)
    return _added("addbmm", _alike("addbmm", input, product), product, beta, alpha)


@early("linear", _affine)
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """y = input weight^T + bias.

    Shape: input (..., in), weight (out, in), bias (out,) or None; the result (..., out).

    Raises RuntimeError for sizes or dtypes that do not fit.

    >>> gw.nn.functional.linear(gw.tensor([1.0, 2.0]), gw.tensor([[1.0, 0.0], [1.0, 1.0]]), gw.tensor([0.0, 10.0]))
    tensor([ 1., 13.])
    """
    if isinstance(input, TensorBase) and isinstance(weight, TensorBase) and isinstance(bias, TensorBase):
        a, w, b = input.array, weight.array, bias.array
        alike = a.__class__ is w.__class__ is b.__class__ and a.dtype is w.dtype is b.dtype
        if alike and a.ndim and w.ndim == 2 and a.shape[-1] == w.shape[1] and b.shape == w.shape[:1]:
            return _affine(bias, input, weight, {})
    x, weight = tensor_arg("linear", input), tensor_arg("linear", weight, "weight", 2)
    shapes = x.array.shape, weight.array.shape
    if weight.array.ndim != 2 or not x.array.ndim or shapes[0][-1] != shapes[1][1]:
        raise RuntimeError(
            f"linear(): mat1 and mat2 shapes cannot be multiplied (input {_text(shapes[0])}, "
            f"weight {_text(shapes[1])}: the last dim of input must be the second of weight)"
        )
    if backends.differ("linear", x.array, weight.array):
        raise RuntimeError(f"mat1 and mat2 must have the same dtype, but got {legacy(x)} and {legacy(weight)}, the "
                           f"input and the weight of linear(). {dtypes.remedy(x.dtype, weight.dtype)}")  # fmt: skip
    if bias is None:
        return matmul(x, weight.t())
    bias = tensor_arg("linear", bias, "bias", 3)
    if backends.differ("linear", bias.array, weight.array):
        raise RuntimeError(f"self and mat2 must have the same dtype, but got {legacy(bias)} and {legacy(weight)}, the "
                           f"bias and the weight of linear(). Convert one: bias.to({weight.dtype})")  # fmt: skip
    if bias.array.shape != shapes[1][:1]:
        return matmul(x, weight.t()) + bias
    return apply(_linalg.linear, (bias, x, weight), {})
