"""Inverses, linear systems and determinants under PyTorch's names in `torch.linalg`."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from gradwright import backends, dtypes
from gradwright.engine.apply import apply
from gradwright.engine.base import wrap
from gradwright.engine.numbers import number
from gradwright.errors import size
from gradwright.face.algebra.decompose import permutation, svdvals, triangles
from gradwright.face.algebra.matrices import adjoint as _adjoint
from gradwright.face.algebra.matrices import eye, floating, matrix, may_have_failed, no_info, same_dtype, square, zeros
from gradwright.face.algebra.matrix_function import real_power
from gradwright.face.elementwise import where
from gradwright.face.returns import return_type
from gradwright.face.shape import movedim
from gradwright.ops import solve as _ops
from gradwright.reading.require import everywhere
from gradwright.reading.torch import tensor_arg, to_dtype
from gradwright.xp.linalg import threshold

if TYPE_CHECKING:
    from gradwright._typing import InverseInfo, LeastSquares, ResultInfo, SignLogDet, Tensor

_INV_EX = return_type("linalg_inv_ex", "inverse", "info")
_SOLVE_EX = return_type("linalg_solve_ex", "result", "info")
_SLOGDET = return_type("linalg_slogdet", "sign", "logabsdet")
_LSTSQ = return_type("linalg_lstsq", "solution", "residuals", "rank", "singular_values")


def inv(A: Tensor) -> Tensor:
    """A^-1. LinAlgError if A is singular."""
    return apply(_ops.inv, (square("linalg.inv", A),), {"check": True})


def inv_ex(A: Tensor, *, check_errors: bool = False) -> InverseInfo:
    """`inv` without the error: NaN where A is singular, and the number of its first zero pivot in ``info``."""
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
    """X with A X = B (X A = B if not ``left``); B may be a vector. LinAlgError if A is singular."""
    return _solved(A, B, left, True)


def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> ResultInfo:
    """`solve` without the error: NaN where A is singular, and the number of its first zero pivot in ``info``."""
    out = _solved(A, B, left, check_errors)
    return _SOLVE_EX(out, _pivot_info(A, out))


def solve_triangular(A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Tensor:
    """X with T X = B (X T = B if not ``left``), where T is one triangle of A, with ones on its diagonal if so said."""
    _equation("linalg.solve_triangular", A, B, left)
    a, b = (A, B) if left else (A.mT, B.mT)
    static = {"upper": bool(upper) == bool(left), "unitriangular": bool(unitriangular)}
    out = apply(_ops.solve_triangular, (a, b), static)
    return out if left else out.mT


def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False) -> Tensor:
    """X with A X = B (A^H X = B if ``adjoint``, X A = B if not ``left``) from `lu_factor`'s result."""
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
    """Determinant; its derivative, the cofactors, is right for singular matrices too."""
    return apply(_ops.det, (square("linalg.det", A),), {})


def slogdet(A: Tensor) -> SignLogDet:
    """Sign (phase) of the determinant, and the logarithm of its absolute value: 0 and -inf if A is singular."""
    return _SLOGDET(*apply(_ops.slogdet, (square("linalg.slogdet", A),), {}))


def logdet(input: Tensor) -> Tensor:
    """Logarithm of the determinant: NaN if it is negative, -inf if it is 0."""
    sign, size = slogdet(square("logdet", input, "input"))
    return sign.log() + size if sign.is_complex() else where(sign < 0, float("nan"), size)


def matrix_exp(A: Tensor) -> Tensor:
    """e**A; of halves too."""
    half = dtypes.of(tensor_arg("linalg.matrix_exp", A).array.dtype) in (dtypes.float16, dtypes.bfloat16)
    x = square("linalg.matrix_exp", to_dtype(A, dtypes.float32) if half else A)
    return to_dtype(apply(_ops.matrix_exp, (x,), {}), A.array.dtype)


def matrix_power(A: Tensor, n: float) -> Tensor:
    """A multiplied by itself n times; of the inverse of A if n < 0. For a float n of Hermitian A, by its eigenvalues.

    The derivative is right where eigenvalues repeat. LinAlgError if v**n is not finite at one of them.
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
    """Pseudo-inverse; singular values of at most max(atol, rtol times the largest) count as 0.

    By default atol is 0, and rtol (or ``rcond``) is eps times the longer side if no atol is given, else 0.
    """
    low, high = tolerances(matrix("linalg.pinv", A), atol, rcond if rtol is None else rtol)
    static = {"atol": low, "rtol": high, "hermitian": bool(hermitian)}
    return apply(_ops.pinv, (square("linalg.pinv", A) if hermitian else A,), static)


_DRIVERS = ("gelsy", "gels", "gelsd", "gelss")


def lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None) -> LeastSquares:
    """The X of least |A X - B|, and of least size if there are several; B may be one vector for each A.

    With it: the squared residuals (if A has more rows than columns and full rank, and the driver is not "gelsy"), the
    rank (not of "gels", which takes full rank for granted), the singular values (of "gelsd" and "gelss"); else empty.
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
    """The inverse of A as a map from its last dims to its first ``ind`` ones."""
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
    """X with tensordot(A, X, X.ndim) = B; ``dims`` of A are moved to its end first."""
    if dims is not None:
        A = movedim(A, tuple(dims), tuple(range(-len(dims), 0)))
    shape = A.array.shape[B.array.ndim :]
    if prod(shape) != prod(A.array.shape[: B.array.ndim]):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), "
            f"but got {prod(shape)} != {prod(A.array.shape[: B.array.ndim])}"
        )
    return solve(A.reshape(-1, prod(shape)), B.reshape(-1)).reshape(shape)
