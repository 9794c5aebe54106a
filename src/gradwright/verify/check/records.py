"""What `gradwright check` finds: plain records, that go to JSON and come back."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradwright.base.pages.markup import Markup, join, prose, tag
from gradwright.verify.diagnosis.records import plain


class Outcome(enum.StrEnum):
    """How one check came out, or a subject as a whole (then never ADVICE nor SKIPPED)."""

    PASS = "PASS"
    """It is so."""
    ADVICE = "ADVICE"
    """It is so, but at a cost that could be saved: as good as a PASS."""
    FAIL = "FAIL"
    """It is not so: the finding says what is wrong."""
    INCONCLUSIVE = "INCONCLUSIVE"
    """It could not be told whether it is so."""
    SKIPPED = "SKIPPED"
    """It does not apply, or is declared not to hold; the sentence says which."""
    ERROR = "ERROR"
    """It could not be checked: the user's code raised, exited, did not return, or there are no inputs to give it."""


_WORST = (Outcome.ERROR, Outcome.FAIL, Outcome.INCONCLUSIVE)


@dataclass(frozen=True)
class Finding:
    """One check of the battery on one subject.

    Attributes:
        check: its name, ``first order``: see `gradwright.verify.check.battery.CHECKS` for all, in order.
        outcome: how it came out.
        sentence: what was found; ``""`` of a PASS with nothing to say.
        mend: what to do about it; ``""`` if there is nothing.
        cause: what is wrong in a word or two (``factor``, ``stale state``, ``stride-0 cotangent``); ``""`` of a PASS.
        lines: numbers of lines of the subject's file that are suspected; may be empty.
        seen: of a derivative that is right, how small an error would have been found in any entry that was compared, as
            a part of the largest; None of all else.
    """

    check: str
    outcome: Outcome
    sentence: str = ""
    mend: str = ""
    cause: str = ""
    lines: tuple[int, ...] = ()
    seen: float | None = None


@dataclass(frozen=True)
class Checked:
    """One subject: a Function, a custom_op, an Op or a torch Function, and what was found.

    Attributes:
        name: of the class or operation. kind: ``function``, ``custom_op``, ``op``, ``torch``, ``torch op`` or ``jax``.
        file, line: where it is written; line 0 if that is not known.
        source: its source text, whose first line is ``line``; ``""`` if there is none.
        samples: what it was called with, a line for each call. guessed: whether those were made up.
        findings: one per check, in the order of the battery.
        diagnoses: what `gradwright.autograd.diagnose` found, ``as_dict()`` of each, with two more keys: ``sample`` (a
            line of ``samples``) and ``dtype`` (``float64``).
        seconds: how long it all took.
        stability: for samples of one tensor, what `gradwright.verify.stability` found, ``as_dict()`` of each, with its
            ``sample``; of a function that is right, where python-flint is installed.
    """

    name: str
    kind: str
    file: str
    line: int
    source: str = ""
    samples: tuple[str, ...] = ()
    guessed: bool = False
    findings: tuple[Finding, ...] = ()
    diagnoses: tuple[dict[str, Any], ...] = ()
    seconds: float = 0.0
    stability: tuple[dict[str, Any], ...] = ()

    @property
    def verdict(self) -> Outcome:
        """PASS if no check fails; otherwise the worst: ERROR, FAIL or INCONCLUSIVE."""
        found = {f.outcome for f in self.findings}
        return next((o for o in _WORST if o in found), Outcome.PASS if found else Outcome.ERROR)

    @property
    def failures(self) -> tuple[Finding, ...]:
        """The findings that keep it from passing, the worst first."""
        return tuple(f for o in _WORST for f in self.findings if f.outcome is o)

    @property
    def seen(self) -> float | None:
        """How small an error of the first derivative would have been found; None if that was not looked at."""
        if any(f.check in ("first order", "complex", "second witness") for f in self.failures):
            return None
        return min((f.seen for f in self.findings if f.seen), default=None)

    def _repr_html_(self) -> str:
        return _table((self,))


@dataclass(frozen=True)
class Report:
    """All of it.

    Attributes:
        targets: what was asked for. checked: every subject found in them.
        problems: targets that could not be read or hold nothing to check, with the reason: ``(target, reason)``.
        seconds: how long it took. version: gradwright's.
        command: what has found it. notes: what else there is to say, a sentence each.
    """

    targets: tuple[str, ...]
    checked: tuple[Checked, ...]
    problems: tuple[tuple[str, str], ...] = ()
    seconds: float = 0.0
    version: str = ""
    command: str = "gradwright check"
    notes: tuple[str, ...] = ()

    @property
    def totals(self) -> dict[Outcome, int]:
        """How many subjects have which verdict."""
        count = Counter(c.verdict for c in self.checked)
        return {o: count[o] for o in Outcome if count[o]}

    @property
    def reads(self) -> bool:
        """Whether targets are read, as by `gradwright check`, and not run, as by `gradwright audit`."""
        return self.command == "gradwright check"

    @property
    def exit_code(self) -> int:
        """0 if all pass; 1 if something is wrong or inconclusive; 2 if something could not be checked at all."""
        totals = self.totals
        if self.problems or Outcome.ERROR in totals or not self.checked:
            return 2
        return 0 if totals.keys() == {Outcome.PASS} else 1

    def _repr_html_(self) -> str:
        return _page(self)

    def as_dict(self) -> dict[str, Any]:
        """The report as plain data, fit for JSON, with the verdicts and totals written out."""
        return {
            "version": self.version,
            "command": self.command,
            "targets": list(self.targets),
            "seconds": self.seconds,
            "exit_code": self.exit_code,
            "totals": {o.value: n for o, n in self.totals.items()},
            "problems": [{"target": t, "reason": r} for t, r in self.problems],
            "notes": list(self.notes),
            "checked": [{**plain(c), "verdict": c.verdict.value} for c in self.checked],
        }


def checked_from(data: Mapping[str, Any]) -> Checked:
    """A `Checked` from its part of `Report.as_dict`."""
    fields = {k: v for k, v in data.items() if k != "verdict"}
    fields["findings"] = tuple(
        Finding(**{**f, "outcome": Outcome(f["outcome"]), "lines": tuple(f["lines"])}) for f in fields["findings"]
    )
    return Checked(**{**fields, "samples": tuple(fields["samples"]), "diagnoses": tuple(fields["diagnoses"]),
                      "stability": tuple(fields.get("stability", ()))})  # fmt: skip


def report_from(data: Mapping[str, Any]) -> Report:
    """A `Report` from its `Report.as_dict`."""
    return Report(tuple(data["targets"]), tuple(checked_from(c) for c in data["checked"]),
                  tuple((p["target"], p["reason"]) for p in data["problems"]), data["seconds"], data["version"],
                  data.get("command", "gradwright check"), tuple(data.get("notes", ())))


# ---- in a notebook ---------------------------------------------------------------------------------------

_VERDICTS = {
    "PASS": ("✓", "right", "#2b86a8"),
    "FAIL": ("✗", "wrong", "#d2571e"),
    "INCONCLUSIVE": ("?", "inconclusive", "#a87c14"),
    "ERROR": ("!", "not checkable", "#d2571e"),
}
"""How a verdict is marked, what it is called, and its colour, which reads on light and on dark."""
_CELL = "text-align:left;vertical-align:top;padding:0.15em 1em 0.15em 0"


def _page(report: Report) -> Markup:
    """The whole report, as a notebook shows it: a table of verdicts, and below each that is no pass, what is wrong."""
    totals = ", ".join(f"{n} {_VERDICTS[o][1]}" for o, n in report.totals.items()) or "nothing was checked"
    problems = [tag("div", tag("code", target), ": ", prose(reason)) for target, reason in report.problems]
    return tag("div", _table(report.checked), problems, tag("div", f"{totals}, in {report.seconds:.1f} s"))


def _table(checked: tuple[Checked, ...]) -> Markup:
    """A row for each subject."""
    return tag("table", [join([_row(c), *map(_failure, c.failures)]) for c in checked],
               style="border-collapse:collapse")  # fmt: skip


def _row(c: Checked) -> Markup:
    mark, word, colour = _VERDICTS[c.verdict]
    place = f"{Path(c.file).name}:{c.line}" if c.line else Path(c.file).name
    failed = ", ".join(f"{f.check}: {f.cause}" if f.cause else f.check for f in c.failures)
    verdict = tag("td", tag("b", f"{mark} {word}", style=f"color:{colour}"), style=_CELL)
    return tag("tr", tag("td", tag("b", c.name), style=_CELL), verdict,
               *(tag("td", prose(text), style=_CELL) for text in (failed, place)))  # fmt: skip


def _failure(f: Finding) -> Markup:
    """What is wrong, over the whole width."""
    mend = tag("div", tag("b", "mend: "), prose(f.mend)) if f.mend else None
    style = f"{_CELL};padding-left:1.5em;white-space:pre-line"
    return tag("tr", tag("td", prose(f.sentence), mend, colspan=4, style=style))
