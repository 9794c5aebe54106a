"""Inverses, linear systems and determinants under PyTorch's names in `torch.linalg`."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from gradwright import backends
from gradwright.base import dtypes
from gradwright.base.errors import size
from gradwright.engine.apply import apply
from gradwright.engine.base import wrap
from gradwright.engine.numbers import number
from gradwright.face.functions.algebra.decompose import permutation, svdvals, triangles
from gradwright.face.functions.algebra.matrices import adjoint as _adjoint
from gradwright.face.functions.algebra.matrices import (
    eye,
    floating,
    matrix,
    may_have_failed,
    no_info,
    same_dtype,
    square,
    zeros,
)
from gradwright.face.functions.algebra.matrix_function import real_power
from gradwright.face.functions.elementwise import where
from gradwright.face.functions.returns import return_type
from gradwright.face.functions.shape import movedim
from gradwright.face.reading.require import everywhere
from gradwright.face.reading.torch import tensor_arg, to_dtype
from gradwright.face.xp.linalg import threshold
from gradwright.ops import solve as _ops

if TYPE_CHECKING:
    from gradwright.face.typing import InverseInfo, LeastSquares, ResultInfo, SignLogDet, Tensor

_INV_EX = return_type("linalg_inv_ex", "inverse", "info")
_SOLVE_EX = return_type("linalg_solve_ex", "result", "info")
_SLOGDET = return_type("linalg_slogdet", "sign", "logabsdet")
_LSTSQ = return_type("linalg_lstsq", "solution", "residuals", "rank", "singular_values")


def inv(A: Tensor) -> Tensor:
    """A^-1, dA^-1 = -A^-1 dA A^-1. To solve A X = B, `solve` is quicker and loses fewer digits.

    Shapes: A is (..., n, n), of float32, float64, complex64 or complex128, and so is the result.

    Raises LinAlgError if A is singular; RuntimeError if it is not square, or of another dtype.

    >>> gw.linalg.inv(gw.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    return apply(_ops.inv, (square("linalg.inv", A),), {"check": True})


def inv_ex(A: Tensor, *, check_errors: bool = False) -> InverseInfo:
    """`inv` without the error: ``inverse``, NaN where A is singular, and ``info``, the place of its first zero pivot.

    Shapes: A is (..., n, n), ``inverse`` the same, ``info`` (...) of int32. Raises LinAlgError only if
    ``check_errors``.

    >>> gw.linalg.inv_ex(gw.tensor([[1.0, 2.0], [2.0, 4.0]])).info
    tensor(2, dtype=torch.int32)
    """
    out = apply(_ops.inv, (square("linalg.inv", A),), {"check": check_errors})
    return _INV_EX(out, _pivot_info(A, out))


def _pivot_info(A: Any, out: Any) -> Any:
    """The zero pivots of A, looked for if a result has NaN."""
    if not may_have_failed(out):
        return no_info(A)
    linalg = backends.namespace(A.array).linalg
    return wrap(linalg.zero_pivot(linalg.lu_factor(A.array)[0]))


def _vector(A: Any, B: Any) -> bool:
    """Whether B is one right-hand side for each A, rather than a matrix of them."""
    return B.array.ndim == 1 or (B.array.ndim == A.array.ndim - 1 and B.array.shape == A.array.shape[:-1])


def _equation(name: str, A: Any, B: Any, left: bool) -> None:
    square(name, A)
    matrix(name, B, "B", 2)
    same_dtype(name, A, B)
    if A.array.shape[-1] != B.array.shape[-2 if left else -1]:
        kind, sizes = ("AX", "{0} and {1}") if left else ("XA", "{1} and {0}")
        shapes = ["x".join(map(str, x.array.shape[-2:])) for x in (A, B)]
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation {kind} = B ({sizes.format(*shapes)})"
        )


def _solved(A: Any, B: Any, left: bool, check: bool) -> Any:
    vector = _vector(square("linalg.solve", A), floating("linalg.solve", B, "B", 2))
    if vector and not left:
        raise RuntimeError(
            "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False. In this case "
            "linalg.solve is equivalent to B / A.squeeze(-1)"
        )
    B = B.unsqueeze(-1) if vector else B
    _equation("linalg.solve", A, B, left)
    static = {"check": check}
    out = apply(_ops.solve, (A, B) if left else (A.mT, B.mT), static)
    return out.squeeze(-1) if vector else out if left else out.mT


def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """X with A X = B (X A = B if not ``left``).

    Shapes: A is (..., n, n), B (..., n, k) ((..., k, n) if not ``left``), and so is X; leading dims broadcast. B of
    shape (n,), or of A's without its last dim, is one right-hand side for each A. Derivatives: A^-H g for B, -A^-H g
    X^H for A.

    Raises LinAlgError if A is singular; RuntimeError for sizes or dtypes that do not fit.

    >>> gw.linalg.solve(gw.tensor([[2.0, 0.0], [0.0, 4.0]]), gw.tensor([2.0, 2.0]))
    tensor([1.0000, 0.5000])
    """
    return _solved(A, B, left, True)


def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> ResultInfo:
    """`solve` without the error: ``result``, NaN where A is singular, and ``info``, the place of its first zero pivot.

    Shapes: as `solve`, ``info`` (...) of int32. Raises LinAlgError for a singular A only if ``check_errors``.

    >>> gw.linalg.solve_ex(gw.tensor([[1.0, 2.0], [2.0, 4.0]]), gw.ones(2)).info
    tensor(2, dtype=torch.int32)
    """
    out = _solved(A, B, left, check_errors)
    return _SOLVE_EX(out, _pivot_info(A, out))


def solve_triangular(A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Tensor:
    """X with T X = B (X T = B if not ``left``), where T is one triangle of A.

    T has ones on its diagonal if ``unitriangular``, whatever A has.

    Shapes: A is (..., n, n), B (..., n, k) ((..., k, n) if not ``left``), and so is X; leading dims broadcast. The
    other triangle is not read and has gradient 0. A zero on the diagonal gives infinities or NaN, and no error.

    Raises RuntimeError for sizes or dtypes that do not fit.

    >>> gw.linalg.solve_triangular(gw.tensor([[2.0, 9.0], [1.0, 4.0]]), gw.tensor([[2.0], [5.0]]), upper=False)
    tensor([[1.],
            [1.]])
    """
    _equation("linalg.solve_triangular", A, B, left)
    a, b = (A, B) if left else (A.mT, B.mT)
    static = {"upper": bool(upper) == bool(left), "unitriangular": bool(unitriangular)}
    out = apply(_ops.solve_triangular, (a, b), static)
    return out if left else out.mT


def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False) -> Tensor:
    """X with A X = B (A^H X = B if ``adjoint``, X A = B if not ``left``) from `lu_factor`'s result.

    Shapes: LU is (..., n, n), ``pivots`` (..., n) of int32, B (..., n, k), and so is X.

    Raises RuntimeError for pivots of another dtype, and sizes that do not fit.

    >>> LU, pivots = gw.linalg.lu_factor(gw.tensor([[0.0, 2.0], [4.0, 0.0]]))
    >>> gw.linalg.lu_solve(LU, pivots, gw.tensor([[2.0], [4.0]]))
    tensor([[1.],
            [1.]])
    """
    if not left:
        return _adjoint(lu_solve(LU, pivots, _adjoint(B), adjoint=not adjoint))
    _equation("linalg.lu_solve", LU, B, True)
    if dtypes.of(pivots.array.dtype) is not dtypes.int32:
        raise RuntimeError("linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32")
    rows = backends.namespace(pivots.array).linalg.unpivoted(pivots.array, LU.array.shape[-1])
    P = permutation(LU, rows)
    L, U = triangles(LU)
    if adjoint:
        X = solve_triangular(_adjoint(U), B, upper=False)
        return P @ solve_triangular(_adjoint(L), X, upper=True, unitriangular=True)
    X = solve_triangular(L, P.mT @ B, upper=False, unitriangular=True)
    return solve_triangular(U, X, upper=True)


def det(A: Tensor) -> Tensor:
    """Determinant; its derivative, the cofactors, is right for singular matrices too (PyTorch's may be 0 there).

    Shapes: A is (..., n, n), the result (...). Raises RuntimeError if A is not square, or no floating-point or complex
    tensor.

    >>> A = gw.tensor([[1.0, 2.0], [2.0, 4.0]], requires_grad=True)
    >>> gw.linalg.det(A).backward()
    >>> A.grad
    tensor([[ 4., -2.],
            [-2.,  1.]])
    """
    return apply(_ops.det, (square("linalg.det", A),), {})


def slogdet(A: Tensor) -> SignLogDet:
    """``sign`` (or phase) of the determinant and ``logabsdet``, the log of its size: 0 and -inf if A is singular.

    Shapes: A is (..., n, n), both results (...). Neither overflows where the determinant does. d logabsdet = Re tr(A^-1
    dA), LinAlgError in a backward pass for a singular A (PyTorch gives infinities). Raises RuntimeError as `det` does.

    >>> gw.linalg.slogdet(gw.tensor([[0.0, 1.0], [1.0, 0.0]]))
    torch.return_types.linalg_slogdet(
    sign=tensor(-1.),
    logabsdet=tensor(0.))
    """
    return _SLOGDET(*apply(_ops.slogdet, (square("linalg.slogdet", A),), {}))


def logdet(input: Tensor) -> Tensor:
    """Logarithm of the determinant: NaN if it is negative, -inf if it is 0."""
    sign, size = slogdet(square("logdet", input, "input"))
    return sign.log() + size if sign.is_complex() else where(sign < 0, float("nan"), size)


def matrix_exp(A: Tensor) -> Tensor:
    """e**A = 1 + A + A^2/2 + ..., by scaling, a Padé approximant and squaring.

    Shapes: A is (..., n, n), and so is the result, in A's dtype: halves are computed in float32. The derivative is that
    of a matrix that holds A and the cotangent (Higham, 2008, Functions of Matrices, 3.2).

    Raises RuntimeError if A is not square, or no floating-point or complex tensor.

    >>> gw.linalg.matrix_exp(gw.tensor([[0.0, 1.0], [0.0, 0.0]]))
    tensor([[1., 1.],
            [0., 1.]])
    """
    half = dtypes.of(tensor_arg("linalg.matrix_exp", A).array.dtype) in (dtypes.float16, dtypes.bfloat16)
    x = square("linalg.matrix_exp", to_dtype(A, dtypes.float32) if half else A)
    return to_dtype(apply(_ops.matrix_exp, (x,), {}), A.array.dtype)


def matrix_power(A: Tensor, n: float) -> Tensor:
    """A multiplied by itself n times; its inverse if n < 0; 1 if n is 0. For a float n of Hermitian A, by eigenvalues.

    Shapes: A is (..., n, n), and so is the result. The derivative is right where eigenvalues repeat.

    Raises LinAlgError for n < 0 of a singular A, and if v**n is not finite at an eigenvalue v; RuntimeError if A is not
    square, or n a float and A not Hermitian.

    >>> gw.linalg.matrix_power(gw.tensor([[1.0, 1.0], [0.0, 1.0]]), 3)
    tensor([[1., 3.],
            [0., 1.]])
    """
    n = number("matrix_power", "n", n)
    if isinstance(n, float):
        return real_power(A, n)
    if n < 0:
        A, n = inv(A), -n
    if A.array.ndim < 2 or A.array.shape[-1] != A.array.shape[-2]:
        raise RuntimeError(f"linalg.matrix_power: A must be batches of square matrices, got {size(A.array.shape)}")
    power = None
    for bit in reversed(f"{n:b}"):
        if bit == "1":
            power = A if power is None else power @ A
        A = A @ A if n > 1 else A
        n >>= 1
    if power is not None:
        return power
    return where(zeros(A, *A.array.shape, dtype=dtypes.boolean), A, eye(A, A.array.shape[-1]))


def tolerances(A: Any, atol: float | Tensor | None, rtol: float | Tensor | None) -> tuple[Any, Any]:
    """What singular values count as 0: by default eps times the longer side, relative to the largest."""
    eps = float(backends.namespace(A.array).finfo(A.array.dtype).eps) * max(A.array.shape[-2:])
    rtol = (eps if atol is None else 0.0) if rtol is None else rtol
    return threshold(A, 0.0 if atol is None else atol), threshold(A, rtol)


def rank(values: Any, low: Any, high: Any) -> Any:
    """How many singular values exceed max(low, high times the largest)."""
    sizes = values.array
    if not sizes.size:
        return zeros(values, *sizes.shape[:-1], dtype=dtypes.int64)
    space = backends.namespace(sizes)
    least = space.maximum(high * space.max(sizes, axis=-1), low)
    return wrap(space.count_nonzero(sizes > least[..., None], axis=-1))


def pinv(A: Tensor, rcond: float | Tensor | None = None, hermitian: bool = False, *, atol: float | Tensor | None = None,
         rtol: float | Tensor | None = None) -> Tensor:  # fmt: skip
    """Pseudo-inverse V diag(1/S) U^H; singular values of at most max(atol, rtol times the largest) count as 0.

    Shapes: A is (..., m, n), the result (..., n, m). By default atol is 0, and rtol (or ``rcond``) is eps times the
    longer side if no atol is given, else 0. ``hermitian`` says that A is, and computes by `eigh`.

    The derivative holds the rank (Golub and Pereyra, 1973), and needs no distinct singular values. Raises RuntimeError
    for fewer than 2 dims, another dtype, a Hermitian A that is not square.

    >>> gw.linalg.pinv(gw.tensor([[2.0, 0.0], [0.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000, 0.0000],
            [0.0000, 0.0000, 0.2500]])
    """
    low, high = tolerances(matrix("linalg.pinv", A), atol, rcond if rtol is None else rtol)
    static = {"atol": low, "rtol": high, "hermitian": bool(hermitian)}
    return apply(_ops.pinv, (square("linalg.pinv", A) if hermitian else A,), static)


_DRIVERS = ("gelsy", "gels", "gelsd", "gelss")


def lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None) -> LeastSquares:
    """The X of least |A X - B|, and of least size if there are several.

    Shapes: A is (..., m, n), B (..., m, k) or one vector (..., m) for each A; X, ``solution``, is (..., n, k) or (...,
    n). With it: the squared ``residuals`` (..., k) (if A has more rows than columns and full rank, and the driver is
    not "gelsy"), the ``rank`` (not of "gels", which takes full rank for granted), the ``singular_values`` (of "gelsd"
    and "gelss"); else empty. It is computed by `pinv`, whatever the ``driver``, and has its derivative.

    Raises RuntimeError for another driver, and for sizes or dtypes that do not fit.

    >>> A = gw.tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    >>> gw.linalg.lstsq(A, gw.tensor([1.0, 3.0, 5.0])).solution.round(decimals=4)
    tensor([1., 2.])
    """
    name, driver = "torch.linalg.lstsq", driver or "gelsy"
    if driver not in _DRIVERS:
        raise RuntimeError(f"{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    if A.array.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if B.array.ndim < 1:
        raise RuntimeError(f"{name}: other must have at least 1 dimension.")
    matrix(name, A)
    same_dtype(name, A, B, "input and other")
    vector = B.array.ndim == A.array.ndim - 1 and B.array.shape == A.array.shape[:-1]
    m, n = A.array.shape[-2:]
    B = B.unsqueeze(-1) if vector else B
    if B.array.shape[-2] != m:
        raise RuntimeError(f"{name}: input.size(-2) should match other.size({-1 if vector else -2})")
    X = pinv(A, rtol=rcond) @ B
    values = svdvals(A.detach())
    counts = zeros(A, 0, dtype=dtypes.int64) if driver == "gels" else rank(values, *tolerances(A, None, rcond))
    residuals = X.reshape(-1)[:0]
    residuals = residuals.real if residuals.is_complex() else residuals
    if m > n and driver != "gelsy" and everywhere(counts.array == n):
        rest = A @ X - B
        residuals = (rest * rest.conj()).real.sum(-2) if rest.is_complex() else (rest * rest).sum(-2)
    spectrum = values if driver in ("gelsd", "gelss") else values.reshape(-1)[:0]
    return _LSTSQ(X.squeeze(-1) if vector else X, residuals, counts, spectrum)


def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """The inverse of A as a map from its last dims to its first ``ind`` ones.

    Shapes: A is (*first, *last), ``ind`` dims in first and as many entries in both; the result is (*last, *first).

    Raises RuntimeError if the entries differ in number or ``ind`` is not positive; LinAlgError for a singular map.

    >>> gw.linalg.tensorinv(gw.eye(4).reshape(4, 2, 2), ind=1).shape
    torch.Size([2, 2, 4])
    """
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind' but got {ind}")
    first, last = A.array.shape[:ind], A.array.shape[ind:]
    if prod(first) != prod(last):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
            f"{prod(last)} != {prod(first)}"
        )
    return inv(A.reshape(prod(last), prod(first))).reshape(*last, *first)


def tensorsolve(A: Tensor, B: Tensor, dims: Sequence[int] | None = None) -> Tensor:
    """X with tensordot(A, X, X.ndim) = B; ``dims`` of A are moved to its end first.

    Shapes: A is (*B.shape, *X.shape), with as many entries in both halves.

    Raises RuntimeError if they differ in number; LinAlgError for a singular map.

    >>> gw.linalg.tensorsolve(2 * gw.eye(4).reshape(4, 2, 2), gw.arange(4.0))
    tensor([[0.0000, 0.5000],
            [1.0000, 1.5000]])
    """
    if dims is not None:
        A = movedim(A, tuple(dims), tuple(range(-len(dims), 0)))
    shape = A.array.shape[B.array.ndim :]
    if prod(shape) != prod(A.array.shape[: B.array.ndim]):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), "
            f"but got {prod(shape)} != {prod(A.array.shape[: B.array.ndim])}"
        )
    return solve(A.reshape(-1, prod(shape)), B.reshape(-1)).reshape(shape)
