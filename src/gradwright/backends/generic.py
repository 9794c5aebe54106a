"""The functions that formulas use and the array API lacks, written with nothing but the standard: slow, and right.

A backend module takes from here what its library cannot do better. Writing at an index rests on one trick: reading the
positions 0, 1, 2, ... at that index says which entries it names.
"""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any


def zeros_like(xp: Any, x: Any, *, shape: Any = None) -> Any:
    """Zeros of the dtype and on the device of ``x``, of its shape unless another is named."""
    return xp.zeros(x.shape if shape is None else shape, dtype=x.dtype, device=x.device)


def ones_like(xp: Any, x: Any, *, shape: Any = None) -> Any:
    """Ones of the dtype and on the device of ``x``, of its shape unless another is named."""
    return xp.ones(x.shape if shape is None else shape, dtype=x.dtype, device=x.device)


def _positions(xp: Any, x: Any) -> Any:
    """For each entry of ``x`` its place in row-major order."""
    return xp.reshape(xp.arange(prod(x.shape), device=x.device), x.shape)


def _write(xp: Any, x: Any, value: Any, at: Any, *, accumulate: bool) -> Any:
    """``x`` with ``value`` written, or added, at the positions ``at``."""
    value = xp.reshape(xp.broadcast_to(xp.astype(value, x.dtype), at.shape), (-1, 1))
    hit = xp.reshape(at, (-1, 1)) == xp.reshape(_positions(xp, x), (1, -1))
    written = xp.reshape(xp.sum(xp.where(hit, value, xp.zeros_like(value)), axis=0), x.shape)
    return x + written if accumulate else xp.where(xp.reshape(xp.any(hit, axis=0), x.shape), written, x)


def put(xp: Any, x: Any, value: Any, *, key: Any, accumulate: bool = False) -> Any:
    """A copy of ``x`` in which ``x[key]`` is ``value``, or has ``value`` added (repeated indices add up)."""
    return _write(xp, x, value, _positions(xp, x)[key], accumulate=accumulate)


def scatter_add(xp: Any, x: Any, index: Any, src: Any, *, axis: int = 0) -> Any:
    """A copy of ``x`` with ``src`` added at ``index`` along ``axis``."""
    return _write(xp, x, src, xp.take_along_axis(_positions(xp, x), index, axis=axis), accumulate=True)


def write_view(xp: Any, base: Any, value: Any, *, read: Any) -> Any:
    """A copy of ``base`` in which the region that the view function ``read`` shows is ``value``."""
    return _write(xp, base, value, read(_positions(xp, base)), accumulate=False)


def einsum(xp: Any, *xs: Any, equation: str) -> Any:
    """The sum of products that ``equation`` names (``ij,jk->ik``: one letter an axis, none twice in one operand)."""
    operands, result = equation.split("->")
    terms = operands.split(",")
    letters = result + "".join(sorted(set(operands) - {*result, ","}))
    product: Any = None
    for term, x in zip(terms, xs, strict=True):
        size = dict(zip(term, x.shape, strict=True))
        ordered = xp.permute_dims(x, tuple(term.index(c) for c in letters if c in size))
        stretched = xp.reshape(ordered, tuple(size.get(c, 1) for c in letters))
        product = stretched if product is None else product * stretched
    return xp.sum(product, axis=tuple(range(len(result), len(letters))))


class Extended:
    """The namespace of an array library that keeps to the standard, with these functions added."""

    def __init__(self, xp: Any) -> None:
        self.__name__ = xp.__name__
        self._xp = xp
        for f in (einsum, ones_like, put, scatter_add, write_view, zeros_like):
            setattr(self, f.__name__, partial(f, xp))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._xp, name)

    def __repr__(self) -> str:
        return f"<array namespace {self.__name__}>"
