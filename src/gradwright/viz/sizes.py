"""When a gradient is too small or too large to be trained with: one rule, for pages and plots."""

from __future__ import annotations

import math
from typing import Literal

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
