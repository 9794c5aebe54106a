"""The records, as text and as plain data."""

import dataclasses
import json

import numpy as np
import pytest

import gradwright
from gradwright.autograd import diagnose
from gradwright.verify.diagnosis import Entry, Hypothesis, Verdict
from gradwright.verify.diagnosis.records import plain
from tests.corpus.wrong import WRONG, Scale, t


def test_entries_print_as_derivatives():
    entry = Entry("x", (1, 2), "out", (), "", 1.0, 2.0, 0.1)
    assert str(entry) == "d out / d x[1, 2]"
    assert str(Entry("z", (0,), "y", (3,), "real by imaginary", 1.0, 2.0, 0.1)) == "d y[3] / d z[0] (real by imaginary)"


def test_verdicts_are_strings():
    assert Verdict.WRONG == "WRONG"
    assert f"{Verdict.VERIFIED}" == "VERIFIED"


def test_plain():
    found = plain({"v": Verdict.WRONG, "h": (Hypothesis("sign", "s", 1.0, "m"),), "a": np.array([1.0, np.nan]),
                   "i": np.float64("inf"), "n": None})  # fmt: skip
    assert found == {
        "v": "WRONG", "a": [1.0, "nan"], "i": "inf", "n": None,
        "h": [{"name": "sign", "sentence": "s", "evidence": 1.0, "mend": "m", "argument": "", "constant": None}],
    }  # fmt: skip


def test_the_report_is_short_and_complete():
    x = t(3)
    lines = str(diagnose(Scale, (x, 2.5))).splitlines()
    assert lines[0] == "WRONG: the gradient of Scale by `x` is wrong at 3 of 3 entries"
    assert lines[1].startswith("worst entry, by its error bar: d out[")
    assert ": analytic 6.25, numeric 2.5 ± " in lines[1]
    assert lines[2] == "likeliest: the gradient of `x` is 2.5 times what it should be; 2.5 = `constant`"
    assert lines[3].startswith("    mend: divide the gradient of `x` in backward by `constant`")


@pytest.mark.parametrize("name", WRONG)
def test_reports_fit_a_terminal(name):
    report = str(diagnose(WRONG[name].f, WRONG[name].inputs))
    assert max(map(len, report.splitlines())) <= 120
    assert len(report.splitlines()) < 20


def test_verified_in_one_line():
    assert str(diagnose(lambda x: x.exp(), t(3))).startswith(
        "VERIFIED: the gradient of the function: all 9 entries agree")


def test_as_dict_is_json():
    found = diagnose(Scale, (t(3), 2.5))
    data = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert data["verdict"] == "WRONG"
    assert data["reason"] == data["hypotheses"][0]["name"] == "factor"
    assert data["worst"]["input"] == "x"
    assert data["blocks"][0]["numeric"][0][0] == pytest.approx(2.5)
    edge = diagnose(lambda x: x.log(), gradwright.zeros(3, dtype=gradwright.float64, requires_grad=True))
    assert edge.verdict is Verdict.INCONCLUSIVE
    json.dumps(edge.as_dict(), allow_nan=False)


def test_it_is_frozen():
    found = diagnose(Scale, (t(3), 2.5))
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.verdict = Verdict.VERIFIED
