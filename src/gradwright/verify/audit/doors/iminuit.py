"""iminuit: costs of several arguments or of one array, with their gradient and Hessian.

Signatures are read there and calls are counted, so that no function is listened to: the derivatives are called at
points of the fit when it has ended.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gradwright.verify.audit.doors.door import Call, Door, Pairs, door
from gradwright.verify.audit.doors.heard import named, place
from gradwright.verify.pairs import Pair, Point
from gradwright.verify.pairs.pair import GRADIENT, HESSIAN


@door("iminuit", "Minuit.migrad", "Minuit.hesse", "Minuit.simplex", "Minuit.scan", "Minuit.minos")
def migrad(call: Call) -> Pairs | None:
    """A fit with ``grad=`` or ``hessian=``."""
    minuit = call.given["self"]
    cost = minuit._fcn
    fun, grad, hess = cost._fcn, cost._grad, cost._hessian
    if grad is None and hess is None:
        return None
    call.about = [f for f in (fun, grad, hess) if f is not None]
    start = np.array(minuit.values, float)

    def given(function: Any) -> Any:
        return (lambda x: function(x)) if cost._array_call else lambda x: function(*x.tolist())

    def pairs() -> Iterator[Pair]:
        end = np.array(minuit.values, float)
        limits = np.array(minuit.limits, float)
        points = tuple(Point(end + k * (start - end)) for k in (1.0, 0.5, 0.1))  # at the minimum all is rounding
        more: Any = {"points": points, "value": given(fun), "bounds": (limits[:, 0], limits[:, 1]),
                     "fixed": np.array(minuit.fixed, bool),
                     "parameters": () if cost._array_call else tuple(minuit.parameters)}  # fmt: skip
        if grad is not None:
            yield Pair(GRADIENT, derivative=given(grad), names=(named(fun), named(grad)), where=place(grad),
                       door=f"{call.door.name}(grad=)", calls=minuit.ngrad, **more)  # fmt: skip
        if hess is not None:
            yield Pair(HESSIAN, derivative=given(hess), names=(named(fun), named(hess)), where=place(hess),
                       door=f"{call.door.name}(hessian=)", gradient=None if grad is None else given(grad),
                       calls=minuit.nhessian, **more)  # fmt: skip

    return pairs


DOORS: list[Door] = [*migrad]
