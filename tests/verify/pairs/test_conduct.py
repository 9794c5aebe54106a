"""Derivatives that are of another point, change what they gave, or are made by differences."""

from typing import Any

import numpy as np

from gradwright.verify.pairs.judge import judge
from gradwright.verify.pairs.judgement import Verdict
from gradwright.verify.pairs.pair import Pair, Point
from tests.verify.pairs.cases import RIGHT, X, df, f, jac, r


class Shared:
    """Value and gradient computed at once, by the value."""

    def __init__(self, careful: bool) -> None:
        self.careful, self.x = careful, np.zeros(0)

    def value(self, x: Any) -> Any:
        self.x, self.g = x.copy(), df(x)
        return f(x)

    def gradient(self, x: Any) -> Any:
        if self.careful and not np.array_equal(x, self.x):
            self.value(x)
        return self.g


def test_work_that_is_shared_is_right_if_it_is_renewed() -> None:
    for careful in (True, False):
        model = Shared(careful)
        found = judge(Pair("gradient", model.value, model.gradient, (Point(X),)))
        assert found.passes is careful
        assert found.cause == ("" if careful else "previous point")


def test_what_was_right_when_called_passes_whatever_it_does_alone() -> None:
    model = Shared(False)
    found = judge(Pair("gradient", model.value, model.gradient, (Point(X, returned=df(X), call=1),)))
    assert found.passes, str(found)


def test_the_point_before_is_told() -> None:
    pair = Pair("gradient", f, df, (Point(2 * X, returned=df(X), before=X, call=9),))
    found = judge(pair)
    assert "the derivative at a point before, [0.3, 0.7, 1.2]" in found.sentence
    assert "call 9 of the run" in found.sentence


def test_a_jacobian_in_one_buffer_is_noted_and_no_alarm() -> None:
    buffer = np.empty((3, 3))

    def filled(x: Any) -> Any:
        buffer[:] = jac(x)
        return buffer

    found = judge(Pair("jacobian", r, filled, (Point(X),)))
    assert found.verdict is Verdict.RIGHT
    assert any("one buffer" in note for note in found.notes)


def test_differences_of_its_own_are_told() -> None:
    assert "by differences of its own, as it calls `f` 6 times" in judge(RIGHT["differences"][1]).sentence
    half = Pair("gradient", f, lambda x: RIGHT["differences"][1].derivative(x) / 2, (Point(X),))
    assert judge(half).verdict is Verdict.WRONG


def test_points_next_to_each_other_are_not_taken_for_one_another():
    x = np.array([1.0, 2.0])
    found = judge(Pair("gradient", lambda x: np.sum(x**4), lambda x: -4 * x**3,
                       (Point(x, returned=-4 * x**3, before=x * (1 + 1e-15), call=7),)))  # fmt: skip
    assert found.cause == "sign"
