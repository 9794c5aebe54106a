"""Methods that are special functions."""

from __future__ import annotations


class Special:
    """Methods that are special functions."""

    __slots__ = ()
