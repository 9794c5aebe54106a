"""Complex numbers under PyTorch's names: parts, conjugates, angles, and views as pairs of reals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradwright.base import dtypes
from gradwright.engine.apply import apply, apply_one
from gradwright.face.functions import elementwise as e
from gradwright.face.reading.torch import tensor_arg, to_dtype
from gradwright.ops import complex as _complex

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor

__all__ = [
    "angle", "complex", "conj", "conj_physical", "imag", "is_complex", "isreal", "polar", "real", "resolve_conj",
    "resolve_neg", "view_as_complex", "view_as_real",
]  # fmt: skip


def is_complex(input: Tensor) -> bool:
    """Whether the dtype of ``input`` is a complex one."""
    return dtypes.of(tensor_arg("is_complex", input).array.dtype).is_complex


def real(input: Tensor) -> Tensor:
    """The real part, as a view; a real tensor is its own."""
    x = tensor_arg("real", input)
    return apply_one(_complex.real, x, {}) if is_complex(x) else x


def imag(input: Tensor) -> Tensor:
    """The imaginary part of a complex tensor, as a view; RuntimeError for a real one."""
    x = tensor_arg("imag", input)
    if not is_complex(x):
        raise RuntimeError(f"imag(): argument 'input' must be a complex tensor, but its dtype is {x.dtype}")
    return apply_one(_complex.imag, x, {})


def conj(input: Tensor) -> Tensor:
    """The complex conjugate, in memory of its own; a real tensor is its own."""
    x = tensor_arg("conj", input)
    return apply_one(_complex.conj, x, {}) if is_complex(x) else x


def conj_physical(input: Tensor) -> Tensor:
    """`conj`, in memory of its own for real tensors too."""
    return apply_one(_complex.conj, tensor_arg("conj_physical", input), {})


def resolve_conj(input: Tensor) -> Tensor:
    """``input`` itself: conjugates are never left to be taken later."""
    return tensor_arg("resolve_conj", input)


def resolve_neg(input: Tensor) -> Tensor:
    """``input`` itself: negatives are never left to be taken later."""
    return tensor_arg("resolve_neg", input)


def angle(input: Tensor) -> Tensor:
    """The angle of each number in the complex plane in radians: of a real one 0, or pi if it is negative."""
    x = tensor_arg("angle", input)
    whole = dtypes.of(x.array.dtype).category < dtypes.FLOAT
    return apply_one(_complex.angle, to_dtype(x, dtypes.default()) if whole else x, {})


def complex(real: Tensor, imag: Tensor) -> Tensor:
    """The complex numbers real + i imag, of two tensors of one floating-point dtype.

    Raises RuntimeError for other dtypes.
    """
    x, y = tensor_arg("complex", real, "real"), tensor_arg("complex", imag, "imag", 2)
    for name, t in (("real", x), ("imag", y)):
        if t.dtype not in (dtypes.float32, dtypes.float64, dtypes.float16):
            raise RuntimeError(f"complex(): Expected both inputs to be Half, Float or Double tensors but got "
                               f"argument '{name}' of {t.dtype}")  # fmt: skip
    if x.dtype is not y.dtype:
        raise RuntimeError(
            f"complex(): Expected object of scalar type {x.dtype} but got scalar type {y.dtype} for argument 'imag'"
        )
    return apply(_complex.to_complex, (x, y), {})


def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """The complex numbers of these magnitudes and angles in radians: abs (cos angle + i sin angle)."""
    r, a = tensor_arg("polar", abs, "abs"), tensor_arg("polar", angle, "angle", 2)
    if r.dtype is not a.dtype:
        raise RuntimeError(f"polar(): Expected object of scalar type {r.dtype} but got {a.dtype} for argument 'angle'")
    return complex(e.mul(r, e.cos(a)), e.mul(r, e.sin(a)))


def view_as_real(input: Tensor) -> Tensor:
    """A complex tensor as pairs of its parts in a new last dim, as a view; RuntimeError for a real one."""
    x = tensor_arg("view_as_real", input)
    if not is_complex(x):
        raise RuntimeError(f"view_as_real is only supported for complex tensors: argument 'input' is of {x.dtype}")
    return apply_one(_complex.view_as_real, x, {})


def view_as_complex(input: Tensor) -> Tensor:
    """A real tensor whose last dim has length 2 as complex numbers, as a view.

    Raises RuntimeError for another dtype or length, or if the pairs do not lie side by side in memory.
    """
    x = tensor_arg("view_as_complex", input)
    if x.dtype not in (dtypes.float32, dtypes.float64, dtypes.float16):
        raise RuntimeError(
            f"view_as_complex is only supported for half, float and double tensors, but got a tensor of {x.dtype}"
        )
    if x.array.ndim == 0 or x.array.shape[-1] != 2:
        raise RuntimeError(f"view_as_complex(): Tensor must have a last dimension of size 2, got {tuple(x.shape)}")
    if x.stride(-1) != 1:
        raise RuntimeError("view_as_complex(): Tensor must have a last dimension with stride 1; make it contiguous()")
    return apply_one(_complex.view_as_complex, x, {})


def isreal(input: Tensor) -> Tensor:
    """Whether each number has no imaginary part."""
    x = tensor_arg("isreal", input)
    return e.eq(imag(x), 0) if is_complex(x) else e.eq(x, x) | e.ne(x, x)
