"""Methods that rearrange, index, reduce, multiply matrices, or are special or complex functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwright.face.functions import complex as z
from gradwright.face.functions import diagonal as d
from gradwright.face.functions import differences, distance, histogram, sets
from gradwright.face.functions import indexing as i
from gradwright.face.functions import join as j
from gradwright.face.functions import order as o
from gradwright.face.functions import rearrange as a
from gradwright.face.functions import reduce as r
from gradwright.face.functions import scan as c
from gradwright.face.functions import scatter as w
from gradwright.face.functions import shape as s
from gradwright.face.functions import special as f
from gradwright.face.functions import statistics as q
from gradwright.face.functions import views as v
from gradwright.face.functions.algebra import householder as h
from gradwright.face.functions.algebra import lapack as k
from gradwright.face.functions.algebra import linalg as m
from gradwright.face.functions.algebra import products as p
from gradwright.face.functions.algebra import spectral
from gradwright.face.functions.forms import attribute, inplace

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor


class Families:
    """Methods of each family of functions but the elementwise."""

    __slots__ = ()

    # shapes and views
    T, mT, H, mH = map(attribute, (s.T, s.mT, s.H, s.mH))  # noqa: N815
    reshape, view, view_as, reshape_as = s.reshape, s.view, s.view_as, s.reshape_as
    permute, transpose, swapaxes, swapdims, t, adjoint = s.permute, s.transpose, s.swapaxes, s.swapdims, s.t, s.adjoint
    movedim, moveaxis, clone, contiguous = s.movedim, s.moveaxis, s.clone, v.contiguous
    expand, expand_as, broadcast_to, sum_to_size = s.expand, s.expand_as, s.broadcast_to, s.sum_to_size
    squeeze, unsqueeze, flatten, ravel, unflatten = s.squeeze, s.unsqueeze, s.flatten, s.ravel, s.unflatten
    squeeze_, unsqueeze_, transpose_, swapaxes_, swapdims_, t_ = (
        s.rearranging(f) for f in (s.squeeze, s.unsqueeze, s.transpose, s.swapaxes, s.swapdims, s.t)
    )
    split, split_with_sizes, tensor_split = j.split, j.split_with_sizes, j.tensor_split
    hsplit, vsplit, dsplit, chunk, unbind = j.hsplit, j.vsplit, j.dsplit, j.chunk, j.unbind
    unsafe_split, unsafe_split_with_sizes, unsafe_chunk = j.unsafe_split, j.unsafe_split_with_sizes, j.unsafe_chunk
    flip, fliplr, flipud, roll, rot90 = a.flip, a.fliplr, a.flipud, a.roll, a.rot90
    repeat, tile, repeat_interleave = a.repeat, a.tile, a.repeat_interleave
    tril, triu, diag, diagonal, diag_embed, diagflat, trace = (
        d.tril, d.triu, d.diag, d.diagonal, d.diag_embed, d.diagflat, d.trace,
    )  # fmt: skip
    tril_, triu_ = inplace(d.tril), inplace(d.triu)
    narrow, narrow_copy, select, unfold, as_strided, as_strided_, alias = (
        v.narrow, v.narrow_copy, v.select, v.unfold, v.as_strided, v.as_strided_, v.alias,
    )  # fmt: skip
    select_scatter, slice_scatter, diagonal_scatter, as_strided_scatter = (
        v.select_scatter, v.slice_scatter, v.diagonal_scatter, v.as_strided_scatter,
    )  # fmt: skip
    resize_, resize_as_, set_, storage_offset = v.resize_, v.resize_as_, v.set_, v.storage_offset

    # reading and writing by index
    nonzero, nonzero_static, argwhere = i.nonzero, i.nonzero_static, i.argwhere
    copy_, fill_, zero_, fill_diagonal_, is_nonzero = i.copy_, i.fill_, i.zero_, i.fill_diagonal_, i.is_nonzero
    masked_select, take, take_along_dim = i.masked_select, i.take, i.take_along_dim
    index_put, masked_scatter, put = i.index_put, i.masked_scatter, i.put
    index_put_, masked_scatter_, put_ = i.index_put_, inplace(i.masked_scatter), inplace(i.put)
    gather, index_select = w.gather, w.index_select
    scatter, scatter_add, scatter_reduce = w.scatter, w.scatter_add, w.scatter_reduce
    scatter_, scatter_add_, scatter_reduce_ = inplace(w.scatter), inplace(w.scatter_add), inplace(w.scatter_reduce)
    index_add, index_copy, index_fill, index_reduce = w.index_add, w.index_copy, w.index_fill, w.index_reduce
    index_add_, index_copy_, index_fill_, index_reduce_ = (
        inplace(w.index_add), inplace(w.index_copy), inplace(w.index_fill), inplace(w.index_reduce),
    )  # fmt: skip

    # reductions, order, scans
    sum, nansum, mean, nanmean, prod = r.sum, r.nansum, r.mean, r.nanmean, r.prod
    max, min, amax, amin, aminmax, argmax, argmin = r.max, r.min, r.amax, r.amin, r.aminmax, r.argmax, r.argmin
    any, all, count_nonzero, norm, logsumexp = r.any, r.all, r.count_nonzero, r.norm, r.logsumexp
    softmax, log_softmax = r.softmax, r.log_softmax
    var, std, cov, corrcoef, quantile, nanquantile = q.var, q.std, q.cov, q.corrcoef, q.quantile, q.nanquantile
    sort, argsort, msort, topk, kthvalue = o.sort, o.argsort, o.msort, o.topk, o.kthvalue
    median, nanmedian, mode = o.median, o.nanmedian, o.mode
    cumsum, cumprod, cummax, cummin, logcumsumexp = c.cumsum, c.cumprod, c.cummax, c.cummin, c.logcumsumexp
    cumsum_, cumprod_ = inplace(c.cumsum), inplace(c.cumprod)
    diff, dist, renorm, renorm_ = differences.diff, distance.dist, distance.renorm, inplace(distance.renorm)
    histc, histogram, bincount = histogram.histc, histogram.histogram, sets.bincount
    unique, unique_consecutive = sets.unique, sets.unique_consecutive

    # linear algebra
    matmul, mm, mv, bmm, dot, outer, ger = m.matmul, m.mm, m.mv, m.bmm, m.dot, m.outer, m.ger
    addmm, addmv, addr, addbmm, baddbmm = m.addmm, m.addmv, m.addr, m.addbmm, m.baddbmm
    addmm_, addmv_, addr_, addbmm_, baddbmm_ = (
        inplace(m.addmm), inplace(m.addmv), inplace(m.addr), inplace(m.addbmm), inplace(m.baddbmm),
    )  # fmt: skip
    vdot, inner, kron, cross = p.vdot, p.inner, p.kron, p.cross
    det, slogdet, logdet, inverse, pinverse = k.det, k.slogdet, k.logdet, k.inverse, k.pinverse
    matrix_exp, matrix_power, triangular_solve = k.matrix_exp, k.matrix_power, k.triangular_solve
    cholesky, cholesky_inverse, cholesky_solve = k.cholesky, k.cholesky_inverse, k.cholesky_solve
    lu, lu_solve, qr, svd = k.lu, k.lu_solve, k.qr, k.svd
    geqrf, orgqr, ormqr = h.geqrf, h.orgqr, h.ormqr

    # special functions
    stft, istft = spectral.stft, spectral.istft
    erf, erfc, erfinv, lgamma, digamma, mvlgamma = f.erf, f.erfc, f.erfinv, f.lgamma, f.digamma, f.mvlgamma
    erf_, erfc_, erfinv_, lgamma_, digamma_, mvlgamma_ = (
        inplace(erf), inplace(erfc), inplace(erfinv), inplace(lgamma), inplace(digamma), inplace(mvlgamma),
    )  # fmt: skip
    igamma, igammac, i0, sinc, logit, xlogy = f.igamma, f.igammac, f.i0, f.sinc, f.logit, f.xlogy
    igamma_, igammac_, i0_, sinc_, logit_, xlogy_ = (
        inplace(igamma), inplace(igammac), inplace(i0), inplace(sinc), inplace(logit), inplace(xlogy),
    )  # fmt: skip

    def polygamma(self: Any, n: int) -> Tensor:
        """The n-th derivative of the digamma function."""
        return f.polygamma(n, self)

    polygamma_ = inplace(polygamma)

    # complex numbers
    angle, conj, conj_physical, isreal, is_complex = z.angle, z.conj, z.conj_physical, z.isreal, z.is_complex
    resolve_conj, resolve_neg, conj_physical_ = z.resolve_conj, z.resolve_neg, inplace(z.conj_physical)
    real, imag = attribute(z.real, writable=True), attribute(z.imag, writable=True)
