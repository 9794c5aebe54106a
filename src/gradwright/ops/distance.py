"""Distances between points."""

from __future__ import annotations

from gradwright.ops.declare import A, Sample, builtin
from gradwright.ops.linalg import transposed


@builtin(node="EuclideanDistBackward0", samples=[Sample(A(3, 2), A(4, 2)), Sample(A(2, 2, 3), A(2, 3, 3))])
def euclidean_distances(xp, x, y):
    """Distances between each row of x (..., p, m) and each of y (..., r, m), as sqrt(|x|**2 + |y|**2 - 2 x.y).

    The derivative at distance 0 is taken as 0.
    """
    a, b = xp.sum(x * x, axis=(x.ndim - 1,), keepdims=True), xp.sum(y * y, axis=(y.ndim - 1,), keepdims=True)
    squares = a + transposed(xp, b) - 2 * xp.matmul(x, transposed(xp, y))
    return xp.sqrt(xp.maximum(squares, xp.zeros_like(squares)))


def _slope(xp, g, x, y, out):
    w = xp.where(out == 0, xp.zeros_like(g), g / xp.where(out == 0, xp.ones_like(out), out))
    return x * xp.sum(w, axis=(w.ndim - 1,), keepdims=True) - xp.matmul(w, y)


euclidean_distances.vjp(
    x=_slope,
    y=lambda xp, g, x, y, out: _slope(xp, transposed(xp, g), y, x, transposed(xp, out)),
)
