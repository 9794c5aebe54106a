"""The diagnosis itself: a record that prints as a report."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from gradwright.base.pages.shown import Shown
from gradwright.verify.diagnosis.records import Block, Entry, Hypothesis, Verdict, apart, plain
from gradwright.verify.diagnosis.reproduction import Replay, write

WIDTH = 110


@dataclass(frozen=True, eq=False)
class Diagnosis(Shown):
    """What `diagnose` found; ``str()`` of it is a short report.

    Attributes:
        name: of the function.
        order: of the derivative: 1 or 2.
        verdict: VERIFIED, WRONG or INCONCLUSIVE. Only VERIFIED is a pass.
        reason: in a word why it is not VERIFIED, the name of the likeliest hypothesis: ``factor``, ``kink``, ...
        summary: the verdict in a sentence; settle: of an INCONCLUSIVE one, what would settle it.
        worst: the entry that is furthest off, compared with what its error bar allows; None if nothing was measured.
        error, bar: of that entry, how far backward is off, and how far the numeric value may be.
        hypotheses: possible causes, the likeliest first.
        blocks: the Jacobians, a `Block` for each output and input.
        steps, ladder: ``ladder[k]`` is the central difference of the worst entry with ``steps[k]``.
        replay: what was diagnosed, for `capsule`.
        sampled: what was compared, if it was not all; otherwise ``""``.
        witness: what the engine's own derivative of forward says (`second_witness`), where that was asked and speaks:
            of a Function, custom_op or Op that is given as such, and right as far as differences tell.
        seen: of a VERIFIED one, how small an error of any one entry compared differences would have told, as a part of
            the largest entry by that input.
    """

    name: str
    order: int
    verdict: Verdict
    reason: str
    summary: str
    settle: str
    worst: Entry | None
    error: float
    bar: float
    hypotheses: tuple[Hypothesis, ...]
    blocks: tuple[Block, ...] = field(repr=False)
    steps: Any = field(repr=False)
    ladder: Any = field(repr=False)
    replay: Replay = field(repr=False)
    sampled: str = ""
    witness: str = ""
    seen: float | None = None

    def __str__(self) -> str:
        return text(self)

    @property
    def unexplained(self) -> tuple[str, ...]:
        """The inputs whose gradients are wrong for no known cause."""
        wrong = dict.fromkeys(b.input for b in self.blocks if b.wrong.any())
        told = {h.argument for h in self.hypotheses}
        return tuple(name for name in wrong if name not in told and "" not in told)

    def as_dict(self) -> dict[str, Any]:
        """The same as plain data, fit for JSON: numbers that are not finite are strings."""
        return plain({f.name: getattr(self, f.name) for f in fields(self) if f.name != "replay"})

    def capsule(self, path: Any) -> tuple[Path, Path]:
        """Write what it takes to see this again: inputs, Jacobians and steps, and a test that replays the diagnosis.

        Args:
            path: of the ``.npz`` file; the test goes beside it, as ``test_<name>.py``. It passes once the function is
                mended. It imports the function by module and name; where that cannot be (a lambda, a function inside
                another, an argument that cannot be written down), the test fails and says why.

        Returns:
            The paths of the two files.
        """
        return write(Path(path), self.replay, str(self), self._arrays())

    def _arrays(self) -> dict[str, Any]:
        found = {"steps": self.steps, "ladder": self.ladder}
        for k, b in enumerate(self.blocks):
            for what in ("analytic", "numeric", "bar"):
                found[f"{what}_{k}"] = getattr(b, what)
        return found


def text(d: Diagnosis) -> str:
    """The report: verdict, worst entry, hypotheses with their mends."""
    lines = _wrapped(f"{d.verdict}: ", d.summary)
    lines += _wrapped("", d.sampled) if d.sampled else []
    judged = d.verdict is not Verdict.SURROGATE and any(b.wrong.any() for b in d.blocks)
    if d.worst is not None and (d.verdict is Verdict.INCONCLUSIVE or judged):
        analytic, numeric = apart(d.worst.analytic, d.worst.numeric, 8)
        label = "worst entry, by its error bar: " if judged else "worst entry: "
        lines += _wrapped(label, f"{d.worst}: analytic {analytic}, numeric {numeric} ± {d.worst.bar:.1g}")
    lines += _wrapped("second witness: ", d.witness) if d.witness else []
    wrong = d.verdict is Verdict.WRONG
    for k, h in enumerate(d.hypotheses):
        share = "" if h.evidence >= 0.9995 or not wrong else f" (explains {100 * h.evidence:.0f} % of it)"
        lines += _wrapped("or: " if k else "likeliest: " if wrong else "because: ", h.sentence + share)
        lines += _wrapped("    mend: " if wrong else "    to settle it: ", h.mend)
    if wrong and d.unexplained:
        lines += _wrapped("", f"no known cause fits the gradient of {' and '.join(f'`{n}`' for n in d.unexplained)}")
    elif wrong and not d.hypotheses:
        lines += ["no known cause fits the error"]
    return "\n".join(lines)


def _wrapped(label: str, line: str) -> list[str]:
    first, *rest = line.splitlines()
    return [
        piece
        for room, text in ((label, first), *((" " * 8, text) for text in rest))
        for piece in textwrap.wrap(text, WIDTH, initial_indent=room, subsequent_indent=" " * 8, break_long_words=False,
                                   break_on_hyphens=False)
    ]
