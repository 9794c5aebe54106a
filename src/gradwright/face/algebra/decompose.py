"""Decompositions under PyTorch's names in `torch.linalg`: of one matrix, or of many in the last two dims."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwright import backends, dtypes
from gradwright.engine.apply import apply
from gradwright.engine.base import wrap
from gradwright.face.algebra.matrices import (
    adjoint,
    eye,
    first,
    matrix,
    may_have_failed,
    no_info,
    same_dtype,
    square,
    zeros,
)
from gradwright.face.diagonal import tril, triu
from gradwright.face.join import cat
from gradwright.face.returns import return_type
from gradwright.ops import decompose as _ops
from gradwright.reading.require import require
from gradwright.reading.torch import tensor_arg

if TYPE_CHECKING:
    from gradwright._typing import (
        PLU,
        QR,
        CholeskyInfo,
        Eigen,
        LDLFactor,
        LDLFactorInfo,
        LUFactor,
        LUFactorInfo,
        Tensor,
        USVh,
    )


_CHOLESKY_EX = return_type("linalg_cholesky_ex", "L", "info")
_EIG = return_type("linalg_eig", "eigenvalues", "eigenvectors")
_EIGH = return_type("linalg_eigh", "eigenvalues", "eigenvectors")
_LDL, _LDL_EX = (return_type(f"linalg_ldl_factor{s}", "LD", "pivots", *i) for s, i in (("", ()), ("_ex", ("info",))))
_LU = return_type("linalg_lu", "P", "L", "U")
_FACTOR = return_type("linalg_lu_factor", "LU", "pivots")
_FACTOR_EX = return_type("linalg_lu_factor_ex", "LU", "pivots", "info")
_QR = return_type("linalg_qr", "Q", "R")
_SVD = return_type("linalg_svd", "U", "S", "Vh")


def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """The lower triangle L of a positive-definite A = L L^H; if ``upper``, L^H. LinAlgError if there is none."""
    return apply(_ops.cholesky, (square("linalg.cholesky", A),), {"upper": bool(upper), "check": True})


def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> CholeskyInfo:
    """`cholesky` without the error: where a leading minor is not positive, its order in ``info`` and NaN."""
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
    """`lu_factor` without the error: ``info`` numbers the first zero on the diagonal of U."""
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
    """L (without its ones) and U packed in one, and LAPACK's row swaps, from 1. RuntimeError if U is singular."""
    return _FACTOR(*lu_factor_ex(A, pivot=pivot, check_errors=True)[:2])


def lu(A: Tensor, *, pivot: bool = True) -> PLU:
    """A = P L U: a permutation, a lower triangle with ones on its diagonal, an upper triangle."""
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
    """A = Q R, Q^H Q = 1, R upper triangular; Q square if "complete", left out if ``mode`` is "r".

    The derivative asks that the first min(m, n) columns of A are linearly independent; with "complete" and more rows
    than columns there is none.
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
    """Eigenvalues, ascending, and eigenvectors, as columns, of a Hermitian A, of which one triangle is read.

    Vectors of equal eigenvalues have no derivative: LinAlgError in a backward pass that comes for one of them, and so
    in one for second derivatives of the values. `matrix_function` has all derivatives of V diag(f(L)) V^H there. The
    vectors of other values, cut out by a slice as V[:, k:], have one. Values count as equal if they differ by at most
    10 n eps times the largest.

    Equal eigenvalues themselves have the derivative of a loss that treats them alike. For another, which has a kink
    there, the gradient is that of one basis, with a GradientWarning.
    """
    static = {"uplo": _triangle("linalg.eigh", UPLO)}
    return _EIGH(*apply(_ops.eigh, (square("linalg.eigh", A),), static))


def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """Eigenvalues, ascending, of a Hermitian A, of which one triangle is read; of equal ones as `eigh` says."""
    static = {"uplo": _triangle("linalg.eigvalsh", UPLO)}
    return apply(_ops.eigvalsh, (square("linalg.eigvalsh", A),), static)


def _finite(name: str, A: Any) -> Any:
    array = square(name, A).array
    require(backends.namespace(array).isfinite(array), f"torch.{name}: input tensor should not contain infs or NaNs.")
    return A


def eig(A: Tensor) -> Eigen:
    """Eigenvalues and eigenvectors, as columns of length 1, both complex; of equal eigenvalues as `eigh` says.

    LinAlgError in a backward pass, too, if equal eigenvalues share a vector (A is defective).
    """
    return _EIG(*apply(_ops.eig, (_finite("linalg.eig", A),), {}))


def eigvals(A: Tensor) -> Tensor:
    """Eigenvalues, complex; of equal ones as `eig` says."""
    return apply(_ops.eigvals, (_finite("linalg.eigvals", A),), {})


def _no_driver(name: str, driver: Any) -> None:
    if driver is not None:
        raise RuntimeError(
            f"{name}: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend."
        )


def svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> USVh:
    """A = U diag(S) Vh, singular values descending; of equal ones, zeros among them, as `eigh` says.

    A function of the singular values, U diag(S f(S^2)) Vh, is A @ matrix_function(A.mH @ A, f). Vectors past the
    shorter side are any basis of their space. What they span has a derivative; LinAlgError where a loss tells them
    apart. In a matrix that is not square, a singular value of 0 leaves its vector on the longer side as open as those.
    """
    _no_driver("linalg.svd", driver)
    return _SVD(*apply(_ops.svd, (matrix("linalg.svd", A),), {"full_matrices": bool(full_matrices)}))


def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """Singular values, descending; of equal ones as `eigh` says."""
    _no_driver("linalg.svdvals", driver)
    return apply(_ops.svdvals, (matrix("linalg.svdvals", A),), {})


def ldl_factor_ex(A: Tensor, *, hermitian: bool = False, check_errors: bool = False) -> LDLFactorInfo:
    """`ldl_factor` without the error: ``info`` numbers the first zero on the diagonal of D."""
    packed, pivots, info = apply(
        _ops.ldl_factor, (square("torch.linalg.ldl_factor_ex", A),), {"hermitian": bool(hermitian)}
    )
    if check_errors:
        require(info.array == 0, lambda: (
            f"torch.linalg.ldl_factor_ex: Factorization could not be completed because D[{first(info)}] is zero"
        ))  # fmt: skip
    return _LDL_EX(packed, pivots, info)


def ldl_factor(A: Tensor, *, hermitian: bool = False) -> LDLFactor:
    """A = L D L^T (L^H if ``hermitian``) packed in one, D of blocks of 1 or 2, and LAPACK's pivots. Needs SciPy."""
    return _LDL(*ldl_factor_ex(A, hermitian=hermitian, check_errors=True)[:2])


def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False) -> Tensor:
    """The solution of A X = B from `ldl_factor`'s result. Needs SciPy.

    RuntimeError for pivots that are none of its: LAPACK would read and write outside the matrices.
    """
    square("torch.linalg.ldl_solve", LD, "LD")
    matrix("torch.linalg.ldl_solve", B, "B", 3)
    same_dtype("torch.linalg.ldl_solve", LD, B, "LD and B")
    _pivots(LD.array, pivots)
    batch = np.broadcast_shapes(LD.array.shape[:-2], B.array.shape[:-2])
    whole = [x.expand(*batch, *x.array.shape[x.array.ndim - d :]) for x, d in ((LD, 2), (pivots, 1), (B, 2))]
    return apply(_ops.ldl_solve, whole, {"hermitian": bool(hermitian)})


def _pivots(factors: Any, pivots: Any) -> None:
    """Raise RuntimeError unless ``pivots`` may be those of these factors: rows, negative ones in pairs of equals."""
    found = backends.to_host(tensor_arg("torch.linalg.ldl_solve", pivots, "pivots", 2).array)
    n = factors.shape[-1]
    if found.dtype.kind not in "iu":
        raise RuntimeError(f"torch.linalg.ldl_solve: Expected pivots to be integers. Got {dtypes.of(found.dtype)}")
    if found.shape != factors.shape[:-1]:
        raise RuntimeError(
            "torch.linalg.ldl_solve: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
            f"{list(found.shape)} for LD with shape {list(factors.shape)}"
        )
    for row in found.reshape(-1, n).tolist() if found.size else ():
        k = 0
        while k < n:
            two = row[k] < 0
            if not 1 <= abs(row[k]) <= n or (two and row[k : k + 2] != [row[k]] * 2):
                raise RuntimeError(
                    f"torch.linalg.ldl_solve: pivots[..., {k}] is {row[k]}, but expected 1 to {n}, or two equal ones "
                    f"from -{n} to -1 side by side. Did you properly pass the result of ldl_factor?"
                )
            k += 1 + two
