"""Verdicts, totals and exit codes; records to JSON and back, and in a notebook."""

import json
from dataclasses import replace
from xml.etree import ElementTree

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


# ---- in a notebook ---------------------------------------------------------------------------------------

NASTY = "</td><script>alert(1)</script>\"'&`<b>"
RIGHT = Checked("Square", "function", "/somewhere/layers.py", 3, findings=(Finding("first order", Outcome.PASS),))
WRONG = Checked("Cube", "function", "layers.py", 25, findings=(
    Finding("shapes", Outcome.PASS),
    Finding("first order", Outcome.FAIL, "the gradient of `x` is 0.3 times\nthe true one", "multiply it", "factor"),
))  # fmt: skip


def shown(record) -> ElementTree.Element:
    return ElementTree.fromstring(record._repr_html_())


def text(element: ElementTree.Element) -> str:
    return " ".join("".join(element.itertext()).split())


def test_a_report_tells_verdicts_causes_and_mends():
    page = shown(Report(("layers.py",), (RIGHT, WRONG), seconds=0.4))
    rows = [[text(cell) for cell in row] for row in page.iter("tr")]
    assert rows == [
        ["Square", "✓ right", "", "layers.py:3"],
        ["Cube", "✗ wrong", "first order: factor", "layers.py:25"],
        ["the gradient of x is 0.3 times the true onemend: multiply it"],
    ]
    assert text(page).endswith("1 right, 1 wrong, in 0.4 s")


def test_one_subject_is_a_table_of_its_own():
    assert [text(row[0]) for row in shown(RIGHT).iter("tr")] == ["Square"]


@pytest.mark.parametrize("outcome", [Outcome.ERROR, Outcome.INCONCLUSIVE])
def test_what_cannot_be_told(outcome):
    c = replace(RIGHT, line=0, findings=(Finding("runs", outcome, "it did not return"),))
    page = shown(Report(("a",), (c,), (("b.py", "no such file"),)))
    assert "it did not return" in text(page)
    assert "b.py: no such file" in text(page)


def test_nothing_checked():
    assert text(shown(Report((), ()))) == "nothing was checked, in 0.0 s"


def test_markup_in_names_is_text():
    finding = Finding(NASTY, Outcome.FAIL, NASTY, NASTY, NASTY)
    page = shown(Report((NASTY,), (replace(RIGHT, name=NASTY, file=NASTY, findings=(finding,)),), ((NASTY, NASTY),)))
    assert not list(page.iter("script"))
    assert text(page).count("alert(1)") == 7
