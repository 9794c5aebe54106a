"""Linear algebra on NumPy arrays, in batches: what NumPy lacks, and its own functions with PyTorch's errors."""

from __future__ import annotations

import importlib
from bisect import bisect_left
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import numpy as np

from gradwright.base.errors import LinAlgError

_BLOCK, _COLUMNS = 64, 16  # triangles and columns above these sizes are taken by halves: in matrix products


def diverging(name: str, f: Callable[..., Any]) -> Callable[..., Any]:
    """``f``, with its error turned into ours."""

    @wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return f(*args, **kwargs)
        except np.linalg.LinAlgError as e:
            raise LinAlgError(
                f"linalg.{name}: The algorithm failed to converge because the input matrix is ill-conditioned or "
                f"contains non-finite values ({e})."
            ) from None

    return call


def _finite(x: Any) -> Any:
    if not np.isfinite(x).all():
        raise np.linalg.LinAlgError("Array must not contain infs or NaNs")  # with one of them OpenBLAS may never end
    return x


svd = diverging("svd", lambda x, full_matrices: tuple(np.linalg.svd(_finite(x), full_matrices=full_matrices)))
svdvals = diverging("svdvals", lambda x: np.linalg.svd(_finite(x), compute_uv=False))
eigh = diverging("eigh", lambda x, uplo: tuple(np.linalg.eigh(x, UPLO=uplo)))
eigvalsh = diverging("eigvalsh", lambda x, uplo: np.linalg.eigvalsh(x, UPLO=uplo))
_eig, _eigvals = diverging("eig", np.linalg.eig), diverging("eigvals", np.linalg.eigvals)
det, slogdet = np.linalg.det, np.linalg.slogdet


def qr(x: Any, mode: Any) -> Any:
    """Q and R; ``mode`` is "reduced" or "complete"."""
    return tuple(np.linalg.qr(x, mode=mode))


def geqrf(x: Any) -> Any:
    """R with the Householder vectors beneath it, and their scales."""
    a, tau = np.linalg.qr(x, mode="raw")
    return np.ascontiguousarray(a.swapaxes(-1, -2)).astype(x.dtype), tau.astype(x.dtype)


def _complex(x: Any) -> Any:
    return x.astype(np.result_type(x.dtype, np.complex64), copy=False)


def eig(x: Any) -> Any:
    """Eigenvalues and eigenvectors, complex whatever they are."""
    values, vectors = _eig(x)
    return _complex(values), _complex(vectors)


def eigvals(x: Any) -> Any:
    """Eigenvalues, complex whatever they are."""
    return _complex(_eigvals(x))


def _of_each(name: str, f: Callable[..., Any], x: Any, where: Callable[[], Any], why: str, check: bool) -> Any:
    """``f(x)``. Where it fails for some of the matrices: LinAlgError, or NaN for these if not to ``check``.

    ``where`` gives 0 for those for which it does not fail, and else what the text ``why`` names.
    """
    try:
        return f(x)
    except np.linalg.LinAlgError:
        orders = where()
    if check:
        at = tuple(np.argwhere(orders)[0]) if orders.ndim else ()
        batch = f"(Batch element {int(at[0])}): " if at else ""
        raise LinAlgError(f"{name}: {batch}{why.format(orders[at])}")
    out = np.full_like(x, np.nan)
    out[orders == 0] = f(x[orders == 0])
    return out


def cholesky(x: Any, *, upper: bool, check: bool = True) -> Any:
    """The Cholesky factor. Where there is none: LinAlgError, or NaN if not to ``check``."""
    return _of_each(
        "linalg.cholesky", partial(np.linalg.cholesky, upper=upper), x, lambda: indefinite_minor(x, upper=upper),
        "The factorization could not be completed because the input is not positive-definite (the leading minor of "
        "order {} is not positive-definite).", check,
    )  # fmt: skip


def indefinite_minor(x: Any, *, upper: bool) -> Any:
    """The order of each matrix's first leading minor that is not positive; 0 if all are."""

    def fails(a: Any) -> bool:
        try:
            np.linalg.cholesky(a, upper=upper)
        except np.linalg.LinAlgError:
            return True
        return False

    n = x.shape[-1]

    def order(a: Any) -> int:
        return bisect_left(range(n + 1), True, key=lambda k: fails(a[:k, :k])) % (n + 1)

    return np.array([order(x[at]) for at in np.ndindex(*x.shape[:-2])], np.int32).reshape(x.shape[:-2])


def zero_pivot(packed: Any) -> Any:
    """The number of the first zero on the diagonal of each matrix; 0 if there is none."""
    zero = np.linalg.diagonal(packed) == 0
    return np.where(zero.any(-1), zero.argmax(-1) + 1 if zero.shape[-1] else 0, 0).astype(np.int32)


def inv(x: Any, *, check: bool = True, name: str = "linalg.inv", why: str = "") -> Any:
    """The inverse. Where there is none: LinAlgError, or NaN if not to ``check``."""
    why = why or ("The diagonal element {} is zero, the inversion could not be completed because the input matrix is "
                  "singular.")  # fmt: skip
    return _of_each(name, np.linalg.inv, x, lambda: zero_pivot(lu_factor(x)[0]), why, check)


def solve(a: Any, b: Any, *, check: bool = True) -> Any:
    """a^-1 b. Where a is singular: LinAlgError, or NaN if not to ``check``."""
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        why = "The solver failed because the input matrix is singular."
    return inv(a, check=check, name="torch.linalg.solve", why=why) @ b


def solve_triangular(a: Any, b: Any, *, upper: bool, unitriangular: bool = False) -> Any:
    """a^-1 b, reading one triangle of ``a``; a zero on the diagonal makes inf or NaN."""
    n = a.shape[-1]
    if n > _BLOCK:
        parts = slice(0, n // 2), slice(n // 2, n)
        first, last = reversed(parts) if upper else parts
        x = solve_triangular(a[..., first, first], b[..., first, :], upper=upper, unitriangular=unitriangular)
        rest = b[..., last, :] - a[..., last, first] @ x
        y = solve_triangular(a[..., last, last], rest, upper=upper, unitriangular=unitriangular)
        return np.concatenate((y, x) if upper else (x, y), axis=-2)
    triangle = (np.triu if upper else np.tril)(a)
    if unitriangular:
        np.einsum("...ii->...i", triangle)[...] = 1
    if triangle.size > 8 * n**3:  # many small ones
        return _substitute(triangle, b, upper)
    try:  # LAPACK's elimination leaves an upper triangle as it is, so this is substitution; a lower one is turned round
        if upper:
            return np.linalg.solve(triangle, b)
        return _upended(np.linalg.solve(_upended(triangle)[..., ::-1], _upended(b)))
    except np.linalg.LinAlgError:
        return _substitute(triangle, b, upper)


def _upended(x: Any) -> Any:
    return x[..., ::-1, :]


def _substitute(a: Any, b: Any, upper: bool) -> Any:
    n = a.shape[-1]
    x = np.zeros((*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), *b.shape[-2:]), b.dtype)
    for i in range(n)[:: -1 if upper else 1]:
        done = slice(i + 1, n) if upper else slice(0, i)
        x[..., i, :] = (b[..., i, :] - (a[..., i, None, done] @ x[..., done, :])[..., 0, :]) / a[..., i, i, None]
    return x


def lu_factor(x: Any) -> Any:
    """U with L (its ones left out) beneath it, LAPACK's pivots, and ``rows`` such that x = (L U)[rows]."""
    m, n = x.shape[-2:]
    k = min(m, n)
    a = np.array(x, order="C").reshape(int(np.prod(x.shape[:-2])), m, n)
    pivots = np.zeros((len(a), k), np.int32)
    lapack = _lapack()
    if lapack and a.size and len(a) < a[0].size:
        factor = lapack.get_lapack_funcs(("getrf",), (a,))[0]
        for i in range(len(a)):
            a[i], pivots[i] = factor(a[i])[:2]
        pivots += 1
    else:
        _eliminate(a, pivots, 0, k)
        a[:, :, k:] = solve_triangular(a[:, :k, :k], a[:, :k, k:], upper=False, unitriangular=True) if n > m else 0
    batch = x.shape[:-2]
    return a.reshape(x.shape), pivots.reshape(*batch, k), unpivoted(pivots, m).reshape(*batch, m)


def _eliminate(a: Any, pivots: Any, low: int, high: int) -> None:
    """Eliminate columns ``low`` to ``high`` in place, the rows below swapped so that the pivots are largest."""
    if high - low > _COLUMNS:
        mid = (low + high) // 2
        _eliminate(a, pivots, low, mid)
        a[:, low:mid, mid:high] = solve_triangular(
            a[:, low:mid, low:mid], a[:, low:mid, mid:high], upper=False, unitriangular=True
        )
        a[:, mid:, mid:high] -= a[:, mid:, low:mid] @ a[:, low:mid, mid:high]
        return _eliminate(a, pivots, mid, high)
    batch = np.arange(len(a))
    for k in range(low, high):
        p = k + _size(a[:, k:, k]).argmax(-1)
        pivots[:, k] = p + 1
        row = a[batch, p]
        a[batch, p] = a[:, k]
        a[:, k] = row
        top = a[:, k, k, None]
        a[:, k + 1 :, k] /= np.where(top == 0, np.ones_like(top), top)
        a[:, k + 1 :, k + 1 : high] -= a[:, k + 1 :, k, None] * a[:, k, None, k + 1 : high]
    return None


def _size(x: Any) -> Any:
    """How LAPACK compares pivots: for complex numbers not |x|."""
    return np.abs(x.real) + np.abs(x.imag) if x.dtype.kind == "c" else np.abs(x)


def unpivoted(pivots: Any, m: int) -> Any:
    """The order of ``m`` rows that undoes the swaps ``pivots``: (..., k), each from 1."""
    swaps = pivots.reshape(int(np.prod(pivots.shape[:-1])), pivots.shape[-1]) - 1
    rows = np.tile(np.arange(m), (len(swaps), 1))
    batch = np.arange(len(swaps))
    for k in range(swaps.shape[1]):
        other = rows[batch, swaps[:, k]]
        rows[batch, swaps[:, k]] = rows[:, k]
        rows[:, k] = other
    return np.argsort(rows, axis=-1).reshape(*pivots.shape[:-1], m)


def _lapack() -> Any:
    """SciPy's LAPACK; None if it is not installed."""
    try:
        return importlib.import_module("scipy.linalg.lapack")
    except ImportError:
        return None


def _symmetric(name: str, x: Any, hermitian: bool) -> Any:
    if (lapack := _lapack()) is None:
        raise ImportError("linalg.ldl_factor and ldl_solve need SciPy: pip install scipy", name="scipy")
    return lapack.get_lapack_funcs((f"{'he' if hermitian and x.dtype.kind == 'c' else 'sy'}{name}",), (x,))[0]


def ldl_factor(x: Any, *, hermitian: bool) -> Any:
    """LAPACK's factors of symmetric (Hermitian) matrices, packed in one; its pivots, and 0 or the first zero pivot."""
    factor = _symmetric("trf", x, hermitian)
    out, pivots, info = np.array(x), np.zeros(x.shape[:-1], np.int32), np.zeros(x.shape[:-2], np.int32)
    for at in np.ndindex(*x.shape[:-2]) if x.size else ():
        packed, pivots[at], info[at] = factor(x[at], lower=1)
        out[at] = np.tril(packed)
    return out, pivots, info


def ldl_solve(packed: Any, pivots: Any, b: Any, *, hermitian: bool) -> Any:
    """The solution of a x = b from `ldl_factor`'s factors of a."""
    solver = _symmetric("trs", packed, hermitian)
    out = np.array(b)
    for at in np.ndindex(*b.shape[:-2]) if b.size else ():
        out[at] = solver(packed[at], pivots[at], b[at], lower=1)[0]
    return out


__all__ = [
    "cholesky", "det", "eig", "eigh", "eigvals", "eigvalsh", "geqrf", "indefinite_minor", "inv", "ldl_factor",
    "ldl_solve", "lu_factor", "qr", "slogdet", "solve", "solve_triangular", "svd", "svdvals", "unpivoted", "zero_pivot",
]  # fmt: skip
