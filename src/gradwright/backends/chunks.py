"""Long elementwise computations in NumPy, a piece of the array at a time: what a piece needs stays in the cache."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

_CHUNK = 32768


def in_chunks(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """``kernel``, a function of arrays entry by entry whose result has the dtype of the first, run piece by piece."""

    @wraps(kernel)
    def call(*arrays: Any) -> Any:
        first = arrays[0]
        size, shape = first.size, first.shape
        if size <= _CHUNK or any(a.shape != shape or not a.flags.c_contiguous for a in arrays):
            return kernel(*arrays)
        out = np.empty(shape, first.dtype)
        flat, *parts = (a.reshape(-1) for a in (out, *arrays))
        for start in range(0, size, _CHUNK):
            piece = slice(start, start + _CHUNK)
            flat[piece] = kernel(*[p[piece] for p in parts])
        return out

    return call


def in_single(reference: Callable[..., Any], types: str = "f") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The kernel for more than a few float32 numbers, in chunks; ``reference`` for whatever else there is.

    What float64 arrays are given, if it is always that, is the kernel's ``in_double``.
    """

    def declare(kernel: Callable[..., Any]) -> Callable[..., Any]:
        quick = in_chunks(kernel)

        @wraps(kernel)
        def call(*arrays: Any) -> Any:
            if all(a.dtype.char in types and a.size > 64 for a in arrays):
                return quick(*arrays)
            return reference(*arrays)

        vars(call)["in_double"] = None if "d" in types else reference
        return call

    return declare


def horner(t: Any, coefficients: tuple[float, ...]) -> Any:
    """The polynomial in t with these coefficients, the constant one first."""
    p = np.asarray(t * coefficients[-1])
    for c in coefficients[-2:0:-1]:
        p += c
        p *= t
    p += coefficients[0]
    return p


def with_sign(size: Any, x: Any) -> Any:
    """``size``, float32 numbers that are written over, with the sign of ``x`` where they have none."""
    bits = size.view(np.int32)
    bits |= x.view(np.int32) & np.int32(-(2**31))
    return size
