"""Points without a derivative: where one-sided slopes differ (a kink), or grow as the step shrinks (a jump)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from gradwright.verify.gradcheck.settings import Settings
from gradwright.verify.numeric.differences import Differences, central, here
from gradwright.verify.numeric.jacobian import Matrix, Rows, Subject, rounding

_PART = 0.01
"""By which part of the larger slope the two must differ to count."""


class Corners(NamedTuple):
    """Of one output by some coordinates of an input.

    Attributes:
        kink, jump: which entries are such, a row for each of the coordinates.
        left, right: the one-sided slopes.
    """

    kink: Matrix
    jump: Matrix
    left: Matrix
    right: Matrix


def suspects(d: Differences, at: Sequence[Any], steps: Matrix, settings: Settings) -> Matrix:
    """The coordinates at which some output bends so much that there may be a kink."""
    found = np.zeros(steps.shape, bool)
    with np.errstate(all="ignore"):
        for a, u, v, slope in zip(at, d.up, d.down, d.slopes, strict=True):
            bend = here(u) + here(v)
            bend -= 2 * here(a)
            bend = np.abs(bend)
            limit = steps * settings.atol
            rows = np.flatnonzero((bend > limit[:, None]).any(axis=1))
            if rows.size:
                steep = np.abs(slope[rows]) + bend[rows] / steps[rows, None]
                found[rows] |= (bend[rows] > steps[rows, None] * (settings.atol + _PART * steep)).any(axis=1)
    return np.flatnonzero(found)


def corners(subject: Subject, x: Any, rows: Rows, at: Sequence[Any], steps: Matrix,
            settings: Settings) -> list[Corners]:
    """For each output which of its entries have a kink or a jump where ``x`` is, by these coordinates.

    Over a kink the two slopes differ by as much whatever the step; where the function is smooth, by as little as the
    step is short. Over a jump they grow as the step shrinks.
    """
    steps = steps[np.asarray(rows, np.intp)]
    with np.errstate(all="ignore"):
        scales = [central(subject, x, steps * s, rows) for s in (0.25, 1.0, 4.0)]
        sides = [d.one_sided(at) for d in scales]
        return [_corner([s[k] for s in sides], scales[0], k, a, settings) for k, a in enumerate(at)]


def _corner(sides: Sequence[tuple[Matrix, Matrix]], near: Differences, k: int, at: Any, settings: Settings) -> Corners:
    least = np.minimum(near.ahead, near.behind)[:, None]
    size = np.maximum(np.abs(here(near.up[k])), np.abs(here(at)))
    noise = 8 * rounding(near.up[k].dtype) * size / least
    left, right = sides[0]
    gaps = [np.abs(r - l) for l, r in sides]
    steep = np.maximum(np.abs(left), np.abs(right))
    big = np.isfinite(gaps[0]) & (gaps[0] > settings.atol + _PART * steep + noise)
    ratios = [a / b for a, b in pairwise(gaps)]
    kink = big & np.logical_and.reduce([(r > 0.6) & (r < 1.7) for r in ratios])
    growth = [a / b for a, b in pairwise([np.maximum(np.abs(l), np.abs(r)) for l, r in sides])]
    jump = np.logical_and.reduce([(r > 3) & (r < 5) for r in growth]) & (steep > 10 * noise)
    return Corners(kink, jump, left, right)
