"""Linear algebra over the array API standard, in batches: what formulas use and the standard lacks or leaves open."""

from __future__ import annotations

from functools import partial
from math import log2
from typing import Any

import numpy as np

from gradwright.backends import linalg, spectrum, where_is
from gradwright.backends.host import LINEAR_ALGEBRA, on_host


def _turned(xp: Any, x: Any) -> Any:
    """Each matrix transposed and conjugated."""
    x = xp.matrix_transpose(x)
    return xp.conj(x) if xp.isdtype(x.dtype, "complex floating") else x


def _one(xp: Any, x: Any) -> Any:
    return xp.eye(x.shape[-1], dtype=x.dtype, device=where_is(x))


def _zero(xp: Any, x: Any) -> Any:
    return xp.zeros((), dtype=x.dtype, device=where_is(x))


def hermitian(xp: Any, x: Any, *, uplo: Any) -> Any:
    """The Hermitian matrices of which ``x`` has one triangle, "L" or "U"."""
    half = xp.tril(x, k=-1) if uplo == "L" else xp.triu(x, k=1)
    middle = xp.real(x) + _zero(xp, x) if xp.isdtype(x.dtype, "complex floating") else x
    return half + _turned(xp, half) + xp.where(_one(xp, x) != 0, middle, _zero(xp, x))


def solve_triangular(xp: Any, a: Any, b: Any, *, upper: bool, unitriangular: bool = False) -> Any:
    """a^-1 b, reading one triangle of ``a``; a zero on the diagonal makes inf or NaN."""
    a = xp.triu(a) if upper else xp.tril(a)
    one = _one(xp, a)
    a = xp.where(one != 0, one, a) if unitriangular else a
    try:
        if upper:
            return xp.linalg.solve(a, b)
        return xp.flip(xp.linalg.solve(xp.flip(a, axis=(-2, -1)), xp.flip(b, axis=-2)), axis=-2)
    except np.linalg.LinAlgError:
        return on_host(xp, linalg.solve_triangular)(a, b, upper=upper)


def cofactor(xp: Any, x: Any) -> Any:
    """The matrix of cofactors, det(x) x^-T, by singular values: x may have no inverse."""
    u, s, vh = xp.linalg.svd(x, full_matrices=True)
    ones = xp.ones(s.shape, dtype=s.dtype, device=where_is(s))[..., None]
    others = xp.prod(xp.where(_one(xp, s) != 0, ones, s[..., None, :]), axis=-1)
    sign = (xp.linalg.det(u) * xp.linalg.det(vh))[..., None, None]
    return sign * xp.matrix_transpose(xp.matmul(_turned(xp, vh) * others[..., None, :], _turned(xp, u)))


# The [13/13] Padé approximant of e**x and the norm up to which it is exact in double precision: Higham (2005),
# "The scaling and squaring method for the matrix exponential revisited".
_PADE = (64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600,
         670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1)  # fmt: skip
_REACH = 5.371920351148152


def matrix_exp(xp: Any, x: Any) -> Any:
    """e**x by scaling and squaring; NaN for a matrix with entries that are not finite."""
    if 0 in x.shape:
        return x + 0
    one, zero = _one(xp, x), _zero(xp, x)
    finite = xp.all(xp.isfinite(x), axis=(-2, -1), keepdims=True)
    x = xp.where(finite, x, zero)
    norm = xp.max(xp.sum(xp.abs(x), axis=-2, keepdims=True), axis=-1, keepdims=True)
    largest = xp.minimum(xp.maximum(norm, _REACH), float(xp.finfo(norm.dtype).max))
    halvings = xp.ceil(xp.log2(largest) - log2(_REACH))
    x = x / 2.0**halvings
    x2 = x @ x
    x4 = x2 @ x2
    x6 = x4 @ x2
    b = [float(c / _PADE[0]) for c in _PADE]
    odd = x @ (x6 @ (b[13] * x6 + b[11] * x4 + b[9] * x2) + b[7] * x6 + b[5] * x4 + b[3] * x2 + b[1] * one)
    even = x6 @ (b[12] * x6 + b[10] * x4 + b[8] * x2) + b[6] * x6 + b[4] * x4 + b[2] * x2 + b[0] * one
    out = xp.linalg.solve(even - odd, even + odd)
    for i in range(int(xp.max(halvings))):
        out = xp.where(i < halvings, out @ out, out)
    return xp.where(finite, out, zero + float("nan"))


class Linalg:
    """The linear algebra of a library that keeps to the standard, with these functions added.

    Where a matrix has no inverse, or no Cholesky factor, NumPy says which, on the host.
    """

    def __init__(self, xp: Any) -> None:
        self._xp = xp
        for f in (solve_triangular, cofactor, matrix_exp):
            setattr(self, f.__name__, partial(f, xp))
        for name in LINEAR_ALGEBRA:
            setattr(self, name, on_host(xp, getattr(linalg, name)))
        for name in spectrum.__all__:
            setattr(self, name, on_host(xp, getattr(spectrum, name)))
        self.cholesky, self.inv, self.solve = map(self._checked, ("cholesky", "inv", "solve"))
        self.svd, self.svdvals, self.qr, self.slogdet = (
            linalg.diverging(n, getattr(xp.linalg, n)) for n in ("svd", "svdvals", "qr", "slogdet")
        )
        self._eigh, self._eigvalsh = (linalg.diverging(n, getattr(xp.linalg, n)) for n in ("eigh", "eigvalsh"))

    def _checked(self, name: str) -> Any:
        xp, own = self._xp, getattr(self._xp.linalg, name)
        explained = on_host(xp, getattr(linalg, name))

        def call(*args: Any, check: bool = True, **static: Any) -> Any:
            try:
                out = own(*args, **static)
            except np.linalg.LinAlgError:
                return explained(*args, check=check, **static)
            # Other libraries give NaN or infinities.
            return out if not check or bool(xp.all(xp.isfinite(out))) else explained(*args, check=True, **static)

        return call

    def eigh(self, x: Any, *, uplo: Any) -> Any:
        """Eigenvalues and eigenvectors of Hermitian matrices, of which one triangle is read."""
        return self._eigh(hermitian(self._xp, x, uplo=uplo))

    def eigvalsh(self, x: Any, *, uplo: Any) -> Any:
        """Eigenvalues of Hermitian matrices, of which one triangle is read."""
        return self._eigvalsh(hermitian(self._xp, x, uplo=uplo))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._xp.linalg, name)
