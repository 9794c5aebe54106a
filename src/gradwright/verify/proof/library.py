"""python-flint, which computes with balls: a midpoint and a radius, rounded outwards in every operation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

try:
    import flint
except ImportError as e:
    raise ImportError("gradwright.verify.proof needs python-flint: pip install python-flint", name="flint") from e

__all__ = ["flint", "order", "working"]


@contextmanager
def working(*, bits: int, order: int = 0) -> Iterator[None]:
    """Compute with so many bits, and with series up to t**``order``; python-flint keeps both for the whole process."""
    before = flint.ctx.prec, flint.ctx.cap
    flint.ctx.prec, flint.ctx.cap = bits, order + 1
    try:
        yield
    finally:
        flint.ctx.prec, flint.ctx.cap = before


def order() -> int:
    """The highest power of t that series have here."""
    return int(flint.ctx.cap) - 1
