"""Inverses, linear systems, determinants and matrix exponentials, of matrices in the last two axes."""

from __future__ import annotations

from functools import reduce
from itertools import combinations, permutations
from operator import add, mul

from gradwright.ops.complex import is_complex
from gradwright.ops.declare import A, Sample, builtin
from gradwright.ops.index import diag
from gradwright.ops.linalg import adjoint, transposed
from gradwright.ops.reduce import products_of_others
from gradwright.ops.shape import sum_to

_SQUARE = A(values=[[2.0, -1.0, 0.5], [0.5, 1.5, -1.0], [-0.5, 1.0, 2.5]])
_MATRICES = [Sample(_SQUARE), Sample(A(2, 2, 2, distinct=True))]


@builtin(complex="holomorphic", node="LinalgInvExBackward0", samples=_MATRICES)
def inv(xp, x, *, check=True):
    """Inverse y = x^-1, dx = -y^T g y^T. LinAlgError, or NaN if not to ``check``, where there is none."""
    return xp.linalg.inv(x, check=check)


inv.vjp(x=lambda xp, g, out: -xp.matmul(xp.matmul(transposed(xp, out), g), transposed(xp, out)))


@builtin(complex="holomorphic", node="LinalgSolveExBackward0", samples=[Sample(_SQUARE, A(3, 2)),
         Sample(_SQUARE, A(2, 3, 1)), Sample(A(2, 2, 2, distinct=True), A(2, 3))])  # fmt: skip
def solve(xp, x, y, *, check=True):
    """The solution z = x^-1 y of x z = y, matrices that broadcast: dy = x^-T g, dx = -dy z^T.

    LinAlgError, or NaN if not to ``check``, where x is singular.
    """
    return xp.linalg.solve(x, y, check=check)


def _dividend_slope(xp, g, x, y_shape):
    return sum_to(xp, solve(transposed(xp, x), g), y_shape)


def _divisor_slope(xp, g, x, out):
    return sum_to(xp, -xp.matmul(solve(transposed(xp, x), g), transposed(xp, out)), x.shape)


solve.vjp(x=_divisor_slope, y=_dividend_slope)


@builtin(complex="holomorphic", node="LinalgSolveTriangularBackward0",
         samples=[Sample(_SQUARE, A(3, 2), upper=True, unitriangular=False),
         Sample(_SQUARE, A(2, 3, 2), upper=False, unitriangular=False),
         Sample(A(2, 2, 2), A(2, 3), upper=True, unitriangular=True)])  # fmt: skip
def solve_triangular(xp, x, y, *, upper, unitriangular=False):
    """The solution z = t^-1 y where t is a triangle of x, its diagonal taken as ones if ``unitriangular``.

    dy = t^-T g, dx = -dy z^T in that triangle. A zero on the diagonal makes inf or NaN.
    """
    return xp.linalg.solve_triangular(x, y, upper=upper, unitriangular=unitriangular)


def _back(xp, g, x, upper, unitriangular):
    return solve_triangular(transposed(xp, x), g, upper=not upper, unitriangular=unitriangular)


def _triangle_slope(xp, g, x, out, upper, unitriangular):
    dx = -xp.matmul(_back(xp, g, x, upper, unitriangular), transposed(xp, out))
    k = int(unitriangular)
    return sum_to(xp, xp.triu(dx, k=k) if upper else xp.tril(dx, k=-k), x.shape)


solve_triangular.vjp(
    x=_triangle_slope,
    y=lambda xp, g, x, y_shape, upper, unitriangular: sum_to(xp, _back(xp, g, x, upper, unitriangular), y_shape),
)


@builtin(complex="holomorphic", node="LinalgDetBackward0", samples=_MATRICES)
def det(xp, x):
    """Determinant; dx = g times the cofactors, which singular matrices have too."""
    return xp.linalg.det(x)


@builtin(complex="holomorphic", node="CofactorBackward0", samples=[*_MATRICES, Sample(_SQUARE, A(3, 3), A(3, 3))])
def cofactor(xp, x, *along):
    """The cofactors c, the slope of det(x); with matrices ``along`` a, b, the derivative of c along each.

    sum(c h) = D det(x)[a, b, .., h] is symmetric in a, b, .., h: the derivative by x has one matrix more, that by a
    matrix has g in its place. With x = u s v, s diagonal, and a, b for u^H a v^H, it is the sum over distinct i, j, ..
    of the product of all other s and of det [[a_ii, a_ij], [b_ji, b_jj]]: of any rank, as nothing is divided.
    """
    if not along:
        return xp.linalg.cofactor(x)
    if len(along) >= x.shape[-1]:  # det is of degree n in x
        return xp.zeros_like(reduce(add, along, x))
    u, s, vh = xp.linalg.svd(x, full_matrices=False)
    n, k = s.shape[-1], len(along)
    turned = [xp.matmul(xp.matmul(adjoint(xp, u), a), adjoint(xp, vh)) for a in along]
    one = diag(xp.ones_like(s, shape=(n,)))

    def spread(y, *axes):  # over k + 1 axes, along these
        y = xp.linalg.diagonal(y, offset=0) if axes[0] == axes[-1] else transposed(xp, y) if axes[0] > axes[1] else y
        return xp.reshape(y, (*y.shape[: y.ndim - len({*axes})], *(n if j in axes else 1 for j in range(k + 1))))

    others = products_of_others(xp, reduce(lambda y, _: xp.where(one != 0, one, y[..., None, :]), along, s))
    others = reduce(mul, [1 - spread(one, *pair) for pair in combinations(range(k + 1), 2)], others)
    total = xp.zeros_like(x)
    for order in permutations(range(k + 1)):
        odd = len([1 for i, j in combinations(order, 2) if i > j]) % 2
        term = reduce(mul, [spread(a, r, order[r]) for r, a in enumerate(turned)], -others if odd else others)
        term = xp.sum(term, axis=tuple(r - k - 1 for r in range(k) if r != order[k]))
        total = total + (diag(term) if order[k] == k else transposed(xp, term))
    sign = (xp.linalg.det(u) * xp.linalg.det(vh))[..., None, None]
    return sign * xp.matmul(xp.matmul(xp.conj(u), total), xp.conj(vh))


def _along_another(xp, g, x, along):
    return cofactor(x, *along, g)


def _along_this(xp, g, x, along, i):
    return cofactor(x, *along[:i], g, *along[i + 1 :])


det.vjp(x=lambda xp, g, x: g[..., None, None] * cofactor(x))
cofactor.vjp(x=_along_another, along=_along_this).jvp(x=_along_another, along=_along_this)


@builtin(complex="general", several=True, node="LinalgSlogdetBackward0", samples=_MATRICES)
def slogdet(xp, x):
    """Sign s and logarithm l of the size of the determinant: dx = (g_l - i Im(conj(g_s) s)) x^-H; s is real if x is."""
    return list(xp.linalg.slogdet(x))


def _slogdet_slope(xp, g, x):
    scale = g[1]
    if is_complex(xp, x):
        sign = slogdet(x)[0]
        scale = scale - 1j * xp.imag(xp.conj(g[0]) * sign)
    return scale[..., None, None] * adjoint(xp, inv(x))


slogdet.vjp(x=_slogdet_slope)


@builtin(complex="general", node="LinalgPinvBackward0",
         samples=[Sample(A(3, 2)), Sample(A(2, 2, 3)), Sample(_SQUARE)])  # fmt: skip
def pinv(xp, x, *, atol=0.0, rtol=0.0, hermitian=False):
    """Pseudo-inverse y; singular values of at most max(atol, rtol times the largest) count as 0.

    Of a ``hermitian`` x the lower triangle is read.

    The derivative is that among matrices of one rank (Golub and Pereyra, 1973):
    dy = -y dx y + y y^H dx^H (1 - x y) + (1 - y x) dx^H y^H y.
    """
    if 0 in x.shape:
        return xp.zeros_like(x, shape=(*x.shape[:-2], x.shape[-1], x.shape[-2]))
    if hermitian:
        values, u = xp.linalg.eigh(x, uplo="L")
        v, size = u, xp.abs(values)
    else:
        u, values, vh = xp.linalg.svd(x, full_matrices=False)
        v, size = adjoint(xp, vh), values
    large = size > xp.maximum(rtol * xp.max(size, axis=-1), atol)[..., None]
    inverse = 1 / xp.where(large, values, values + float("inf"))
    return xp.matmul(v * inverse[..., None, :], adjoint(xp, u))


def _pinv_slope(xp, g, x, out):
    y, yh, gh, mm = out, adjoint(xp, out), adjoint(xp, g), xp.matmul
    if x.shape[-2] <= x.shape[-1]:
        k = mm(gh, y)
        kyh = mm(k, yh)
        return kyh - adjoint(xp, mm(y, k)) - mm(mm(x, y), kyh) + mm(mm(yh, y), gh - mm(k, x))
    k = mm(y, gh)
    yhk = mm(yh, k)
    return yhk - adjoint(xp, mm(k, y)) - mm(mm(yhk, y), x) + mm(mm(gh - mm(x, k), y), yh)


pinv.vjp(x=_pinv_slope)


@builtin(complex="holomorphic", node="LinalgMatrixExpBackward0",
         samples=[*_MATRICES, Sample(A(2, 2, low=-9.0, high=9.0))])  # fmt: skip
def matrix_exp(xp, x):
    """e**x. dx is the upper right block of e**[[x^T, g], [0, x^T]]."""
    return xp.linalg.matrix_exp(x)


def _exp_along(xp, x, t):
    n = x.shape[-1]
    top, bottom = xp.concat([x, t], axis=-1), xp.concat([xp.zeros_like(x), x], axis=-1)
    return matrix_exp(xp.concat([top, bottom], axis=-2))[..., :n, n:]


matrix_exp.vjp(x=lambda xp, g, x: _exp_along(xp, transposed(xp, x), g))
matrix_exp.jvp(x=lambda xp, t, x: _exp_along(xp, x, t))
