"""How fast a weighted sum of outputs grows along one direction in all inputs at once, by finite differences."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np

from gradwright.autograd.jacobian import Subject, as_coordinates, here, movable, rounding

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


def slope_along(subject: Subject, u: Sequence[Any], v: Sequence[Any], levels: int = LEVELS) -> Slope:
    """The derivative of ``v . outputs`` along ``u``, extrapolated from central differences.

    ``u`` has for each input a row with how far to go by each coordinate, ``v`` an array of weights for each output.
    """
    middle, _ = _value(subject, u, v, 0.0)
    value, bar, gaps = 0.0, np.inf, []
    before: list[float] = []
    for t in _LAST * 2.0 ** np.arange(levels)[::-1]:
        (up, size), (down, _) = _value(subject, u, v, t), _value(subject, u, v, -t)
        row = [(up - down) / (2 * t)]
        gaps.append((abs(up + down - 2 * middle) / t, size / t))
        for j, corner in enumerate(before):
            better = row[j] + (row[j] - corner) / (4.0 ** (j + 1) - 1)
            off = max(abs(better - row[j]), abs(better - corner)) + size / t
            if off < bar:
                value, bar = better, off
            row.append(better)
        before = row
    (far, _), (near, rough) = gaps[-2:]
    bent = near > 8 * rough and near > 0.01 * abs(value) / 100 and near > 0.6 * far
    return Slope(value, 4 * bar, bent, before[0])


def _value(subject: Subject, u: Sequence[Any], v: Sequence[Any], t: float) -> tuple[float, float]:
    """``v . outputs`` with all inputs moved by ``t u``, and what rounding may do to it."""
    with ExitStack() as stack:
        for x, d in zip(subject.varied, u, strict=True):
            array = stack.enter_context(movable(x))
            stack.callback(array.__setitem__, ..., array.copy())
            array[...] = _moved(array, t * d)
        outs = [np.array(o) for o in subject.values()]
    total, size = 0.0, 0.0
    with np.errstate(all="ignore"):
        for o, w in zip(outs, v, strict=True):
            flat, weights = here(o.reshape(-1)), np.conj(w.reshape(-1))
            total += float((weights * flat).real.sum())
            size += rounding(o.dtype) * float(np.sqrt((np.abs(weights * flat) ** 2).sum()))
    return total, size


def _moved(array: Any, by: Any) -> Any:
    n = array.size
    if array.dtype.kind == "c":
        return (as_coordinates(array)[:n] + by[:n] + 1j * (as_coordinates(array)[n:] + by[n:])).reshape(array.shape)
    return (array.astype(np.float64) + by.reshape(array.shape)).astype(array.dtype)
