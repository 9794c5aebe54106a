"""What a proof found, in figures and in words."""

from __future__ import annotations

from dataclasses import dataclass, field

from gradwright.base.pages.shown import Shown

PROVED, DISPROVED, NOT_PROVED = "proved", "disproved", "not proved"


@dataclass(frozen=True)
class Proof(Shown):
    """What is known of a rule; true if it is proved.

    Attributes:
        name: of the operation.
        status: ``"proved"``, ``"disproved"`` or ``"not proved"``.
        where: at which points, or on which boxes.
        bound: no error, the distance of the rule from the derivative of the formula, is larger; None if not proved.
        least: of what is disproved: there is an error of at least this size.
        at: the input and the entry with the largest error, as words.
        reason: why it is not proved, and what would help.
        doubles: whether balls are apart, but by no more than constants that are only doubles would have them.
        boxes: into how many boxes a box was divided; 0 for points.
        left: where, of a box, it is not proved, and why.
    """

    name: str
    status: str
    where: str
    bound: float | None = None
    least: float | None = None
    at: str = ""
    reason: str = ""
    doubles: bool = False
    boxes: int = 0
    left: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return self.status == PROVED

    def __str__(self) -> str:
        head = f"{self.name}: {self.status} {self.where}"
        if self.status == NOT_PROVED:
            return f"{head}: {self.reason}"
        if self.status == DISPROVED:
            return f"{head}: an error of at least {self.least:.2g}, {self.at}"
        words = f"{head}: error below {self.bound:.2g}" if self.bound else f"{head}: exact"
        if self.boxes:
            words += f", with {self.boxes} boxes"
        if self.doubles:
            words += "; it is not 0: a constant is only a double"
        return words + "".join(f"; not {place}" for place in self.left)
