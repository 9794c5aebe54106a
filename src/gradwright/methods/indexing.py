"""Methods that read and write by index."""

from __future__ import annotations

from gradwright.face import indexing as i
from gradwright.face import scatter as s
from gradwright.face.forms import inplace


class Indexing:
    """Methods that read and write by index."""

    __slots__ = ()

    nonzero, nonzero_static, argwhere = i.nonzero, i.nonzero_static, i.argwhere
    copy_, fill_, zero_, fill_diagonal_, is_nonzero = i.copy_, i.fill_, i.zero_, i.fill_diagonal_, i.is_nonzero
    masked_select, take, take_along_dim = i.masked_select, i.take, i.take_along_dim
    index_put, masked_scatter, put = i.index_put, i.masked_scatter, i.put
    index_put_, masked_scatter_, put_ = i.index_put_, inplace(i.masked_scatter), inplace(i.put)
    gather, index_select = s.gather, s.index_select
    scatter, scatter_add, scatter_reduce = s.scatter, s.scatter_add, s.scatter_reduce
    scatter_, scatter_add_, scatter_reduce_ = (inplace(f) for f in (s.scatter, s.scatter_add, s.scatter_reduce))
    index_add, index_copy, index_fill, index_reduce = s.index_add, s.index_copy, s.index_fill, s.index_reduce
    index_add_, index_copy_, index_fill_, index_reduce_ = (
        inplace(f) for f in (s.index_add, s.index_copy, s.index_fill, s.index_reduce)
    )
