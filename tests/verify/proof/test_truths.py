"""Open truth values: three-valued logic, and what needs to know."""

from __future__ import annotations

import numpy as np
import pytest
from gradwright.errors import NotProvedError

from gradwright.verify.proof.truths import Truths, conditions, left_open, settled

OPEN = Truths([1.0, 0.5, 0.0], "x < y")


def test_logic_is_that_of_three_values():
    assert (~OPEN).state.tolist() == [0.0, 0.5, 1.0]
    assert (OPEN & np.array([True, True, True])).state.tolist() == [1.0, 0.5, 0.0]
    assert (OPEN & np.array([True, False, True])).tolist() == [True, False, False]
    assert (np.array([True, True, False]) | OPEN).tolist() == [True, True, False]
    assert (OPEN ^ True).state.tolist() == [0.0, 0.5, 1.0]


def test_what_is_certain_is_numpys():
    assert settled([1.0, 0.0], "").tolist() == [True, False]
    assert OPEN[::2].tolist() == [True, False]
    assert OPEN.shape == (3,)
    assert OPEN.ndim == 1
    assert OPEN.size == 3


@pytest.mark.parametrize("use", [bool, int, float, np.asarray, lambda t: t.item()])
def test_a_decision_on_it_is_not_proved(use):
    with pytest.raises(NotProvedError, match="a decision on x < y, which the balls leave open"):
        use(OPEN)


def test_conditions_are_noted_once():
    left_open("nobody listens")
    with conditions() as found:
        left_open("a")
        left_open("a")
    assert found == ["a"]
