"""Methods that read and write by index."""

from __future__ import annotations

from gradwright.face import indexing as i
from gradwright.face.forms import inplace


class Indexing:
    """Methods that read and write by index."""

    __slots__ = ()

    gather, index_select, nonzero = i.gather, i.index_select, i.nonzero
    copy_, fill_, zero_ = i.copy_, i.fill_, i.zero_
    scatter_add = i.scatter_add
    scatter_add_ = inplace(i.scatter_add)
