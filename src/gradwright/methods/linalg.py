"""Methods of linear algebra."""

from __future__ import annotations

from gradwright.face.algebra import householder as h
from gradwright.face.algebra import lapack as k
from gradwright.face.algebra import linalg as m
from gradwright.face.algebra import products as p
from gradwright.face.forms import inplace


class Products:
    """Methods of linear algebra."""

    __slots__ = ()

    matmul, mm, mv, bmm, dot, outer, ger = m.matmul, m.mm, m.mv, m.bmm, m.dot, m.outer, m.ger
    addmm, addmv, addr, addbmm, baddbmm = m.addmm, m.addmv, m.addr, m.addbmm, m.baddbmm
    addmm_, addmv_, addr_, addbmm_, baddbmm_ = map(inplace, (m.addmm, m.addmv, m.addr, m.addbmm, m.baddbmm))
    vdot, inner, kron, cross = p.vdot, p.inner, p.kron, p.cross
    det, slogdet, logdet, inverse, pinverse = k.det, k.slogdet, k.logdet, k.inverse, k.pinverse
    matrix_exp, matrix_power, triangular_solve = k.matrix_exp, k.matrix_power, k.triangular_solve
    cholesky, cholesky_inverse, cholesky_solve = k.cholesky, k.cholesky_inverse, k.cholesky_solve
    lu, lu_solve, qr, svd = k.lu, k.lu_solve, k.qr, k.svd
    geqrf, orgqr, ormqr = h.geqrf, h.orgqr, h.ormqr
