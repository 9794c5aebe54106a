"""Versions: how often memory has been written, where it was last, and what is written behind the engine's back.

A counter is a list that all tensors over the same memory share: ``[version]``, and after a write ``[version, place]``.
A node saves a value with ``+counter[0]``, its version, and compares on use: ``counter[0] != version``. For ordinary
memory both are plain integers. For memory that the user also holds as an array, of which writes say nothing, the
version is an `ExportedVersion`, which saved or compared takes a fingerprint and counts a write if that has changed.
"""

from __future__ import annotations

import weakref
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from gradwright.base.cpython.forks import lock
from gradwright.base.cpython.references import alone, count
from gradwright.engine.source_line import Place, here, warn


def version(t: Any) -> int:
    """How often the memory of a tensor has been written."""
    return int(t._counter[0])


def bump(counter: list[Any], depth: int = 2) -> None:
    """Count a write, and note the line of the user's program that made it, at least ``depth`` frames up."""
    counter[0] += 1
    counter[1:2] = (here(depth + 1),)


def mark(counter: list[Any], depth: int = 2) -> None:
    """Note that line alone."""
    counter[1:2] = (here(depth + 1),)


def bump_all(counters: Iterable[list[Any]], depth: int = 2) -> None:
    """`bump` for many at once, whose line is looked for once."""
    place = here(depth + 1)
    for counter in counters:
        counter[0] += 1
        counter[1:2] = (place,)


def written_at(counter: list[Any], since: int | None = None) -> Place | None:
    """The line that last wrote the memory of a counter, if it is known.

    If it is at the version that it had ``since`` then, it was written through an array: the line that asked for that.
    """
    version = counter[0]
    if isinstance(version, ExportedVersion) and version.place and (since is None or int(version) == since):
        return Place(*version.place)
    return Place(*counter[1]) if len(counter) > 1 and counter[1] else None


def noted(version: int) -> int:
    """A version to compare with later."""
    return version if isinstance(version, Untracked) else +version


@contextmanager
def rewound(counters: Iterable[list[Any]]) -> Iterator[None]:
    """For a block that writes memory and lets it hold at the end what it held: versions are what they were, too."""
    every = {id(one): one for counter in counters for one in (counter, getattr(counter[0], "source", counter))}
    before = [(one, one[0], +one[0] if isinstance(one[0], ExportedVersion) else one[0]) for one in every.values()]
    try:
        yield
    finally:
        for counter, old, version in before:
            exports = dict.fromkeys([*getattr(old, "exports", ()), *getattr(counter[0], "exports", ())])
            counter[0] = version
            if still := [exported for exported in exports if exported.is_open()]:
                writes, asides = getattr(version, "writes", 0), getattr(version, "asides", 0)
                counter[0] = ExportedVersion.of(int(version), still, writes, asides)
                counter[0].place = getattr(old, "place", None)
                for exported in still:
                    exported.seen = _fingerprint(exported.array)


class Untracked(int):
    """The version of an inference tensor: it has none, so nobody may save it, or write it outside inference mode."""

    def __pos__(self) -> int:
        raise RuntimeError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
            "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and "
            "use it in autograd, or use `no_grad()` instead of `inference_mode()`."
        )

    def __add__(self, writes: int) -> Untracked:
        return self

    __iadd__ = __add__


class Aside(Untracked):
    """The version of an alias of an inference tensor that was made elsewhere: it may be written, but not saved."""

    def __add__(self, writes: int) -> Aside:
        return Aside(int(self) + writes)

    __iadd__ = __add__


UNTRACKED = Untracked()


class Export:
    """Memory that was handed out as arrays, or that came as one.

    Attributes:
        array: the memory.
        seen: its fingerprint when it was last looked at; None while nobody has saved it as it is.
        place: the line that asked for the first of the arrays that live, or brought it.
        theirs: the array that came, as a buffer; None of memory that was handed out.
    """

    __slots__ = ("_holders", "array", "place", "seen", "theirs")

    def __init__(self, array: Any, theirs: memoryview | None = None) -> None:
        self.array, self.theirs = array, theirs
        self.seen = None if theirs else _fingerprint(array)
        self.place: tuple[Any, int] | None = None
        self._holders: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()

    def hand_out(self, array: Any, holder: Any) -> Any:
        """``array`` for the user; the export is open as long as that lives, or ``holder``, if there is one."""
        if not self._holders:
            self.place = here(3)
        if holder is None:
            array, holder = _through_buffer(array)
        self._holders[id(holder)] = holder
        return array

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


def _through_buffer(array: Any) -> tuple[Any, memoryview]:
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


def _fingerprint(array: Any) -> int:
    """A number that changes with the bytes of an array."""
    return zlib.crc32(array.ravel("K").view(np.uint8))


class ExportedVersion(int):
    """A version of memory that was handed out as arrays: compared with a saved one, it looks at the memory itself.

    Attributes:
        exports: what was handed out and may still be written.
        writes: how many writes through it have been noticed.
        asides: how many writes through ``.data``, which do not count, but are told.
        place: the line that asked for the array through which the last one was made.
    """

    exports: list[Export]
    writes: int
    asides: int
    place: tuple[Any, int] | None

    @classmethod
    def of(cls, version: int, exports: list[Export], writes: int = 0, asides: int = 0) -> ExportedVersion:
        made = cls(version)
        made.exports, made.writes, made.asides, made.place = exports, writes, asides, None
        return made

    def look(self) -> int:
        """Notice writes; returns how many there have been. Nobody is told by NumPy, so memory must be compared."""
        if not self.exports:
            return self.writes
        with lock:
            still = []
            for exported in self.exports:
                if exported.is_open():
                    still.append(exported)
                now = _fingerprint(exported.array)
                if exported.seen is not None and now != exported.seen:
                    self.place = exported.place
                    self.writes += 1
                exported.seen = now
            self.exports = still
            return self.writes

    def __pos__(self) -> int:
        writes = self.look()
        return ExportedVersion.of(int(self), [], writes, self.asides) if writes or self.asides else int(self)

    def __ne__(self, other: object) -> bool:
        if int.__ne__(self, other) or self.look() != getattr(other, "writes", 0):
            return True
        if self.asides != getattr(other, "asides", 0):
            warn("A tensor that was saved for backward has been written through .data since, which PyTorch does not "
                 "notice: gradients are computed with the new numbers, not with those of forward. Write to it under "
                 "no_grad() instead, and before forward or after backward; or save a clone().")  # fmt: skip
        return False

    __eq__ = int.__eq__  # in-place writes alone: views ask, whose history no other write changes
    __hash__ = int.__hash__

    def __add__(self, writes: int) -> int:
        with lock:
            still = [exported for exported in self.exports if exported.is_open()]
            for exported in still:
                exported.seen = None
        return ExportedVersion.of(int(self) + writes, still) if still else int(self) + writes


class DataVersion(int):
    """The version of ``.data`` of a tensor, whose writes do not count as writes to that: it is told of them.

    Attributes:
        source: the counter of that tensor.
    """

    source: list[Any]

    @classmethod
    def of(cls, version: int, source: list[Any]) -> DataVersion:
        made = cls(version)
        made.source = getattr(source[0], "source", source)
        return made

    def __add__(self, writes: int) -> DataVersion:
        with lock:
            version = self.source[0]
            if version.__class__ is int:
                version = self.source[0] = ExportedVersion.of(version, [])
            if version.__class__ is ExportedVersion:
                version.asides += writes
        return DataVersion.of(int(self) + writes, self.source)


_MANY = 16


def adopt(t: Any) -> None:
    """Let graphs notice what is written into the array of a new tensor, which the user holds."""
    if t.array.size and t._counter[0] is not UNTRACKED:
        t.array, theirs = _through_buffer(t.array)
        exported = Export(t.array, theirs)
        exported.place = here(2)
        t._counter[0] = ExportedVersion.of(0, [exported])


def export(array: Any, counter: list[Any], holder: Any = None) -> Any:
    """``array``, the memory of ``counter``, as an array for the user, whose writes through it will be noticed.

    They are while the array lives; or ``holder``, if others hold the memory by holding that.
    """
    version = counter[0]
    if version is UNTRACKED or not array.flags.writeable or not array.size:
        return array.view()
    with lock:
        version = counter[0]
        if not isinstance(version, ExportedVersion):
            version = ExportedVersion.of(version, [])
        mine = next((exported for exported in version.exports if exported.covers(array)), None)
        if mine is None:
            if len(version.exports) >= _MANY:
                version.look()
                version.exports = _joined(version.exports, array)
            mine = Export(array)
            version.exports.append(mine)
        given = mine.hand_out(array, holder)
        counter[0] = version
    return given


def _joined(exports: list[Export], array: Any) -> list[Export]:
    """One export of all the memory that ``array`` is part of, in place of those that lie in it."""
    whole = array
    base = array.base
    while base is not None:
        whole = base if isinstance(base, np.ndarray) else whole
        base = getattr(base, "base", None)
    one = Export(whole)
    rest = []
    for exported in exports:
        if one.covers(exported.array):
            one.take_over(exported)
        else:
            rest.append(exported)
    return [one, *rest]
