"""Versions: how often memory has been written, where it was last, and what is written behind the engine's back.

A counter is a list that all tensors over the same memory share: ``[version]``, and after a write ``[version, place]``.
A node saves a value with its version, `at_version`, and compares on use: ``counter[0] != version``. For ordinary memory
both are plain integers. For memory that the user also holds as an array, of which writes say nothing, the version is an
`ExportedVersion`, which saved or compared takes a fingerprint: of all that was handed out, where a change is a write;
of the part that is saved where an array of floats came, whose other parts are filled at any time, as rows of a buffer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradwright.base.cpython.forks import lock
from gradwright.base.cpython.lent import Export, fingerprint, joined, sample, through_buffer
from gradwright.base.source_line import Place, here, warn


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


def at_version(t: Any) -> int:
    """The version of a tensor that a node saves now. (Where it is a plain 0, as mostly, nodes do not ask.)"""
    version = t._counter[0]
    return version if version.__class__ is int else version.of_part(t.array)


def noted(t: Any) -> int:
    """The version of a tensor to compare with later; of an inference tensor, too."""
    version: int = t._counter[0]
    return version if isinstance(version, Untracked) else at_version(t)


@contextmanager
def rewound(counters: Iterable[list[Any]]) -> Iterator[None]:
    """For a block that writes memory and lets it hold at the end what it held: versions are what they were, too."""
    every = {id(one): one for counter in counters for one in (counter, getattr(counter[0], "source", None) or counter)}
    before = [(one, one[0], +one[0] if isinstance(one[0], ExportedVersion) else one[0]) for one in every.values()]
    try:
        yield
    finally:
        for counter, old, version in before:
            was = old if isinstance(old, ExportedVersion) else _PLAIN
            exports = dict.fromkeys([*was.exports, *getattr(counter[0], "exports", ())])
            still = [exported for exported in exports if exported.is_open()]
            made: Any = was.renewed(version, still)
            counter[0] = made
            if made is not version:
                made.writes, made.asides = getattr(version, "writes", 0), getattr(version, "asides", 0)
                made.place = was.place
            for exported in still:
                exported.seen = fingerprint(exported.array)


class Untracked(int):
    """The version of an inference tensor: it has none, so nobody may save it, or write it outside inference mode."""

    def __pos__(self) -> int:
        raise RuntimeError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
            "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and "
            "use it in autograd, or use `no_grad()` instead of `inference_mode()`."
        )

    def __bool__(self) -> bool:
        return True

    def of_part(self, array: Any) -> int:
        """Raises RuntimeError."""
        return +self

    def __add__(self, writes: int) -> Untracked:
        return self

    __iadd__ = __add__


class Aside(Untracked):
    """The version of an alias of an inference tensor that was made elsewhere: it may be written, but not saved."""

    def __add__(self, writes: int) -> Aside:
        return Aside(int(self) + writes)

    __iadd__ = __add__


UNTRACKED = Untracked()


_PLACES = "biu"
"""What graphs save as indices and masks, small beside what they are used on: they are looked at as a whole."""


class ExportedVersion(int):
    """A version of memory that was handed out as arrays: compared with a saved one, it looks at the memory itself.

    Attributes:
        exports: what was handed out and may still be written, or came and holds indices.
        brought: of an array of other numbers that came, the line that brought it. Fingerprints are taken of the parts
            of it that are saved, whoever has the array by then.
        writes: how many writes through it have been noticed.
        asides: how many writes through ``.data``, which do not count, but are told.
        place: the line that asked for the array through which the last one was made.
        source: of ``.data`` of a tensor, the counter of that, which is told of writes, as they do not count there.
        part: of one that was saved, None or the array that was, its sample, and the line that brought its memory.
    """

    exports: list[Export]
    brought: tuple[Any, int] | None = None
    writes = asides = 0
    place: tuple[Any, int] | None = None
    source: list[Any] | None = None
    part: tuple[Any, int, Any] | None = None

    @classmethod
    def of(cls, version: int, exports: list[Export], writes: int = 0, asides: int = 0) -> ExportedVersion:
        made = cls(version)
        made.exports = exports
        if writes or asides:
            made.writes, made.asides = writes, asides
        return made

    def __bool__(self) -> bool:
        return True

    def look(self) -> int:
        """Notice writes; returns how many there have been. Nobody is told by NumPy, so memory must be compared."""
        if not self.exports:
            return self.writes
        with lock:
            still = []
            for exported in self.exports:
                if exported.is_open():
                    still.append(exported)
                now = fingerprint(exported.array)
                if exported.seen is not None and now != exported.seen:
                    self.place = exported.place
                    self.writes += not exported.aside
                    self.asides += exported.aside
                exported.seen = now
            self.exports = still
            return self.writes

    def of_part(self, array: Any) -> int:
        """The version with which a node saves an array of this memory."""
        brought = self.brought if self.source is None else getattr(self.source[0], "brought", None)
        if brought is None or not isinstance(array, np.ndarray):  # that of a trace shows no numbers
            return +self
        saved = ExportedVersion.of(self, [], self.look(), self.asides)
        saved.part = array, sample(array), brought
        return saved

    def __pos__(self) -> int:
        writes = self.look()
        return ExportedVersion.of(int(self), [], writes, self.asides) if writes or self.asides else int(self)

    def __ne__(self, other: object) -> bool:
        was: Any = other if other.__class__ is ExportedVersion else _PLAIN
        if int.__ne__(self, other) or self.look() != was.writes:
            return True
        part = was.part
        if part is not None and sample(part[0]) != part[1]:
            self.place = part[2]
            return True
        if self.asides != was.asides:
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
            if self.source and (told := exported_version(self.source)):
                told.asides += writes
        return self.renewed(int(self) + writes, still)

    def renewed(self, version: int, still: list[Export]) -> int:
        """One of the same memory, to which these can be written ``still``; ``version`` itself if nobody can write."""
        if not (still or self.brought or self.source):
            return version
        made = type(self).of(int(version), still)
        made.brought, made.source = self.brought, self.source
        return made


_PLAIN = ExportedVersion.of(0, [])
"""What was noted of memory that nobody else had."""


def exported_version(counter: list[Any]) -> ExportedVersion | None:
    """The version of a counter as one that looks at memory; None of one that has none."""
    version = counter[0]
    if isinstance(version, Untracked):
        return None
    if not isinstance(version, ExportedVersion):
        version = counter[0] = ExportedVersion.of(version, [])
    return version


def is_lent(version: int) -> bool:
    """Whether others hold memory that is at this version."""
    return isinstance(version, ExportedVersion) and (version.source is None or bool(version.exports))


class DataVersion(ExportedVersion):
    """One with a source. (So it is told apart by what writes in place on short ways.)"""


def of_data(counter: list[Any]) -> ExportedVersion:
    """The version of ``.data`` of a tensor with this counter."""
    made = DataVersion.of(0, [])
    made.source = getattr(counter[0], "source", None) or counter
    return made


_MANY = 16


def adopt(t: Any) -> None:
    """Let graphs notice what is written into the array of a new tensor, which the user holds."""
    array = t.array
    if not array.size or t._counter[0] is UNTRACKED:
        return
    if array.dtype.kind not in _PLACES:
        version = t._counter[0] = ExportedVersion.of(0, [])
        version.brought = here(2) or (adopt.__code__, 0)
        return
    t.array, theirs = through_buffer(array)
    exported = Export(t.array, theirs)
    exported.place = here(2)
    t._counter[0] = ExportedVersion.of(0, [exported])


def export(array: Any, counter: list[Any], holder: Any = None) -> Any:
    """``array``, the memory of ``counter``, as an array for the user, whose writes through it will be noticed.

    They are while the array lives; or ``holder``, if others hold the memory by holding that.
    """
    if isinstance(counter[0], Untracked) or not array.flags.writeable or not array.size:
        return array.view()
    given, holder = through_buffer(array) if holder is None else (array, holder)
    with lock:
        _watched(array, counter).hand_out(holder, here)
        source = getattr(counter[0], "source", None)
        if source and not isinstance(source[0], Untracked):
            _watched(array, source, aside=True).hand_out(holder, here)
    return given


def _watched(array: Any, counter: list[Any], aside: bool = False) -> Export:
    """The export of memory that ``array`` is part of; a new one if there is none."""
    version = exported_version(counter)
    assert version is not None
    alike = [exported for exported in version.exports if exported.aside is aside]
    mine = next((exported for exported in alike if exported.covers(array)), None)
    if mine is None:
        if len(alike) >= _MANY:
            version.look()
            version.exports = joined(version.exports, array, aside)
        mine = Export(array, aside=aside)
        version.exports.append(mine)
    return mine
