"""Linear algebra under PyTorch's older names, outside `torch.linalg`: other arguments, the same operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwright import backends
from gradwright.backends.generator import shared
from gradwright.base import dtypes
from gradwright.engine.watch import drawing
from gradwright.face.functions.algebra import decompose as d
from gradwright.face.functions.algebra import solve as s
from gradwright.face.functions.algebra.matrices import adjoint, eye, matrix, same_dtype, square, zeros
from gradwright.face.functions.algebra.solve import det, logdet, matrix_exp, matrix_power, slogdet
from gradwright.face.functions.returns import return_type
from gradwright.face.reading.common import beside

if TYPE_CHECKING:
    from gradwright.face.typing import PLU, QR, USV, Tensor, Triangular

__all__ = [
    "cholesky", "cholesky_inverse", "cholesky_solve", "det", "inverse", "logdet", "lu", "lu_solve", "lu_unpack",
    "matrix_exp", "matrix_power", "pca_lowrank", "pinverse", "qr", "slogdet", "svd", "svd_lowrank", "triangular_solve",
]  # fmt: skip

_QR, _SVD = return_type("qr", "Q", "R"), return_type("svd", "U", "S", "V")
_TRIANGULAR = return_type("triangular_solve", "solution", "cloned_coefficient")
_WITH_INFO = return_type("_lu_with_info", "LU", "pivots", "info")
_UNPACKED = return_type("lu_unpack", "P", "L", "U")

inverse = s.inv


def cholesky(input: Tensor, upper: bool = False) -> Tensor:
    """The lower triangle L of a positive-definite A = L L^H; if ``upper``, L^H. LinAlgError if there is none."""
    return d.cholesky(square("cholesky", input, "input"), upper=upper)


def cholesky_solve(input: Tensor, L: Tensor, upper: bool = False) -> Tensor:
    """X with A X = ``input``, from the Cholesky factor of A."""
    if input.array.ndim < 2:
        raise RuntimeError(f"b should have at least 2 dimensions, but has {input.array.ndim} dimensions instead")
    if L.array.ndim < 2:
        raise RuntimeError(f"u should have at least 2 dimensions, but has {L.array.ndim} dimensions instead")
    same_dtype("cholesky_solve", input, square("cholesky_solve", L, "L", 2), "input and L")
    lower, higher = (adjoint(L), L) if upper else (L, adjoint(L))
    return s.solve_triangular(higher, s.solve_triangular(lower, input, upper=False), upper=True)


def cholesky_inverse(L: Tensor, upper: bool = False) -> Tensor:
    """The inverse of the matrix whose Cholesky factor this is."""
    return cholesky_solve(eye(L, square("cholesky_inverse", L).array.shape[-1]), L, upper)


def triangular_solve(b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False,
                     unitriangular: bool = False) -> Triangular:  # fmt: skip
    """X with T X = b, or T^T X = b, where T is a triangle of A; and a copy of A."""
    for name, x in (("b", b), ("A", A)):
        if x.array.ndim < 2:
            raise RuntimeError(f"torch.triangular_solve: Expected {name} to have at least 2 dimensions, but it has "
                               f"{x.array.ndim} dimensions instead")  # fmt: skip
    a = A.mT if transpose else A
    out = s.solve_triangular(a, b, upper=bool(upper) != bool(transpose), unitriangular=unitriangular)
    return _TRIANGULAR(out, A.clone())


def lu(A: Tensor, pivot: bool = True, get_infos: bool = False) -> tuple[Tensor, ...]:
    """L and U packed in one, and LAPACK's row swaps; with ``get_infos``, 0 or the first zero pivot too."""
    out = d.lu_factor_ex(A, pivot=pivot)
    return _WITH_INFO(*out) if get_infos else tuple(out[:2])


def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """X with A X = ``input``, from the LU factors of A."""
    return s.lu_solve(LU_data, LU_pivots, input)


def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True) -> PLU:
    """P, L and U of A = P L U from what `lu` returns; empty what is not asked for."""
    m = matrix("lu_unpack", LU_data, "LU_data").array.shape[-2]
    if unpack_pivots and dtypes.of(LU_pivots.array.dtype) is not dtypes.int32:
        raise RuntimeError("torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.")
    P = empty = zeros(LU_data, 0)
    if unpack_pivots:
        P = d.permutation(LU_data, backends.namespace(LU_pivots.array).linalg.unpivoted(LU_pivots.array, m))
    return _UNPACKED(P, *(d.triangles(LU_data) if unpack_data else (empty, empty)))


def qr(input: Tensor, some: bool = True) -> QR:
    """`linalg.qr`, reduced if ``some``, else complete."""
    return _QR(*d.qr(input, "reduced" if some else "complete"))


def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> USV:
    """U, S and V of ``input`` = U diag(S) V^H; U and V full if not ``some``, zeros if not ``compute_uv``."""
    x = matrix("linalg.svd", input)
    if compute_uv:
        u, values, vh = d.svd(x, not some)
        return _SVD(u, values, adjoint(vh))
    *batch, m, n = x.array.shape
    u, v = zeros(x, *batch, m, m), zeros(x, *batch, n, n)
    return _SVD(u, d.svdvals(x), v)


def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """`linalg.pinv` with another tolerance by default."""
    return s.pinv(input, rcond)


def svd_lowrank(A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None) -> tuple[Tensor, Tensor,
                Tensor]:  # fmt: skip
    """The ``q`` largest singular values of A - M, with U and V, from a random subspace iterated ``niter`` times.

    Halko, Martinsson and Tropp (2009), "Finding structure with randomness", algorithm 5.1.
    """
    A = A if M is None else A - M
    m, n = matrix("svd_lowrank", A).array.shape[-2:]
    q = min(6, m, n) if q is None else q
    flip = m < n
    a = adjoint(A) if flip else A
    basis = d.qr(a @ _random(a, q))[0]
    for _ in range(2 if niter is None else niter):
        basis = d.qr(a @ d.qr(adjoint(a) @ basis)[0])[0]
    u, values, vh = d.svd(adjoint(basis) @ a, False)
    u, v = basis @ u, adjoint(vh)
    return (v, values, u) if flip else (u, values, v)


def _random(a: Any, q: int) -> Any:
    shape = (*a.array.shape[:-2], a.array.shape[-1], q)
    return beside(a.array, drawing(shared).standard_normal(shape), a.array.dtype)


def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    """`svd_lowrank` of A, the mean of its rows taken off first if ``center``."""
    m, n = matrix("pca_lowrank", A).array.shape[-2:]
    q = min(6, m, n) if q is None else q
    if not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean(-2, keepdim=True) if center else A, q, niter)
