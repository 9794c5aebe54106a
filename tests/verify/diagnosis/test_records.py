"""The records, as text and as plain data."""

import numpy as np

from gradwright.verify.diagnosis import Entry, Hypothesis, Verdict
from gradwright.verify.diagnosis.records import plain


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
