"""What is said of a pair."""

import json

import numpy as np
import pytest

from gradwright.verify.pairs.judgement import Entry, Judgement, Verdict


def test_a_judgement_tells_place_and_mend() -> None:
    found = Judgement(Verdict.WRONG, "df is off", "sign", "negate it", where=("model.py", 7), door="minimize(jac=)")
    assert str(found) == "WRONG: df is off (minimize(jac=), model.py:7)\n    mend: negate it"
    assert not found
    assert str(Judgement(Verdict.RIGHT, "df is right", where=("m.py", 1))) == "RIGHT: df is right (m.py:1)"


@pytest.mark.parametrize("verdict", Verdict)
def test_what_passes_is_no_alarm_and_leaves_nothing_open(verdict: Verdict) -> None:
    assert Judgement(verdict, "").passes is (verdict.startswith("RIGHT") or verdict is Verdict.ON_PURPOSE)


def test_a_judgement_is_fit_for_json() -> None:
    found = Judgement(Verdict.WRONG, "", worst=Entry((0,), 1j, float("nan"), 0.1), said=np.array([[np.inf, 1j]]))
    data = json.loads(json.dumps(found.as_dict()))
    assert data["verdict"] == "WRONG"
    assert data["worst"]["said"] == [0.0, 1.0]
