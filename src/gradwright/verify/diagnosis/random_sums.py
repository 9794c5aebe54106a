"""Sums of the entries of Jacobians with random weights: by one backward pass, and along one direction by differences.

However large the Jacobians are, such a sum of all their entries takes some calls. Where it is off, sums of ever fewer
entries lead to one that is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradwright.verify.diagnosis.case import Case
from gradwright.verify.diagnosis.grid_of_entries import Grid
from gradwright.verify.numeric.differences import LEVELS, Slope, extrapolated, slope_along, step
from gradwright.verify.numeric.draws import drawn
from gradwright.verify.numeric.jacobian import Subject, as_coordinates, coordinates, pullback, rounding


def itself(case: Case) -> Subject:
    """The same at the same point, with tensors of its own."""
    return case.elsewhere([x.array for x in case.varied])


LEAST = (0.0, 0.05)
"""How far small entries are moved: not over kinks at 0, and then so far that those of 0 move, too."""


def overall(case: Case) -> tuple[float, float] | None:
    """How far a random sum of all entries is off, and how far it may be: the worst. None if that cannot be had."""
    found = [RandomSums(case, least).off() for least in LEAST]
    known = [(abs(off), room) for off, room in found if np.isfinite(off) and np.isfinite(room)]
    return max(known, key=lambda k: k[0] / (k[1] or 1.0), default=None)


class RandomSums:
    """Sums of entries of the Jacobians, with random weights, both ways."""

    def __init__(self, case: Case, least: float) -> None:
        random = np.random.default_rng(13)
        self.subject = itself(case)
        self.cotangents = [drawn(random, a.array) for a in case.outputs]
        self.direction = random_direction(self.subject, least)
        self.said = gradient(self.subject, self.cotangents)

    def off(self, rows: Any = None, levels: int = LEVELS) -> tuple[float, float]:
        """By how much the sum over these rows is off, and how far it may be; None for all of them."""
        direction = self.direction if rows is None else only(self.direction, rows)
        return discrepancy(self.subject, self.said, direction, along(self.subject, self.cotangents, direction, levels))

    def wrong_row(self) -> int:
        """A row that makes the sum be off."""
        return _bisected(len(self.direction), lambda rows: self.off(rows, 3)[0])

    def wrong_column(self, row: int) -> int:
        """An entry of the outputs, all counted through, that is off in this row."""
        sizes = [coordinates(x) for x in self.subject.varied]
        j = int(np.searchsorted(np.cumsum(sizes), row, side="right"))
        found = extrapolated(self.subject, self.subject.varied[j], [row - sum(sizes[:j])], levels=4)
        due = np.concatenate([(np.conj(c.reshape(-1)) * e.value[0]).real
                              for c, e in zip(self.cotangents, found, strict=True)])  # fmt: skip
        ends = np.cumsum([c.size for c in self.cotangents])

        def off(columns: Any) -> float:
            parts = np.split(columns, np.searchsorted(columns, ends[:-1]))
            starts = [0, *ends[:-1]]
            chosen = [only(c, p - s) for c, p, s in zip(self.cotangents, parts, starts, strict=True)]
            return float(gradient(self.subject, chosen)[row] - due[columns].sum())

        return _bisected(int(ends[-1]), off)


def discrepancy(subject: Subject, said: Any, direction: Any, slope: Slope) -> tuple[float, float]:
    """How far a sum of gradients along a direction is from its slope, and how far it may be."""
    unit = max(rounding(t.array.dtype) for t in (*subject.varied, *subject.outputs))
    with np.errstate(all="ignore"):
        terms = said * direction
        room = 1e-7 * abs(slope.value) + unit ** (2 / 3) * np.linalg.norm(terms) + 4 * unit * np.abs(terms).sum()
    room += 2 * slope.bar + abs(slope.last - slope.value)  # far apart where it is not smooth
    return float(terms.sum()) - slope.value, np.inf if slope.bent else float(room)


def gradient(subject: Subject, cotangents: Sequence[Any]) -> Any:
    """The gradients of all varied inputs in one row."""
    found = pullback(subject, cotangents)
    rows = [
        np.zeros(x.array.size * (1 + (x.array.dtype.kind == "c"))) if g is None else g
        for g, x in zip(found, subject.varied, strict=True)
    ]
    return np.concatenate(rows).astype(np.float64)


def random_direction(subject: Subject, least: float = 0.0) -> Any:
    """A way to move all inputs at once, in one row: each entry by its size, or by so much if it is smaller."""
    random = np.random.default_rng(11)
    ways = [as_coordinates(drawn(random, x.array)).astype(np.float64) for x in subject.varied]
    return np.concatenate([way * step(x, 1.0, small=least) for way, x in zip(ways, subject.varied, strict=True)])


def along(subject: Subject, cotangents: Sequence[Any], direction: Any, levels: int = LEVELS) -> Slope:
    """How fast the outputs, weighted by cotangents, grow along a direction."""
    ends = np.cumsum([coordinates(x) for x in subject.varied])[:-1]
    return slope_along(subject, np.split(direction, ends), cotangents, levels)


def only(array: Any, entries: Any) -> Any:
    """An array with zeros in place of all other entries."""
    found = np.zeros_like(array)
    found.reshape(-1)[entries] = array.reshape(-1)[entries]
    return found


def search(case: Case) -> Grid | None:
    """The grid of a case with what makes a random sum of all be off on it, too; None if all such sums are right."""
    for least in LEAST:
        sums = RandomSums(case, least)
        off, room = sums.off()
        if abs(off) > room:
            row = sums.wrong_row()
            column = sums.wrong_column(row)
            sizes = [[coordinates(x) for x in case.varied], [t.array.size for t in case.outputs]]
            grid = case.grid
            for k, tensors, of in zip((row, column), (case.varied, case.outputs), sizes, strict=True):
                j = int(np.searchsorted(np.cumsum(of), k, side="right"))
                grid = grid.through(tensors[j].array.shape, (k - sum(of[:j])) % tensors[j].array.size)
            return grid
    return None


def _bisected(n: int, off: Callable[[Any], float]) -> int:
    """The one of ``n`` that makes a sum be off, as far as halving leads to it."""
    left = np.arange(n)
    total = off(left)
    while len(left) > 1:
        half = left[: len(left) // 2]
        part = off(half)
        half_is_worse = abs(part) >= abs(total - part)
        left, total = (half, part) if half_is_worse else (left[len(half) :], total - part)
    return int(left[0])
