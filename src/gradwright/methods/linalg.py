"""Methods of linear algebra."""

from __future__ import annotations

from gradwright.face import linalg as m


class Products:
    """Methods of linear algebra."""

    __slots__ = ()

    matmul, mm, mv, bmm, dot, outer = m.matmul, m.mm, m.mv, m.bmm, m.dot, m.outer
