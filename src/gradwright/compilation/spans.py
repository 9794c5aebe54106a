"""Whether memory that is written is that of one array alone: one sort of addresses."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np


def span(array: Any) -> tuple[int, int]:
    """The beginning and end of an array in memory."""
    if not array.flags.forc:
        return np.lib.array_utils.byte_bounds(array)
    start: int = array.__array_interface__["data"][0]
    return start, start + array.nbytes


class Disjoint:
    """Of arrays at places ``numbers`` of a list, whether those that are ``written`` share no memory with any other.

    Those at ``given`` may be others at each call, when what they are compared with is known already.
    """

    def __init__(self, numbers: Iterable[int], written: Collection[int], given: Iterable[int] = ()) -> None:
        self._numbers, self._written = [*numbers], frozenset(written)
        self._given = [k for k in given if k in self._numbers]
        self._whole = not self._written.isdisjoint(self._given)
        self._starts: list[int] = []
        self._ends: list[int] = []

    def of_all(self, arrays: Sequence[Any]) -> bool:
        """Whether they do."""
        found = sorted((*span(arrays[k]), k) for k in self._numbers if arrays[k].size)
        most = most_written = 0
        for start, end, k in found:
            if start < (most if k in self._written else most_written):
                return False
            most = max(most, end)
            if k in self._written:
                most_written = max(most_written, end)
        fixed = [found for found in found if found[2] in self._written]
        self._starts, self._ends = [start for start, _, _ in fixed], [end for _, end, _ in fixed]
        return True

    def of_given(self, arrays: Sequence[Any]) -> bool:
        """Whether they do, where all others lie as they did when `of_all` was asked."""
        if self._whole:
            return self.of_all(arrays)
        for k in self._given:
            if arrays[k].size:
                start, end = span(arrays[k])
                before = bisect_left(self._starts, end) - 1
                if before >= 0 and self._ends[before] > start:
                    return False
        return True
