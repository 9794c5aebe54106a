"""The report in a terminal."""

import io

import pytest

from gradwright.verify.check import table
from gradwright.verify.check.battery import ASKED, CHECKS
from gradwright.verify.check.records import Checked, Finding, Outcome, Report

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
    assert list(table.HEADINGS) == ["made again", "own dtype", "float64", *CHECKS, *ASKED, "jac", "hess", "hessp"]
    assert table.MARKS.keys() == set(Outcome)


def test_narrow_tables_leave_out_what_is_right(tmp_path):
    findings = tuple(Finding(n, Outcome.PASS) for n in CHECKS if n != "first order")
    c = Checked("F", "function", "f.py", 1, findings=(*findings, FAILED))
    lines = ["".join(t for t, _ in line) for line in table.layout(Report(("f.py",), (c,)), 80)]
    assert lines[0].split() == ["1st", "2nd"]
    assert "1st = first order   2nd = second order" in lines  # and of no other column
    assert any(line.startswith("Not shown, as nothing is wrong there: runs, ") for line in lines)


def text(lines):
    return "\n".join("".join(t for t, _ in line) for line in lines)


MESSAGE = """Changes: forward changed its input 'x' in place and did not say so, which is a rather long story
  changed at f.py:31: x.mul_(2)
Change a clone() of it."""


@pytest.mark.parametrize("width", [80, 160])
def test_line_breaks_in_messages_stay(width):
    broken = Finding("runs", Outcome.FAIL, MESSAGE, "one\ntwo", "changed input")
    c = Checked("F", "function", "f.py", 1, findings=(broken,))
    lines = text(table.layout(Report(("f.py",), (c,), (("g.py", MESSAGE),)), width)).splitlines()
    for line in ("      changed at f.py:31: x.mul_(2)", "    Change a clone() of it.", "    mend: one", "    two",
                 "    changed at f.py:31: x.mul_(2)", "  Change a clone() of it."):  # fmt: skip
        assert line in lines
    assert max(map(len, lines)) <= width


def test_advice_is_given_once_for_all():
    advice = [Finding("needs_input_grad", Outcome.ADVICE, f"the gradient of `{n}` is idle", "ask", "wasted work")
              for n in "abc"]  # fmt: skip
    ran = Finding("runs", Outcome.PASS)
    checked = [Checked(f"F{k}", "function", "f.py", 1, findings=(ran, f)) for k, f in enumerate(advice)]
    said = text(table.layout(Report(("f.py",), tuple(checked)), 120))
    assert said.count("wasted work") == said.count("mend: ask") == 1
    assert all(f"F{k}: the gradient of `{n}` is idle" in said for k, n in enumerate("abc"))


def test_guessed_inputs_are_said_to_be_and_how_to_give_others():
    ran = Finding("runs", Outcome.PASS)
    checked = (Checked("F", "function", "f.py", 1, samples=("x: float64 (5,)",), guessed=True, findings=(ran,)),
               Checked("G", "function", "f.py", 1, samples=("y: float64 (5,)",), findings=(ran,)))  # fmt: skip
    said = text(table.layout(Report(("f.py",), checked), 120))
    assert "guessed inputs\n    F: x: float64 (5,)\n    to choose them yourself: give it a static method `sam" in said
    assert "G: y" not in said
    assert "guessed" not in text(table.layout(Report(("f.py",), checked[1:]), 120))


def test_how_small_an_error_would_be_found():
    seen = Finding("first order", Outcome.PASS, seen=2e-7)
    witness = Finding("second witness", Outcome.PASS, seen=1e-12)
    subjects = [Checked("A", "function", "f.py", 1, findings=(seen,)),
                Checked("B", "function", "f.py", 1, findings=(seen, witness)),
                Checked("C", "function", "f.py", 1, findings=(FAILED, witness))]  # fmt: skip
    lines = text(table.layout(Report(("f.py",), tuple(subjects)), 120)).splitlines()
    assert [line.split()[-5:-3] for line in lines[1:4]] == [["·", "2e-07"], ["✓", "1e-12"], ["✗", "✓"]]
    assert lines[0].split() == ["1st", "wit", "seen"]
    assert "seen = an error of that part of the gradient would be found" in "\n".join(lines)


def test_what_was_never_looked_at_is_not_called_right():
    findings = tuple(Finding(n, Outcome.SKIPPED if n in ("vmap", "complex") else Outcome.PASS) for n in CHECKS)
    c = Checked("F", "function", "f.py", 1, findings=findings)
    said = text(table.layout(Report(("f.py",), (c,)), 80)).replace("\n", " ")
    right, _, rest = said.partition("Not looked at, as no sample or rule asks: complex, vmap.")
    assert rest
    assert "vmap" not in right.partition("Not shown")[2]


def test_lost_digits_are_told():
    found = {"said": "F: the value in float32 loses 7 digits near 0: use expm1(x) for exp(x) - 1", "steady": False}
    c = Checked("F", "function", "f.py", 1, findings=(Finding("runs", Outcome.PASS),), stability=(found,))
    said = text(table.layout(Report(("f.py",), (c,)), 120))
    assert "~ stability: lost digits\n    F: right, but the value in float32 loses 7 digits near 0: use expm1" in said
