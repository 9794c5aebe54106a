"""Methods that reduce, sort or scan."""

from __future__ import annotations

from gradwright.face import reduce as r


class Reductions:
    """Methods that reduce, sort or scan."""

    __slots__ = ()

    sum, mean, prod, amax, amin, max, min = (
        r.sum, r.mean, r.prod, r.amax, r.amin, r.max, r.min,
    )  # fmt: skip
    var, std, logsumexp, norm, cumsum = r.var, r.std, r.logsumexp, r.norm, r.cumsum
    any, all, argmax, argmin, argsort = r.any, r.all, r.argmax, r.argmin, r.argsort
    sort, topk, softmax, log_softmax = r.sort, r.topk, r.softmax, r.log_softmax
