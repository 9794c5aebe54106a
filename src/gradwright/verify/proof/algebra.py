"""Linear algebra and Fourier transforms of balls.

The first in batches, by elimination: the pivots are those that are surest not to be 0. The second are the sums
themselves, with roots of unity that are exact to the working precision.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from gradwright.base.errors import NotProvedError
from gradwright.verify.proof import series
from gradwright.verify.proof.balls import Balls, balls, product, through
from gradwright.verify.proof.functions import absolute, sign, sqrt
from gradwright.verify.proof.shapes import concat, eye, matrix_transpose, moveaxis, ones, reshape, stack


def matmul(x: Any, y: Any) -> Any:
    """The matrix product."""
    return product(x, y, np.matmul)


def tensordot(x: Any, y: Any, *, axes: Any = 2) -> Any:
    """The sum of products over axes of both."""
    return product(x, y, lambda a, b: np.tensordot(a, b, axes=axes))


def vecdot(x: Any, y: Any, *, axis: int = -1) -> Any:
    """The sum of products along an axis."""
    out = balls(x) * y
    return out.moved(lambda a: np.add.reduce(a, axis=axis))


def outer(x: Any, y: Any) -> Any:
    """All products of the entries of two vectors."""
    return balls(x)[:, None] * balls(y)[None, :]


def diagonal(x: Any, *, offset: int = 0) -> Any:
    """The diagonals of the matrices in the last two axes."""
    return x.moved(lambda a: np.diagonal(a, offset=offset, axis1=-2, axis2=-1))


def _matrices(f: Callable[[Balls], tuple[Any, ...]], x: Balls) -> tuple[Any, ...]:
    """A function of one matrix, for each of a batch."""
    front = x.shape[:-2]
    if not front:
        return f(x)
    flat = reshape(x, (-1, *x.shape[-2:]))
    made = [f(flat[k]) for k in range(flat.shape[0])]
    parts = [stack(list(p)) for p in zip(*made, strict=True)]
    return tuple(reshape(p, (*front, *p.shape[1:])) for p in parts)


def _eliminated(x: Balls, n: int) -> tuple[Balls, Balls]:
    """The reduced rows of n equations, with their right-hand sides, and the determinant of the left-hand ones."""
    rows = [x[k] for k in range(n)]
    determinant = ones((), dtype=x.dtype)
    for k in range(n):
        best = max(range(k, n), key=lambda r: _surety(rows[r].value[k]))
        if best != k:
            rows[k], rows[best] = rows[best], rows[k]
            determinant = -determinant
        pivot = rows[k][k]
        determinant = determinant * pivot
        rows[k] = rows[k] / pivot
        for r in range(n):
            if r != k:
                rows[r] = rows[r] - rows[r][k] * rows[k]
    return stack(rows), determinant


def _surety(x: Any) -> float:
    return float(abs(series.start(x)).abs_lower()) if series.finite(x) else -1.0


def solve(a: Any, b: Any, *, check: bool = True) -> Any:
    """a^-1 b."""
    a, b = balls(a), balls(b)
    vector = b.ndim == 1
    b = b[..., None] if vector else b
    front = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    both = concat([a.moved(lambda v: np.broadcast_to(v, (*front, *a.shape[-2:]))),
                   b.moved(lambda v: np.broadcast_to(v, (*front, *b.shape[-2:])))], axis=-1)  # fmt: skip
    n = a.shape[-1]
    (out,) = _matrices(lambda m: (_eliminated(m, n)[0][:, n:],), both)
    return out[..., 0] if vector else out


def inv(x: Any, *, check: bool = True) -> Any:
    """The inverses of matrices."""
    return solve(x, eye(x.shape[-1], dtype=x.dtype))


def det(x: Any) -> Any:
    """The determinants of matrices."""
    (out,) = _matrices(lambda m: (_eliminated(m, m.shape[-1])[1],), balls(x))
    return out


def slogdet(x: Any) -> tuple[Any, Any]:
    """Sign and logarithm of |det x|, of real matrices."""
    d = det(x)
    if d.dtype.kind == "c":
        raise NotProvedError("not proved: the sign and logarithm of the determinant of complex matrices")
    return sign(d), through(series.ELEMENTARY["log"], absolute(d))


def solve_triangular(a: Any, b: Any, *, upper: bool, unitriangular: bool = False) -> Any:
    """a^-1 b, reading one triangle of ``a``."""
    n = a.shape[-1]
    mask = np.tri(n, k=-1 if unitriangular else 0)
    mask = mask.T if upper else mask
    a = balls(a) * mask + (np.eye(n) if unitriangular else 0.0)
    return solve(a, b)


def cholesky(x: Any, *, upper: bool = False, check: bool = True) -> Any:
    """The triangular factor of positive-definite matrices, from one triangle."""

    def of_one(m: Balls) -> tuple[Any, ...]:
        n = m.shape[-1]
        rows: list[list[Any]] = [[0.0 * m[0, 0]] * n for _ in range(n)]
        for i in range(n):
            for j in range(i + 1):
                rest = m[i, j] - sum((rows[i][k] * rows[j][k] for k in range(j)), 0.0)
                rows[i][j] = sqrt(rest) if i == j else rest / rows[j][j]
        return (stack([stack(row) for row in rows]),)

    if balls(x).dtype.kind == "c":
        raise NotProvedError("not proved: the Cholesky factor of complex matrices")
    (out,) = _matrices(of_one, balls(x))
    return matrix_transpose(out) if upper else out


def cofactor(x: Any) -> Any:
    """The matrix of cofactors, det(x) x^-T, of matrices that have an inverse."""
    x = balls(x)
    return det(x)[..., None, None] * matrix_transpose(inv(x))


# ---- Fourier transforms ------------------------------------------------------------------------------------


def _scale(n: int, norm: str | None, inverse: bool) -> Any:
    """The divisor of a transform of n entries."""
    if norm == "ortho":
        return series.arb(n).sqrt()
    return series.arb(n if (norm == "forward") != inverse else 1)


def _roots(rows: int, columns: int, n: int, sign: int, scale: Any) -> Balls:
    """The matrix of e**(sign 2 pi i j k / n) over a scale."""
    held = np.empty((rows, columns), object)
    for j, k in np.ndindex(rows, columns):
        held[j, k] = series.acb_series([series.acb(series.arb(2 * sign * (j * k % n)) / n).exp_pi_i() / scale])
    return Balls(held, None, np.complex128)


def _along(x: Any, matrix: Balls, axis: int) -> Balls:
    out = product(moveaxis(balls(x), axis, -1), matrix, np.matmul)
    return moveaxis(out, -1, axis)


def fft(x: Any, *, axis: int = -1, norm: str | None = None) -> Balls:
    """The sums of x_j e**(-2 pi i j k / n)."""
    n = x.shape[axis]
    return _along(x, _roots(n, n, n, -1, _scale(n, norm, inverse=False)), axis)


def ifft(x: Any, *, axis: int = -1, norm: str | None = None) -> Balls:
    """The inverse of `fft`."""
    n = x.shape[axis]
    return _along(x, _roots(n, n, n, 1, _scale(n, norm, inverse=True)), axis)


def rfft(x: Any, *, axis: int = -1, norm: str | None = None) -> Balls:
    """The first n // 2 + 1 entries of `fft`."""
    n = x.shape[axis]
    return _along(x, _roots(n, n // 2 + 1, n, -1, _scale(n, norm, inverse=False)), axis)


def irfft(x: Any, *, n: int, axis: int = -1, norm: str | None = None) -> Balls:
    """The inverse of `rfft`, of n entries: those inside stand for two each."""
    weights = np.array([1.0 if k == 0 or 2 * k == n else 2.0 for k in range(n // 2 + 1)])
    matrix = balls(weights)[:, None] * _roots(n // 2 + 1, n, n, 1, _scale(n, norm, inverse=True))
    return _along(x, matrix, axis).real


def fftn(x: Any, *, axes: Sequence[int], norm: str | None = None) -> Balls:
    """`fft` over each of the axes."""
    return reduce(lambda y, axis: fft(y, axis=axis, norm=norm), axes, x)


def ifftn(x: Any, *, axes: Sequence[int], norm: str | None = None) -> Balls:
    """The inverse of `fftn`."""
    return reduce(lambda y, axis: ifft(y, axis=axis, norm=norm), axes, x)


def rfftn(x: Any, *, axes: Sequence[int], norm: str | None = None) -> Balls:
    """`rfft` over the last of the axes, then `fft` over the others."""
    return fftn(rfft(x, axis=axes[-1], norm=norm), axes=axes[:-1], norm=norm)


def irfftn(x: Any, *, s: Sequence[int], axes: Sequence[int], norm: str | None = None) -> Balls:
    """The inverse of `rfftn`."""
    return irfft(ifftn(x, axes=axes[:-1], norm=norm), n=s[-1], axis=axes[-1], norm=norm)
