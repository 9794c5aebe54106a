"""Decompositions of the matrices in the last two axes: Cholesky, LU, QR, eigenvalues, singular values.

Vectors of equal eigenvalues or singular values are any basis of one space: they have no derivative, and a pass that
comes for them raises LinAlgError (`distinct`; `backends.spectrum` says what counts as equal). Values alone, equal ones
among them, have the derivative of a loss that treats equal ones alike; for another there is a warning (`level`).

Most are not in the table, since its checks do not fit them: `cholesky` and `eigh` are for Hermitian matrices, and
their derivative is by Hermitian changes, not by those of single entries; complex vectors have an arbitrary phase, and a
loss that depends on it raises LinAlgError (`unphased`); `lu_factor` has whole numbers among its results.
tests/ops/test_decompose.py makes the checks that do fit.
"""

from __future__ import annotations

from gradwright.ops.complex import is_complex, real_part
from gradwright.ops.declare import A, Sample, builtin, op
from gradwright.ops.index import diag
from gradwright.ops.linalg import adjoint, transposed
from gradwright.ops.solve import solve, solve_triangular

_TALL = [Sample(A(3, 3, distinct=True)), Sample(A(2, 4, 2, distinct=True))]
_ANY = [*_TALL, Sample(A(2, 4, distinct=True))]


def _diagonal(xp, x):
    return xp.linalg.diagonal(x, offset=0)


def _unphased(xp, slopes, vectors, of):
    """The cotangents of vectors, as columns; LinAlgError if the loss changes as the phase of a complex one turns."""
    if not is_complex(xp, vectors):
        return slopes
    return unphased(slopes, xp.imag(xp.sum(xp.conj(vectors) * slopes, axis=-2, keepdims=False)), of=of)


def _by_gap(xp, x, values):
    """x_ij / (values_j - values_i), 0 on the diagonal; between equal values x_ij is 0."""
    gap = values[..., None, :] - values[..., :, None]
    return (x - diag(_diagonal(xp, x))) / _divisor(xp, gap)


def _divisor(xp, x):
    return xp.where(x == 0, xp.ones_like(x), x)


@op(direct=True, complex="general")
def distinct(xp, values, *, used, of):
    """The values. LinAlgError if one whose vectors are ``used`` (a function that says which) equals another."""
    return xp.linalg.distinct(values, used=used, of=of)


@op(direct=True, complex="general")
def level(xp, slopes, values, *, of):
    """The cotangents of values. GradientWarning if those of equal ones differ."""
    return xp.linalg.level(slopes, values, of=of)


@op(direct=True, complex="general")
def independent(xp, vectors, values, *, of):
    """The vectors. LinAlgError if those of equal values are dependent."""
    return xp.linalg.independent(vectors, values, of=of)


@op(direct=True, complex="general")
def turnable(xp, vectors, slopes):
    """The cotangents of vectors that may be any basis of a space. LinAlgError if they tell one basis from another."""
    return xp.linalg.turnable(vectors, slopes)


@op(direct=True, complex="general")
def unphased(xp, slopes, turn, *, of):
    """The cotangents of complex vectors. LinAlgError if the loss changes as their phases turn, at rates ``turn``."""
    return xp.linalg.unphased(slopes, turn, of=of)


@op(direct=True, complex="general")
def full_rank(xp, triangle):
    """The triangle. LinAlgError if it is singular."""
    return xp.linalg.full_rank(triangle)


distinct.vjp(values=lambda xp, g: g)
full_rank.vjp(triangle=lambda xp, g: g)
level.vjp(slopes=lambda xp, g: g, values=lambda xp, g: None)
independent.vjp(vectors=lambda xp, g: g, values=lambda xp, g: None)
turnable.vjp(vectors=lambda xp, g: None, slopes=lambda xp, g: g)
unphased.vjp(slopes=lambda xp, g: g, turn=lambda xp, g: None)


@op(direct=True, complex="general", node="LinalgCholeskyExBackward0")
def cholesky(xp, x, *, upper=False, check=True):
    """The triangle l of a positive-definite x = l l^H; if ``upper``, its adjoint, from the upper triangle of x.

    dx = l^-H s l^-1, where s has the lower triangle of l^H g, halved, in both triangles.
    LinAlgError, or NaN if not to ``check``, where x is not positive-definite.
    """
    return xp.linalg.cholesky(x, upper=upper, check=check)


def _cholesky_slope(xp, g, out, upper):
    l, g = (adjoint(xp, out), adjoint(xp, g)) if upper else (out, g)
    s = xp.tril(xp.matmul(adjoint(xp, l), g), k=0)
    s = (s + adjoint(xp, xp.tril(s, k=-1))) / 2
    lh = adjoint(xp, l)
    half = solve_triangular(lh, s, upper=True)
    return adjoint(xp, solve_triangular(lh, adjoint(xp, half), upper=True))


cholesky.vjp(x=_cholesky_slope)


@op(direct=True, complex="holomorphic", several=True, node="LinalgLuFactorExBackward0", samples=_ANY)
def lu_factor(xp, x):
    """x = p l u packed as l - 1 + u, LAPACK's row swaps (from 1), and the rows of l u that make x."""
    return list(xp.linalg.lu_factor(x))


def _lu_slope(xp, g, x_shape, out):
    """With l and u the square corners, g_l and g_u of all: l^-T (tril(l^T g_l - ...) + triu(g_u u^T - ...)) u^-T."""
    m, n = x_shape[-2:]
    k = min(m, n)
    lu, _, rows = out
    g = g[0]
    lt = transposed(xp, lu[..., :k, :k])
    upper, lower = xp.triu(lu[..., :k, :], k=0), lu[..., k:, :k]
    ut = transposed(xp, upper)
    corner = g[..., :k, :k]
    gl, gu = xp.tril(corner, k=-1), xp.triu(g[..., :k, :], k=0)
    below = gl + xp.matmul(xp.triu(lt, k=1), gl) - xp.matmul(gu[..., k:], ut[..., k:, :])
    above = xp.matmul(gu[..., :k], ut[..., :k, :]) - xp.matmul(transposed(xp, lower), g[..., k:, :k])

    def right(y):  # y u^-T
        return transposed(xp, solve_triangular(upper[..., :k], transposed(xp, y), upper=True))

    inner = right(xp.tril(below, k=-1) + xp.triu(above, k=0))
    top = xp.concat([inner, g[..., :k, k:]], axis=-1)
    top = solve_triangular(lt, top, upper=True, unitriangular=True)
    whole = xp.concat([top, right(g[..., k:, :k])], axis=-2) if m > n else top
    return xp.take_along_axis(whole, xp.broadcast_to(rows[..., None], x_shape), axis=len(x_shape) - 2)


lu_factor.vjp(x=_lu_slope)


@builtin(complex="general", several=True, node="LinalgQrBackward0",
         samples=[Sample(*s.arrays, mode="reduced") for s in _TALL])  # fmt: skip
def qr(xp, x, *, mode="reduced"):
    """x = q r with q^H q = 1 and r upper triangular, for x with at least as many rows as columns.

    dx = (g_q + q s) r^-H, where s is the Hermitian matrix with the upper triangle of g_r r^H - q^H g_q.
    Without derivative if ``mode`` is "complete" and x not square: the additional columns of q are arbitrary; and where
    the columns of x are dependent (LinAlgError).
    """
    return list(xp.linalg.qr(x, mode=mode))


def _qr_slope(xp, g, x_shape, out, mode):
    if mode == "complete" and x_shape[-2] > x_shape[-1]:
        raise RuntimeError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols")
    q, r = out[0], full_rank(out[1])
    gq, gr = g
    s = xp.triu(xp.matmul(gr, adjoint(xp, r)) - xp.matmul(adjoint(xp, q), gq), k=0)
    s = s + adjoint(xp, s) - diag(real_part(xp, _diagonal(xp, s)))
    return adjoint(xp, solve_triangular(r, adjoint(xp, gq + xp.matmul(q, s)), upper=True))


qr.vjp(x=_qr_slope)


@op(direct=True, complex="general", several=True, node="LinalgEighBackward0")
def eigh(xp, x, *, uplo="L"):
    """Eigenvalues l in ascending order and eigenvectors v, as columns, of Hermitian x: x v = v diag(l).

    dx = v (w_ij / (l_j - l_i) + diag(g_l)) v^H, where w is the skew-Hermitian part of v^H g_v.
    """
    return list(xp.linalg.eigh(x, uplo=uplo))


def _eigh_slope(xp, g, out, reached):
    values, vectors = out
    if 1 in reached:
        values = distinct(values, used=lambda: reached.entries(1).any(-2), of="linalg.eigh")
    inner = diag(level(g[0], values, of="linalg.eigh"))
    if 1 in reached:
        skew = xp.matmul(adjoint(xp, vectors), _unphased(xp, g[1], vectors, "linalg.eigh"))
        inner = inner + _by_gap(xp, (skew - adjoint(xp, skew)) / 2, values)
    return xp.matmul(xp.matmul(vectors, inner), adjoint(xp, vectors))


eigh.vjp(x=_eigh_slope)


@op(direct=True, complex="general", node="LinalgEigvalshBackward0")
def eigvalsh(xp, x, *, uplo="L"):
    """Eigenvalues of Hermitian x in ascending order, dx = v diag(g) v^H."""
    return xp.linalg.eigvalsh(x, uplo=uplo)


def _eigvalsh_slope(xp, g, x, uplo):
    values, vectors = eigh(x, uplo=uplo)
    g = level(g, values, of="linalg.eigh")
    return xp.matmul(vectors * g[..., None, :], adjoint(xp, vectors))


eigvalsh.vjp(x=_eigvalsh_slope)


@op(direct=True, complex="general", several=True, node="LinalgEigBackward0")
def eig(xp, x):
    """Complex eigenvalues l and eigenvectors v of length 1, as columns: x v = v diag(l).

    dx = v^-H (w_ij / conj(l_j - l_i) + diag(g_l)) v^H, where w is v^H g_v without what changes the vectors' lengths.
    """
    return list(xp.linalg.eig(x))


def _eig_slope(xp, g, x, out, reached):
    values, vectors = out
    if 1 not in reached:
        return _of_eigenvalues(xp, g[0], x, values, vectors)
    values = distinct(values, used=lambda: reached.entries(1).any(-2), of="linalg.eig")
    vh = adjoint(xp, vectors)
    inner = xp.matmul(vh, _unphased(xp, g[1], vectors, "linalg.eig"))
    inner = inner - xp.matmul(vh, vectors * xp.real(_diagonal(xp, inner))[..., None, :])
    inner = _by_gap(xp, inner, xp.conj(values)) + diag(level(g[0], values, of="linalg.eig"))
    dx = solve(vh, xp.matmul(inner, vh))
    return dx if is_complex(xp, x) else xp.real(dx)


def _of_eigenvalues(xp, g, x, values, vectors):
    vh, one = adjoint(xp, independent(vectors, values, of="linalg.eig")), g[..., : min(1, g.shape[-1])]
    # Vectors of equal g cancel: with one of g taken out their own cotangents are 0, and not rounding that has phases.
    dx = solve(vh, (level(g, values, of="linalg.eig") - one)[..., None] * vh) + diag(one + xp.zeros_like(g))
    return dx if is_complex(xp, x) else xp.real(dx)


eig.vjp(x=_eig_slope)


@op(direct=True, complex="general", node="LinalgEigvalsBackward0")
def eigvals(xp, x):
    """Complex eigenvalues, dx = v^-H diag(g) v^H."""
    return xp.linalg.eigvals(x)


def _eigvals_slope(xp, g, x):
    return _of_eigenvalues(xp, g, x, *eig(x))


eigvals.vjp(x=_eigvals_slope)


@op(direct=True, complex="general", several=True, node="LinalgSvdBackward0", samples=_ANY)
def svd(xp, x, *, full_matrices=False):
    """x = u diag(s) v^H: singular values in descending order, left vectors as columns of u, right ones as rows of v^H.

    With d_u = u^H g_u - g_u^H u, d_v likewise, dx = u (d_u / e s + s d_v / e + diag(g_s)) v^H, e_ij = s_j**2 - s_i**2,
    and what g_u, g_v have outside the spans of u, v, over s. Vectors past the shorter side, which are any basis of
    their space, have the derivative of what they span.
    """
    return list(xp.linalg.svd(x, full_matrices=full_matrices))


def _svd_slope(xp, g, x_shape, out, reached):
    whole, s, wholeh = out
    k, mm = s.shape[-1], xp.matmul
    u, vh = whole[..., :k], wholeh[..., :k, :]
    if 0 not in reached and 2 not in reached:
        return mm(u * level(g[1], s, of="linalg.svd")[..., None, :], vh)
    s = _distinct_singular(xp, s, x_shape, reached)
    gu, gs, gvh = g[0][..., :k], level(g[1], s, of="linalg.svd"), g[2][..., :k, :]
    uh, v, divisor = adjoint(xp, u), adjoint(xp, vh), _divisor(xp, s)
    row, column = divisor[..., None, :], divisor[..., :, None]
    if is_complex(xp, u):  # they turn together
        both = _unphased(xp, xp.concat([gu, adjoint(xp, gvh)], axis=-2), xp.concat([u, v], axis=-2), "linalg.svd")
        gu, gvh = both[..., : x_shape[-2], :], adjoint(xp, both[..., x_shape[-2] :, :])
    du, dv = mm(uh, gu), mm(vh, adjoint(xp, gvh))
    du, dv = du - adjoint(xp, du), dv - adjoint(xp, dv)
    both = _divisor(xp, s[..., None, :] + s[..., :, None])  # no squares, which may be out of range
    inner = (_by_gap(xp, du, s) * s[..., None, :] + s[..., :, None] * _by_gap(xp, dv, s)) / both + diag(gs)
    if is_complex(xp, u):
        inner = inner + diag(_diagonal(xp, du) / (2 * divisor))
    dx = mm(mm(u, inner), vh)
    if x_shape[-2] > k:
        outside = gu / row
        dx = dx + mm(outside - mm(u, mm(uh, outside)), vh)
    if whole.shape[-1] > k:
        past = whole[..., k:]
        dx = dx - mm(mm(past, mm(adjoint(xp, turnable(past, g[0][..., k:])), u) / row), vh)
    if x_shape[-1] > k:
        outside = gvh / column
        dx = dx + mm(u, outside - mm(mm(outside, v), vh))
    if wholeh.shape[-2] > k:
        past = adjoint(xp, wholeh[..., k:, :])
        slopes = turnable(past, adjoint(xp, g[2][..., k:, :]))
        dx = dx - mm(u, mm(mm(vh, slopes) / column, adjoint(xp, past)))
    return dx


def _distinct_singular(xp, s, x_shape, reached):
    """The singular values, `distinct`; the vectors of the longer side have values of 0 beside them."""
    k = s.shape[-1]

    def left():
        return reached.entries(0).any(-2)

    def right():
        return reached.entries(2).any(-1)

    s = distinct(s, used=lambda: left()[..., :k] | right()[..., :k], of="linalg.svd")
    if x_shape[-2] == x_shape[-1]:
        return s
    zero = xp.zeros_like(s, shape=(*s.shape[:-1], 1))
    used = left if x_shape[-2] > k else right
    return distinct(xp.concat([s, zero], axis=-1), used=used, of="linalg.svd")[..., :k]


svd.vjp(x=_svd_slope)


@builtin(complex="general", node="LinalgSvdvalsBackward0", samples=_ANY)
def svdvals(xp, x):
    """Singular values in descending order, dx = u diag(g) v^H."""
    return xp.linalg.svdvals(x)


def _svdvals_slope(xp, g, x):
    u, s, vh = svd(x, full_matrices=False)
    return xp.matmul(u * level(g, s, of="linalg.svd")[..., None, :], vh)


svdvals.vjp(x=_svdvals_slope)


@op(direct=True, several=True, complex="general", node="LinalgLdlFactorExBackward0")
def ldl_factor(xp, x, *, hermitian):
    """x = l d l^T (l^H if ``hermitian``) packed in one, LAPACK's pivots, 0 or the first zero of d. No derivative."""
    return list(xp.linalg.ldl_factor(x, hermitian=hermitian))


@op(direct=True, complex="general", node="LinalgLdlSolveBackward0")
def ldl_solve(xp, x, pivots, y, *, hermitian):
    """The solution z of a z = y from `ldl_factor`'s result. No derivative."""
    return xp.linalg.ldl_solve(x, pivots, y, hermitian=hermitian)


def _no_slope(xp, g):
    raise NotImplementedError("linalg.ldl_factor and linalg.ldl_solve have no derivative")


ldl_factor.vjp(x=_no_slope)
ldl_solve.vjp(x=_no_slope, y=_no_slope)
