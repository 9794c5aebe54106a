"""What is said of a pair: plain records."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, fields
from typing import Any

from gradwright.base.pages.shown import Shown
from gradwright.verify.diagnosis.records import plain


class Verdict(enum.StrEnum):
    """How a pair came out."""

    RIGHT = "RIGHT"
    """The two agree wherever they were compared."""
    OTHER_VARIABLE = "RIGHT, FOR ANOTHER VARIABLE"
    """It is the derivative by the logarithm of the parameters, say: right if that is what is wanted there."""
    UP_TO_SCALE = "RIGHT UP TO SCALE"
    """It is a constant times the derivative, and says so, or what uses it takes it so."""
    ON_PURPOSE = "AN APPROXIMATION ON PURPOSE"
    """It is no derivative, and is not meant to be: Gauss-Newton, a bound in place of a Hessian of zero, a surrogate."""
    WRONG = "WRONG"
    """It is further off than differences may be."""
    NOISY = "NOISY"
    """The value is known to so few digits that not more can be said than the sentence says."""
    NOT_SHOWN = "NOT SHOWN"
    """Nothing can be said: the sentence says why, and what would help."""
    NOT_CALLED = "NOT CALLED"
    """The program handed it over, and nobody called it."""


PASSES = frozenset({Verdict.RIGHT, Verdict.OTHER_VARIABLE, Verdict.UP_TO_SCALE, Verdict.ON_PURPOSE})
"""The verdicts that are no alarm, and leave nothing open."""


@dataclass(frozen=True)
class Entry:
    """One entry of a derivative.

    Attributes:
        index: of which entry. said: by the derivative. measured: by differences; bar: how far those may be off.
    """

    index: tuple[int, ...]
    said: complex
    measured: complex
    bar: float


@dataclass(frozen=True, eq=False)
class Judgement(Shown):
    """The findings on a pair; ``str()`` of it is a short report.

    Attributes:
        verdict: see `Verdict`. sentence: the verdict in one sentence.
        cause: of one that is WRONG, what it is instead, in a word or two: ``transposed``, ``sign``, ``factor``; of
            others why: ``log parameter``, ``Gauss-Newton``, ``kink``. ``""`` if nothing fits.
        mend: what to do about it; ``""`` if there is nothing.
        worst: the entry that is furthest off for its error bar; None if nothing was measured.
        point: which of the pair's points is spoken of; None if none is.
        name, where, door: of the derivative, as in the pair.
        calls: how many calls of the value and of what it was compared with it took.
        sampled: what was compared, if it was not all; otherwise ``""``.
        seen: of one that is RIGHT, how small an error of one entry would have been told, as a part of the largest.
        notes: what else there is to say, a sentence each.
        said, measured, bar: at that point, the derivative both ways and how far the numeric one may be off, as
            matrices with a row for each entry of the output; None if nothing was measured.
        steps, ladder: ``ladder[k]`` is the difference of the worst entry with ``steps[k]``.
    """

    verdict: Verdict
    sentence: str
    cause: str = ""
    mend: str = ""
    worst: Entry | None = None
    point: int | None = None
    name: str = ""
    where: tuple[str, int] = ("", 0)
    door: str = ""
    calls: int = 0
    sampled: str = ""
    seen: float | None = None
    notes: tuple[str, ...] = ()
    said: Any = field(default=None, repr=False)
    measured: Any = field(default=None, repr=False)
    bar: Any = field(default=None, repr=False)
    steps: Any = field(default=None, repr=False)
    ladder: Any = field(default=None, repr=False)

    @property
    def passes(self) -> bool:
        """Whether it is as it should be: no alarm, and nothing left open."""
        return self.verdict in PASSES

    def __bool__(self) -> bool:
        return self.passes

    def __str__(self) -> str:
        place = f", {self.where[0]}:{self.where[1]}" if self.where[1] else ""
        at = f" ({self.door}{place})" if self.door else f" ({place[2:]})" if place else ""
        lines = [f"{self.verdict}: {self.sentence}{at}"]
        lines += [f"    mend: {self.mend}"] if self.mend else []
        lines += [f"    {note}" for note in (self.sampled, *self.notes) if note]
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """The same as plain data, fit for JSON: numbers that are not finite are strings, complex ones pairs."""
        return plain({f.name: getattr(self, f.name) for f in fields(self)})
