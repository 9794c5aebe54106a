"""Decompositions under PyTorch's names in `torch.linalg`: of one matrix, or of many in the last two dims."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwright import backends
from gradwright.engine.apply import apply
from gradwright.engine.base import wrap
from gradwright.face.functions.algebra.matrices import (
    adjoint,
    eye,
    first,
    matrix,
    may_have_failed,
    no_info,
    square,
    zeros,
)
from gradwright.face.functions.diagonal import tril, triu
from gradwright.face.functions.join import cat
from gradwright.face.functions.returns import return_type
from gradwright.face.reading.require import require
from gradwright.ops import decompose as _ops

if TYPE_CHECKING:
    from gradwright.face.typing import PLU, QR, CholeskyInfo, Eigen, LUFactor, LUFactorInfo, Tensor, USVh


_CHOLESKY_EX = return_type("linalg_cholesky_ex", "L", "info")
_EIG = return_type("linalg_eig", "eigenvalues", "eigenvectors")
_EIGH = return_type("linalg_eigh", "eigenvalues", "eigenvectors")
_LU = return_type("linalg_lu", "P", "L", "U")
_FACTOR = return_type("linalg_lu_factor", "LU", "pivots")
_FACTOR_EX = return_type("linalg_lu_factor_ex", "LU", "pivots", "info")
_QR = return_type("linalg_qr", "Q", "R")
_SVD = return_type("linalg_svd", "U", "S", "Vh")


def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """The lower triangle L of a Hermitian positive-definite A = L L^H; L^H if ``upper``.

    Shapes: A is (..., n, n), of float32, float64, complex64 or complex128, and so is the result.

    The derivative is that of Murray (2016), Hermitian, so that a step along it leaves A Hermitian.

    Raises:
        LinAlgError: A is not positive definite.
        RuntimeError: A is not square, or of another dtype.

    >>> gw.linalg.cholesky(gw.tensor([[4.0, 2.0], [2.0, 5.0]]))
    tensor([[2., 0.],
            [1., 2.]])
    """
    return apply(_ops.cholesky, (square("linalg.cholesky", A),), {"upper": bool(upper), "check": True})


def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> CholeskyInfo:
    """`cholesky` without the error: ``L`` and ``info``, 0 or the order of the first minor that is not positive.

    Shapes: A is (..., n, n), L the same, ``info`` (...) of int32. What L holds of a matrix that failed is not to be
    used: NaN here, a part of the triangle in PyTorch.

    Raises LinAlgError for such a matrix only if ``check_errors``; RuntimeError as `cholesky` does.

    >>> gw.linalg.cholesky_ex(gw.tensor([[1.0, 2.0], [2.0, 1.0]])).info
    tensor(2, dtype=torch.int32)
    """
    static = {"upper": bool(upper), "check": check_errors}
    out = apply(_ops.cholesky, (square("linalg.cholesky", A),), static)
    if not may_have_failed(out):
        return _CHOLESKY_EX(out, no_info(A))
    return _CHOLESKY_EX(out, wrap(backends.namespace(A.array).linalg.indefinite_minor(A.array, upper=upper)))


def _factored(name: str, A: Any, pivot: bool) -> list[Any]:
    if not pivot:
        raise RuntimeError(f"{name}: LU without pivoting is not implemented on the CPU")
    if A.array.ndim < 2:
        raise RuntimeError(f"{name}: Expected tensor with 2 or more dimensions. Got size: {[*A.array.shape]} instead")
    return apply(_ops.lu_factor, (matrix(name, A),), {})


def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> LUFactorInfo:
    """`lu_factor` without the error: ``LU``, ``pivots`` and ``info``, the place of the first zero on U's diagonal.

    Shapes: A is (..., m, n), LU the same, ``pivots`` (..., min(m, n)) and ``info`` (...) of int32.

    Raises RuntimeError for such a zero only if ``check_errors``; and for ``pivot=False``, which CPUs have not.

    >>> gw.linalg.lu_factor_ex(gw.tensor([[1.0, 2.0], [2.0, 4.0]])).info
    tensor(2, dtype=torch.int32)
    """
    packed, pivots, _ = _factored("linalg.lu_factor_ex", A, pivot)
    info = wrap(backends.namespace(packed.array).linalg.zero_pivot(packed.array))
    if check_errors:
        require(info.array == 0, lambda: (
            "torch.linalg.lu_factor: U[{0},{0}] is zero and using it on lu_solve would result in a division by zero. "
            "If you still want to perform the factorization, consider calling linalg.lu(A, pivot) or "
            "linalg.lu_factor_ex(A, pivot)".format(first(info))
        ))  # fmt: skip
    return _FACTOR_EX(packed, pivots, info)


def lu_factor(A: Tensor, *, pivot: bool = True) -> LUFactor:
    """L (without its ones) and U of A = P L U packed in one, and LAPACK's row swaps.

    Row i was swapped with row pivots[i] - 1, in this order.

    Shapes: A is (..., m, n), LU the same, ``pivots`` (..., min(m, n)) of int32. `lu_solve` solves with them.

    Raises RuntimeError if U has a zero on its diagonal, and for ``pivot=False``, which CPUs have not.

    >>> LU, pivots = gw.linalg.lu_factor(gw.tensor([[1.0, 2.0], [4.0, 2.0]]))
    >>> LU
    tensor([[4.0000, 2.0000],
            [0.2500, 1.5000]])
    >>> pivots
    tensor([2, 2], dtype=torch.int32)
    """
    return _FACTOR(*lu_factor_ex(A, pivot=pivot, check_errors=True)[:2])


def lu(A: Tensor, *, pivot: bool = True) -> PLU:
    """A = P L U: a permutation, a lower triangle with ones on its diagonal, an upper triangle.

    Shapes: A is (..., m, n), P (..., m, m), L (..., m, k) and U (..., k, n) with k = min(m, n). A singular A is no
    error, but its derivative divides by the zeros on U's diagonal. P is constant.

    Raises RuntimeError for ``pivot=False``, which CPUs have not.

    >>> P, L, U = gw.linalg.lu(gw.tensor([[1.0, 2.0], [4.0, 2.0]]))
    >>> L
    tensor([[1.0000, 0.0000],
            [0.2500, 1.0000]])
    >>> U
    tensor([[4.0000, 2.0000],
            [0.0000, 1.5000]])
    >>> P @ L @ U
    tensor([[1., 2.],
            [4., 2.]])
    """
    packed, _, rows = _factored("linalg.lu", A, pivot)
    return _LU(permutation(packed, rows.array), *triangles(packed))


def permutation(like: Any, rows: Any) -> Any:
    """The matrices P for which P x = x[rows]."""
    space, n = backends.namespace(rows), rows.shape[-1]
    one = space.eye(n, dtype=like.array.dtype, device=rows.device)
    return wrap(space.reshape(space.take(one, space.reshape(rows, (-1,)), axis=0), (*rows.shape, n)))


def triangles(packed: Any) -> tuple[Any, Any]:
    """L and U from one matrix that holds both."""
    m, n = packed.array.shape[-2:]
    k = min(m, n)
    return tril(packed[..., :k], -1) + eye(packed, m, k), triu(packed[..., :k, :])


def qr(A: Tensor, mode: str = "reduced") -> QR:
    """A = Q R, Q^H Q = 1, R upper triangular.

    Shapes: A is (..., m, n), k = min(m, n). Q is (..., m, k) and R (..., k, n) if ``mode`` is "reduced"; (..., m, m)
    and (..., m, n) if "complete"; Q is empty if "r". The signs of R's diagonal are LAPACK's, as in PyTorch.

    The derivative asks that the first k columns of A are linearly independent; with "complete" and more rows than
    columns there is none: RuntimeError in the backward pass. With "r" there is one, which PyTorch has not.

    Raises RuntimeError for another mode, another dtype, fewer than 2 dims.

    >>> Q, R = gw.linalg.qr(gw.tensor([[3.0, 1.0], [4.0, 2.0]]))
    >>> (Q @ R).round(decimals=4)
    tensor([[3., 1.],
            [4., 2.]])
    >>> R.shape, gw.linalg.qr(gw.ones(3, 2), "complete").Q.shape
    (torch.Size([2, 2]), torch.Size([3, 3]))
    """
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
        )
    m, n = matrix("linalg.qr", A).array.shape[-2:]
    q, r = apply(_ops.qr, (A[..., :m] if m < n else A,), {"mode": mode if mode == "complete" and m > n else "reduced"})
    if m < n:
        r = cat([r, adjoint(q) @ A[..., m:]], -1)
    return _QR(zeros(A, 0) if mode == "r" else q, r)


def _triangle(name: str, UPLO: str) -> str:
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return UPLO.upper()


def eigh(A: Tensor, UPLO: str = "L") -> Eigen:
    """A = V diag(L) V^H: eigenvalues L, ascending, and eigenvectors, V's columns, of a Hermitian A.

    Shapes: A is (..., n, n), ``eigenvalues`` (..., n) and real, ``eigenvectors`` (..., n, n). One triangle is read, the
    lower one unless UPLO is "U"; the gradient is Hermitian all the same. A vector's sign (phase) is open: a loss should
    not depend on it, and backward of one that depends on a phase raises LinAlgError.

    Vectors of equal eigenvalues have no derivative: LinAlgError in a backward pass that comes for one of them, and so
    in one for second derivatives of the values. `matrix_function` has all derivatives of V diag(f(L)) V^H there. The
    vectors of other values, cut out by a slice as V[:, k:], have one. Values count as equal if they differ by at most
    10 n eps times the largest.

    Equal eigenvalues themselves have the derivative of a loss that treats them alike. For another, which has a kink
    there, the gradient is that of one basis, with a GradientWarning.

    Raises RuntimeError for another UPLO, a matrix that is not square, another dtype.

    >>> gw.linalg.eigh(gw.tensor([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
    tensor([1., 2.])
    """
    static = {"uplo": _triangle("linalg.eigh", UPLO)}
    return _EIGH(*apply(_ops.eigh, (square("linalg.eigh", A),), static))


def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """Eigenvalues, ascending, of a Hermitian A, of which one triangle is read: `eigh` without the vectors.

    Shapes: A is (..., n, n), the result (..., n) and real. Derivatives, those at equal eigenvalues too, and errors:
    `eigh`.

    >>> A = gw.tensor([[2.0, 1.0], [1.0, 2.0]], requires_grad=True)
    >>> largest = gw.linalg.eigvalsh(A)[1]
    >>> largest.item()
    3.0
    >>> largest.backward()
    >>> A.grad
    tensor([[0.5000, 0.5000],
            [0.5000, 0.5000]])
    """
    static = {"uplo": _triangle("linalg.eigvalsh", UPLO)}
    return apply(_ops.eigvalsh, (square("linalg.eigvalsh", A),), static)


def _finite(name: str, A: Any) -> Any:
    array = square(name, A).array
    require(backends.namespace(array).isfinite(array), f"torch.{name}: input tensor should not contain infs or NaNs.")
    return A


def eig(A: Tensor) -> Eigen:
    """A V = V diag(L): eigenvalues L and eigenvectors, V's columns, of length 1; both complex, in LAPACK's order.

    Shapes: A is (..., n, n), ``eigenvalues`` (..., n), ``eigenvectors`` (..., n, n). Of equal eigenvalues as `eigh`
    says. A vector's phase is open: backward of a loss that depends on it raises LinAlgError.

    Raises:
        RuntimeError: A holds infinities or NaN, is not square, or of another dtype.
        LinAlgError: in a backward pass, equal eigenvalues share a vector (A is defective), or the loss needs the
            vectors of equal ones.

    >>> gw.linalg.eig(gw.tensor([[0.0, -1.0], [1.0, 0.0]])).eigenvalues
    tensor([0.+1.j, 0.-1.j])
    """
    return _EIG(*apply(_ops.eig, (_finite("linalg.eig", A),), {}))


def eigvals(A: Tensor) -> Tensor:
    """Eigenvalues, complex, in LAPACK's order: `eig` without the vectors; of equal ones as `eig` says.

    Shapes: A is (..., n, n), the result (..., n). Raises RuntimeError for infinities and NaN (PyTorch gives NaN).

    >>> gw.linalg.eigvals(gw.tensor([[0.0, -1.0], [1.0, 0.0]]))
    tensor([0.+1.j, 0.-1.j])
    """
    return apply(_ops.eigvals, (_finite("linalg.eigvals", A),), {})


def _no_driver(name: str, driver: Any) -> None:
    if driver is not None:
        raise RuntimeError(
            f"{name}: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend."
        )


def svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> USVh:
    """A = U diag(S) Vh, singular values descending, U^H U = 1 = Vh Vh^H.

    Shapes: A is (..., m, n), k = min(m, n), S (..., k) and real; U is (..., m, m) and Vh (..., n, n) if
    ``full_matrices``, else (..., m, k) and (..., k, n). Signs (phases) of the vectors are open, in pairs: a loss should
    not depend on them, and backward of one that depends on phases raises LinAlgError.

    A function of the singular values, U diag(S f(S^2)) Vh, is A @ matrix_function(A.mH @ A, f). Vectors past the
    shorter side are any basis of their space. What they span has a derivative; LinAlgError where a loss tells them
    apart. In a matrix that is not square, a singular value of 0 leaves its vector on the longer side as open as those.
    Of equal values, zeros among them, as `eigh` says.

    Raises RuntimeError for a ``driver`` (CUDA's), another dtype, fewer than 2 dims.

    >>> U, S, Vh = gw.linalg.svd(gw.tensor([[0.0, 2.0], [1.0, 0.0], [0.0, 0.0]]), full_matrices=False)
    >>> S
    tensor([2., 1.])
    >>> U.shape, Vh.shape
    (torch.Size([3, 2]), torch.Size([2, 2]))
    """
    _no_driver("linalg.svd", driver)
    return _SVD(*apply(_ops.svd, (matrix("linalg.svd", A),), {"full_matrices": bool(full_matrices)}))


def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """Singular values, descending: `svd` without the vectors; of equal ones as `eigh` says.

    Shapes: A is (..., m, n), the result (..., min(m, n)) and real. Raises RuntimeError as `svd` does.

    >>> gw.linalg.svdvals(gw.tensor([[0.0, 2.0], [1.0, 0.0]]))
    tensor([2., 1.])
    """
    _no_driver("linalg.svdvals", driver)
    return apply(_ops.svdvals, (matrix("linalg.svdvals", A),), {})
