"""The diagnosis itself: a record that prints as a report."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from gradwright.autograd.diagnosis.capsule import Replay, write
from gradwright.autograd.diagnosis.records import Block, Entry, Hypothesis, Verdict, plain

WIDTH = 110


@dataclass(frozen=True, eq=False)
class Diagnosis:
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
    blocks: tuple[Block, ...]
    steps: Any
    ladder: Any
    replay: Replay

    def __str__(self) -> str:
        return text(self)

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
    lines = [f"{d.verdict}: {d.summary}"]
    if d.worst is not None and d.verdict is not Verdict.VERIFIED:
        w = d.worst
        lines.append(f"worst entry: {w}: analytic {w.analytic:.8g}, numeric {w.numeric:.8g} ± {w.bar:.1g}")
    for k, h in enumerate(d.hypotheses):
        lines.append(f"{'likeliest' if k == 0 else 'or'}: {h.sentence} (explains {_share(h.evidence)})")
        lines.append(f"  mend: {h.mend}")
    if d.verdict is Verdict.WRONG and not d.hypotheses:
        lines.append("no known cause fits the error")
    if d.settle:
        lines.append(f"to settle it: {d.settle}")
    return "\n".join("\n".join(textwrap.wrap(line, WIDTH, subsequent_indent="    ", initial_indent=line[: len(line)
                     - len(line.lstrip())], break_long_words=False, break_on_hyphens=False)) for line in lines)  # fmt: skip


def _share(evidence: float) -> str:
    return "all of it" if evidence >= 0.9995 else f"{100 * evidence:.0f} %"
