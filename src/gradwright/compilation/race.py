"""Which is quicker, a program or an eager run: the first calls measure both, and the slower one is not used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import get_clock_info, perf_counter, thread_time
from typing import Any

from gradwright.engine.base import TensorBase

ROUNDS = 4
"""So many calls each decide, unless a program is clearly quicker."""
_CLEAR = 0.7
clock: Callable[[], float] = thread_time if get_clock_info("thread_time").resolution <= 1e-6 else perf_counter
"""What tells the time, if it can, that of this thread alone: what else runs meanwhile is no part of it."""


class Race:
    """Calls of a program, and eager ones, whose time is taken until the quicker way is known.

    Attributes:
        own, eager: the seconds of calls of either kind.
        rival: what else was made of the program before, if that was not clearly quicker than eager runs.
        lost: whether the program is not run, as it is slower.
        shapes: then those of the arguments.
    """

    shapes: list[Any]

    def __init__(self, rival: Any = None) -> None:
        self.own: list[float] = []
        self.eager: list[float] = [] if rival is None else rival.race.eager
        self.rival, self.lost = rival, False

    def run(self, program: Callable[[], Any], eager: Callable[[], Any]) -> Any:
        """The result of one of them, whichever is to be measured next."""
        own = len(self.own) < min(len(self.eager), ROUNDS)
        return self.timed(program, self.own) if own else self.timed(eager, self.eager)

    def timed(self, call: Callable[[], Any], seconds: list[float]) -> Any:
        """The result of a call whose time is noted."""
        start = clock()
        result = call()
        seconds.append(clock() - start)
        return result

    def skips(self, leaves: Sequence[Any]) -> bool:
        """Whether an eager run follows anyhow for arguments of these shapes, whatever else is as it was."""
        return self.lost and self.shapes == _shapes(leaves)

    @property
    def is_clear(self) -> bool:
        """Whether the program is clearly quicker."""
        return bool(self.own and self.eager) and min(self.own) <= _CLEAR * min(self.eager)

    @property
    def is_over(self) -> bool:
        """Whether it is known which is quicker."""
        return (self.is_clear and self.rival is None) or min(len(self.own), len(self.eager)) >= ROUNDS

    def best(self, entry: Any, leaves: Sequence[Any]) -> Any:
        """The entry of the quickest program; its race is over, or lost."""
        found = min((e for e in (self.rival, entry) if e is not None), key=lambda e: min(e.race.own))
        race = found.race
        race.lost, race.shapes = min(race.own) > min(race.eager), _shapes(leaves)
        found.race = race if race.lost else None
        return found

    def __str__(self) -> str:
        return f"{1e6 * min(self.own):,.1f} µs by it, {1e6 * min(self.eager):,.1f} µs eagerly" if self.own else ""


def _shapes(leaves: Sequence[Any]) -> list[Any]:
    return [x.array.shape for x in leaves if isinstance(x, TensorBase)]
