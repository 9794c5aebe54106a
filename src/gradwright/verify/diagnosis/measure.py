"""Measures the Jacobians of a case both ways, with error bars, and finds where there is no derivative."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradwright.verify.diagnosis.case import Case
from gradwright.verify.diagnosis.residual import Part, Residual
from gradwright.verify.numeric.differences import central, here, richardson, together
from gradwright.verify.numeric.jacobian import analytical, as_coordinates, rounding

LEVELS = 6
FIRST = 0.04
"""Steps go from a 25th of an entry down by halves, doubtful rows again from a 5,000th of it; in float16 there is room
for 4 only."""
FINE = 2e-4
_TINY = 1e-6
_AGAIN = 64
"""So many rows at most are looked at again where backward says something else."""
_NOISE = 1e3
_JUMPS = 100.0
"""How far the slope of an iteration may be off when it ends, in units of the jumps of its results over the inputs."""
_SHARP = 2e-8
"""Error bars wider than this part of the derivative are doubtful: five of them would hide an error of 1e-6."""


class Rungs(NamedTuple):
    """The central differences of all outputs by one input with each step: (step, row), (step, row, column)."""

    steps: Any
    slopes: Any


def measure(case: Case) -> tuple[tuple[Residual, ...], tuple[Rungs, ...]]:
    """The residual of each input, and how its numeric Jacobian came out with each step."""
    with case.listening():
        rows = [None if r.entries is None else r.coordinates for r in case.rows]
        said = [analytical(case, i, c.entries, rows) for i, c in enumerate(case.columns)] if case.differentiable else []
    with case.listening():
        grain = _grain(case)
    measured = []
    for j, x in enumerate(case.varied):
        shape = (case.rows[j].size, sum(c.size for c in case.columns))
        backward = (
            np.zeros(shape)
            if not said
            else np.hstack([_real(b.jacobians[j], c) for b, c in zip(said, case.columns, strict=True)])
        )
        given = tuple(bool(b.dtypes[j]) for b in said) or (False,) * len(case.columns)
        with case.listening():
            numbers, rungs = _numbers(case, x, case.rows[j], grain)
        measured.append((case.rows[j], backward, given, numbers, rungs))
    largest = max((_largest(n) for *_, n, _ in measured), default=0.0)
    residuals = []
    for (row, backward, given, n, _), x in zip(measured, case.varied, strict=True):
        with case.listening():
            _widen(case, x, row, backward, n)
            _doubt(case, x, row, backward, n, grain)
            _stops(case, x, row, backward, n)
        unit = _unit(case, x)
        scale = max(_largest(n), unit**0.5 * largest)
        trust = 5 if unit < 1e-10 else 15  # what float32 rounds inside a function, nobody knows
        far = float(np.max(np.abs(x.array), where=np.isfinite(x.array), initial=0.0))
        spread = max(unit ** (2 / 3), 8 * unit * far)  # rounding a large number moves the derivative, too
        allowed = trust * n.bar + 1e-7 * np.abs(n.value) + spread * scale + 10 * unit
        residuals.append(
            Residual(row, case.columns, backward, n.value, n.bar, allowed, n.kinks, n.left, n.right, given, unit))
    return tuple(residuals), tuple(rungs for *_, rungs in measured)


def _widen(case: Case, x: Any, part: Part, backward: Any, n: _Numbers) -> None:
    """Where backward says something else than the steps, and so does a move far shorter than these, they tell nothing.

    So it is on a staircase with treads as short as the steps, and where waves lie between large numbers.
    """
    with np.errstate(all="ignore"):
        rows = np.flatnonzero((~n.kinks & (np.abs(backward - n.value) > n.bar + 1e-6 * np.abs(n.value))).any(1))
        if not rows.size:
            return
        tiny = _TINY * _sizes(x, part.coordinates[rows])
        columns = [c.entries for c in case.columns]
        moved = central(case, x, tiny, part.coordinates[rows], columns)
        at = [a.reshape(-1)[slice(None) if c is None else c] for a, c in zip(case.values(), columns, strict=True)]
        slopes = np.hstack([_real(s, c) for s, c in zip(moved.slopes, case.columns, strict=True)])
        sizes = np.hstack([_real(here(np.asarray(a)), c) for a, c in zip(at, case.columns, strict=True)])
        unit = _unit(case, x)
        value, bar = n.value[rows], n.bar[rows]
        gap = np.abs(slopes - value)
        torn = gap > np.abs(value) / 2 + bar + _NOISE * unit * (np.abs(sizes) / tiny[:, None] + np.abs(value) / _TINY)
        n.bar[rows], n.value[rows] = np.where(torn, np.maximum(bar, gap), bar), np.where(torn, slopes, value)


def _doubt(case: Case, x: Any, part: Part, backward: Any, n: _Numbers, grain: Any) -> None:
    """Where backward says something else than the steps, and so do far finer ones, a kink lies among the steps.

    It is those that are furthest off that are looked at again.
    """
    if _unit(case, x) >= 1e-10:
        return
    with np.errstate(all="ignore"):
        off = np.where(n.kinks, 0, np.abs(backward - n.value) - 5 * n.bar - 1e-6 * np.abs(n.value)).max(1, initial=0.0)
        rows = np.argsort(-off)[: min(_AGAIN, int(np.count_nonzero(off > 0)))]
        if not rows.size:
            return
        again, _ = _climb(case, x, grain, FINE, LEVELS, part.coordinates[rows])
        value, bar = n.value[rows], n.bar[rows]
        gap = np.abs(again.value - value)
        torn = ~n.kinks[rows] & ~again.kinks & (gap > 5 * (bar + again.bar) + 1e-6 * np.abs(value))
        n.value[rows], n.bar[rows] = np.where(torn, again.value, value), np.where(torn, again.bar, bar)


def _stops(case: Case, x: Any, part: Part, backward: Any, n: _Numbers) -> None:
    """Where backward is slightly off and results jump, as those of an iteration that stops at a tolerance, widen bars.

    Such results are smooth between jumps, and off from the limit, whose derivative a backward may give. A jump is as
    high on a grid twice as fine; a kink is half as high, and what is smooth far lower.
    """
    with np.errstate(all="ignore"):
        off = np.where(n.kinks, 0, np.abs(backward - n.value))
        slight = (off > 5 * n.bar + 1e-7 * np.abs(n.value)) & (off <= 0.1 * _largest(n))
        if not slight.any() or _unit(case, x) > 1e-10:
            return
        signs = np.random.default_rng(23).choice([-1.0, 1.0], x.array.shape)
        way = np.maximum(np.abs(x.array), 0.05) * signs
        own = [way if t is x else np.zeros(t.array.shape) for t in case.varied]
        jumps: Any = 0.0
        with together(case, own) as there:
            for far in (0.1, 0.25):
                rows = [[_real(here(o.reshape(-1))[None, slice(None) if c.entries is None else c.entries], c)
                         for o, c in zip(there(t), case.columns, strict=True)] for t in np.linspace(-far, far, 129)]
                values = np.vstack([np.hstack(row) for row in rows])
                fine, coarse = (np.abs(np.diff(v, 4, axis=0)).max(0) / 3 for v in (values, values[::2]))
                level = (fine > 0.55 * coarse) & (fine > 1e3 * 2.0**-52 * np.abs(values).max(0))
                jumps = np.maximum(jumps, np.where(level, fine, 0))
        room = _JUMPS * jumps / _sizes(x, part.coordinates)[:, None]
        case.stops |= bool((slight & (off <= room)).any())
        n.bar[...] = np.where(slight & (off <= room), np.maximum(n.bar, off), n.bar)


class _Numbers(NamedTuple):
    value: Any
    bar: Any
    kinks: Any
    left: Any
    right: Any
    floor: Any
    """How large a difference of the slopes rounding can make."""
    rising: Any
    """Whether the function is not flat on either side, with the largest step."""
    leaps: Any
    """The kinks that are jumps."""


def _unit(case: Case, x: Any) -> float:
    """The coarsest rounding of an input and the outputs."""
    return max([rounding(x.array.dtype), *[rounding(d) for _, d in case.shapes]])


def _largest(n: _Numbers) -> float:
    known = np.abs(n.value[~n.kinks & np.isfinite(n.value) & np.isfinite(n.bar)])
    return float(known.max()) if known.size else 0.0


def _real(matrix: Any, column: Any) -> Any:
    return np.hstack((matrix.real, matrix.imag)) if column.is_complex else matrix


def _numbers(case: Case, x: Any, part: Part, grain: Any) -> tuple[_Numbers, Rungs]:
    with np.errstate(all="ignore"):
        unit = rounding(x.array.dtype)
        low = unit > 1e-4
        longest = FIRST if unit < 1e-10 else max(0.1, 128 * unit)
        first, rungs = _climb(case, x, grain, longest, 4 if low else LEVELS, part.coordinates)
        unclear = first.kinks | ~(first.bar <= _SHARP * np.nanmax(np.abs(first.value), initial=0.0))
        rows = np.flatnonzero(unclear.any(1))
        if rows.size and not low:
            again, fine = _climb(case, x, grain, FINE, 6, part.coordinates[rows])
            again.kinks[...] &= ~again.leaps | first.kinks[rows]
            last, before = rungs.slopes[-1, rows], rungs.slopes[-2, rows]
            gap = np.abs(again.value - last)  # the finer steps must go on where the others ended
            torn = ~first.kinks[rows] & (gap > 3 * np.abs(last - before) + 5 * again.bar + 0.2 * first.floor[rows])
            again.bar[...] = np.where(torn, gap, again.bar)
            steps = ~fine.slopes[-3:].any(0) & first.rising[rows]
            blunt = ~first.kinks[rows] & ~(again.bar < first.bar[rows])  # the finer steps drown in rounding
            blind = first.kinks[rows] & ~again.kinks & ~(again.floor < 0.25 * np.abs(first.right - first.left)[rows])
            tread = np.where(steps, np.abs(first.value[rows]), 0)  # between steps so close anything is its slope
            first.bar[rows] = np.maximum(first.bar[rows], tread)
            keep = steps | blunt | blind
            for whole, finer in zip(first, again, strict=True):
                whole[rows] = np.where(keep, whole[rows], finer)
    return first, rungs


def _sizes(x: Any, rows: Any) -> Any:
    """The sizes of coordinates, by which steps are taken."""
    small = 0.05 if rounding(x.array.dtype) < 1e-10 else 0.5
    size = np.maximum(np.abs(as_coordinates(np.asarray(x.array))[rows].astype(np.float64)), small)
    return np.where(np.isfinite(size), size, small)


def _climb(case: Case, x: Any, grain: Any, first: float, levels: int, rows: Any) -> tuple[_Numbers, Rungs]:
    """The derivatives by these coordinates of ``x`` from a ladder of steps."""
    steps = first * _sizes(x, rows) / 2.0 ** np.arange(levels)[:, None]
    columns = [c.entries for c in case.columns]
    all_of = [central(case, x, h, rows, columns) for h in steps]
    at = [np.array(a).reshape(-1)[slice(None) if c is None else c] for a, c in zip(case.values(), columns, strict=True)]
    unit = max((rounding(d) * float(np.max(np.abs(a), initial=0)) for a, (_, d) in zip(at, case.shapes, strict=True)),
               default=0.0)
    found = []
    for k, (_, dtype) in enumerate(case.shapes):
        column = case.columns[k]
        sides = [d.one_sided(at)[k] for d in all_of]
        left, right = (np.array([_real(s[side], column) for s in sides]) for side in (0, 1))
        jumps, wide = right - left, steps[:, :, None]
        bends = jumps * wide  # f(x + h) + f(x - h) - 2 f(x), which falls to a quarter with each step if f is smooth
        rough = np.max([np.abs(bends[i - 1] - 4 * bends[i]) for i in range(levels - 2, levels)], 0) / 2
        rough = np.maximum(np.where(np.isfinite(rough), rough, 0), _tread(left, right, wide))
        growth = np.array([np.abs(jumps[i] / jumps[i - 1]) for i in range(levels - 3, levels)])
        kinks = (np.min(growth, 0) > 0.75) & (np.max(growth, 0) < 1.2 * np.min(growth, 0)) & (np.max(growth, 0) < 2.5)
        floor = np.broadcast_to((20 * unit + 10 * grain[k]) / wide[-1], kinks.shape)
        kinks &= np.abs(jumps[-1]) > floor
        height, rise = np.abs(bends[-1]), (np.abs(left[0]) + np.abs(right[0])) * wide[0]
        leaps = kinks & (np.min(growth, 0) > 1.6)
        kinks &= ~(leaps & (height < 0.3 * rise))  # one tread of a staircase
        rough = np.where(kinks, 0, np.maximum(rough, np.where(leaps, height, 0))) + grain[k] + unit
        if column.is_complex:
            n = rough.shape[1] // 2
            rough = np.maximum(rough[:, :n], rough[:, n:])
        e = richardson(all_of, steps, k, dtype, rough)
        bar = np.hstack((e.bar, e.bar)) if column.is_complex else e.bar
        ladder = np.array([_real(m, column) for m in e.ladder])
        found.append(
            (
                np.array(_real(e.value, column)),
                np.array(bar),
                kinks,
                left[-1],
                right[-1],
                floor,
                (left[0] != 0) & (right[0] != 0),
                leaps & kinks,
                ladder,
            )
        )
    *parts, ladder = (np.concatenate(p, -1) for p in zip(*found, strict=True))
    numbers = _Numbers(*parts)
    big = np.nanmax(np.abs(numbers.value), initial=0.0)
    numbers.kinks[...] &= np.abs(numbers.right - numbers.left) > 1e-5 * big
    return numbers, Rungs(steps, ladder)


def _grain(case: Case) -> list[Any]:
    """How far rounding moves each entry of each output: what is left of tiny moves of the inputs after a smooth fit."""
    random = np.random.default_rng(3)
    signs = [random.choice([-1.0, 1.0], x.array.shape) for x in case.varied]
    ways = [
        171 * s * np.spacing(np.maximum(np.abs(x.array), x.array.real.dtype.type(1e-3)))
        for x, s in zip(case.varied, signs, strict=True)
    ]
    with together(case, ways) as there:
        found = [[np.array(here(o.reshape(-1))[slice(None) if c.entries is None else c.entries])
                  for o, c in zip(there(k), case.columns, strict=True)] for k in range(8)]  # fmt: skip
    with np.errstate(all="ignore"):
        third = [np.abs(np.diff(np.array(f), 3, axis=0)).max(0) / 2 for f in zip(*found, strict=True)]
    return [
        np.hstack((t, t))[None] if c.is_complex else t[None]
        for t, c in zip([np.where(np.isfinite(t), t, 0) for t in third], case.columns, strict=True)
    ]


def _tread(left: Any, right: Any, wide: Any) -> Any:
    """How high the treads are of a function like a staircase: flat for small steps, but not for large ones."""
    rises = (np.abs(left) + np.abs(right)) * wide
    stairs = (left[0] != 0) & (right[0] != 0) & (rises[-1] == 0) & (rises[-2] == 0)
    least = np.min(np.where(rises > 0, rises, np.inf), 0)
    return np.where(stairs & np.isfinite(least), least, 0)
