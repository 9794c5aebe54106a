"""Rows of a report, of several runs."""

from gradwright.verify.audit.doors.told import Told
from gradwright.verify.check.records import Checked, Finding, Outcome
from gradwright.verify.diagnosis.records import plain


def row(outcome, check="gradient"):
    findings = (Finding(check, outcome, outcome.value),)
    return {"key": ["f", "file", 1, "door"], "row": plain(Checked("f", "door", "file", 1, findings=findings))}


def test_the_worst_of_several_runs_is_told():
    told = Told()
    told.add({"found": [row(Outcome.PASS), row(Outcome.PASS, "hessian")]}, {"name": "door"})
    told.add({"found": [row(Outcome.FAIL)]}, {"name": "door"})
    told.add({"found": [row(Outcome.PASS)]}, {"name": "door"})
    told.add({"error": "it ended"}, {"name": "door"})
    (one,) = told.checked
    assert {f.check: f.outcome for f in one.findings} == {"gradient": Outcome.FAIL, "hessian": Outcome.PASS}
    assert told.problems == [("door", "nothing is shown of what was handed over: it ended")]
