"""What is told of pairs: the judgements on a run of a library, as rows of a report; and one row of several runs."""

from __future__ import annotations

import inspect
import linecache
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from dataclasses import replace
from functools import partial
from io import StringIO
from typing import Any

import numpy as np

from gradwright.verify.audit.doors.door import Call
from gradwright.verify.audit.doors.heard import place
from gradwright.verify.check.attempt import Attempt
from gradwright.verify.check.records import Checked, Finding, Outcome, checked_from
from gradwright.verify.diagnosis.records import plain
from gradwright.verify.numeric.streams import Streams
from gradwright.verify.pairs import Judgement, Pair, Verdict
from gradwright.verify.pairs.calls import Budget
from gradwright.verify.pairs.judge import judge
from gradwright.verify.pairs.pair import HESSIAN, HVP

_OUTCOMES = {
    Verdict.RIGHT: Outcome.PASS, Verdict.OTHER_VARIABLE: Outcome.PASS, Verdict.UP_TO_SCALE: Outcome.PASS,
    Verdict.ON_PURPOSE: Outcome.PASS, Verdict.WRONG: Outcome.FAIL, Verdict.NOISY: Outcome.INCONCLUSIVE,
    Verdict.NOT_SHOWN: Outcome.INCONCLUSIVE, Verdict.NOT_CALLED: Outcome.INCONCLUSIVE,
}  # fmt: skip
_RANK = (Outcome.SKIPPED, Outcome.PASS, Outcome.ADVICE, Outcome.INCONCLUSIVE, Outcome.FAIL, Outcome.ERROR)
_SHOWN = 6
_DRAWN = {Outcome.PASS: "VERIFIED", Outcome.FAIL: "WRONG"}
_SIGHT = 3e-7
"""An entry that is off by less than this part is right."""


def judged(call: Call, pairs: Callable[[], Iterable[Pair]], seconds: float) -> list[dict[str, Any]]:
    """The rows of a run of a library, as plain data: one for each function with a derivative."""
    streams = Streams.now()
    until = time.monotonic() + seconds
    rows: dict[Any, Checked] = {}
    places: dict[Any, list[Any]] = {}
    with ExitStack() as stack:
        stack.callback(streams.put_back)
        stack.enter_context(redirect_stdout(StringIO()))
        stack.enter_context(redirect_stderr(StringIO()))
        stack.enter_context(np.errstate(all="ignore"))
        found = [*pairs()]
        for k, pair in enumerate(found):
            start = time.monotonic()
            with Attempt() as attempt:
                judgement = judge(pair, Budget(seconds=max(until - start, 0.0) / (len(found) - k)))
            if attempt.error is not None:
                said = f"`{pair.names[1]}` was not judged: called again, it or its value raises {attempt.said()}"
                judgement = Judgement(Verdict.NOT_SHOWN, said, "not called again")
            key = (pair.names[0] or pair.names[1], *_place(pair.value), call.door.name)
            row = _row(call, pair, judgement, time.monotonic() - start)
            before = rows.get(key)
            rows[key] = row if before is None else _together(before, row)
            places.setdefault(key, []).extend((pair.names[1], *pair.where))
    return [{"key": [*key, *places[key]], "row": plain(row)} for key, row in rows.items()]


def _row(call: Call, pair: Pair, said: Judgement, seconds: float) -> Checked:
    outcome = _OUTCOMES[said.verdict]
    sentence = said.sentence
    if said.verdict not in (Verdict.RIGHT, Verdict.WRONG):
        sentence = f"{said.verdict.lower()}: {sentence}"
    notes = "".join(f"; {note}" for note in said.notes) if outcome is not Outcome.PASS else ""
    file, line = pair.where
    finding = Finding(pair.kind, outcome, f"{sentence}{notes}", said.mend, said.cause,
                      (line,) if outcome is Outcome.FAIL and line else (), said.seen)  # fmt: skip
    door = pair.door or call.door.name
    at = f"{call.where[0].rpartition('/')[2]}:{call.where[1]}"
    samples = tuple(f"{door} at {at}, call {p.call}: {_numbers(p.x)}" for p in pair.points[:_SHOWN])
    name = pair.names[0] or pair.names[1]
    drawn = _drawn(pair, said, samples)
    return Checked(name, call.door.name, file, line, _source(pair), samples, False, (finding,), drawn, seconds)


def _drawn(pair: Pair, said: Judgement, samples: tuple[str, ...]) -> tuple[dict[str, Any], ...]:
    """What a page draws: the matrix of errors at a point, and the difference of its worst entry by step."""
    worst = said.worst
    if worst is None or said.said is None or any(map(np.iscomplexobj, (said.said, said.measured))):
        return ()
    told, measured, bar = (np.atleast_2d(np.asarray(m, float)) for m in (said.said, said.measured, said.bar))
    outcome = _OUTCOMES[said.verdict]
    with np.errstate(all="ignore"):
        wrong = (np.abs(told - measured) > np.maximum(bar, _SIGHT * np.abs(measured))) & (outcome is Outcome.FAIL)
    block = {"input": "x", "output": pair.names[0] or pair.names[1], "analytic": told, "numeric": measured, "bar": bar,
             "wrong": wrong, "kinks": np.zeros_like(wrong)}  # fmt: skip
    entry = {"input": "x", "index": worst.index, "output": block["output"], "output_index": (), "part": "",
             "analytic": float(np.real(worst.said)), "numeric": float(np.real(worst.measured)), "bar": worst.bar}
    return (plain({
        "verdict": _DRAWN.get(outcome, "INCONCLUSIVE"), "order": 2 if pair.kind in (HESSIAN, HVP) else 1,
        "summary": said.sentence, "sampled": said.sampled, "hypotheses": None, "worst": entry, "blocks": (block,),
        "steps": said.steps, "ladder": said.ladder, "sample": samples[said.point] if said.point is not None and
        said.point < len(samples) else "", "dtype": "float64",
    }),)  # fmt: skip


def _place(value: Any) -> tuple[str, int]:
    while isinstance(value, partial):
        value = value.args[0] if value.args and callable(value.args[0]) else value.func
    return place(value)


def _numbers(x: Any) -> str:
    array = np.asarray(x)
    if array.size > 6:
        return f"{array.dtype} {list(array.shape)}"
    return np.array2string(array, precision=4, separator=", ").replace("\n", "")


def _source(pair: Pair) -> str:
    file, line = pair.where
    lines = linecache.getlines(file)
    return "".join(inspect.getblock(lines[line - 1 :])) if line and lines else ""


def _together(a: Checked, b: Checked) -> Checked:
    """One row of two on the same functions: of each check the worst finding."""
    findings = {f.check: f for f in a.findings}
    for f in b.findings:
        if f.check not in findings or _RANK.index(f.outcome) > _RANK.index(findings[f.check].outcome):
            findings[f.check] = f
    told = b if b.failures and not a.failures else a
    return replace(told, findings=tuple(findings.values()), samples=(*a.samples, *b.samples)[: 2 * _SHOWN],
                   seconds=a.seconds + b.seconds)  # fmt: skip


class Told:
    """What is said of all runs.

    Attributes:
        problems: runs of which nothing can be said, and why: ``(door, reason)``.
    """

    def __init__(self) -> None:
        self.rows: dict[Any, Checked] = {}
        self.problems: list[tuple[str, str]] = []

    def add(self, answer: dict[str, Any], about: dict[str, Any]) -> None:
        """What was said of one run."""
        if "error" in answer:
            self.problems.append((about["name"], f"nothing is shown of what was handed over: {answer['error']}"))
        for data in answer.get("found", ()):
            row, key = checked_from(data["row"]), tuple(data["key"])
            self.rows[key] = _together(self.rows[key], row) if key in self.rows else row

    @property
    def checked(self) -> list[Checked]:
        """The rows."""
        return [*self.rows.values()]
