"""Approximations on purpose, and what only looks like one."""

from typing import Any

import numpy as np

from gradwright.verify.pairs.judge import judge
from gradwright.verify.pairs.judgement import Verdict
from tests.verify.pairs.cases import RIGHT, P, df, gauss_newton, gradient, hessian, squares, squares_grad


def test_gauss_newton_is_told_by_its_structure() -> None:
    found = judge(RIGHT["Gauss-Newton"][1])
    assert found.cause == "Gauss-Newton"
    assert "`J.T @ J`" in found.sentence


def test_a_negative_one_is_wrong_all_the_same() -> None:
    def negative(p: Any) -> Any:
        """A Gauss-Newton approximation."""
        return -gauss_newton(p)

    assert judge(hessian(negative, squares, P, gradient=squares_grad)).verdict is Verdict.WRONG


def test_a_scale_that_its_source_tells_is_no_alarm() -> None:
    def scaled(x: Any) -> Any:
        """The gradient, up to a constant factor."""
        return 3 * df(x)

    assert judge(gradient(scaled)).verdict is Verdict.UP_TO_SCALE
    assert judge(gradient(lambda x: 3 * df(x))).verdict is Verdict.WRONG


def test_a_word_in_a_gradient_does_not_excuse_it() -> None:
    def careless(x: Any) -> Any:
        # ignoring the second term
        return np.exp(x) * x[::-1] ** 2

    assert judge(gradient(careless)).verdict is Verdict.WRONG
