"""How fast a weighted sum of outputs grows along one direction in all inputs at once, by finite differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np

from gradwright.verify.numeric.jacobian import Subject, here, movable, rounding

LEVELS = 8
"""How many steps are tried, each half the one before."""
_LAST = 0.1 / 2**7


class Slope(NamedTuple):
    """A directional derivative.

    Attributes:
        value, bar: it, and how far it may be off.
        bent: whether there is a kink.
        last: the difference with the shortest step.
    """

    value: float
    bar: float
    bent: bool
    last: float


def slope_along(
    subject: Subject, u: Sequence[Any], v: Sequence[Any], levels: int = LEVELS, enough: float = 0.0
) -> Slope:
    """The derivative of ``v . outputs`` along ``u``, extrapolated from central differences.

    ``u`` has for each input a row with how far to go by each coordinate, ``v`` an array of weights for each output. The
    steps are halved until the value is known to within ``enough``, or that often.
    """
    with ExitStack() as stack, np.errstate(all="ignore"):
        arrays = [stack.enter_context(movable(x)) for x in subject.varied]
        start = [a.copy() for a in arrays]
        for a, at in zip(arrays, start, strict=True):
            stack.callback(a.__setitem__, ..., at)
        ways = [_shaped(d, a) for d, a in zip(u, arrays, strict=True)]
        weights = [np.conj(here(w.reshape(-1))) for w in v]

        def value(t: float) -> tuple[float, float]:
            """The weighted sum with the inputs so far away, and what rounding may do to it."""
            for a, at, way in zip(arrays, start, ways, strict=True):
                np.copyto(a, at + t * way, casting="unsafe")
            total, size = 0.0, 0.0
            for o, w in zip(subject.values(), weights, strict=True):
                terms = w * o.reshape(-1)
                total += float(terms.real.sum())
                size += rounding(o.dtype) * float(np.linalg.norm(terms))
            return total, size

        return _extrapolated(value, levels, enough)


def _extrapolated(value: Callable[[float], tuple[float, float]], levels: int, enough: float) -> Slope:
    middle, _ = value(0.0)
    found, bar, far, near, rough = 0.0, np.inf, 0.0, 0.0, 0.0
    before: list[float] = []
    for k, t in enumerate(_LAST * 2.0 ** np.arange(levels)[::-1]):
        (up, size), (down, _) = value(t), value(-t)
        row = [(up - down) / (2 * t)]
        far, near, rough = near, abs(up + down - 2 * middle) / t, size / t
        for j, corner in enumerate(before):
            better = row[j] + (row[j] - corner) / (4.0 ** (j + 1) - 1)
            off = max(abs(better - row[j]), abs(better - corner)) + rough
            if off < bar:
                found, bar = better, off
            row.append(better)
        before = row
        if k > 1 and 4 * bar <= enough:
            break
    bent = near > 8 * rough and near > 1e-4 * abs(found) and near > 0.6 * far
    return Slope(found, 4 * bar, bent, before[0])


def _shaped(way: Any, array: Any) -> Any:
    """A row of coordinates as an array."""
    n = array.size
    return (way[:n] + 1j * way[n:] if array.dtype.kind == "c" else way).reshape(array.shape)
