"""Choosing entries in NumPy: its `where` takes one branch an entry, which a random condition makes ten times slower."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwright.backends.chunks import in_chunks

_SMALL = 4096
_BITS = {np.dtype(f"f{n}"): np.dtype(f"i{n}") for n in (2, 4, 8)}


def where(condition: Any, x: Any, y: Any) -> Any:
    """``x`` where the condition holds, ``y`` elsewhere: of many floats by their bits, with no branch, NaN and all."""
    bits = _BITS.get(x.dtype)
    if bits is None or condition.size < _SMALL or y.dtype != x.dtype or condition.dtype != bool:
        return np.where(condition, x, y)
    if y.shape == condition.shape and x.shape in ((), y.shape) and not condition.any():  # as most that mend a pole
        return y.copy(order="K")
    a, b = np.asarray(x).view(bits), np.asarray(y).view(bits)
    if b.ndim == 0 and b == 0:
        return (a & _mask(condition)).view(x.dtype)
    if a.ndim == 0 and a == 0:
        return (b & ~_mask(condition)).view(x.dtype)
    return _either(a, b, condition).view(x.dtype)


def _mask(condition: Any) -> Any:
    """-1, all ones, where the condition holds."""
    return np.negative(condition.view(np.int8))


@in_chunks
def _either(a: Any, b: Any, condition: Any) -> Any:
    out = (a ^ b) & _mask(condition)
    out ^= b
    return out
