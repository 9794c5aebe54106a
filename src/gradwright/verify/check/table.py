"""A report in the terminal: a row for each subject, then for each failure what is wrong and what mends it.

One layout, coloured where the package rich is installed, plain text where it is not.
"""

from __future__ import annotations

import linecache
import shutil
import sys
import textwrap
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TextIO

from gradwright.verify.check.battery.inputs import HOW
from gradwright.verify.check.losses import outlook
from gradwright.verify.check.records import Checked, Finding, Outcome, Report

try:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.text import Text
except ModuleNotFoundError:  # plain text then
    Console: Any = None  # type: ignore[no-redef]

HEADINGS = {
    "made again": "again", "own dtype": "own", "float64": "f64",
    "runs": "runs", "captured tensors": "capt", "inputs unchanged": "inp", "deterministic": "det",
    "independent calls": "call", "grad modes": "mode", "shapes": "shp", "undefined gradients": "und",
    "marked outputs": "mark", "first order": "1st",
    "second order": "2nd", "second witness": "wit", "complex": "cplx", "dtype": "dt", "needs_input_grad": "need",
    "strides": "str", "no leak": "leak", "forward mode": "jvp", "vmap": "vmap", "cost": "cost",
    "compiled": "comp", "jac": "jac", "hess": "hess", "hessp": "hessp",
}  # fmt: skip
"""What a column is headed with."""
MARKS = {
    Outcome.PASS: ("✓", "green"),
    Outcome.ADVICE: ("~", "yellow"),
    Outcome.FAIL: ("✗", "bold red"),
    Outcome.INCONCLUSIVE: ("?", "yellow"),
    Outcome.SKIPPED: ("·", "dim"),
    Outcome.ERROR: ("!", "bold magenta"),
}
SEEN = "seen = an error of that part of the gradient would be found"
LEGEND = ("✓ so", "~ so, with advice", "✗ wrong", "? cannot be told", "! cannot be checked", "· not looked at")

Segment = tuple[str, str]
"""Text and its style."""


def layout(report: Report, width: int = 120) -> Iterator[list[Segment]]:
    """The lines of a report, each as pieces of text with their styles."""
    yield from _table(report.checked, width)
    for c in report.checked:
        yield from told(c, width)
    yield from _advice(report.checked, width)
    yield from _unsteady(report.checked, width)
    yield from _guesses(report.checked, width)
    for target, reason in report.problems:
        yield []
        for k, ((line, _),) in enumerate(_wrapped(f"{target}: {reason}", "", width - 2)):
            yield [("  " if k else "! ", MARKS[Outcome.ERROR][1]), (line, "")]
    for k, note in enumerate(report.notes):
        if k == 0:
            yield []
        yield from _wrapped(f"· {note}.", "dim", width)
    yield []
    yield _totals(report)


def _table(checked: tuple[Checked, ...], width: int) -> Iterator[list[Segment]]:
    if not checked:
        return
    longest = max(len(c.name) for c in checked) + 2
    found = {f.check for c in checked for f in c.findings}
    shown = names = [n for n in HEADINGS if n in found]
    told = any(c.seen is not None for c in checked)
    if longest + sum(len(HEADINGS[n]) + 1 for n in names) + (7 if told else 0) + 22 > width:
        plain = (Outcome.PASS, Outcome.SKIPPED)
        names = [n for n in shown if n in ("first order", "second order") or not all(
            f.outcome in plain for c in checked for f in c.findings if f.check == n)]  # fmt: skip
    yield [("".ljust(longest) + " ".join([*(HEADINGS[n] for n in names), *([" seen"] if told else [])]), "bold")]
    for c in checked:
        outcomes = {f.check: f.outcome for f in c.findings}
        line: list[Segment] = [(c.name.ljust(longest), "")]
        for n in names:
            mark, style = MARKS[outcomes.get(n, Outcome.SKIPPED)]
            line.append((mark.center(len(HEADINGS[n])) + " ", style))
        line += [(f" {f'{c.seen:.0e}' if c.seen is not None else '':5} ", "")] if told else []
        line += [(f" {c.verdict.value.lower():13}", MARKS[c.verdict][1]), (f"{c.seconds:6.1f} s", "dim")]
        yield line
    yield []
    short = [f"{HEADINGS[n]} = {n}" for n in names if HEADINGS[n] != n]
    for legend in (LEGEND, [*short, *([SEEN] if told else [])]):
        for part in textwrap.wrap("   ".join(s.replace(" ", "\xa0") for s in legend), max(width, 40)):
            yield [(part.replace("\xa0", " "), "dim")]
    made = {f.check for c in checked for f in c.findings if f.outcome is not Outcome.SKIPPED}
    kinds = (("Not shown, as nothing is wrong there", made), ("Not looked at, as no sample or rule asks", found - made))
    for what, some in kinds:
        if hidden := [n for n in shown if n not in names and n in some]:
            yield from _wrapped(f"{what}: {', '.join(hidden)}.", "dim", width)


def told(c: Checked, width: int) -> Iterator[list[Segment]]:
    """What is wrong with a subject; nothing if it passes."""
    if not c.failures:
        return
    yield []
    mark, style = MARKS[c.verdict]
    yield [(f"{mark} {c.name}", style), (f"  {c.file}:{c.line}", "dim")]
    if c.guessed and c.samples:
        yield from _wrapped(f"called with guessed inputs: {_samples(c)}", "dim", width, 2)
    causes: set[str] = set()
    for f in c.failures:
        if f.cause in causes:
            yield [(f"  {f.check}: the same", MARKS[f.outcome][1])]
            continue
        causes.add(f.cause)
        yield from _finding(c, f, width)


def _finding(c: Checked, f: Finding, width: int) -> Iterator[list[Segment]]:
    yield [(f"  {f.check}", MARKS[f.outcome][1]), (f": {f.cause}" if f.cause else "", "bold")]
    yield from _wrapped(f.sentence, "", width, 4)
    for n in f.lines[:4]:
        if text := linecache.getline(c.file, n).rstrip():
            yield [(f"    {n:5} │ ", "dim"), (text, "cyan")]
    if f.mend:
        yield from _wrapped(f"mend: {f.mend}", "green", width, 4)


def _advice(checked: tuple[Checked, ...], width: int) -> Iterator[list[Segment]]:
    """What could be had for less: each kind of it once, with everything that it is about."""
    kinds: dict[tuple[str, str, str], list[tuple[Checked, Finding]]] = {}
    for c in checked:
        for f in c.findings:
            if f.outcome is Outcome.ADVICE:
                kinds.setdefault((f.check, f.cause, f.mend), []).append((c, f))
    mark, style = MARKS[Outcome.ADVICE]
    for (check, cause, mend), many in kinds.items():
        yield []
        yield [(f"{mark} {check}", style), (f": {cause}", "bold")]
        for c, f in many:
            yield from _wrapped(f"{c.name}: {f.sentence}", "", width, 4)
        if mend:
            yield from _wrapped(f"mend: {mend}", "green", width, 4)


def _unsteady(checked: tuple[Checked, ...], width: int) -> Iterator[list[Segment]]:
    """What is right, but loses digits."""
    said = [outlook(found) for c in checked for found in c.stability if not found.get("steady", True)]
    if said:
        mark, style = MARKS[Outcome.ADVICE]
        yield []
        yield [(f"{mark} stability", style), (": lost digits", "bold")]
        for sentence in said:
            yield from _wrapped(sentence, "", width, 4)


def _guesses(checked: tuple[Checked, ...], width: int) -> Iterator[list[Segment]]:
    """What was called with guessed inputs, and how to do better."""
    guessed = [c for c in checked if c.guessed and c.samples]
    if not guessed:
        return
    yield []
    yield [("guessed inputs", "bold")]
    for c in guessed:
        yield from _wrapped(f"{c.name}: {_samples(c)}", "", width, 4)
    yield from _wrapped(f"to choose them yourself: {HOW}", "green", width, 4)


def _samples(c: Checked) -> str:
    return "; ".join(c.samples)


def _wrapped(text: str, style: str, width: int, indent: int = 0) -> Iterator[list[Segment]]:
    """Text in lines of this width; the line breaks in it, and how far its lines are indented, stay."""
    for paragraph in text.splitlines():
        room = " " * (indent + len(paragraph) - len(paragraph.lstrip()))
        for line in textwrap.wrap(paragraph.strip(), max(width, 40), initial_indent=room, subsequent_indent=room,
                                  break_long_words=False, break_on_hyphens=False):  # fmt: skip
            yield [(line, style)]


def _totals(report: Report) -> list[Segment]:
    words = {Outcome.PASS: "right", Outcome.FAIL: "wrong", Outcome.INCONCLUSIVE: "inconclusive",
             Outcome.ERROR: "not checked"}  # fmt: skip
    line: list[Segment] = []
    for outcome, n in report.totals.items():
        line += [(f"{n} {words[outcome]}", MARKS[outcome][1]), (", ", "")]
    if report.problems:
        n = len(report.problems)
        what = "could not be read" if report.reads else "problem" if n == 1 else "problems"
        line += [(f"{n} {what}", MARKS[Outcome.ERROR][1]), (", ", "")]
    return [*line[:-1], (f"  in {report.seconds:.1f} s", "dim")]


def show(report: Report, file: TextIO | None = None) -> None:
    """Print a report, to standard output by default."""
    file = file or sys.stdout
    width = shutil.get_terminal_size((120, 24)).columns
    console = Console(file=file, highlight=False, width=width) if Console is not None else None
    for line in layout(report, width):
        if console is not None:
            console.print(Text.assemble(*line), soft_wrap=True)
        else:
            file.write("".join(text for text, _ in line).rstrip() + "\n")


class Bar:
    """A progress bar on standard error, if that is a terminal and rich is there: `advance` is for `check`."""

    def __init__(self) -> None:
        self.bar: Any = None
        if Console is not None and sys.stderr.isatty():
            columns = (TextColumn("checking"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[name]}"))
            self.bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self.task = self.bar.add_task("", total=None, name="")

    def shown(self) -> AbstractContextManager[Any]:
        """Within this it is shown."""
        return nullcontext() if self.bar is None else self.bar

    def advance(self, done: int, of: int, checked: Checked | None) -> None:
        """So many of so many are done."""
        if self.bar is not None:
            name = f"{MARKS[checked.verdict][0]} {checked.name}" if checked is not None else ""
            self.bar.update(self.task, completed=done, total=of, name=name)
