"""The verdict on what was measured, and the diagnosis that tells it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradwright.verify.diagnosis.behaviour import TELLING, doubtful, rough, telling
from gradwright.verify.diagnosis.case import Case
from gradwright.verify.diagnosis.context import Context
from gradwright.verify.diagnosis.grid_of_entries import memory_of, time_of
from gradwright.verify.diagnosis.hypotheses import hypotheses
from gradwright.verify.diagnosis.measure import Rungs
from gradwright.verify.diagnosis.records import Block, Diagnosis, Entry, Hypothesis, Verdict
from gradwright.verify.diagnosis.reproduction import Replay
from gradwright.verify.numeric.budget import Cost
from gradwright.verify.witness import Witness

_UNSETTLED = {"doubtful sums", "empty", "kink", "edge", "precision", "noise", "overlap"}
"""Causes that leave a derivative undecided; they say nothing of one that is wrong elsewhere."""


def judge(c: Context) -> Verdict:
    """The verdict, from what was measured."""
    p = c.probes
    unit = max(r.unit for r in c.residuals)
    if p.drift > 100 * unit:
        return Verdict.WRONG if p.written else Verdict.INCONCLUSIVE
    kinks, edges = (any(m(r).any() for r in c.residuals) for m in (lambda r: r.kinks, lambda r: ~r.known))
    unsteady = max(p.backward_drift, p.renewed, p.interleaved, p.at_zero) > max(TELLING, unit**0.5)
    if c.case.surrogates and not (p.written or unsteady or c.case.misfits()):
        return Verdict.SURROGATE
    bent = max(p.at_random, p.at_large) > telling(c)
    misplaced = p.elsewhere is not None and p.elsewhere[0] > p.elsewhere[1] and not kinks and not edges
    misbehaves = p.written or unsteady or bent or misplaced or p.fault is not None
    if any(r.wrong.any() for r in c.residuals) or misbehaves or c.case.misfits():
        return Verdict.WRONG
    empty = not any(r.numeric.size for r in c.residuals)
    unclear = empty or kinks or edges or any(rough(r, c) for r in c.residuals) or doubtful(c)
    return Verdict.INCONCLUSIVE if unclear else Verdict.VERIFIED


def explained(c: Context, verdict: Verdict) -> tuple[Hypothesis, ...]:
    """The possible causes of a verdict, the likeliest first."""
    if verdict in (Verdict.VERIFIED, Verdict.SURROGATE):
        return ()
    found, unit = hypotheses(c), max(r.unit for r in c.residuals)
    if c.probes.written:
        return tuple(h for h in found if h.name == "changed input")
    if verdict is Verdict.WRONG:
        return tuple(h for h in found if h.name not in _UNSETTLED)
    if c.probes.drift > 100 * unit:
        return tuple(h for h in found if h.name in ("non-determinism", "stale state"))
    return tuple(h for h in found if h.name in _UNSETTLED)


def described(c: Context, verdict: Verdict, found: tuple[Hypothesis, ...], rungs: Sequence[Rungs], replay: Replay,
              cost: Cost) -> Diagnosis:
    """The diagnosis."""
    j, row, column = _worst(c, verdict)
    entry, steps, ladder = None, np.empty(0), np.empty(0)
    if j is not None:
        r = c.residuals[j]
        out = next(o for o in r.outputs if column < o.start + o.size)
        (part, index), (of, output_index) = r.input.at(row), out.at(column)
        parts = f"{of or 'real'} by {part or 'real'}" if of or part else ""
        entry = Entry(r.name, index, out.name, output_index, parts, float(r.analytic[row, column]),
                      float(r.numeric[row, column]), float(r.bar[row, column]))
        steps, ladder = rungs[j].steps[:, row], rungs[j].slopes[:, row, column]
    settle = found[0].mend if verdict is Verdict.INCONCLUSIVE and found else ""
    return Diagnosis(
        c.case.name, c.order, verdict, found[0].name if found else "", _summary(c, verdict, found, entry), settle,
        entry, abs(entry.analytic - entry.numeric) if entry else 0.0, entry.bar if entry else 0.0, found,
        tuple(_blocks(c)), steps, ladder, replay, _sampled(c.case, cost), _witnessed(c.probes.witness, verdict),
        max((r.seen for r in c.residuals if r.scale()), default=None) if verdict is Verdict.VERIFIED else None)


def _witnessed(found: Witness | None, verdict: Verdict) -> str:
    """The second witness's words beside differences, unless they are the verdict itself."""
    if found is None or found.agrees is None or verdict is Verdict.WRONG:
        return ""
    return str(found) if found else f"the engine's derivative of forward is another, by {found.error:.2g} of its size"


def _sampled(case: Case, cost: Cost) -> str:
    """What was compared, if it was not all."""
    if case.grid.whole:
        return ""
    rows, columns = sum(r.size for r in case.rows), sum(c.size for c in case.columns)
    seconds, room = time_of(cost, cost.rows, cost.columns), memory_of(cost.rows, cost.columns)
    return (
        f"compared are {rows:,} of {cost.rows:,} coordinates of the inputs for {columns:,} of {cost.columns:,} of the "
        f"outputs, on a grid, and random sums of all; all one by one would take about {_scaled(seconds, _TIMES)} "
        f"and {_scaled(room, _SIZES)}"
    )


_TIMES = ((1, "s"), (60, "min"), (3600, "h"), (86400, "days"))
_SIZES = ((1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB"), (1e15, "PB"))


def _scaled(value: float, units: tuple[tuple[float, str], ...]) -> str:
    size, unit = next(((s, u) for s, u in reversed(units) if value >= s), units[0])
    return f"{value / size:,.2g} {unit}" if value < 99.5 * size else f"{value / size:,.0f} {unit}"


def _worst(c: Context, verdict: Verdict) -> tuple[Any, int, int]:
    best: tuple[Any, int, int] = (None, 0, 0)
    most = -1.0
    for j, r in enumerate(c.residuals):
        if not r.numeric.size:
            continue
        with np.errstate(all="ignore"):
            off = np.abs(r.analytic - r.numeric) / r.allowed
        off = np.where(np.isnan(off), np.where(r.wrong, np.inf, 0), off)
        off = np.where(r.usable, off, 0) if verdict is not Verdict.INCONCLUSIVE else np.where(r.kinks, 1e9 + off, off)
        k = int(np.argmax(off))
        if off.flat[k] > most:
            row, column = (int(i) for i in np.unravel_index(k, off.shape))
            best, most = (j, row, column), float(off.flat[k])
    return best


def _summary(c: Context, verdict: Verdict, found: tuple[Hypothesis, ...], entry: Entry | None) -> str:
    which = "second derivative" if c.order == 2 else "gradient"
    if verdict is Verdict.SURROGATE:
        declared = " and ".join(f"{reason} ({name})" for name, reason in c.case.surrogates.items())
        return f"the {which} of {c.case.name} is declared to be no derivative: {declared}"
    if verdict is Verdict.VERIFIED:
        n = sum(r.numeric.size for r in c.residuals)
        error = max((float(np.abs(r.error).max(initial=0.0)) for r in c.residuals), default=0.0)
        bar = max((float(r.bar.max(initial=0.0)) for r in c.residuals), default=0.0)
        return (
            f"the {which} of {c.case.name}: {'all' if c.case.grid.whole else 'the'} {n} entries "
            f"{'' if c.case.grid.whole else 'compared '}agree to {error:.1g}, with error bars of at most {bar:.1g}"
        )
    if verdict is Verdict.INCONCLUSIVE:
        return f"the {which} of {c.case.name} ({found[0].name if found else 'unknown'})"
    wrong = [r for r in c.residuals if r.wrong.any()]
    if not wrong and c.probes.witness is not None and c.probes.witness.agrees is False:
        return f"the {which} of {c.case.name} agrees with differences, but not with the engine's derivative of forward"
    if not wrong:
        return f"the {which} of {c.case.name} agrees entry by entry, but backward does not behave"
    names = " and ".join(f"`{r.name}`" for r in wrong)
    rows, of = sum(int(r.wrong.any(1).sum()) for r in wrong), sum(len(r.wrong) for r in wrong)
    where = "entries" if c.case.grid.whole else "entries compared"
    return f"the {which} of {c.case.name} by {names} is wrong at {rows} of {of} {where}"


def _blocks(c: Context) -> Any:
    for r in c.residuals:
        for o in r.outputs:
            matrices = (r.analytic, r.numeric, r.bar, r.wrong, r.kinks, r.left, r.right)
            analytic, numeric, bar, wrong, kinks, left, right = (m[:, o.slice] for m in matrices)
            rows, columns = r.input.coordinates, o.coordinates
            yield Block(r.name, o.name, analytic, numeric, bar, wrong, kinks, left, right, rows, columns)


def undecided(name: str, order: int, replay: Replay, cause: Hypothesis) -> Diagnosis:
    """The diagnosis of what could not be measured."""
    which = "second derivative" if order == 2 else "gradient"
    return Diagnosis(
        name, order, Verdict.INCONCLUSIVE, cause.name,
        f"the {which} of {name} ({cause.name})" if cause.name != which else f"{name} has no second derivative",
        cause.mend, None, 0.0, 0.0, (cause,), (), np.empty(0), np.empty(0), replay)
