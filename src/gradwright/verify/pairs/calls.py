"""The functions of a pair, called anew: counted, quiet, each time with a copy of its own; within a budget."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from gradwright.verify.experiments import REFUSED
from gradwright.verify.pairs.pair import Pair, Point
from gradwright.verify.pairs.reading import dense


@dataclass(frozen=True)
class Budget:
    """What judging a pair may cost.

    Attributes:
        calls: of the value (or of what stands for it); 12 for each entry of x and each point are all that is used.
        seconds: after which no further entry is looked at.
        points: how many points are looked at.
    """

    calls: int = 2000
    seconds: float = 20.0
    points: int = 4


class Unusable(Exception):  # noqa: N818 - nothing is wrong, it is just not to be had
    """A function cannot be called again, or not with what it was called with."""


class Calls:
    """A pair, and what calling it has cost.

    Attributes:
        made: how many calls of value or gradient. raised: the last exception, told; ``""`` if there was none.
    """

    def __init__(self, pair: Pair, budget: Budget) -> None:
        self.pair, self.budget = pair, budget
        self.made, self.raised = 0, ""
        self._end = perf_counter() + budget.seconds

    @property
    def left(self) -> int:
        """How many calls the budget still has; 0 once its time is over."""
        return max(0, self.budget.calls - self.made) if perf_counter() < self._end else 0

    def function(self, f: Callable[..., Any], at: Point) -> Callable[[Any], Any]:
        """``f`` at a point, as a function of an x alone that gives an array, None where it raises."""

        def call(x: Any) -> Any:
            self.made += 1
            try:
                return self.asked(f, x, *at.extra)
            except REFUSED as e:
                self.raised = f"{type(e).__name__}: {e}"
                return None

        return call

    def derivative(self, at: Point, x: Any = None, v: Any = None) -> Any:
        """What the derivative returns there, as it is. Raises Unusable where it raises."""
        given: tuple[Any, ...] = (at.x if x is None else x,)
        if self.pair.kind in ("hvp", "jvp", "vjp"):
            given += (at.v if v is None else v,)
        elif self.pair.kind == "adjoint":
            given = (at.v if v is None else v,)
        try:
            return self.quietly(self.pair.derivative, *given, *at.extra)
        except REFUSED as e:
            raise Unusable(f"`{self.pair.names[1]}` raises {type(e).__name__}: {e}") from e

    def asked(self, f: Callable[..., Any], *arguments: Any) -> Any:
        """The array that it returns."""
        return dense(self.quietly(f, *arguments))

    def quietly(self, f: Callable[..., Any], *arguments: Any) -> Any:
        """What it returns, called with copies and without warnings, in the state that it had."""
        if self.pair.restore is not None:
            self.pair.restore()
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return f(*(a.copy() if isinstance(a, np.ndarray) else a for a in arguments))
