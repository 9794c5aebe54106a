"""A gradient against differences along random directions, with an honest account of noise, rounding and kinks.

The outputs, weighted with fixed Gaussian numbers w and summed in float64, are a function of the inputs; backward gives
its gradient g. Along a direction u, Gaussian times the size s of an input, the difference between x + h u and x - h u
is compared with what g says of the very points that rounding has made of these. What is apart, over 2 h, tends with h
to <e, u>, e being the error of the gradient: a Gaussian of standard deviation s |e|, however e lies. If it is within t,
the chance of that is at most sqrt(2/pi) t / (s |e|), and of several directions the product (see `verify.chance`).

How far it may be off: noise of the values, measured on points close together (the differences of high order of what is
smooth vanish; Moré and Wild's ECnoise), over h; what neighbouring steps and the two sides differ by, which kinks make
as large as what they do to the slope; or, where the steps show a smooth function, an extrapolation to no step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from gradwright.verify.audit.rerun import Rerun
from gradwright.verify.chance import Sampled
from gradwright.verify.experiments import Trying
from gradwright.verify.numeric.again import Change
from gradwright.verify.numeric.differences import differences
from gradwright.verify.numeric.noise import CLOSE, close, noise

_FIRST = 2.0**-5


@dataclass(frozen=True)
class Slope:
    """What one direction says: how far backward is off, and how far that may be off; what the slope is, by g."""

    off: float
    bar: float
    said: float


@dataclass(frozen=True)
class Measured:
    """The findings on the gradient by one input, or by several at once.

    Attributes:
        names: of the inputs. sampled: what the directions say, in units of the gradient's length.
        length: of the gradient, times the size of the input; 0 if it is zero, and then the unit is 1.
        ratio: what the true gradient is over the one that backward gives, if that is one number; None if not.
        off: the error along the worst direction, in these units.
        own: whether each entry is weighted with its own size, not with that of the input.
    """

    names: tuple[str, ...]
    sampled: Sampled
    length: float
    ratio: float | None
    off: float
    own: bool = False

    @property
    def wrong(self) -> bool:
        """Whether the gradient is off."""
        return not self.sampled.agree


class Weighted:
    """The weighted sum of what a call returns, as a function of its leaves; and its gradient by backward.

    Attributes:
        gradient: for each leaf. rounding: how far rounding in backward has put it off.
        linear: whether backward is linear in its cotangent, up to rounding. tried: it, to be tried further.
    """

    def __init__(self, rerun: Rerun, generator: Any) -> None:
        outs = rerun.settle()
        self.rerun = rerun
        self.which = [k for k, o in enumerate(outs) if o.requires_grad]
        base = rerun.values(None, self.which)
        self.finite = [np.isfinite(b) for b in base]
        self.weights = [np.where(f, _gaussian(generator, b), 0) for f, b in zip(self.finite, base, strict=True)]
        self.base = [np.where(f, b, 0) for f, b in zip(self.finite, base, strict=True)]
        terms = [np.linalg.norm((w * b).reshape(-1)) for w, b in zip(self.weights, self.base, strict=True)]
        self.floor = rerun.unit * 0.3 * sqrt(sum(float(t) ** 2 for t in terms))
        weights = dict(zip(self.which, self.weights, strict=True))
        right = rerun.outcome(Change(cotangents=lambda k, like: weights[k]))
        self.gradient = right.gradients
        again = rerun.outcome(Change(cotangents=lambda k, like: -1.37 * weights[k])).gradients
        self.rounding = [a / -1.37 - g for a, g in zip(again, self.gradient, strict=True)]
        known = [(float(np.linalg.norm(r)), float(np.linalg.norm(g)))
                 for r, g in zip(map(np.ravel, self.rounding), map(np.ravel, self.gradient), strict=True)]  # fmt: skip
        self.linear = all(r <= max(1e-2, 64 * rerun.unit) * n for r, n in known)
        self.tried = Trying(rerun, right, [x.name for x in rerun.leaves], 0.0, max(1e-3, 64 * rerun.unit),
                            unit=rerun.unit, cotangents=lambda k, like: weights.get(k, np.zeros(1)))  # fmt: skip

    @property
    def at(self) -> list[Any]:
        """The places of the leaves."""
        return [leaf.base for leaf in self.rerun.leaves]

    def beyond(self, points: Sequence[Any]) -> float:
        """The function at other points, less its value here, less what the gradient says; NaN if it is not finite."""
        points = self.rerun.rounded(points)
        values = self.rerun.values(points, self.which)
        total = 0.0
        with np.errstate(all="ignore"):
            for v, b, w, f in zip(values, self.base, self.weights, self.finite, strict=True):
                if v.shape != b.shape:
                    return float("nan")
                total += _dot(w, np.where(f, v, 0) - b)
            for p, x, g in zip(points, self.at, self.gradient, strict=True):
                total -= _dot(g, np.where(p == x, 0, p - x))
        return total

    def along(self, u: Sequence[Any]) -> Callable[[float], float]:
        """`beyond` as a function of the way along a direction."""
        return lambda t: self.beyond([x + t * v for x, v in zip(self.at, u, strict=True)])


def measured(sum_of: Weighted, which: Sequence[int], directions: int, generator: Any) -> Measured | None:
    """The gradient by these leaves along so many directions; None if nothing finite was found.

    If steps leave where it is defined, entries are moved by a part of their own size each. An alarm is confirmed
    along three more; one that is alone counts for noise, and as much room is left to others.
    """
    leaves = [sum_of.rerun.leaves[k] for k in which]
    for own in (False, True):
        sizes = [0.1 * np.abs(leaf.base) if own else leaf.size for leaf in leaves]
        length, tolerance = (sqrt(sum(float(np.linalg.norm((size * x[k]).reshape(-1))) ** 2
                                      for k, size in zip(which, sizes, strict=True)))
                             for x in (sum_of.gradient, sum_of.rounding))  # fmt: skip
        tolerance = 8 * tolerance + 4 * sum_of.rerun.unit * length
        unit = length if length > 0 else 1.0
        slopes = _slopes(sum_of, dict(zip(which, sizes, strict=True)), directions, tolerance, generator)
        if slopes is not None:
            break
    else:
        return None
    alarms = [s for s in slopes if abs(s.off) > s.bar + tolerance]
    off = max(abs(s.off) for s in slopes)
    rooms = [(s.bar + max(tolerance + s.bar, abs(s.off) if len(alarms) == 1 else 0.0)) / unit for s in slopes]
    worst = max(abs(s.off) / (s.bar + tolerance or np.finfo(float).tiny) for s in slopes)
    sampled = Sampled(len(alarms) < 2, tuple(rooms), worst)
    ratio = _ratio(slopes) if sum(leaf.base.size for leaf in leaves) > 1 else None  # of one number it says nothing
    return Measured(tuple(leaf.name for leaf in leaves), sampled, length, ratio, off / unit, own)


def _slopes(sum_of: Weighted, sizes: dict[int, Any], directions: int, tolerance: float, generator: Any,
            ) -> list[Slope] | None:  # fmt: skip
    """What directions say that move each leaf as far; three more of them if there is an alarm."""
    grain = 0.0
    slopes: list[Slope] = []
    for n in range(directions + 3):
        if n >= directions and not any(abs(s.off) > s.bar + tolerance for s in slopes):
            break
        u = [sizes[k] * _gaussian(generator, leaf.base) if k in sizes else np.zeros_like(leaf.base)
             for k, leaf in enumerate(sum_of.rerun.leaves)]  # fmt: skip
        f = sum_of.along(u)
        grain = grain or float(noise(f, sum_of.floor, close(sum_of.rerun.unit)))
        if (found := _slope(f, grain, sum_of.rerun.unit)) is None:
            return None
        slopes.append(Slope(*found, sum(_dot(g, v) for g, v in zip(sum_of.gradient, u, strict=True))))
    return slopes


def _ratio(slopes: Sequence[Slope]) -> float | None:
    """What the slopes are over what backward says, if that is the same number for all."""
    known = [s for s in slopes if s.said and 8 * s.bar < abs(s.said)]
    if len(known) < 3:
        return None
    found = [1 + s.off / s.said for s in known]
    bars = [2 * s.bar / abs(s.said) for s in known]
    middle = float(np.median(found))
    alike = all(abs(r - middle) <= 1e-3 * abs(middle) + b for r, b in zip(found, bars, strict=True))
    return middle if alike and abs(middle) > 1e-3 else None


def _slope(f: Callable[[float], float], grain: float, unit: float) -> tuple[float, float] | None:
    """The derivative of ``f`` at 0, where it is 0, with a bar; None if nothing finite is found."""
    part, steps = _part(unit), _steps(unit)
    hs = np.array(steps)
    taken = differences(lambda ts: (ts, [np.array([[f(t)] for t in ts])]), hs)
    slopes, sides = taken.slopes[0][:, 0], np.abs(taken.up[0] + taken.down[0])[:, 0] / (2 * hs)
    good = np.isfinite(slopes) & np.isfinite(sides)
    if good.sum() < 2 or not good[-2:].all():
        return None
    hs, slopes, sides = hs[good], slopes[good], sides[good]
    bars = 4 * grain / hs
    changes = np.abs(np.diff(slopes))
    rough = np.maximum(sides, np.maximum(np.append(0.0, changes), np.append(changes, 0.0)))
    rough[:-1] = np.maximum(rough[:-1], sides[1:])
    found = [(float(v), float(b)) for v, b in zip(slopes, bars + 2 * rough, strict=True)]
    for i in range(2, len(hs)):
        first, second = slopes[i - 1] - slopes[i - 2], slopes[i] - slopes[i - 1]
        allowed = bars[i] + bars[i - 1] + bars[i - 2]
        even = abs(sides[i - 1] - part * sides[i]) <= 0.2 * sides[i - 1] + part * allowed
        if even and abs(first - part**2 * second) <= 0.3 * abs(first) + part**2 * allowed:
            better = slopes[i] + second / (part**2 - 1)
            before = slopes[i - 1] + first / (part**2 - 1)
            found.append((float(better), float(1.1 * bars[i] + 2 * abs(better - before) + abs(second) / part**2)))
    return min(found, key=lambda pair: pair[1])


def _part(unit: float) -> float:
    return 4.0 if unit > 1e-10 else 8.0


def _steps(unit: float) -> list[float]:
    """The steps that are tried, each a part of the one before."""
    last, part = max(unit**0.5, 1e-8) / 2, _part(unit)
    steps = [_FIRST]
    while steps[-1] > part * last or len(steps) < 3:
        steps.append(steps[-1] / part)
    return steps


def calls(directions: int, unit: float) -> int:
    """How many calls so many directions take."""
    return 2 * (CLOSE + 1) + directions * 2 * len(_steps(unit))


def _gaussian(generator: Any, like: Any) -> Any:
    values = generator.standard_normal(like.shape)
    return values + 1j * generator.standard_normal(like.shape) if like.dtype.kind == "c" else values


def _dot(a: Any, b: Any) -> float:
    """Re sum conj(a) b."""
    return float(np.sum((np.conj(a) * b).real)) if a.dtype.kind == "c" or b.dtype.kind == "c" else float(np.sum(a * b))
