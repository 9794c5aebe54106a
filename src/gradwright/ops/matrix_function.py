"""Functions of Hermitian matrices, f(x) = v diag(f(l)) v^H where x = v diag(l) v^H, and their derivatives.

The derivative, by Daleckii and Krein (1965), weighs the entries of v^H dx v with the divided differences
f[l_i, l_j] = (f(l_i) - f(l_j)) / (l_i - l_j), which are f'(l) where the two are equal: nothing is divided by 0, and
which vectors v of equal values are taken makes no difference. Where f' is infinite, as of sqrt at 0, so are those
entries of the result that grow without end as it does; the others are what they come to. The derivative of order k is
a sum of products of k matrices, weighed with the divided differences of k + 1 values, so one operation has them all.
"""

from __future__ import annotations

from functools import reduce
from itertools import pairwise, product
from operator import mul

from gradwright.ops.declare import op
from gradwright.ops.linalg import adjoint

_TWO = ((0.5 - 12**-0.5, 0.5), (0.5 + 12**-0.5, 0.5))
_THREE = ((0.5 - 0.15**0.5, 5 / 18), (0.5, 8 / 18), (0.5 + 0.15**0.5, 5 / 18))
"""Places and weights of Gauss's rules on [0, 1]."""


@op(direct=True, complex="general", node="MatrixFunctionBackward0")
def matrix_function(xp, x, *matrices, f):
    """f(x) of Hermitian x; with ``matrices`` a, b v y v^H, y_ij = sum_k f[l_i, l_k, l_j] (v^H a v)_ik (v^H b v)_kj.

    ``f`` gives, of an array of numbers and an order, the derivative of that order of a real function at each. The
    derivative by x is the sum over the places between the matrices of that by a matrix there; the one by a matrix
    turns the product round: with g^H where the result was, the others in their order, it is the adjoint of such a one.
    """
    values, v = xp.linalg.eigh(x, uplo="L")
    n, k = values.shape[-1], len(matrices)

    def spread(y, *axes):  # over k + 1 axes, along these
        return xp.reshape(y, (*x.shape[:-2], *(n if j in axes else 1 for j in range(k + 1))))

    inner = _divided(xp, f, [spread(values, i) for i in range(k + 1)])[0]
    vh = adjoint(xp, v)
    if not matrices:
        return xp.matmul(v * inner[..., None, :], vh)
    turned = reduce(mul, [spread(xp.matmul(xp.matmul(vh, a), v), i, i + 1) for i, a in enumerate(matrices)])

    def weighed(inner):
        inner = inner * turned
        if k > 1:
            inner = xp.sum(inner, axis=tuple(range(inner.ndim - k, inner.ndim - 1)))
        return xp.matmul(xp.matmul(v, inner), vh)

    endless = xp.isinf(inner)
    if not bool(xp.any(endless)):
        return weighed(inner)
    none = xp.zeros_like(inner)
    result, growth = weighed(xp.where(endless, none, inner)), weighed(xp.where(endless, xp.sign(inner), none))
    return xp.where(growth == 0, result, growth * xp.inf)


def _slope(xp, g, x, matrices, f):
    gh = adjoint(xp, g)
    parts = [matrix_function(x, *matrices[i:], gh, *matrices[:i], f=f) for i in range(len(matrices) + 1)]
    return adjoint(xp, sum(parts[1:], parts[0]))


def _slope_of_matrix(xp, g, x, matrices, f, i):
    return adjoint(xp, matrix_function(x, *matrices[i + 1 :], adjoint(xp, g), *matrices[:i], f=f))


matrix_function.vjp(x=_slope, matrices=_slope_of_matrix)


def _divided(xp, f, points):
    """The divided difference f[p, q, ...] of arrays that broadcast, and how large its rounding error may be.

    The difference quotient over the widest gap loses what is common to both ends. There the mean of the derivative over
    what lies between (Hermite and Genocchi) takes its place, by Gauss's rule: where the gap is below the root of the
    precision, or two rules agree with each other and, within its error, with the quotient, which sees jumps.
    """
    k, eps = len(points) - 1, float(xp.finfo(points[0].dtype).eps)
    if k == 0:
        y = f(points[0], 0)
        return y, 4 * eps * xp.abs(y)
    points = xp.sort(xp.stack(xp.broadcast_arrays(*points), axis=-1), axis=-1) if k > 1 else points
    points = [points[..., i] for i in range(k + 1)] if k > 1 else points
    (high, error), (low, other) = (_divided(xp, f, part) for part in (points[1:], points[:-1]))
    gap = xp.abs(points[-1] - points[0])
    divisor = xp.where(gap == 0, xp.ones_like(gap), points[-1] - points[0])
    quotient, error = (high - low) / divisor, (error + other) / xp.abs(divisor)
    (mean, size), (rough, _) = (_mean(xp, f, points, rule) for rule in (_THREE, _TWO))
    near = gap <= eps**0.5 * xp.maximum(xp.abs(points[0]), xp.abs(points[-1]))
    sure = xp.abs(mean - rough) <= eps**0.75 * size
    fits = xp.abs(mean - quotient) <= 8 * error + eps**0.25 * size
    use = near | (sure & fits)
    return xp.where(use, mean, quotient), xp.where(use, 4 * eps * size, error)


def _mean(xp, f, points, rule):
    """The mean of the derivative over the simplex of these points, times its volume, and that of its size."""
    total = size = 0.0
    for chosen in product(rule, repeat=len(points) - 1):
        place, reach, weight = points[0], 1.0, 1.0
        for i, (p, q) in enumerate(pairwise(points)):
            reach = reach * chosen[i][0]
            place = place + reach * (q - p)
            weight = weight * chosen[i][1] * (reach if i < len(chosen) - 1 else 1.0)
        y = f(place, len(chosen))
        total, size = total + weight * y, size + weight * xp.abs(y)
    return total, size
