"""Sums of the entries of Jacobians with random weights: by one backward pass, and along one direction by differences.

However large the Jacobians are, such a sum of all their entries takes some calls. Where it is off, sums of ever fewer
entries lead to one that is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradwright.autograd.diagnosis.case import Case
from gradwright.autograd.diagnosis.grid import Grid
from gradwright.autograd.jacobian import Subject, as_coordinates, coordinates, pullback, rounding, step
from gradwright.autograd.slope import Slope, slope_along


def itself(case: Case) -> Subject:
    """The same at the same point, with tensors of its own."""
    return case.elsewhere([x.array for x in case.varied])


def overall(case: Case) -> tuple[float, float] | None:
    """How far a random sum of all entries is off, and how far it may be; None if that cannot be had."""
    off, room = Sums(case).off(None, None)
    return (abs(off), room) if np.isfinite(off) else None


class Sums:
    """Sums of entries of the Jacobians, with random weights, both ways."""

    def __init__(self, case: Case) -> None:
        random = np.random.default_rng(13)
        self.subject = itself(case)
        self.cotangents = [random_like(random, a.array) for a in case.outputs]
        self.direction = random_direction(self.subject)

    def off(self, rows: Any, columns: Any) -> tuple[float, float]:
        """By how much the sum over these rows and columns is off, and how far it may be; None for all of them."""
        direction = self.direction if rows is None else only(self.direction, rows)
        cotangents, start = [], 0
        for c in self.cotangents:
            chosen = None if columns is None else columns[(columns >= start) & (columns < start + c.size)] - start
            cotangents.append(c if chosen is None else only(c, chosen))
            start += c.size
        said = gradient(self.subject, cotangents)
        return apart(self.subject, said, direction, along(self.subject, cotangents, direction))


def apart(subject: Subject, said: Any, direction: Any, slope: Slope) -> tuple[float, float]:
    """How far a sum of gradients along a direction is from its slope, and how far it may be."""
    unit = max(rounding(t.array.dtype) for t in (*subject.varied, *subject.outputs))
    with np.errstate(all="ignore"):
        terms = said * direction
        room = 1e-7 * abs(slope.value) + unit ** (2 / 3) * np.linalg.norm(terms) + 4 * unit * np.abs(terms).sum()
    return float(terms.sum()) - slope.value, np.inf if slope.bent else 2 * slope.bar + float(room)


def gradient(subject: Subject, cotangents: Sequence[Any]) -> Any:
    """The gradients of all varied inputs in one row."""
    found = pullback(subject, cotangents)
    rows = [
        np.zeros(x.array.size * (1 + (x.array.dtype.kind == "c"))) if g is None else g
        for g, x in zip(found, subject.varied, strict=True)
    ]
    return np.concatenate(rows).astype(np.float64)


def random_direction(subject: Subject) -> Any:
    """A way to move all inputs at once, in one row; large entries go further."""
    random = np.random.default_rng(11)
    ways = [as_coordinates(random_like(random, x.array)).astype(np.float64) for x in subject.varied]
    return np.concatenate([way * step(x, 1.0, small=0.05) for way, x in zip(ways, subject.varied, strict=True)])


def along(subject: Subject, cotangents: Sequence[Any], direction: Any) -> Slope:
    """How fast the outputs, weighted by cotangents, grow along a direction."""
    ends = np.cumsum([coordinates(x) for x in subject.varied])[:-1]
    return slope_along(subject, np.split(direction, ends), cotangents)


def random_like(random: np.random.Generator, like: Any) -> Any:
    """Numbers from 0.5 to 1.5 of both signs."""
    like = np.asarray(like)
    values = random.uniform(0.5, 1.5, like.shape) * random.choice([-1.0, 1.0], like.shape)
    if like.dtype.kind == "c":
        values = values + 1j * random.uniform(0.5, 1.5, like.shape)
    return np.asarray(values).astype(like.dtype)


def only(array: Any, entries: Any) -> Any:
    """An array with zeros in place of all other entries."""
    found = np.zeros_like(array)
    found.reshape(-1)[entries] = array.reshape(-1)[entries]
    return found


def search(case: Case) -> Grid | None:
    """The grid of a case with a wrong entry on it, too; None if random sums of all are right, or none is found."""
    sums = Sums(case)
    off, room = sums.off(None, None)
    if not abs(off) > room:
        return None
    row = _bisected(len(sums.direction), lambda rows: sums.off(rows, None)[0])
    column = _bisected(sum(c.size for c in sums.cotangents), lambda columns: sums.off(np.array([row]), columns)[0])
    off, room = sums.off(np.array([row]), np.array([column]))
    if not abs(off) > room:
        return None
    grid = case.grid
    for k, tensors in ((row, case.varied), (column, case.outputs)):
        for t in tensors:
            size = coordinates(t) if tensors is case.varied else t.array.size
            if 0 <= k < size:
                grid = grid.through(t.array.shape, k % t.array.size)
            k -= size
    return grid


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
