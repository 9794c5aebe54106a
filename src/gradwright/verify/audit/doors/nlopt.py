"""nlopt: f(x, grad) writes its gradient into an array, which is of no length where none is wanted."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from gradwright.verify.audit.doors.door import HANDED, Call, Door, Pairs, door
from gradwright.verify.audit.doors.heard import Heard, copied
from gradwright.verify.pairs import Pair, Point
from gradwright.verify.pairs.pair import GRADIENT, JACOBIAN

_SEVERAL = ("add_inequality_mconstraint", "add_equality_mconstraint")
_given: weakref.WeakKeyDictionary[Any, list[tuple[str, Heard]]] = weakref.WeakKeyDictionary()


def _read(args: Any, result: Any) -> Any:
    """What the function has written: with several values, f(result, x, grad)."""
    if len(args) == 2:
        return result, args[1].copy() if np.size(args[1]) else None
    return args[0].copy(), args[2].copy() if np.size(args[2]) else None


@door("nlopt", "opt.set_min_objective", "opt.set_max_objective", "opt.add_inequality_constraint",
      "opt.add_equality_constraint", *(f"opt.{name}" for name in _SEVERAL))  # fmt: skip
def function(call: Call) -> Pairs | None:
    """An objective or a constraint: the function is heard from here on."""
    name = call.door.path.partition(".")[2]
    rest = call.given.get("args", ())
    if not rest:
        return None
    at = 1 if name in _SEVERAL else 0
    heard = Heard(rest[0], see=lambda args: (copied(args[at]),), read=_read)
    call.given["args"] = (heard, *rest[1:])
    _given.setdefault(call.given["self"], []).append((name, heard))
    return HANDED


@door("nlopt", "opt.optimize")
def optimize(call: Call) -> Pairs | None:
    """``optimize``: the gradients of all that was handed over before."""
    opt = call.given["self"]
    held = _given.get(opt, [])
    if not held:
        return None
    for _, heard in held:
        heard.begin()
    call.heard = [h for _, h in held]
    low, high = np.array(opt.get_lower_bounds()), np.array(opt.get_upper_bounds())

    def pairs() -> Iterator[Pair]:
        for name, heard in held:
            points = tuple(Point(k.x, (), None, k.result[1], k.result[0], k.before, k.number)
                           for k in heard.kept if k.result[1] is not None)  # fmt: skip
            if not points:
                continue
            several = name in _SEVERAL
            value, slope = _several(heard, points[0].value) if several else _single(heard)
            yield Pair(JACOBIAN if several else GRADIENT, value, slope, points, (heard.name, "grad"), heard.where,
                       f"nlopt.opt.{name}", bounds=(low, high), calls=heard.calls)  # fmt: skip

    return pairs


def _single(heard: Heard) -> Any:
    return partial(_value, heard.function), partial(_gradient, heard.function)


def _value(function: Any, x: Any) -> Any:
    return function(x, np.zeros(0))


def _gradient(function: Any, x: Any) -> Any:
    grad = np.zeros(len(x))
    function(x, grad)
    return grad


def _several(heard: Heard, like: Any) -> Any:
    def both(x: Any, grad: Any) -> Any:
        result = np.zeros_like(like)
        heard.function(result, x, grad)
        return result, grad

    return (lambda x: both(x, np.zeros(0))[0]), lambda x: both(x, np.zeros((len(like), len(x))))[1]


DOORS: list[Door] = [*function, *optimize]
