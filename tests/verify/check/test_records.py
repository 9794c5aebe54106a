"""Verdicts, totals and exit codes; and records to JSON and back."""

import json

import pytest

from gradwright.verify.check.records import Checked, Finding, Outcome, Report, report_from


def checked(*outcomes, name="F"):
    return Checked(name, "function", "f.py", 3, findings=tuple(Finding(f"c{k}", o) for k, o in enumerate(outcomes)))


@pytest.mark.parametrize(("outcomes", "verdict"), [
    ("PASS", "PASS"), ("PASS SKIPPED ADVICE", "PASS"), ("PASS FAIL", "FAIL"), ("INCONCLUSIVE PASS", "INCONCLUSIVE"),
    ("FAIL INCONCLUSIVE", "FAIL"), ("FAIL ERROR", "ERROR"), ("", "ERROR"),
])  # fmt: skip
def test_verdict(outcomes, verdict):
    assert checked(*map(Outcome, outcomes.split())).verdict == verdict


def test_failures_come_worst_first():
    c = checked(Outcome.PASS, Outcome.INCONCLUSIVE, Outcome.FAIL, Outcome.ERROR)
    assert [f.check for f in c.failures] == ["c3", "c2", "c1"]


@pytest.mark.parametrize(("verdicts", "problems", "code"), [
    ("PASS PASS", (), 0), ("PASS FAIL", (), 1), ("INCONCLUSIVE", (), 1), ("ERROR FAIL", (), 2), ("", (), 2),
    ("PASS", (("nofile.py", "there is no file"),), 2),
])  # fmt: skip
def test_exit_code(verdicts, problems, code):
    report = Report(("f.py",), tuple(checked(Outcome(v)) for v in verdicts.split()), problems)
    assert report.exit_code == code


def test_json_and_back():
    finding = Finding("first order", Outcome.FAIL, "is wrong", "mend it", "factor", (7, 9))
    one = Checked("F", "torch", "f.py", 3, "class F: ...", ("x: float64 (3,)",), True, (finding,), ({"order": 1},), 0.5)
    report = Report(("f.py",), (one,), (("g.py", "no"),), 1.5, "0.1")
    text = json.dumps(report.as_dict())
    assert report_from(json.loads(text)) == report
    assert json.loads(text)["checked"][0]["verdict"] == "FAIL"
    assert json.loads(text)["totals"] == {"FAIL": 1}
