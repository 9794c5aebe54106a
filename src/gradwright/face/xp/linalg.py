"""Linear algebra: the products of the main namespace, and the extension."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from gradwright.base import dtypes
from gradwright.engine.apply import apply, apply_one
from gradwright.engine.base import TensorBase
from gradwright.face.reading.common import as_dtype
from gradwright.face.reading.standard import alike, axes, floats, one_axis, tensor
from gradwright.face.xp import statistical as s
from gradwright.face.xp.creation import eye
from gradwright.face.xp.data_types import finfo
from gradwright.face.xp.manipulation import broadcast_to, expand_dims, moveaxis, permute_dims, reshape, squeeze, stack
from gradwright.ops import decompose as _decompose
from gradwright.ops import solve as _solve
from gradwright.ops.declare import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwright.face.typing import Dims, DType, Tensor

__all__ = [
    "cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul", "matrix_norm", "matrix_power",
    "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot",
    "trace", "vecdot", "vector_norm",
]  # fmt: skip


def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Matrix product over the last two axes; a vector counts as a row on the left, a column on the right."""
    if tensor("matmul", x1).array.dtype is not tensor("matmul", x2).array.dtype:
        x1, x2 = alike("matmul", x1, x2)
    return apply(table["matmul"], (x1, x2), {})


def matrix_transpose(x: Tensor, /) -> Tensor:
    """A view with each matrix transposed."""
    ndim = _matrices("matrix_transpose", x).array.ndim
    return permute_dims(x, (*range(ndim - 2), ndim - 1, ndim - 2))


def _matrices(function: str, x: Any) -> Any:
    if tensor(function, x).array.ndim < 2:
        raise ValueError(f"{function}(): expected a matrix or a stack of them, but got {x.array.ndim} dimensions")
    return x


def tensordot(x1: Tensor, x2: Tensor, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Tensor:
    """Sum of products over the last ``axes`` axes of x1 and the first ones of x2, or over two lists of axes."""
    x1, x2 = alike("tensordot", x1, x2)
    n, m = x1.array.ndim, x2.array.ndim
    if isinstance(axes, int):
        left, right = list(range(n - axes, n)), list(range(axes))
    else:
        left, right = ([one_axis("tensordot", a, k) for a in side] for side, k in zip(axes, (n, m), strict=True))
    if [x1.array.shape[i] for i in left] != [x2.array.shape[i] for i in right]:
        raise ValueError(f"tensordot(): the lengths of axes {left} and {right} differ")
    rows, columns = ([i for i in range(k) if i not in side] for k, side in ((n, left), (m, right)))
    shape = (*(x1.array.shape[i] for i in rows), *(x2.array.shape[i] for i in columns))
    height, size = prod(shape[: len(rows)]), prod(x1.array.shape[i] for i in left)
    a = reshape(permute_dims(x1, (*rows, *left)), (height, size))
    b = reshape(permute_dims(x2, (*right, *columns)), (size, prod(shape[len(rows) :])))
    return reshape(matmul(a, b), shape)


def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Sum of conj(x1) x2 along ``axis``, counted from the end, over which both have one length."""
    x1, x2 = alike("vecdot", x1, x2)
    if not all(-x.array.ndim <= axis < 0 for x in (x1, x2)):
        raise IndexError(f"vecdot(): axis {axis} must be negative and within both arrays")
    if x1.array.shape[axis] != x2.array.shape[axis]:
        raise ValueError(f"vecdot(): the lengths {x1.array.shape[axis]} and {x2.array.shape[axis]} differ")
    products = apply_one(table["conj"], x1, {}) * x2
    return s.sum(products, axis=axis, dtype=products.array.dtype)


def outer(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The products of each entry of x1 with each of x2, as a matrix."""
    if not tensor("outer", x1).array.ndim == tensor("outer", x2).array.ndim == 1:
        raise ValueError("outer(): expected two vectors")
    x1, x2 = alike("outer", x1, x2)
    return expand_dims(x1, 1) * x2


def diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    """A view of the diagonal of each matrix."""
    return apply_one(table["diagonal"], _matrices("diagonal", x), {"offset": offset})


def trace(x: Tensor, /, *, offset: int = 0, dtype: DType = None) -> Tensor:
    """Sum over the diagonal of each matrix."""
    return s.sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def cross(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Vector product along ``axis``, counted from the end and of length 3."""
    x1, x2 = alike("cross", x1, x2)
    if not all(-x.array.ndim <= axis < 0 for x in (x1, x2)):
        raise IndexError(f"cross(): axis {axis} must be negative and within both arrays")
    if not x1.array.shape[axis] == x2.array.shape[axis] == 3:
        raise ValueError("cross(): both arrays must have length 3 along the axis")
    (a, b, c), (d, f, g) = (moveaxis(x, axis, 0) for x in (x1, x2))
    return stack([b * g - c * f, c * d - a * g, a * f - b * d], axis=axis)


def vector_norm(x: Tensor, /, *, axis: Dims = None, keepdims: bool = False, ord: float = 2) -> Tensor:
    """p-norm over ``axis``: (sum |x|**p)**(1/p); infinite p the extremes, 0 the count of nonzeros."""
    x = floats("vector_norm", x)
    over = axes("vector_norm", axis, x.array.ndim)
    return apply_one(table["vector_norm"], x, {"ord": ord, "axis": over, "keepdims": keepdims})


def matrix_norm(x: Tensor, /, *, keepdims: bool = False, ord: float | Literal["fro", "nuc"] = "fro") -> Tensor:
    """Norm of each matrix: Frobenius "fro", nuclear "nuc", 1 and inf (largest column, row), 2 (largest singular value).

    -1, -inf and -2 are the smallest ones.
    """
    x = floats("matrix_norm", _matrices("matrix_norm", x))
    if ord == "fro":
        return vector_norm(x, axis=(-2, -1), keepdims=keepdims)
    if ord not in ("nuc", 1, -1, 2, -2, float("inf"), -float("inf")):
        raise ValueError(f"matrix_norm(): ord must be 'fro', 'nuc', 1, 2, inf or one of these negated, but got {ord!r}")
    shape = x.array.shape[-2:]
    if ord != "nuc" and not (min(shape) if abs(ord) == 2 else shape[ord in (1, -1)]):
        raise ValueError(f"matrix_norm(): a matrix without entries, as argument 'x' of shape {tuple(x.array.shape)} "
                         f"holds, has no norm of ord {ord}: use 'fro' or 'nuc'")  # fmt: skip
    if ord in ("nuc", 2, -2):
        values = svdvals(x)
        out = (s.sum if ord == "nuc" else s.max if ord == 2 else s.min)(values, axis=-1)
        return expand_dims(expand_dims(out, -1), -1) if keepdims else out
    along, across = (-2, -1) if ord in (1, -1) else (-1, -2)
    sums = s.sum(abs(x), axis=along, keepdims=True)
    out = (s.max if float(ord) > 0 else s.min)(sums, axis=across, keepdims=True)
    return out if keepdims else reshape(out, out.array.shape[:-2])


def _square(function: str, x: Any) -> Any:
    shape = _matrices(function, x).array.shape
    if shape[-1] != shape[-2]:
        raise ValueError(f"{function}(): expected square matrices, but got shape {tuple(shape)}")
    return floats(function, x)


def matrix_power(x: Tensor, n: int, /) -> Tensor:
    """The product of ``n`` copies of each square matrix; of copies of the inverse for negative n."""
    x = _square("matrix_power", x)
    if n < 0:
        x, n = inv(x), -n
    size = x.array.shape[-1]
    out: Any = None if n else broadcast_to(eye(size, dtype=x.dtype, device=x.array.device), x.array.shape)
    while n:
        if n % 2:
            out = x if out is None else matmul(out, x)
        n //= 2
        x = matmul(x, x) if n else x
    return out


class SlogdetResult(NamedTuple):
    """A determinant as its sign and the logarithm of its size."""

    sign: Tensor
    logabsdet: Tensor


class EighResult(NamedTuple):
    """Eigenvalues, ascending, and eigenvectors as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class QRResult(NamedTuple):
    """Orthonormal columns and an upper triangle."""

    Q: Tensor
    R: Tensor


class SVDResult(NamedTuple):
    """Left singular vectors as columns, singular values, right singular vectors as rows."""

    U: Tensor
    S: Tensor
    Vh: Tensor


def inv(x: Tensor, /) -> Tensor:
    """Inverse of each square matrix. LinAlgError where there is none."""
    return apply_one(_solve.inv, _square("inv", x), {"check": True})


def det(x: Tensor, /) -> Tensor:
    """Determinant of each square matrix."""
    return apply_one(_solve.det, _square("det", x), {})


def slogdet(x: Tensor, /) -> SlogdetResult:
    """Sign and logarithm of the size of the determinant of each square matrix."""
    return SlogdetResult(*apply(_solve.slogdet, (_square("slogdet", x),), {}))


def solve(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The solution z of x1 z = x2, for a vector x2 or matrices that broadcast. LinAlgError where x1 is singular."""
    x1, x2 = alike("solve", _square("solve", x1), x2, floating=True)
    vector = x2.array.ndim == 1
    out = apply(_solve.solve, (x1, expand_dims(x2, 1) if vector else x2), {"check": True})
    return squeeze(out, -1) if vector else out


def pinv(x: Tensor, /, *, rtol: Tensor | float | None = None) -> Tensor:
    """Pseudo-inverse of each matrix; singular values of at most ``rtol`` times the largest count as 0."""
    x = floats("pinv", _matrices("pinv", x))
    return apply_one(_solve.pinv, x, {"atol": 0.0, "rtol": threshold(x, _tolerance(x) if rtol is None else rtol)})


def threshold(x: Any, value: Any) -> Any:
    """What singular values of ``x`` are compared with: a number, or the array of a tensor, in their dtype."""
    if not isinstance(value, TensorBase):
        return value
    return as_dtype(value, dtypes.of(x.array.dtype).to_real()).array


def matrix_rank(x: Tensor, /, *, rtol: Tensor | float | None = None) -> Tensor:
    """How many singular values of each matrix are larger than ``rtol`` times its largest."""
    x = floats("matrix_rank", _matrices("matrix_rank", x))
    values = svdvals(x)
    if values.array.shape[-1] == 0:
        return s.sum(values, axis=-1, dtype="int64")
    rtol = _tolerance(x) if rtol is None else rtol
    rtol = expand_dims(rtol, -1) if isinstance(rtol, TensorBase) else rtol
    return s.sum(values > s.max(values, axis=-1, keepdims=True) * rtol, axis=-1)


def _tolerance(x: Any) -> float:
    return max(x.array.shape[-2:]) * finfo(x).eps


def cholesky(x: Tensor, /, *, upper: bool = False) -> Tensor:
    """The triangle l of each positive-definite x = l l^H, or its adjoint. LinAlgError where there is none."""
    return apply_one(_decompose.cholesky, _square("cholesky", x), {"upper": upper, "check": True})


def qr(x: Tensor, /, *, mode: str = "reduced") -> QRResult:
    """x = q r with orthonormal columns q and upper triangular r; ``mode`` "complete" makes q square."""
    if mode not in ("reduced", "complete"):
        raise ValueError(f"qr(): mode must be 'reduced' or 'complete', but got {mode!r}")
    return QRResult(*apply(_decompose.qr, (floats("qr", _matrices("qr", x)),), {"mode": mode}))


def eigh(x: Tensor, /) -> EighResult:
    """Eigenvalues and eigenvectors of each Hermitian matrix, of which the lower triangle is read."""
    return EighResult(*apply(_decompose.eigh, (_square("eigh", x),), {"uplo": "L"}))


def eigvalsh(x: Tensor, /) -> Tensor:
    """Eigenvalues of each Hermitian matrix, of which the lower triangle is read."""
    return apply_one(_decompose.eigvalsh, _square("eigvalsh", x), {"uplo": "L"})


def svd(x: Tensor, /, *, full_matrices: bool = True) -> SVDResult:
    """x = u diag(s) v^H with orthonormal u and v, which are square if ``full_matrices``."""
    x = floats("svd", _matrices("svd", x))
    return SVDResult(*apply(_decompose.svd, (x,), {"full_matrices": full_matrices}))


def svdvals(x: Tensor, /) -> Tensor:
    """Singular values of each matrix, in descending order."""
    return apply_one(_decompose.svdvals, floats("svdvals", _matrices("svdvals", x)), {})
