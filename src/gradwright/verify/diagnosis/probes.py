"""Experiments on a case that no Jacobian shows: calls repeated and interleaved, other points, other cotangents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradwright.verify.diagnosis.case import Case
from gradwright.verify.diagnosis.measure import measure
from gradwright.verify.diagnosis.random_sums import (
    along,
    discrepancy,
    gradient,
    itself,
    only,
    overall,
    random_direction,
)
from gradwright.verify.diagnosis.residual import Residual
from gradwright.verify.experiments import REFUSED, Fault, nearby
from gradwright.verify.numeric.differences import here
from gradwright.verify.numeric.draws import drawn
from gradwright.verify.numeric.jacobian import Subject, as_coordinates, coordinates, rounding
from gradwright.verify.numeric.streams import Streams, state_between_calls
from gradwright.verify.witness import Witness

_ROUNDINGS = 1e3
"""Gradients of so many roundings of the outputs over the inputs are taken for what is left of terms that cancel."""


@dataclass(frozen=True, eq=False)
class Probes:
    """The findings of the experiments.

    Attributes:
        drift: how far two calls of forward at one point differ, as a part of what they return.
        backward_drift: the same of two backward passes over one graph; renewed: of two over graphs of their own.
        written: the inputs that forward changed.
        state: what changed on the Function class from one call to another: ``Scale.cache``.
        interleaved: how far a backward moves if forward is called elsewhere before it.
        same_elsewhere: whether backward at another point gives what it gave at this one, though the derivative differs.
        elsewhere: how far backward is from finite differences at another point, and how far it may be.
        at_zero, at_random, at_large: how far the gradients are from linear: for cotangents of 0, random ones, and
            far larger ones, as a part of what they should be.
        saturates: whether the gradients stay bounded for large cotangents.
        ignored: whether they do not depend on the cotangent at all.
        rest: of a case that is compared on a grid, how far random sums of all entries by backward are from those by
            finite differences, and how far they may be.
        draws: whether backward draws random numbers: two passes over one graph differ, and do not from the same seed.
        witness: what the engine's own derivative of forward says of backward, where it was asked.
        fault: what backward depends on, and must not.
    """

    drift: float = 0.0
    backward_drift: float = 0.0
    renewed: float = 0.0
    written: tuple[str, ...] = ()
    state: tuple[str, ...] = ()
    interleaved: float = 0.0
    same_elsewhere: bool = False
    elsewhere: tuple[float, float] | None = None
    at_zero: float = 0.0
    at_random: float = 0.0
    at_large: float = 0.0
    saturates: bool = False
    ignored: bool = False
    rest: tuple[float, float] | None = None
    draws: bool = False
    witness: Witness | None = None
    fault: Fault | None = None


def overlapping(x: Any) -> str:
    """Whether entries of ``x`` share memory: ``expanded``, ``sliding windows``, or ``""``."""
    array = np.asarray(x.array)
    strides = [(abs(s), n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1]
    if array.size < 2 or not strides:
        return ""
    if any(s == 0 for s, _ in strides):
        return "expanded"
    span = array.itemsize
    for stride, n in sorted(strides):
        if stride < span:
            break
        span = stride * (n - 1) + span
    else:
        return ""
    places = sum(np.arange(n).reshape([-1] + [1] * k) * s for k, (s, n) in enumerate(strides))
    return "sliding windows" if np.unique(places).size < array.size else ""


def repeat(case: Case) -> Probes:
    """Call forward twice and see whether anything differs that should not."""
    held = _state(case)
    with case.listening():
        first, written = [np.array(a) for a in case.values()], case.restored()
        second = [np.array(a) for a in case.values()]
        case.restored()
    scale = max([_size(a) for a in first], default=0.0)
    drift = max([_size(here(a) - here(b)) for a, b in zip(first, second, strict=True)], default=0.0)
    return Probes(drift=drift / scale if scale else drift, written=written, state=_changed(held, _state(case)))


def experiments(case: Case, residuals: Sequence[Residual], found: Probes) -> Probes:
    """The probes of backward, given those of forward."""
    if not case.differentiable:
        return found
    random = np.random.default_rng(7)
    cotangents = [drawn(random, a.array) for a in case.outputs]
    with case.listening():
        streams = Streams.now()
        first, again = gradient(case, cotangents), gradient(case, cotangents)
        drift = _relative_error(first, again)
        if drift:
            streams.put_back()
        draws = bool(drift) and not _relative_error(first, gradient(case, cotangents))
        fresh, renewed = gradient(case.again(), cotangents), gradient(case.again(), cotangents)
        linear = _linearity(case, residuals, cotangents)
        held = _state(case)
        other = _other_point(case, residuals, cotangents, fresh)
        rest = None if case.grid.whole else overall(case)
    values = {
        **vars(found),
        "rest": rest,
        "backward_drift": drift,
        "draws": draws,
        "renewed": _relative_error(fresh, renewed),
        **linear,
        **other,
        "state": tuple(dict.fromkeys((*found.state, *_changed(held, _state(case))))),
    }
    return Probes(**values)


def _linearity(case: Case, residuals: Sequence[Residual], cotangents: Sequence[Any]) -> dict[str, Any]:
    """Backward of random, large and no cotangents against what one-hot ones add up to."""
    matrix = np.vstack([r.analytic for r in residuals])
    unit = max(r.unit for r in residuals)
    large = 1e6 if unit < 1e-10 else 1e3 if unit < 1e-4 else 2.0**8
    compared = [c if p.entries is None else only(c, p.entries) for c, p in zip(cotangents, case.columns, strict=True)]
    g = np.concatenate([as_coordinates(c)[p.coordinates] for c, p in zip(compared, case.columns, strict=True)])
    with np.errstate(all="ignore"):
        said, zero, far, farther = (
            _compared(case, [(c * f).astype(c.dtype) for c in compared]) for f in (1, 0, large, 2 * large)
        )
        if not case.grid.whole:  # what those make of it that are not compared is taken off again
            said = _compared(case, cotangents) - _compared(
                case, [a - b for a, b in zip(cotangents, compared, strict=True)])
        due, size = matrix @ g, np.abs(matrix) @ np.abs(g)
        room = unit ** (2 / 3) * np.maximum(size, np.max(size, initial=0.0))
        left = leftover(case) / max(1e-6, unit**0.5)
        whole = max(float(np.linalg.norm(np.where(np.isfinite(size), size, 0))), left) or 1.0
        off = [np.maximum(np.abs(a - b) - room, 0) for a, b in ((zero, 0 * due), (said, due), (far / large, due))]
        parts = [float(np.linalg.norm(np.nan_to_num(o, nan=0.0, posinf=0.0))) / whole for o in off]
        return {
            "at_zero": parts[0],
            "at_random": parts[1],
            "at_large": parts[2],
            "saturates": bool(_relative_error(far, farther) < 1e-6),
            "ignored": bool(zero.any() and _relative_error(zero, said) < 1e-9),
        }


def leftover(case: Case) -> float:
    """How large gradients may be and still be no more than what rounding left of terms that cancel."""
    unit = max(rounding(a.array.dtype) for a in (*case.varied, *case.outputs))
    out = sum(float(np.abs(here(o.array)).sum()) for o in case.outputs)
    inputs = max((_size(here(x.array)) for x in case.varied), default=0.0)
    return min(_ROUNDINGS * unit, 1e-3) * out / inputs if inputs and np.isfinite(out) else 0.0


def _compared(case: Case, cotangents: Sequence[Any]) -> Any:
    """The gradients in one row, of what is compared of the inputs."""
    found = gradient(case, cotangents)
    if case.grid.whole:
        return found
    sizes = [coordinates(x) for x in case.varied]
    starts = np.cumsum([0, *sizes[:-1]])
    return found[np.concatenate([s + r.coordinates for s, r in zip(starts, case.rows, strict=True)])]


def _other_point(case: Case, residuals: Sequence[Residual], cotangents: Sequence[Any],
                 here_said: Any) -> dict[str, Any]:
    """Run forward at another point and back again, and backward at both."""
    points = [nearby(np.asarray(x.array)) for x in case.varied]
    if any(x.array.dtype.kind not in "fc" for x in case.varied):
        return {}
    try:
        outputs = case.again()
        there = case.elsewhere(points)
        if not there.differentiable or [s for s, _ in there.shapes] != [s for s, _ in case.shapes]:
            return {}
        mixed = gradient(outputs, cotangents)
        said = gradient(there, cotangents)
        direction = random_direction(there)
        slope = along(there, cotangents, direction)
    except REFUSED:
        return {}
    off, room = discrepancy(there, said, direction, slope)
    result: dict[str, Any] = {"interleaved": _relative_error(here_said, mixed)}
    if abs(off) > room and case.grid.whole and not _is_wrong(case, there):
        return result
    if np.isfinite(off) and np.isfinite(room):
        result["elsewhere"] = abs(off), room
        known = _known(case, residuals, cotangents, direction)
        result["same_elsewhere"] = _relative_error(said, here_said) < 1e-9 and abs(known - slope.value) > room
    return result


def _is_wrong(case: Case, there: Subject) -> bool:
    """Whether entries are wrong at the other point, looked at as carefully as those at the first."""
    moved = Case(case.func, there.inputs, case.arguments)
    moved.on(case.grid, [o.name for o in case.columns])
    return any(r.wrong.any() for r in measure(moved)[0])


def _known(case: Case, residuals: Sequence[Residual], cotangents: Sequence[Any], direction: Any) -> float:
    """How fast the outputs, weighted by cotangents, grow along a direction, by finite differences."""
    if not case.grid.whole:
        return along(itself(case), cotangents, direction).value
    g = np.concatenate([as_coordinates(np.asarray(c)) for c in cotangents])
    return float(np.vstack([r.numeric for r in residuals]) @ g @ direction)


def _relative_error(a: Any, b: Any) -> float:
    """How far two rows differ, as a part of the larger."""
    with np.errstate(all="ignore"):
        if a.shape != b.shape:
            return 1.0
        if np.array_equal(a, b, equal_nan=True):
            return 0.0
        return float(np.linalg.norm(np.nan_to_num(a - b, nan=1.0)) / (max(_size(a), _size(b)) or 1.0))


def _size(a: Any) -> float:
    with np.errstate(all="ignore"):
        return float(np.abs(a[np.isfinite(a)]).max(initial=0.0))


def _state(case: Case) -> dict[str, Any]:
    """The state on the Function class, by identity and, of numbers and arrays, by value."""
    kept = {} if case.function is None else state_between_calls((), case.function, (object,))
    return {k: (id(v), repr(v) if isinstance(v, (int, float, list, dict)) else "")
            for k, v in kept.items() if not callable(v)}  # fmt: skip


def _changed(before: dict[str, Any], after: dict[str, Any]) -> tuple[str, ...]:
    return tuple(k for k in after if before.get(k) != after[k])
