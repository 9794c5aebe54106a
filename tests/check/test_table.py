"""The report in a terminal."""

import io

from gradwright.check import table
from gradwright.check.records import Checked, Finding, Outcome, Report

FAILED = Finding("first order", Outcome.FAIL, "the gradient of `x` is wrong", "multiply it by 3", "factor", (2,))


def report(tmp_path):
    file = tmp_path / "f.py"
    file.write_text("class Cube:\n    g * x**2  # here\n")
    right = Checked("Right", "function", str(file), 1, findings=(Finding("runs", Outcome.PASS),))
    wrong = Checked("Cube", "function", str(file), 1, findings=(Finding("runs", Outcome.PASS), FAILED))
    return Report(("f.py",), (right, wrong), (("g.py", "there is no file g.py"),), 1.25)


def shown(report, monkeypatch, rich):
    if not rich:
        monkeypatch.setattr(table, "Console", None)
    file = io.StringIO()
    table.show(report, file)
    return file.getvalue()


def test_a_row_for_each_and_what_is_wrong(tmp_path, monkeypatch):
    text = shown(report(tmp_path), monkeypatch, rich=False)
    lines = text.splitlines()
    assert lines[0].split() == ["runs", "1st"]
    assert lines[1].split()[:4] == ["Right", "✓", "·", "pass"]
    assert lines[2].split()[:4] == ["Cube", "✓", "✗", "fail"]
    for part in ("first order: factor", "the gradient of `x` is wrong", "2 │     g * x**2  # here",
                 "mend: multiply it by 3", "! g.py: there is no file g.py", "1 right, 1 wrong, 1 could not be read"):
        assert part in text


def test_rich_says_the_same(tmp_path, monkeypatch):
    with_rich = shown(report(tmp_path), monkeypatch, rich=True)
    plain = shown(report(tmp_path), monkeypatch, rich=False)
    assert [line.rstrip() for line in with_rich.splitlines()] == plain.splitlines()


def test_the_same_cause_is_told_once(tmp_path):
    again = Finding("second order", Outcome.FAIL, "the same again", "", "factor")
    c = Checked("F", "function", "f.py", 1, findings=(FAILED, again))
    text = "\n".join("".join(t for t, _ in line) for line in table.told(c, 100))
    assert "second order: the same" in text
    assert "the same again" not in text


def test_every_check_has_a_heading():
    assert list(table.HEADINGS) == list(table.CHECKS)
    assert table.MARKS.keys() == set(Outcome)


def test_narrow_tables_leave_out_what_is_right(tmp_path):
    findings = tuple(Finding(n, Outcome.PASS) for n in table.CHECKS if n != "first order")
    c = Checked("F", "function", "f.py", 1, findings=(*findings, FAILED))
    lines = ["".join(t for t, _ in line) for line in table.layout(Report(("f.py",), (c,)), 80)]
    assert lines[0].split() == ["1st", "2nd"]
    assert any(line.startswith("Not shown, as nothing is wrong there: runs, ") for line in lines)
