"""What lies outside of a program, as the last look at all of it has found it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwright.compilation.trace.record import Record
from gradwright.compilation.words import Words


def _unknown() -> int:
    return 1


class Seen:
    """It, for a program of NumPy's arrays.

    Attributes:
        arrays: of all inputs, in the list that the last call was given; those of arguments are put into it anew.
        differs: a quick function: 0 if nothing outside has been touched since that look.
        noted: whether that function knows.
    """

    def __init__(self, record: Record, runner: Any) -> None:
        self._record, self._runner, self._tried = record, runner, False
        self._given = tuple(k for k, source in enumerate(record.sources) if source.is_given)
        self.arrays: list[Any] = []
        self.noted = False
        self.differs: Callable[[], int] = _unknown

    def hold(self) -> list[Any]:
        """The arrays, of which only those of arguments may lie elsewhere than at the last call."""
        self._runner.elsewhere = self._given
        return self.arrays

    def note(self, arrays: list[Any], moved: bool) -> None:
        """Remember that all has been looked at; what has not moved from one look to the next, word by word."""
        self.arrays, self._runner.elsewhere = arrays, None
        if moved:
            self.noted, self.differs, self._tried = False, _unknown, False
        elif not self._tried:
            self._tried = True
            self._remember()

    def _remember(self) -> None:
        self._words = words = Words()
        for source in self._record.sources:
            if source.kind == "array":
                words.array(source.array)
            elif source.look is not None and not source.is_given:
                owner = source.tensor if source.kind == "grad" else None
                words.tensor(source.holder(()), owner, asks_for_grad(source.look))
        for (kind, t), state, *_ in self._record.looks:
            if kind != "argument":
                words.tensor(t, None, asks_for_grad(state))
        if words.held:
            self.differs, self.noted = words.question(), True


def asks_for_grad(state: tuple[Any, ...]) -> bool:
    """Whether it matters if a tensor that looks so has a ``.grad``."""
    return bool(state[4] == "leaf" or not state[5])
