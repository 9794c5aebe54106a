"""Versions: how often memory has been written, where it was last, and what is written behind the engine's back.

A counter is a list that all tensors over the same memory share: ``[version]``, and after a write ``[version, place]``.
A node saves a value with ``+counter[0]``, its version, and compares on use: ``counter[0] != version``. For ordinary
memory both are plain integers. For memory that the user also holds as an array, of which writes say nothing, the
version is a `Lent`: saving it takes a fingerprint, and comparing it compares fingerprints.
"""

from __future__ import annotations

import weakref
import zlib
from typing import Any

import numpy as np

from gradwright.autograd.place import Place, here


def bump(counter: list[Any], depth: int = 3) -> None:
    """Count a write, and note the line of the user's program that made it, at least ``depth`` frames up."""
    counter[0] += 1
    place = here(depth + 1)
    if len(counter) > 1:
        counter[1] = place
    else:
        counter.append(place)


def written_at(counter: list[Any]) -> Place | None:
    """The line that last wrote the memory of a counter, if it is known."""
    version = counter[0]
    if isinstance(version, Lent):
        for loan in version.loans:
            if loan.fingerprint() != loan.first:
                return Place(*loan.place) if loan.place else None
    return Place(*counter[1]) if len(counter) > 1 and counter[1] else None


class _Holder:
    """The base of an array that was handed out: it lives as long as the array, or any view of it, does."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.__array_interface__ = array.__array_interface__


class Loan:
    """Memory that was handed out as an array.

    Attributes:
        array: the memory.
        first: its fingerprint when it was handed out, or last written in place.
        place: the line that asked for the array.
    """

    __slots__ = ("array", "first", "holders", "place")

    def __init__(self, array: Any, place: tuple[Any, int] | None) -> None:
        self.array = array
        self.place = place
        self.first = self.fingerprint()
        self.holders: list[Any] = []

    def hand_out(self, holder: Any = None) -> Any:
        """An array over the memory; the loan is open as long as it lives, or ``holder``, if there is one."""
        array = self.array
        raw = array if array.dtype.kind != "V" else array.view(f"u{array.itemsize}")
        if holder is None:
            holder = _Holder(raw)
        self.holders[:] = [ref for ref in self.holders if ref() is not None]
        self.holders.append(weakref.ref(holder))
        return np.asarray(holder).view(array.dtype) if type(holder) is _Holder else array

    def is_open(self) -> bool:
        """Whether anybody can still write through what was handed out."""
        return any(ref() is not None for ref in self.holders)

    def fingerprint(self) -> int:
        """A number that changes with the bytes of the memory."""
        array = self.array
        return zlib.crc32(array if array.flags.c_contiguous and array.dtype.kind in "biufc" else array.tobytes())


class Lent(int):
    """A version of memory that was handed out as an array.

    ``seen`` holds the fingerprints of the loans when a node saved the value: None where nobody could write any more.
    """

    loans: tuple[Loan, ...]
    seen: dict[Loan, int | None]

    @classmethod
    def of(cls, version: int, loans: tuple[Loan, ...], seen: dict[Loan, int | None] | None = None) -> Lent:
        made = cls(version)
        made.loans, made.seen = loans, seen or {}
        return made

    def __pos__(self) -> Lent:
        seen = {loan: loan.fingerprint() if loan.is_open() else None for loan in self.loans}
        return Lent.of(int(self), self.loans, seen)

    def __ne__(self, other: object) -> bool:
        if int.__ne__(self, other):
            return True
        seen = getattr(other, "seen", {})
        for loan in self.loans:
            saved = seen.get(loan, loan.first)
            if saved is not None and loan.fingerprint() != saved:
                return True
        return False

    __eq__ = int.__eq__
    __hash__ = int.__hash__

    def __add__(self, writes: int) -> int:
        still_open = tuple(loan for loan in self.loans if loan.is_open())
        for loan in still_open:
            loan.first = loan.fingerprint()
        return Lent.of(int(self) + writes, still_open) if still_open else int(self) + writes


_MANY = 16


def lend(array: Any, counter: list[Any], holder: Any = None) -> Any:
    """``array``, the memory of ``counter``, as an array for the user, whose writes through it will be noticed.

    They are while the array lives; or ``holder``, if others hold the memory by holding that.
    """
    if not array.flags.writeable or not array.size:
        return array.view()
    version = counter[0]
    before = version.loans if isinstance(version, Lent) else ()
    loans = [loan for loan in before if loan.is_open() or loan.fingerprint() != loan.first]
    mine = next((loan for loan in loans if loan.array.__array_interface__ == array.__array_interface__), None)
    if mine is None:
        mine = Loan(array, here())
        loans.append(mine)
    if len(loans) > _MANY and isinstance(array.base, np.ndarray):  # one loan of all the memory stands for them
        version += any(loan.fingerprint() != loan.first for loan in loans)
        whole = Loan(array.base, here())
        whole.holders = [ref for loan in loans for ref in loan.holders]
        mine.holders, loans = whole.holders, [whole]
    counter[0] = Lent.of(int(version), tuple(loans))
    return mine.hand_out(holder)
