"""The derivative of a function along one way, as far as differences tell: within bounds, at a kink, under noise.

The steps start at a part of the size of what is moved. Where they do not come to an end, or say something else than the
derivative that is judged, much shorter ones are asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gradwright.verify.numeric.differences import converging, differences
from gradwright.verify.numeric.noise import CLOSE, noise

FIRST = 0.04
"""The first step, as a part of the size."""
LADDERS = ((FIRST, 6), (2e-4, 5), (1e-6, 4), (4e-9, 3))
"""First steps, and how often each is halved."""
_SHARP = 1e-8
"""Bars shorter than this part of the derivative are short enough."""
_AT = 1e-7
APART = (2e-5, 2.7e-5)
"""How far apart points are that show noise; two, as waves may be in step with one."""
_FREE = 2.0**-3
"""With room for this part of the first step to both sides, differences are central."""


class Slope(NamedTuple):
    """What was found along a way, entry by entry of the value.

    Attributes:
        value, bar: the derivative and how far it may be off; the bar is infinite where nothing was found.
        left, right: the slopes to either side with the shortest step; the same number to both sides of a bound.
        kinks: where these stay apart. leaps: where the value jumps, or has a pole.
        steps, ladder: the steps and the differences with each.
    """

    value: Any
    bar: Any
    left: Any
    right: Any
    kinks: Any
    leaps: Any
    steps: Any
    ladder: Any


class Way(NamedTuple):
    """A function of how far it is gone along a way.

    Attributes:
        there: from distances to how far it came, once rounded, and the values there.
        middle: the values at 0. down, up: how far it may go to either side. grain: the noise of each value.
    """

    there: Callable[[float], tuple[float, Any]]
    middle: Any
    down: float
    up: float
    grain: Any


def slope(way: Way, said: Any, scale: Any) -> Slope:
    """The derivative along a way, looked at as closely as it takes to tell it from what is ``said``.

    ``scale``: how large such derivatives are; what is known to a part of 1e-8 of it is known.
    """
    best = climb(way, *LADDERS[0], scale)
    known, confirmed = False, np.zeros(np.shape(best.value), bool)
    for first, levels in (*LADDERS[1:], (0.0, 0)):
        with np.errstate(all="ignore"):
            room = 5 * best.bar + 1e-7 * scale
            low, high = np.minimum(best.left, best.right) - room, np.maximum(best.left, best.right) + room
            agrees = np.where(best.kinks, (said.real >= low.real) & (said.real <= high.real),
                              np.abs(said - best.value) <= room)  # fmt: skip
            sharp = best.bar <= 100 * _SHARP * np.maximum(scale, np.abs(best.value))
            kinked = agrees & (first < _AT)  # nearer than that, it is at the point
        if not levels or np.where(best.kinks, kinked, sharp & (agrees | confirmed)).all():
            break
        nearest = climb(way, first, levels, scale)
        with np.errstate(all="ignore"):
            if not known and not (np.abs(best.value - nearest.value) <= 5 * (best.bar + nearest.bar)).all():
                way, known = way._replace(grain=_noise(way)), True  # before shorter steps are believed
                best, nearest = (s._replace(bar=np.maximum(s.bar, 2 * way.grain / s.steps[-1]))
                                 for s in (best, nearest))  # fmt: skip
            alike = np.abs(best.value - nearest.value) <= 5 * (best.bar + nearest.bar)
            tells = (5 * nearest.bar < np.abs(said - best.value)) | ~np.isfinite(said)
            confirmed = alike & (confirmed | tells)
        best = _better(best, nearest)
    told = agrees | confirmed | best.kinks  # what no shorter steps bear out is not known
    return best._replace(bar=np.where(told, best.bar, np.inf))


def _noise(way: Way) -> Any:
    """The noise of the values along a way, beside the point: to the quieter side, as there may be a kink on one."""
    reach = 2 * CLOSE * max(APART)
    found = [noise(partial(_beside, way, side), way.grain, [(h, (5, 6)) for h in APART])
             for side, room in ((1.0, way.up), (-1.0, way.down)) if room > reach and not np.iscomplexobj(way.middle)]
    return np.minimum.reduce(found) if found else way.grain


def _beside(way: Way, side: float, t: float) -> Any:
    """The values at a distance to one side, from a place a little to that side on."""
    return way.there(side * (t + CLOSE * max(APART)))[1]


def _better(a: Slope, b: Slope) -> Slope:
    """Of one and another with shorter steps what is known better; of two that differ, the one that is nearer."""
    with np.errstate(all="ignore"):
        torn = ~(np.abs(a.value - b.value) <= 5 * (a.bar + b.bar))
        near = b.bar <= np.maximum(np.abs(b.value), np.abs(a.value)) / 4
        take = np.isfinite(b.bar) & (np.isinf(a.bar) | np.where(torn, near, b.bar < a.bar))
    value, bar = (np.where(take, y, x) for x, y in zip(a[:2], b[:2], strict=True))
    left, right, kinks, leaps = (np.where(near, y, x) for x, y in zip(a[2:6], b[2:6], strict=True))
    steps, ladder = np.append(a.steps, b.steps), np.vstack((a.ladder, b.ladder))
    return Slope(value, bar, left, right, kinks, leaps, steps, ladder)


def climb(way: Way, first: float, levels: int, scale: Any) -> Slope:
    """What steps say that begin with ``first`` and shrink by halves, or by quarters where there is room on one side."""
    free = min(way.down, way.up) >= _FREE * first
    side = 1.0 if way.up >= way.down else -1.0
    first = min(first, min(way.down, way.up) if free else max(way.down, way.up))
    taken: list[tuple[float, Any, Any, Any]] = []

    def central(h: float) -> tuple[float, Any, Any, Any]:
        d = differences(lambda t: _rows(way, t), np.array([h]))
        left, right = d.one_sided([way.middle])[0]
        return float(d.ahead[0] + d.behind[0]), d.slopes[0][0], left[0], right[0]

    def aside(h: float) -> tuple[float, Any, Any, Any]:
        gone, values = way.there(side * h)
        with np.errstate(all="ignore"):
            to_it = (values - way.middle) / gone
        return abs(gone), to_it, to_it, to_it

    def ladder() -> Iterator[tuple[Any, Any]]:
        for k in range(levels):  # quarters of a step to one side leave errors as halves to both do
            taken.append(central(first / 2**k) if free else aside(first / 4**k))
            yield taken[-1][1], 4 * way.grain / taken[-1][0]

    start = value = np.zeros(way.middle.shape)
    bar = np.full(way.middle.shape, np.inf)
    with np.errstate(all="ignore"):
        for value, bar in converging(ladder(), start):
            if len(taken) > 2 and (bar <= _SHARP * np.maximum(scale, np.abs(value))).all():
                break
    kinks, leaps = _torn(taken, way.grain, scale)
    bar = np.where(np.isfinite(value), bar, np.inf)
    return Slope(np.where(np.isfinite(value), value, 0.0), bar, taken[-1][2], taken[-1][3], kinks, leaps,
                 np.array([t[0] / 2 for t in taken]), np.array([t[1] for t in taken]))  # fmt: skip


def _rows(way: Way, distances: Any) -> tuple[Any, list[Any]]:
    gone, values = way.there(float(distances[0]))
    return np.array([gone]), [values[None]]


def _torn(taken: list[tuple[float, Any, Any, Any]], grain: Any, scale: Any) -> tuple[Any, Any]:
    """Where the slopes to the two sides stay apart as steps shrink; and where they grow, as across a jump or pole."""
    if len(taken) < 3:
        nothing = np.zeros(np.shape(grain), bool)
        return nothing, nothing
    with np.errstate(all="ignore"):
        jumps = np.array([right - left for _, _, left, right in taken[-3:]])
        apart = np.abs(jumps[-1]) > 40 * grain / taken[-1][0] + 1e-5 * scale
        growth = np.abs(jumps[1:] / jumps[:-1])
        kinks = apart & (growth > 0.75).all(0) & (growth < 1.33).all(0)
        sizes = np.array([np.maximum(np.abs(left), np.abs(right)) for _, _, left, right in taken[-3:]])
        rises = sizes[1:] / sizes[:-1]
        steep = sizes[-1] > 40 * grain / taken[-1][0] + 1e-5 * scale
        leaps = steep & (rises > 1.3).all(0) & (np.abs(rises[1] - rises[0]) < 0.15 * rises[1])
    return kinks, leaps
