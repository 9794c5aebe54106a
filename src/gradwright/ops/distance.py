"""Distances between points."""

from __future__ import annotations

from gradwright.ops.declare import A, Sample, builtin


def _turned(xp, x):
    """The matrices in the last two axes, transposed."""
    n = x.ndim
    return xp.permute_dims(x, (*range(n - 2), n - 1, n - 2))


@builtin(node="EuclideanDistBackward0", samples=[Sample(A(3, 2), A(4, 2)), Sample(A(2, 2, 3), A(2, 3, 3))])
def euclidean_distances(xp, x, y):
    """Distances between each row of x (..., p, m) and each of y (..., r, m), as sqrt(|x|**2 + |y|**2 - 2 x.y).

    The derivative at distance 0 is taken as 0.
    """
    a, b = xp.sum(x * x, axis=(x.ndim - 1,), keepdims=True), xp.sum(y * y, axis=(y.ndim - 1,), keepdims=True)
    squares = a + _turned(xp, b) - 2 * xp.matmul(x, _turned(xp, y))
    return xp.sqrt(xp.maximum(squares, xp.zeros_like(squares)))


def _slope(xp, g, x, y, out):
    w = xp.where(out == 0, xp.zeros_like(g), g / xp.where(out == 0, xp.ones_like(out), out))
    return x * xp.sum(w, axis=(w.ndim - 1,), keepdims=True) - xp.matmul(w, y)


euclidean_distances.vjp(
    x=_slope,
    y=lambda xp, g, x, y, out: _slope(xp, _turned(xp, g), y, x, _turned(xp, out)),
)
