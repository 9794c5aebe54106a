"""Functions and their derivatives as subjects of `gradwright check`: judged, and told as rows of its report."""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from gradwright.verify.check.records import Checked, Finding, Outcome
from gradwright.verify.pairs.by_name import Named
from gradwright.verify.pairs.check import check_pair
from gradwright.verify.pairs.judgement import PASSES, Judgement, Verdict


def finding(kind: str, said: Judgement) -> Finding:
    """A judgement as a finding of the check of this name."""
    outcome = (Outcome.PASS if said.verdict in PASSES else
               Outcome.FAIL if said.verdict is Verdict.WRONG else Outcome.INCONCLUSIVE)  # fmt: skip
    more = "".join(f"; {note}" for note in (said.sampled, *said.notes) if note)
    lines = (said.where[1],) if outcome is Outcome.FAIL and said.where[1] else ()
    return Finding(kind, outcome, f"{said.sentence}{more}", said.mend, said.cause, lines, said.seen)


def row(name: str, derivatives: dict[str, Any], found: Iterable[Judgement], at: str, seconds: float) -> Checked:
    """The judgements on the derivatives of one function, by kind, as one subject."""
    first = next(iter(derivatives.values()))
    file, line, source = written(first)
    findings = tuple(finding(kind, said) for kind, said in zip(derivatives, found, strict=True))
    return Checked(name, "pair", file, line, source, (at,), False, findings, (), seconds)


def written(f: Any) -> tuple[str, int, str]:
    """The file, line and text of a function; ``("", 0, "")`` if they are not to be had."""
    try:
        lines, line = inspect.getsourcelines(f)
        return inspect.getsourcefile(f) or "", line, "".join(lines)
    except (OSError, TypeError):
        return "", 0, ""


def compared(name: str, f: Any, derivatives: dict[str, Any], at: Any = None, bounds: Any = None) -> Checked:
    """A function and its derivatives, by the names that `check_pair` has for them, as one subject."""
    start = time.perf_counter()
    given = {k: d for k, d in derivatives.items() if d is not None}
    where = "at made-up points" if at is None else f"at x = {np.array2string(np.asarray(at), precision=6, threshold=8)}"
    try:
        found = check_pair(f, **given, at=at, bounds=bounds)
    except ValueError as e:
        problem = Finding("jac", Outcome.INCONCLUSIVE, str(e).removeprefix("check_pair: "), "give --at, a file of "
                          "NumPy's with an x, or a module's x0", "no x")  # fmt: skip
        file, line, source = written(next(iter(given.values())))
        return Checked(name, "pair", file, line, source, (), False, (problem,), (), time.perf_counter() - start)
    return row(name, given, found, where, time.perf_counter() - start)


def examine(name: str, target: Named) -> Checked:
    """Everything that can be said of functions that were found by their names."""
    return compared(name, target.f, {"jac": target.jac, "hess": target.hess, "hessp": target.hessp}, target.at)
