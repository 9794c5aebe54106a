"""Derivatives by finite differences with several steps, extrapolated to none, and how far those may be off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gradwright.verify.numeric.jacobian import (
    Differences,
    Matrix,
    Rows,
    Subject,
    central,
    here,
    rounding,
    size_of,
    step,
)


class Extrapolated(NamedTuple):
    """Derivatives of one output by one input, from differences with several steps.

    Attributes:
        value, bar: the derivative and how far it may be off, entry by entry; the bar is infinite where nothing finite
            was found.
        steps: those that were tried, largest first, a row for each coordinate.
        ladder: the central differences with each of them: (step, row, column).
    """

    value: Matrix
    bar: Matrix
    steps: Matrix
    ladder: Matrix


def extrapolated(
    subject: Subject, x: Any, rows: Rows | None = None, *, levels: int = 8, first: float = 0.1
) -> list[Extrapolated]:
    """For each output its derivatives by ``x``, with error bars: Richardson extrapolation of central differences.

    The step is halved from ``first`` times the size of the coordinate, ``levels`` times, and of all extrapolations that
    the shortest steps bear out the one is taken whose neighbours agree best (Ridders). The bar is how well they do, and
    no less than what rounding does to it. Costs ``2 * levels`` calls for each row.
    """
    first = max(first, 4 * rounding(x.array.dtype) ** (1 / 3))
    steps = np.array([step(x, first, rows, small=0.05) / 2**i for i in range(levels)])
    all_of = [central(subject, x, h, rows) for h in steps]
    apart = 4 * rounding(x.array.dtype) * size_of(x, rows)[:, None]  # to round inside is to be given another x
    found = [richardson(all_of, steps, k, dtype, apart * np.abs(all_of[levels // 2].slopes[k]))
             for k, (_, dtype) in enumerate(subject.shapes)]  # fmt: skip
    coarse = steps[0] > first  # numbers so far apart that waves may lie between them: then all steps must agree
    if coarse.any():
        for e in found:
            spread = np.nanmax(np.abs(e.ladder - e.value), axis=0, initial=0.0)
            e.bar[coarse] = np.where(spread > np.abs(e.value) / 4 + e.bar, np.inf, e.bar)[coarse]
    return found


def richardson(all_of: Sequence[Differences], steps: Matrix, output: int, dtype: Any, rough: Any = 0.0) -> Extrapolated:
    """The derivatives of an output, from differences each with half the step of the one before.

    ``rough``: how far the output is from smooth, entry by entry, where rounding to its dtype is not all.
    """
    ladder = np.array([d.slopes[output] for d in all_of])
    with np.errstate(all="ignore"):
        sizes = [np.maximum(np.abs(here(d.up[output])), np.abs(here(d.down[output]))) for d in all_of]
        noises = [(4 * rounding(dtype) * size + rough) / (d.ahead + d.behind)[:, None]
                  for d, size in zip(all_of, sizes, strict=True)]  # fmt: skip
        shortest, known = ladder[0], np.full(ladder[0].shape, np.inf)
        for slope, noise in zip(ladder[1:], noises[1:], strict=True):
            finite = np.isfinite(slope)
            known = np.where(finite, np.abs(slope - shortest) + noise, known)
            shortest = np.where(finite, slope, shortest)
        value, bar = shortest, np.full(shortest.shape, np.inf)
        before: list[Matrix] = []
        for slope, noise in zip(ladder, noises, strict=True):
            row = [slope]
            for j, corner in enumerate(before):
                better = row[j] + (row[j] - corner) / (4.0 ** (j + 1) - 1)
                off = np.maximum(np.abs(better - row[j]), np.abs(better - corner)) + noise
                take = (off < bar) & ~(np.abs(better - shortest) > known + off)
                value, bar = np.where(take, better, value), np.where(take, off, bar)
                row.append(better)
            before = row
        bar = np.where(np.isinf(bar) & np.isfinite(known), known, bar)
    return Extrapolated(value, bar, steps.T, ladder)
