"""What it takes to compare the Jacobians of a function both ways, and which part of it fits in the time allowed."""

from __future__ import annotations

import warnings
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from gradwright.base.errors import GradientWarning
from gradwright.verify.numeric.jacobian import Subject, coordinates, pullback


class Cost(NamedTuple):
    """The cost of a full comparison.

    Attributes:
        rows, columns: how many coordinates the inputs have together, and how many entries the outputs.
        call, passes: how many seconds a call of the function takes, and a backward pass.
    """

    rows: int
    columns: int
    call: float
    passes: float

    @property
    def seconds(self) -> float:
        """Two calls for each row, one backward pass for each column."""
        return 2 * self.rows * self.call + self.columns * self.passes


def estimate(subject: Subject) -> Cost:
    """The cost of comparing all entries, from timing a few calls and backward passes."""
    columns = sum(map(coordinates, subject.outputs))
    call, passes = np.inf, np.inf if subject.differentiable else 0.0
    for _ in range(2):
        begin = perf_counter()
        subject.values()
        call = min(call, perf_counter() - begin)
        for i, out in enumerate(subject.outputs if subject.differentiable else ()):
            begin = perf_counter()
            pullback(subject, [np.ones(out.array.shape) if k == i else None for k in range(len(subject.outputs))])
            passes = min(passes, perf_counter() - begin)
    return Cost(sum(map(coordinates, subject.varied)), columns, call, passes)


class Picked(NamedTuple):
    """Which entries are compared.

    Attributes:
        rows: for each input the coordinates; None for all.
        columns: for each output the entries; None for all.
    """

    rows: list[Any]
    columns: list[Any]


def pick(subject: Subject, budget: float) -> Picked | None:
    """The entries to compare within so many seconds, drawn at random; None if there is time for all.

    Warns with GradientWarning that it is not all.
    """
    cost = estimate(subject)
    if cost.seconds <= budget:
        return None
    random = np.random.default_rng(0)
    row_share = min(1.0, budget / 2 / (2 * cost.rows * cost.call)) if cost.rows else 1.0
    column_share = min(1.0, budget / 2 / (cost.columns * cost.passes)) if cost.columns else 1.0
    rows = [_drawn_rows(random, x, row_share) for x in subject.varied]
    columns = [_drawn(random, o.array.size, column_share) for o in subject.outputs]
    entries = sum(o.array.size for o in subject.outputs)
    looked = sum(map(len, rows)) / cost.rows * sum(map(len, columns)) / max(entries, 1)
    warnings.warn(f"gradcheck: comparing all entries would take about {cost.seconds:.2g} s, over the budget of "
                  f"{budget:g} s. {sum(map(len, rows))} of {cost.rows} coordinates of the inputs are compared for "
                  f"{sum(map(len, columns))} entries of the outputs, drawn at random: an error in one entry alone is "
                  f"among them with a chance of {looked:.2g}. Besides, random projections of all entries are.",
                  GradientWarning, stacklevel=5)
    return Picked(rows, columns)


def _drawn(random: Any, n: int, share: float) -> Any:
    return np.sort(random.choice(n, min(n, max(1, int(n * share))), replace=False))


def _drawn_rows(random: Any, x: Any, share: float) -> Any:
    n = x.array.size
    entries = _drawn(random, n, share)
    return np.concatenate((entries, entries + n)) if x.array.dtype.kind == "c" else entries
