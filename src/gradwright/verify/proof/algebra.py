"""Linear algebra of balls, in batches, by elimination: the pivots are those that are surest not to be 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradwright.base.errors import NotProvedError
from gradwright.verify.proof import series
from gradwright.verify.proof.balls import Balls, balls, product, through
from gradwright.verify.proof.functions import absolute, sign, sqrt
from gradwright.verify.proof.shapes import concat, eye, matrix_transpose, ones, reshape, stack


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
