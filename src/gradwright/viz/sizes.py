"""How large gradients are, and when that is too small or too large to be trained with: one rule for pages and plots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from gradwright.backends import to_host

VANISHING = 1e-6
EXPLODING = 1e3
"""Bounds for the root mean square of a gradient's entries. Between them a step with a usual learning rate (1e-4 to 1)
moves weights of usual size (around 0.1) by more than rounding in float32, and by less than throws them away."""

Judgement = Literal["vanishing", "exploding", "zero", "not finite", ""]


def judged(rms: float) -> Judgement:
    """What is to be said of a gradient with this root mean square; ``""`` if it is as it should be.

    >>> judged(1e-9), judged(0.1)
    ('vanishing', '')
    """
    if not math.isfinite(rms):
        return "not finite"
    if rms == 0:
        return "zero"
    return "vanishing" if rms < VANISHING else "exploding" if rms > EXPLODING else ""


def magnitude(gradients: Sequence[Any]) -> tuple[float, float] | None:
    """The Euclidean norm and the root mean square of gradients, taken together; None if there is nothing in them."""
    largest, squares, count = 0.0, 0.0, 0
    with np.errstate(all="ignore"):
        values = [np.abs(to_host(getattr(g, "array", g))) for g in gradients if g is not None]
        values = [v.astype(np.float64) if v.dtype.kind == "V" else v for v in values if v.size]
        if not values:
            return None
        largest = max(float(v.max()) for v in values)
        if not 0 < largest < np.inf:
            largest = next((m for v in values if np.isnan(m := float(v.max()))), largest)
            return largest, largest
        for v in values:
            scaled = v.astype(np.float64) / largest
            squares += float((scaled * scaled).sum())
            count += v.size
    return largest * squares**0.5, largest * (squares / count) ** 0.5
