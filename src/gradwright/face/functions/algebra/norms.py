"""Norms, condition and rank under PyTorch's names in `torch.linalg`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwright.base import dtypes
from gradwright.base.errors import kind
from gradwright.engine.apply import apply_one
from gradwright.engine.numbers import number
from gradwright.face.functions.algebra.decompose import eigvalsh, svdvals
from gradwright.face.functions.algebra.matrices import legacy, matrix, square
from gradwright.face.functions.algebra.solve import inv, rank, tolerances
from gradwright.face.functions.elementwise import abs as _abs
from gradwright.face.functions.reduce import amax, amin
from gradwright.face.functions.shape import movedim
from gradwright.face.reading.torch import dims, numpy_names, one_dim, tensor_arg, to_dtype
from gradwright.ops import reduce as _reduce

if TYPE_CHECKING:
    from gradwright.face.typing import Dims, DType, Tensor

_INF = float("inf")


def _numbers(name: str, x: Any, dtype: Any) -> Any:
    """``x``, converted to ``dtype`` if one is named: not to a smaller one, nor from complex numbers to real ones."""
    d = dtypes.of(tensor_arg(name, x).array.dtype)
    if d.category < dtypes.FLOAT:
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {legacy(x)}")
    if dtype is None:
        return x
    target = dtypes.of(dtype)
    if target.category < dtypes.FLOAT or target.is_complex != d.is_complex:
        raise RuntimeError(f"{name}: the dtype of the input ({d}) should be convertible without narrowing to {target}")
    if dtypes.promote_types(d, target) is not target:
        raise RuntimeError(f"{name}: the dtype of the input ({d}) should be convertible without narrowing to {target}")
    return to_dtype(x, target)


@numpy_names
def vector_norm(x: Tensor, ord: float = 2, dim: Dims = None, keepdim: bool = False, *, dtype: DType = None) -> Tensor:
    """(sum |x|**ord)**(1/ord) over ``dim``, or all; inf the largest, -inf the smallest, 0 the count of nonzeros.

    Shapes: x of any, the result without ``dim`` (of size 1 there if ``keepdim``), real. ``dtype`` converts x first. The
    slope at 0 is 0 for ord 2, a subgradient, the second derivative NaN, that of the square, too; of equal largest
    (smallest) entries each gets an equal share.

    Raises:
        RuntimeError: x is of integers or booleans; the dtype is narrower or real where x is complex; a negative ``ord``
            or inf of no entries.
        TypeError: ``ord`` is no number.

    >>> gw.linalg.vector_norm(gw.tensor([3.0, -4.0])), gw.linalg.vector_norm(gw.tensor([3.0, -4.0]), float("inf"))
    (tensor(5.), tensor(4.))
    """
    x = _numbers("linalg.vector_norm", x, dtype)
    if isinstance(ord, (str, type(None))):
        raise TypeError(f"linalg.vector_norm(): argument 'ord' (position 2) must be Number, not {kind(ord)}")
    ord = number("linalg.vector_norm", "ord", ord)
    axis = dims("linalg.vector_norm", dim, x.array.ndim)
    lengths = [x.array.shape[i] for i in axis] if axis is not None else [x.array.size]
    if 0 in lengths and (ord < 0 or ord == _INF):
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {ord} norm on an empty tensor because the operation does not have "
            "an identity"
        )
    return apply_one(_reduce.vector_norm, x, {"ord": ord, "axis": axis, "keepdims": bool(keepdim)})


def _last_two(name: str, A: Any, dim: Any) -> tuple[int, ...]:
    if not isinstance(dim, (tuple, list)) or len(dim) != 2:
        raise RuntimeError(f"{name}: dim must be a 2-tuple. Got {dim}")
    axes = tuple(one_dim(name, d, A.array.ndim) for d in dim)
    if axes[0] == axes[1]:
        raise RuntimeError(f"{name}: dims must be different. Got ({dim[0]}, {dim[1]})")
    return axes


def _extreme(x: Any, ord: Any, dim: int, keepdim: bool = False) -> Any:
    """The largest entries along a dim if ``ord`` is positive, and 0 if there is none; else the smallest."""
    if ord > 0 and not x.array.shape[dim]:
        return x.sum(dim, keepdim)
    return (amax if ord > 0 else amin)(x, dim, keepdim)


@numpy_names
def matrix_norm(A: Tensor, ord: float | str = "fro", dim: Sequence[int] = (-2, -1), keepdim: bool = False, *,
                dtype: DType = None) -> Tensor:  # fmt: skip
    """Norm of the matrices in two dims.

    Args:
        A: (..., m, n), of floating-point or complex numbers.
        ord: "fro"; "nuc", the sum of the singular values; 2 and -2, the largest and the smallest; 1 and -1, the largest
            and smallest sum of a column's magnitudes; inf and -inf, of a row's.
        dim: the two dims, which the result has not, or has of size 1 if ``keepdim``.
        keepdim: whether they stay.
        dtype: what A is converted to first.

    Raises RuntimeError for another ``ord``, equal dims, fewer than 2, integers, a narrower dtype.

    >>> A = gw.tensor([[1.0, -2.0], [3.0, 4.0]])
    >>> gw.linalg.matrix_norm(A, 1), gw.linalg.matrix_norm(A, float("inf"))
    (tensor(6.), tensor(7.))
    """
    name = "linalg.matrix_norm"
    if tensor_arg(name, A, "A").array.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    A = _numbers(name, A, dtype)
    axes = _last_two(name, A, dim)
    if ord == "fro":
        return vector_norm(A, 2, axes, keepdim)
    if ord not in ("nuc", 1, -1, 2, -2, _INF, -_INF):
        raise RuntimeError(f"{name}: Order {ord} not supported.")
    if ord in ("nuc", 2, -2):
        values = svdvals(movedim(A, axes, (-2, -1)))
        out = values.sum(-1) if ord == "nuc" else _extreme(values, ord, -1)
    else:
        summed, chosen = axes if ord in (1, -1) else axes[::-1]
        out = _extreme(_abs(A).sum(summed, keepdim=True), ord, chosen, True).squeeze(axes)
    return out.unsqueeze(min(axes)).unsqueeze(max(axes)) if keepdim else out


@numpy_names
def norm(A: Tensor, ord: float | str | None = None, dim: Dims = None, keepdim: bool = False, *,
         dtype: DType = None) -> Tensor:  # fmt: skip
    """`vector_norm` over one dim, or over all if no ``ord`` is named; else `matrix_norm` over two.

    Shapes: A of any, the result without ``dim``, or with size 1 there if ``keepdim``. With an ``ord``, RuntimeError
    unless it is over 1 or 2 dims; and as those two raise it.

    >>> gw.linalg.norm(gw.tensor([[3.0, 0.0], [0.0, 4.0]])), gw.linalg.norm(gw.tensor([[3.0, 0.0], [0.0, 4.0]]), 2)
    (tensor(5.), tensor(4.))
    """
    tensor_arg("linalg.norm", A, "A")
    axes: Any = dim if dim is None or isinstance(dim, (tuple, list)) else (dim,)
    if ord is None:
        return vector_norm(A, 2, axes, keepdim, dtype=dtype)
    if axes is None and A.array.ndim not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {A.array.ndim}D."
        )
    if axes is not None and len(axes) not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {[*axes]}")
    if (A.array.ndim if axes is None else len(axes)) == 1:
        if isinstance(ord, str):
            raise RuntimeError(f"linalg.norm: Order {ord} not supported for vectors.")
        return vector_norm(A, ord, axes, keepdim, dtype=dtype)
    return matrix_norm(A, ord, (-2, -1) if axes is None else axes, keepdim, dtype=dtype)


def cond(A: Tensor, p: float | str | None = None) -> Tensor:
    """Condition number |A| |A^-1| in a norm of `matrix_norm`; with 2 (the default) or -2 of any matrix.

    Shapes: A is (..., m, n), m = n but for 2 and -2, the result (...); with 2 infinite or huge for a singular A, NaN
    for 0.

    Raises RuntimeError for another norm or a matrix that is not square; LinAlgError for a singular one but for 2 and -2
    (PyTorch: inf).

    >>> gw.linalg.cond(gw.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor(2.)
    """
    if p in (None, 2, -2):
        values = svdvals(matrix("linalg.cond", A))
        if not A.array.size:
            return values.sum(-1)
        large, small = values[..., 0], values[..., -1]
        return small / large if p == -2 else large / small
    if p not in ("fro", "nuc", 1, -1, _INF, -_INF):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    if not square("linalg.cond", A).array.size:
        return vector_norm(A, 2, (-2, -1))
    return matrix_norm(A, p) * matrix_norm(inv(A), p)


def matrix_rank(A: Tensor, tol: float | Tensor | None = None, hermitian: bool = False, *,
                atol: float | Tensor | None = None, rtol: float | Tensor | None = None) -> Tensor:  # fmt: skip
    """How many singular values exceed max(atol, rtol times the largest); `pinv` has the defaults. ``tol`` is atol.

    Shapes: A is (..., m, n), the result (...) of int64, without gradient. ``hermitian`` says that A is, and takes the
    sizes of eigenvalues. Raises RuntimeError for fewer than 2 dims or another dtype.

    >>> gw.linalg.matrix_rank(gw.tensor([[1.0, 2.0], [2.0, 4.0]]))
    tensor(1)
    """
    low, high = tolerances(matrix("linalg.matrix_rank", A), atol if tol is None else tol, rtol)
    return rank(_abs(eigvalsh(A.detach())) if hermitian else svdvals(A.detach()), low, high)
