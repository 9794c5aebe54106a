"""Methods that reduce, sort or scan."""

from __future__ import annotations

from gradwright.face import differences, distance, histogram, sets
from gradwright.face import order as o
from gradwright.face import reduce as r
from gradwright.face import scan as c
from gradwright.face import statistics as s
from gradwright.face.forms import inplace


class Reductions:
    """Methods that reduce, sort or scan."""

    __slots__ = ()

    sum, nansum, mean, nanmean, prod = r.sum, r.nansum, r.mean, r.nanmean, r.prod
    max, min, amax, amin, aminmax, argmax, argmin = r.max, r.min, r.amax, r.amin, r.aminmax, r.argmax, r.argmin
    any, all, count_nonzero, norm, logsumexp = r.any, r.all, r.count_nonzero, r.norm, r.logsumexp
    softmax, log_softmax = r.softmax, r.log_softmax
    var, std, cov, corrcoef, quantile, nanquantile = s.var, s.std, s.cov, s.corrcoef, s.quantile, s.nanquantile
    sort, argsort, msort, topk, kthvalue = o.sort, o.argsort, o.msort, o.topk, o.kthvalue
    median, nanmedian, mode = o.median, o.nanmedian, o.mode
    cumsum, cumprod, cummax, cummin, logcumsumexp = c.cumsum, c.cumprod, c.cummax, c.cummin, c.logcumsumexp
    cumsum_, cumprod_ = inplace(c.cumsum), inplace(c.cumprod)
    diff, dist, renorm, renorm_ = differences.diff, distance.dist, distance.renorm, inplace(distance.renorm)
    histc, histogram, bincount = histogram.histc, histogram.histogram, sets.bincount
    unique, unique_consecutive = sets.unique, sets.unique_consecutive
