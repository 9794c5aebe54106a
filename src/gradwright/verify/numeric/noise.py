"""How far rounding, or an iteration that stops at a tolerance, puts the values of a function off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import factorial
from typing import Any

import numpy as np

CLOSE = 6
"""How many steps the points of one spacing have between them."""


def noise(values: Callable[[float], Any], floor: Any, ladders: Sequence[tuple[float, Sequence[int]]]) -> Any:
    """The noise of each entry of ``values(t)`` about t = 0, as a standard deviation: at least ``floor``.

    The differences of high order of what is smooth vanish on points close together (Moré and Wild's ECnoise).
    ``ladders`` has for each spacing of the points the orders that are looked at. Of noise that is not finite, nothing
    is taken. Costs `CLOSE` + 1 calls for each spacing.
    """
    worst = floor
    for spacing, orders in ladders:
        found = np.array([values(spacing * (k - CLOSE / 2)) for k in range(CLOSE + 1)])
        for order in orders:
            with np.errstate(all="ignore"):
                gap = np.diff(found, order, axis=0)
                scale = factorial(order) ** 2 / factorial(2 * order)
                sizes = np.sqrt(scale * np.mean(gap**2, axis=0))
            worst = np.maximum(worst, np.where(np.isfinite(sizes), sizes, 0.0))
    return worst


def close(unit: float) -> list[tuple[float, tuple[int, ...]]]:
    """The spacings at which rounding shows, in units of the numbers moved, given that of their dtype."""
    return [(64 * unit, (2, 3, 4)), (max(unit**0.5, 64 * unit) / 8, (4, 5, 6))]
