"""Rows of a report, of several runs."""

from gradwright.verify.audit.doors.told import Told
from gradwright.verify.check.figures import figures
from gradwright.verify.check.page import page
from gradwright.verify.check.records import Checked, Finding, Outcome, Report
from gradwright.verify.diagnosis.records import plain
from tests.verify.audit.doors.table import audited


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


def test_a_page_draws_what_is_wrong():
    (one,) = audited("""
from scipy.optimize import minimize
minimize(lambda x: np.sum(x ** 4), np.ones(2), jac=lambda x: 2 * x ** 3, options={'maxiter': 2})
""").checked  # fmt: skip
    (drawn,) = one.diagnoses
    found = figures(drawn)
    assert found["maps"][0]["mark"] == [1, 1]
    assert found["worst"] is not None
    assert len(found["plot"]["steps"]) > 2
    assert "Worst entry" in page(Report((), (one,)))
