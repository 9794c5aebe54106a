"""How a derivative behaves as a function: whether it is of this point, says the same again, and keeps what it gave."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradwright.verify.pairs.at_hand import outermost
from gradwright.verify.pairs.calls import Calls, Unusable
from gradwright.verify.pairs.causes import Cause
from gradwright.verify.pairs.look import Look
from gradwright.verify.pairs.measured import Measured
from gradwright.verify.pairs.pair import GRADIENT, HESSIAN, JACOBIAN
from gradwright.verify.pairs.reading import dense

_MEND = "compute it of the x that is given, or keep a copy of x with what was computed and compare np.array_equal"


def of_another_point(calls: Calls, looks: list[Look]) -> Cause | None:
    """What the program got is the derivative at a point where it was before."""
    pair = calls.pair
    name = pair.names[1]
    for look in looks:
        view = look.view
        at = pair.points[look.number]
        if view is None or view.said is None or not view.wrong.any() or pair.kind not in (GRADIENT, JACOBIAN, HESSIAN):
            continue
        others = [at.before] if at.before is not None else []
        others += [p.x for p in reversed(pair.points[: look.number])]
        if at.returned is not None and (here := _again(calls, look.number, at.x)) is not None \
                and here.shape == np.shape(at.returned) and np.allclose(here, dense(at.returned), 1e-9, 0):  # fmt: skip
            continue  # it says the same of this point when it is asked anew
        for x in others:
            if np.shape(x) != np.shape(at.x) or np.array_equal(x, at.x):
                continue
            there = _again(calls, look.number, x)
            if there is not None and there.shape == np.shape(at.returned) and at.returned is not None \
                    and np.allclose(there, dense(at.returned), 1e-9, 0):  # fmt: skip
                return Cause("previous point", f"gave the program the derivative at a point before, {short(x)}: a "
                             "cache that is not renewed, or one buffer used again", _MEND)  # fmt: skip
        if look.fresh is not None and view.mended(look.fresh, 3.0):
            return Cause("previous point", "gave the program something else than it says when it is called again with "
                         f"the same x, which is right: `{name}` depends on what was called before", _MEND)  # fmt: skip
    return None


def _again(calls: Calls, number: int, x: Any) -> Any:
    at = calls.pair.points[number]
    try:
        if calls.pair.value is not None:
            calls.function(calls.pair.value, at)(x)
        return dense(calls.derivative(at, x))
    except (Unusable, TypeError, ValueError):
        return None


def by_itself(calls: Calls, looks: list[Look]) -> tuple[Cause | None, list[str]]:
    """What is wrong with a derivative that is right at each point when asked there after the value; and notes."""
    pair = calls.pair
    points = [k for k, look in enumerate(looks) if look.view is not None]
    if pair.kind not in (GRADIENT, JACOBIAN, HESSIAN) or not points:
        return None, []
    number = looks[points[0]].number
    at = pair.points[number]
    x = np.array(at.x, np.float64)
    other = np.where(x == 0, 0.01, x * (1 + 1e-3))
    if pair.bounds is not None:
        low, high = (np.broadcast_to(np.asarray(b, np.float64).reshape(-1), (x.size,)) for b in pair.bounds)
        other = np.clip(other.reshape(-1), low, high).reshape(x.shape)
    try:
        first = calls.derivative(at)
        kept = dense(first)
        second = calls.derivative(at)
        again = dense(second)
        if kept.shape == again.shape and not np.allclose(kept, again, 1e-6, 1e-12, equal_nan=True):
            return Cause("random", "says something else each time it is called with the same x", "seed what it draws, "
                         "or draw once and keep it"), []  # fmt: skip
        moved = dense(calls.derivative(at, other))
        if pair.reused or (isinstance(first, np.ndarray) and not np.array_equal(first, kept, equal_nan=True)):
            said = ("one buffer is used again for every result: what it returned before changes with the next call")
            if pair.kind == GRADIENT and (at.returned is None or pair.reused):
                return Cause("buffer", f"is right as it is returned, but {said}; a solver that keeps the last gradient "
                             "to compare it with the next sees no difference", "return a copy, `grad.copy()`"), []
            return None, [f"{said}; a program that keeps one must copy it"]
        alone = at.returned is None and pair.value is not None and not np.array_equal(other, x)
        if alone and np.array_equal(moved, kept) and np.abs(kept).max(initial=0.0) > 0:
            calls.function(pair.value, at)(other)  # type: ignore[arg-type]
            after = dense(calls.derivative(at, other))
            if not np.allclose(after, moved, 1e-9, 0, equal_nan=True):
                return Cause("previous point", "is of the point that the value was asked for last, whatever x it is "
                             "given: a cache that is not renewed", _MEND), []  # fmt: skip
    except (Unusable, TypeError, ValueError):
        return None, []
    return None, []


def own_differences(calls: Calls, views: Sequence[Measured]) -> Cause | None:
    """The derivative is made by differences, as it calls the value several times, and is as right as such can be."""
    pair = calls.pair
    of = pair.gradient if pair.kind == HESSIAN else pair.value
    user = outermost(of) if of is not None and pair.kind in (GRADIENT, JACOBIAN, HESSIAN) else None
    off = max(float(np.max(np.abs(v.told - v.true), where=v.wrong, initial=0.0)) for v in views)
    if user is None or not off <= _ROUGH * max(v.scale for v in views):
        return None
    made = 0

    def heard(frame: Any, event: str, _: Any) -> None:
        nonlocal made
        made += event == "call" and frame.f_code is user.__code__

    before = sys.getprofile()
    sys.setprofile(heard)
    try:
        calls.derivative(pair.points[views[0].number])
    except Unusable:
        return None
    finally:
        sys.setprofile(before)
    if made < 2:
        return None
    return Cause("own differences", f"is made by differences of its own, as it calls `{user.__name__}` {made} times, "
                 f"and as right as such are: off by {off:.1g}", "")  # fmt: skip


_ROUGH = 1e-2
"""Differences that are further off than this part of the derivative are no excuse."""


def short(x: Any, most: int = 4) -> str:
    """An x in few words."""
    flat = np.asarray(x).reshape(-1)
    told = ", ".join(f"{v:.6g}" for v in flat[:most])
    return told if not np.shape(x) else f"[{told}{', ...' if flat.size > most else ''}]"
