"""Programs that hand derivatives to a library, run as they are and in an audit: nothing they show may be another."""

import linecache
import warnings
from itertools import count

import numpy as np

from gradwright.verify.audit import audit

_numbers = count()


def run(text, **names):
    """What a program shows, run in a namespace of its own."""
    file = f"<program {next(_numbers)}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    shown = []
    scope = {"np": np, "show": lambda *values: shown.append(repr(values)), "__name__": "program", **names}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(text, file, "exec"), scope)  # noqa: S102
    return shown


def audited(text, **names):
    """The report on a program, of which it is asked that it shows what it does without an audit."""
    plain = run(text, **names)
    with audit(shown=False, budget=60) as found:
        assert run(text, **names) == plain
    return found.report


def verdicts(text, **names):
    """The verdicts on a program, by name of the function whose derivative it is, and by check."""
    report = audited(text, **names)
    assert [reason for _, reason in report.problems] == []
    found = [(c.name, f) for c in report.checked for f in c.findings]
    for name, f in found:
        print(f"{name}: {f.check}: {f.outcome}: {f.sentence}")  # noqa: T201 - for whoever sees it fail
    return {(name, f.check): f.outcome.value for name, f in found}


def held(text, *wrong):
    """That a program is right with ``s = 1``; and that with ``s = -1`` just what is named is wrong."""
    right = verdicts(text, s=1.0)
    assert set(right.values()) == {"PASS"}, right
    fault = verdicts(text, s=-1.0)
    assert fault.keys() == right.keys()
    assert {key for key, outcome in fault.items() if outcome == "FAIL"} == set(wrong), fault


__all__ = ["audited", "held", "run", "verdicts"]
