"""Arrays that others hold, too: whether anybody does, and numbers by which it is noticed what they write into them."""

from __future__ import annotations

import weakref
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from gradwright.base.cpython.references import alone, count


def through_buffer(array: Any) -> tuple[Any, memoryview]:
    """Another array over the same memory, and what all that is made of it holds, which nobody else does."""
    raw = np.asarray(memoryview(array if array.dtype.kind != "V" else array.view(f"u{array.itemsize}")))
    return raw.view(array.dtype), raw.base  # type: ignore[return-value]


def is_held(owner: Any) -> bool:
    """Whether anybody but the caller, who has it in one place, can write the memory of an array."""
    while owner is not None:
        if count(owner) > _IN_ONE_PLACE and getattr(getattr(owner, "flags", None), "writeable", True):
            return True
        owner = owner.obj if owner.__class__ is memoryview else getattr(owner, "base", None)
    return False


def _references() -> int:
    def within(owner: Any) -> int:
        return count(owner)

    place = [np.zeros(1)]
    return within(place[0])


_IN_ONE_PLACE = alone(_references)


def fingerprint(array: Any) -> int:
    """A number that changes with the bytes of an array."""
    return zlib.crc32(array.ravel("K").view(np.uint8))


_FEW = 512
"""Of how many entries all are looked at; of more, every n-th, some 100 to 128, and those at both ends."""
_END = 32


def sample(array: Any) -> int:
    """The same of an array that is filled anew as a whole, as a rule: in time that does not grow with it."""
    if array.size <= _FEW:
        return hash(array.tobytes())
    rows = array.T if array.flags.f_contiguous else array
    flat = rows.reshape(-1) if rows.flags.c_contiguous else rows.flat
    step = array.size // (_FEW // 4) | 1  # odd: not all of them in some of the columns
    return hash((flat[::step].tobytes(), flat[:_END].tobytes(), flat[-_END:].tobytes()))


class Export:
    """Memory that was handed out as arrays, or that came as one.

    Attributes:
        array: the memory.
        seen: its fingerprint when it was last looked at; None while nobody has saved it as it is.
        place: the line that asked for the first of the arrays that live, or brought it.
        theirs: the array that came, as a buffer; None of memory that was handed out.
        aside: whether it was handed out by ``.data``, so that writes through it do not count, but are told.
    """

    __slots__ = ("_holders", "array", "aside", "place", "seen", "theirs")

    def __init__(self, array: Any, theirs: memoryview | None = None, aside: bool = False) -> None:
        self.array, self.theirs, self.aside = array, theirs, aside
        self.seen = fingerprint(array) if theirs is None else None
        self.place: tuple[Any, int] | None = None
        self._holders: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()

    def hand_out(self, holder: Any, here: Callable[[int], Any]) -> None:
        """It is open as long as this lives; ``here`` says what line asks."""
        if not self._holders:
            self.place = here(3)
        self._holders[id(holder)] = holder

    def is_open(self) -> bool:
        """Whether anybody can still write to it without being seen."""
        return bool(self._holders) or (self.theirs is not None and is_held(self.theirs.obj))

    def covers(self, array: Any) -> bool:
        """Whether all of ``array`` lies in this memory."""
        if array is self.array:
            return True
        low, high = byte_bounds(array)
        first, end = byte_bounds(self.array)
        if not self.array.flags.forc:
            return array.__array_interface__ == self.array.__array_interface__
        return bool(first <= low and high <= end)

    def take_over(self, other: Export) -> None:
        """Watch what the other export watches."""
        self._holders.update(other._holders)
        self.theirs = self.theirs or other.theirs
        self.place = self.place or other.place


def joined(exports: list[Export], array: Any, aside: bool) -> list[Export]:
    """One export of all the memory that ``array`` is part of, in place of those that lie in it."""
    whole = array
    base = array.base
    while base is not None:
        whole = base if isinstance(base, np.ndarray) else whole
        base = getattr(base, "base", None)
    one = Export(whole, aside=aside)
    rest = []
    for exported in exports:
        if exported.aside is aside and one.covers(exported.array):
            one.take_over(exported)
        else:
            rest.append(exported)
    return [one, *rest]
