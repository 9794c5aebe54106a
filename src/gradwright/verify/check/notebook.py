"""A report as a notebook shows it: a table of verdicts, and below each that is no pass, what is wrong.

The records import this, so it knows them by name only. Colours are such as read on light and on dark.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gradwright.base.pages.markup import Markup, join, prose, tag

if TYPE_CHECKING:
    from gradwright.verify.check.records import Checked, Finding, Report

_VERDICTS = {
    "PASS": ("✓", "right", "#2b86a8"),
    "FAIL": ("✗", "wrong", "#d2571e"),
    "INCONCLUSIVE": ("?", "inconclusive", "#a87c14"),
    "ERROR": ("!", "not checkable", "#d2571e"),
}
"""How a verdict is marked, what it is called, and its colour."""
_CELL = "text-align:left;vertical-align:top;padding:0.15em 1em 0.15em 0"


def html(report: Report) -> Markup:
    """The whole report."""
    totals = ", ".join(f"{n} {_VERDICTS[o][1]}" for o, n in report.totals.items()) or "nothing was checked"
    problems = [tag("div", tag("code", target), ": ", prose(reason)) for target, reason in report.problems]
    return tag("div", table(report.checked), problems, tag("div", f"{totals}, in {report.seconds:.1f} s"))


def table(checked: tuple[Checked, ...]) -> Markup:
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
