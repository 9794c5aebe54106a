"""A derivative at one point both ways: what it says, and what differences of the value say, with error bars.

Where there is no room in the budget for all entries of x, some are moved one by one and all of them together along a
few random ways: an error anywhere shows along these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradwright.base.cpython.forks import cached_property
from gradwright.verify.numeric.jacobian import rounding
from gradwright.verify.numeric.noise import CLOSE, close, noise
from gradwright.verify.pairs.calls import Calls
from gradwright.verify.pairs.reading import single
from gradwright.verify.pairs.steps import APART, FIRST, Slope, Way, slope

PARTS = ("told", "true", "bar", "allowed", "fine", "left", "right", "kinks", "leaps")
"""What of a `Measured` has a row for each way and a column for each entry of the value."""
A_ROW = 10
"""About how many calls a row takes."""
_TOGETHER = 4
"""Along so many ways all entries are moved together."""
_NOISE = 4 * (CLOSE + 1)
"""So many calls it takes to know the noise."""
_SMALL = 0.05
_UNITS = 1e-3
"""Entries that are this small wherever the program was are in units of their own."""


@dataclass(frozen=True, eq=False)
class Place:
    """Where a function is looked at, and by how much what it is given may be moved.

    Attributes:
        x: the array. low, high: the bounds, one number for each entry. free: which entries may be moved.
        sizes: how large moves of each are.
    """

    x: Any
    low: Any
    high: Any
    free: Any
    sizes: Any

    def along(self, way: Any) -> Callable[[float], tuple[float, Any]]:
        """From a distance to how far it really went, and the x there."""
        flat = self.x.reshape(-1)
        moved = np.flatnonzero(way)

        def there(t: float) -> tuple[float, Any]:
            to = np.clip(flat + t * way, np.minimum(self.low, flat), np.maximum(self.high, flat))
            gone = float((to[moved[0]] - flat[moved[0]]) / way[moved[0]]) if moved.size == 1 else t
            return gone, to.reshape(self.x.shape)

        return there

    def room(self, way: Any) -> tuple[float, float]:
        """How far it may go down and up along a way."""
        flat = self.x.reshape(-1)
        with np.errstate(all="ignore"):
            up = np.where(way > 0, self.high - flat, flat - self.low) / np.abs(way)
            down = np.where(way > 0, flat - self.low, self.high - flat) / np.abs(way)
        moved = way != 0
        below, above = (max(0.0, float(np.min(side[moved], initial=np.inf))) for side in (down, up))
        return below, above

    def inward(self) -> Any:
        """For each entry the sign of the side on which there is room; 0 where there is room on both."""
        flat, short = self.x.reshape(-1), FIRST * self.sizes / 8
        below, above = flat - self.low < short, self.high - flat < short
        return np.where(below & ~above, 1.0, np.where(above & ~below, -1.0, 0.0))


def place(x: Any, others: Sequence[Any], bounds: tuple[Any, Any] | None, fixed: Any) -> Place:
    """The place of ``x``; of the ``others`` it is known how large its entries are elsewhere in the run."""
    x = np.array(x, dtype=np.float64)
    n = x.size
    low, high = (-np.inf, np.inf) if bounds is None else bounds
    low, high = (np.broadcast_to(np.asarray(b, np.float64).reshape(-1), (n,)) for b in (low, high))
    free = np.ones(n, bool) if fixed is None else ~np.broadcast_to(np.asarray(fixed, bool).reshape(-1), (n,))
    with np.errstate(all="ignore"):
        elsewhere = [np.abs(np.asarray(o, np.float64).reshape(-1)) for o in (x, *others) if np.size(o) == n]
        typical = np.nanmax(np.where(np.isfinite(elsewhere), elsewhere, 0.0), axis=0)
    own = (typical > 0) & (typical < _UNITS)
    sizes = np.maximum(np.abs(x.reshape(-1)), np.where(own, typical, _SMALL))
    width = high - low
    sizes = np.where(np.isfinite(width) & (width > 0), np.minimum(sizes, width), sizes)
    return Place(x, low, high, free & (width > 0), np.where(np.isfinite(sizes), sizes, 1.0))


@dataclass(frozen=True, eq=False)
class Measured:
    """What was found at one point.

    Attributes:
        number: of the point. at: the place. out: the shape of the value.
        said: the whole derivative, a row for each entry of x; None of a product that is known along the ways alone.
        rows: along which ways it was measured: a row for each, of as many entries as x.
        told: what the derivative says along them. true, bar: what differences say, and how far these may be off.
        allowed: how far the two may be apart; fine: how far they may by what is known of bars and rounding alone, to
            tell causes by. left, right: the slopes to either side. kinks: where these differ.
        leaps: where the value jumps or has a pole.
        steps, ladders: for each row.
        grain: the noise of the value.
    """

    number: int
    at: Place
    out: tuple[int, ...]
    said: Any
    rows: Any
    told: Any
    true: Any
    bar: Any
    allowed: Any
    fine: Any
    left: Any
    right: Any
    kinks: Any
    leaps: Any
    steps: tuple[Any, ...]
    ladders: tuple[Any, ...]
    grain: Any

    @cached_property
    def usable(self) -> Any:
        """What can be judged."""
        return np.isfinite(self.bar) & np.isfinite(self.true) & ~self.leaps

    @cached_property
    def wrong(self) -> Any:
        """Where the derivative is further off than may be; at a kink, beyond the slopes to both sides."""
        with np.errstate(all="ignore"):
            off = ~(np.abs(self.told - self.true) <= self.allowed)
        return self.usable & np.where(self.kinks, ~(self.beyond(self.told) <= 0), off)

    def beyond(self, told: Any) -> Any:
        """How far what is told lies outside the slopes to both sides."""
        with np.errstate(all="ignore"):
            low, high = np.minimum(self.left, self.right), np.maximum(self.left, self.right)
            room = np.abs(self.allowed) + 1e-5 * np.abs(high - low)
            return np.maximum(np.real(low) - np.real(told), np.real(told) - np.real(high)) - room

    @property
    def scale(self) -> float:
        """The largest entry that is known."""
        return float(np.max(np.abs(self.true), where=self.usable, initial=0.0))

    def mended(self, matrix: Any, doubt: float = 1.0) -> bool:
        """Whether the derivative would be right if its whole were this matrix."""
        return self.miss(matrix, doubt) == 0

    def miss(self, matrix: Any, doubt: float = 1.0) -> float:
        """How much of the error would be left if the derivative were this matrix: 0 if it were right."""
        with np.errstate(all="ignore"):
            told = self.rows @ matrix
            left = np.abs(told - self.true) - max(1.0, doubt) * self.fine
            left = np.where(self.usable, np.maximum(np.where(self.kinks, self.beyond(told), left), 0), 0)
            whole = np.where(self.kinks, np.maximum(self.beyond(self.told), 0), np.abs(self.told - self.true))
            whole = np.where(self.usable, whole, 0)
            size = float(np.linalg.norm(whole[np.isfinite(whole)]))
        if not np.isfinite(left).all():
            return np.inf
        return float(np.linalg.norm(left)) / size if size else float(left.any())


def measured(calls: Calls, number: int, at: Place, f: Callable[[Any], Any], said: Any, rough: Any, room: int,
             rows: Any = None) -> Measured | str:
    """The derivative of ``f``, which gives an array or None, at a place, within ``room`` calls; or why there is none.

    ``said`` is the derivative that is judged, ``rough`` how far rounding may have put it off: matrices with a row for
    each entry of x; or for each of ``rows``, the ways along which it is known.
    """
    middle = f(at.x)
    if middle is None:
        return f"the value cannot be had there: it raises {calls.raised}"
    out, kind = middle.shape, middle.dtype
    middle = _flat(middle)
    if not np.isfinite(middle).all():
        return "the value is not finite there"
    unit = max(2.0**-52, rounding(kind)) if kind.kind in "fc" else 2.0**-52

    def values(x: Any) -> Any:
        found = f(x)
        if found is None or found.shape != out:
            return np.full(middle.shape, np.nan)
        return _flat(found)

    inward = at.inward()
    signs = np.random.default_rng(5).choice([-1.0, 1.0], at.sizes.shape)
    shaken = np.where(at.free & (inward == 0), signs * at.sizes, 0.0)
    if shaken.any() and single(np.append(middle, values(at.along(shaken)(0.01)[1]))):
        unit = max(unit, 2.0**-23)
    grain = 0.3 * unit * np.abs(middle)
    if shaken.any() and room > _NOISE:
        grain = _grain(at.along(shaken), values, grain, unit)
    room -= _NOISE
    whole = said if rows is None else None
    rows = _rows(at, said, room // A_ROW) if rows is None else rows
    told = rows @ said if whole is not None else said
    off = np.abs(rows) @ rough if whole is not None else rough
    found: list[Any] = []
    kept: list[int] = []
    for k, way in enumerate(rows):
        if found and calls.left < A_ROW:
            break
        length = 1 / float(np.max(np.abs(way / at.sizes)) or 1.0)
        along = at.along(way * length)

        def moved(t: float, along: Any = along) -> tuple[float, Any]:
            gone, x = along(t)
            return gone, values(x)

        scale = np.maximum(np.abs(told[k]).max(initial=0.0, where=np.isfinite(told[k])), np.abs(told[k])) * length
        way_of = Way(moved, middle, *at.room(way * length), grain)
        s = slope(way_of, told[k] * length, np.where(np.isfinite(scale), scale, 0.0))
        unsure = np.where(s.kinks, 4 * grain / s.steps[-1], 0.0) * np.where(np.real(s.left) < np.real(s.right), 1, -1)
        s = s._replace(left=s.left - unsure, right=s.right + unsure)
        value, bar, left, right = (part / length for part in s[:4])
        found.append(Slope(value, bar, left, right, s.kinks, s.leaps, s.steps * length, s.ladder / length))
        kept.append(k)
    if not kept:
        return "no entry of x could be moved within the budget"
    rows, told, off = rows[kept], told[kept], off[kept]
    value, bar, left, right, kinks, leaps = (np.array(part) for part in list(zip(*found, strict=True))[:6])
    m = Measured(number, at, out, whole, rows, told, value, bar, bar, bar, left, right, kinks, leaps,
                 tuple(s.steps for s in found), tuple(s.ladder for s in found), grain)  # fmt: skip
    lengths = np.linalg.norm(rows, axis=1)[:, None]
    units = np.max(np.abs(rows / at.sizes), axis=1)[:, None]  # entries may be in units of their own
    plain, own = (np.max(np.where(m.usable, np.abs(value) / by, 0.0), axis=0, initial=0.0) * by
                  for by in (lengths, units))  # fmt: skip
    reach = np.minimum(plain, own)
    fine = 5 * bar + 1e-11 * np.abs(value) + 4 * off
    return replace(m, fine=fine, allowed=fine + 3e-7 * np.abs(value) + 1e-7 * reach)


def _grain(there: Callable[[float], tuple[float, Any]], values: Callable[[Any], Any], floor: Any, unit: float) -> Any:
    """The noise of the values: beside the point, so that a kink at it is none, and to the quieter side."""

    def beside(side: float, spacing: float) -> Callable[[float], Any]:
        def value(t: float) -> Any:
            found = values(there(side * (t + (CLOSE / 2 + 1) * spacing))[1])
            return np.abs(found) if np.iscomplexobj(found) else found

        return value

    for spacing, orders in close(unit):
        floor = noise(beside(1.0, spacing), floor, [(spacing, orders)])
    far = max(APART)
    return np.minimum(*(noise(beside(side, far), floor, [(far, (5, 6))]) for side in (-1.0, 1.0)))


def _flat(array: Any) -> Any:
    return array.reshape(-1).astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _rows(at: Place, said: Any, most: int) -> Any:
    """The ways to go: each free entry by itself; or some of them, and all together along a few random ways."""
    free = np.flatnonzero(at.free)
    n = at.sizes.size
    if free.size <= max(most, 1):
        return np.eye(n)[free]
    generator = np.random.default_rng(7)
    inward = at.inward()
    ways = []
    for _ in range(min(_TOGETHER, max(1, most // 2))):
        way = generator.standard_normal(n) * at.sizes
        ways.append(np.where(at.free, np.where(inward != 0, inward * np.abs(way), way), 0.0))
    sizes = np.abs(said).max(axis=1)
    few = max(1, most - len(ways))
    largest = free[np.argsort(-sizes[free], kind="stable")[: few // 3]]
    zeros = free[sizes[free] == 0][: few // 3]
    rest = np.setdiff1d(free, np.concatenate((largest, zeros)))
    drawn = generator.choice(rest, max(0, min(rest.size, few - largest.size - zeros.size)), replace=False)
    return np.vstack((ways, np.eye(n)[np.sort(np.concatenate((largest, zeros, drawn)))]))


def bisected(calls: Calls, m: Measured, f: Callable[[Any], Any], rough: Any) -> Measured:
    """Where only ways along all entries are wrong, the same with the entry that makes one so, found by halves."""
    single = np.count_nonzero(m.rows, axis=1) == 1
    bad = m.wrong.any(axis=1)
    if m.said is None or not bad.any() or bad[single].any():
        return m
    way = m.rows[np.flatnonzero(bad)[0]]
    among = np.flatnonzero(way)
    while among.size > 1 and calls.left > 2 * A_ROW:
        half = np.zeros_like(way)
        half[among[: among.size // 2]] = way[among[: among.size // 2]]
        found = measured(calls, m.number, m.at, f, (half @ m.said)[None], (np.abs(half) @ rough)[None], 0, half[None])
        if isinstance(found, str):
            return m
        among = among[: among.size // 2] if found.wrong.any() else among[among.size // 2 :]
    if among.size > 1:
        return m
    one = np.eye(way.size)[among]
    found = measured(calls, m.number, m.at, f, one @ m.said, one @ rough, 0, one)
    return m if isinstance(found, str) or not found.wrong.any() else _joined(m, found)


def _joined(m: Measured, other: Measured) -> Measured:
    """The rows of both."""
    both: dict[str, Any] = {name: np.concatenate((getattr(m, name), getattr(other, name)))
            for name in ("rows", *PARTS)}  # fmt: skip
    return replace(m, steps=(*m.steps, *other.steps), ladders=(*m.ladders, *other.ladders), **both)
