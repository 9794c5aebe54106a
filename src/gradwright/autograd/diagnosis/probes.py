"""Experiments on a case that no Jacobian shows: calls repeated and interleaved, other points, other cotangents."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradwright.autograd.diagnosis.case import Case
from gradwright.autograd.diagnosis.residual import Residual
from gradwright.autograd.jacobian import Subject, as_coordinates, here, pullback

REFUSED = (ArithmeticError, AssertionError, LookupError, RuntimeError, TypeError, ValueError)
"""What a function may raise at another point than its own, where it need not be defined."""


@dataclass(frozen=True, eq=False)
class Probes:
    """What the experiments found.

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
    return Probes(drift=drift / scale if scale else drift, written=written, state=_changed(held, _state(case), case))


def experiments(case: Case, residuals: Sequence[Residual], found: Probes) -> Probes:
    """The probes of backward, given those of forward."""
    if not case.differentiable:
        return found
    random = np.random.default_rng(7)
    cotangents = [_random(random, a.array) for a in case.outputs]
    with case.listening():
        first, again = _gradient(case, cotangents), _gradient(case, cotangents)
        fresh, renewed = _gradient(case.again(), cotangents), _gradient(case.again(), cotangents)
        linear = _linearity(case, residuals, cotangents)
        held = _state(case)
        other = _other_point(case, residuals, cotangents, fresh)
    values = {
        **vars(found),
        "backward_drift": _apart(first, again),
        "renewed": _apart(fresh, renewed),
        **linear,
        **other,
        "state": tuple(dict.fromkeys((*found.state, *_changed(held, _state(case), case)))),
    }
    return Probes(**values)


def _gradient(subject: Subject, cotangents: Sequence[Any]) -> Any:
    """The gradients of all varied inputs in one row."""
    found = pullback(subject, cotangents)
    rows = [
        np.zeros(x.array.size * (1 + (x.array.dtype.kind == "c"))) if g is None else g
        for g, x in zip(found, subject.varied, strict=True)
    ]
    return np.concatenate(rows).astype(np.float64)


def _linearity(case: Case, residuals: Sequence[Residual], cotangents: Sequence[Any]) -> dict[str, Any]:
    """Backward of random, large and no cotangents against what one-hot ones add up to."""
    matrix = np.vstack([r.analytic for r in residuals])
    unit = max(r.unit for r in residuals)
    large = 1e6 if unit < 1e-10 else 1e3 if unit < 1e-4 else 2.0**8
    g = np.concatenate([as_coordinates(np.asarray(c)) for c in cotangents])
    with np.errstate(all="ignore"):
        said, zero = _gradient(case, cotangents), _gradient(case, [c * 0 for c in cotangents])
        far, farther = (_gradient(case, [(c * f).astype(c.dtype) for c in cotangents]) for f in (large, 2 * large))
        due, size = matrix @ g, np.abs(matrix) @ np.abs(g)
        room = unit ** (2 / 3) * np.maximum(size, np.max(size, initial=0.0))
        whole = np.linalg.norm(np.where(np.isfinite(size), size, 0)) or 1.0
        off = [np.maximum(np.abs(a - b) - room, 0) for a, b in ((zero, 0 * due), (said, due), (far / large, due))]
        parts = [float(np.linalg.norm(np.nan_to_num(o, nan=0.0, posinf=0.0))) / whole for o in off]
        return {
            "at_zero": parts[0],
            "at_random": parts[1],
            "at_large": parts[2],
            "saturates": bool(_apart(far, farther) < 1e-6),
            "ignored": bool(zero.any() and _apart(zero, said) < 1e-9),
        }


def _other_point(
    case: Case, residuals: Sequence[Residual], cotangents: Sequence[Any], here_said: Any
) -> dict[str, Any]:
    """Run forward at another point and back again, and backward at both."""
    points = [_other(x.array) for x in case.varied]
    if any(x.array.dtype.kind not in "fc" for x in case.varied):
        return {}
    try:
        outputs = case.again()
        there = case.elsewhere(points)
        if not there.differentiable or [s for s, _ in there.shapes] != [s for s, _ in case.shapes]:
            return {}
        mixed = _gradient(outputs, cotangents)
        said = _gradient(there, cotangents)
        slope, bar = _along(there, cotangents)
    except REFUSED:
        return {}
    direction = _direction(there)
    claimed = float(said @ direction)
    scale = float(np.abs(said) @ np.abs(direction))
    unit = max(np.finfo(x.array.dtype).eps for x in case.varied)
    result: dict[str, Any] = {"interleaved": _apart(here_said, mixed)}
    room = 10 * bar + 1e-6 * abs(slope) + float(unit) ** 0.6 * scale
    if np.isfinite(slope) and np.isfinite(claimed):
        result["elsewhere"] = abs(claimed - slope), room
        g = np.concatenate([as_coordinates(np.asarray(c)) for c in cotangents])
        known = float(np.vstack([r.numeric for r in residuals]) @ g @ direction)
        result["same_elsewhere"] = _apart(said, here_said) < 1e-9 and abs(known - slope) > room
    return result


def _other(array: Any) -> Any:
    """Another point, inside most domains that the first is inside of."""
    array = np.asarray(array)
    return array * np.asarray(0.8731, array.dtype) if array.any() else array + np.asarray(0.25, array.dtype)


def _direction(subject: Subject) -> Any:
    random = np.random.default_rng(11)
    return np.concatenate([as_coordinates(_random(random, x.array)).astype(np.float64) for x in subject.varied])


def _along(subject: Subject, cotangents: Sequence[Any]) -> tuple[float, float]:
    """How fast the outputs, weighted by cotangents, grow along the direction, and how far that may be off."""
    direction, start = _direction(subject), [np.array(x.array) for x in subject.varied]
    found = []

    def value(h: float) -> Any:
        k = 0
        for x, s in zip(subject.varied, start, strict=True):
            n = s.size
            d = direction[k : k + n] + (1j * direction[k + n : k + 2 * n] if s.dtype.kind == "c" else 0)
            k += 2 * n if s.dtype.kind == "c" else n
            x.array[...] = (s + h * d.reshape(s.shape)).astype(s.dtype)
        outs = [np.array(a) for a in subject.values()]
        return sum(
            float(np.real(np.vdot(here(c.reshape(-1)), here(a.reshape(-1)))))
            for c, a in zip(cotangents, outs, strict=True)
        )

    size = max([float(np.abs(s).max(initial=0.05)) for s in start], default=1.0)
    units = [float(np.finfo(s.dtype).eps) for s in start]
    try:
        for k in range(5):
            h = 0.01 * size / 2**k * (1 if max(units) < 1e-10 else 4)
            found.append((value(h) - value(-h)) / (2 * h))
        middle = abs(value(0.0)) + sum(float(np.abs(c).sum()) for c in cotangents) * size
    finally:
        for x, s in zip(subject.varied, start, strict=True):
            x.array[...] = s
    once = [(4 * b - a) / 3 for a, b in itertools.pairwise(found)]
    bars = [abs(b - a) for a, b in itertools.pairwise(once)]
    best = int(np.argmin(bars))
    return once[best + 1], max(bars) + 100 * max(units) * middle / (0.01 * size / 16)


def _random(random: np.random.Generator, like: Any) -> Any:
    """Numbers from 0.5 to 1.5 of both signs."""
    like = np.asarray(like)
    values = random.uniform(0.5, 1.5, like.shape) * random.choice([-1.0, 1.0], like.shape)
    if like.dtype.kind == "c":
        values = values + 1j * random.uniform(0.5, 1.5, like.shape)
    return np.asarray(values).astype(like.dtype)


def _apart(a: Any, b: Any) -> float:
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
    """What is kept on the Function class, by identity and, of numbers and arrays, by value."""
    if case.function is None:
        return {}
    return {
        k: (id(v), repr(v) if isinstance(v, (int, float, list, dict)) else "")
        for k, v in vars(case.function).items()
        if not k.startswith("_") and not callable(v)
    }


def _changed(before: dict[str, Any], after: dict[str, Any], case: Case) -> tuple[str, ...]:
    name = case.function.__name__ if case.function else ""
    return tuple(f"{name}.{k}" for k in after if before.get(k) != after[k])
