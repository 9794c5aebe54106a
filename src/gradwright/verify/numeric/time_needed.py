"""What it takes to compare the Jacobians of a function both ways."""

from __future__ import annotations

from time import perf_counter
from typing import NamedTuple

import numpy as np

from gradwright.verify.numeric.jacobian import Subject, coordinates, pullback


class Cost(NamedTuple):
    """What a full comparison takes.

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
