"""Checking a function and its derivatives that are given as such."""

from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright.verify.pairs.judgement import Verdict
from tests.verify.pairs.cases import A, P, X, d2f, df, f, jac, r, residual, residual_jac


def test_all_that_is_given_is_judged_in_order() -> None:
    found = gw.check_pair(f, df, hess=lambda x: d2f(x) / 2, hessp=lambda x, v: d2f(x) @ v, at=X)
    assert [j.verdict for j in found] == [Verdict.RIGHT, Verdict.WRONG, Verdict.RIGHT]
    assert not found
    assert len(found) == 3
    assert found[1].cause == "half"
    assert str(found).count("\n") >= 3


@pytest.mark.parametrize(("f", "given", "at"), [
    (lambda x: (f(x), df(x)), {"jac": True}, X), (residual, {"jac": residual_jac}, P),
    (lambda x: A @ x, {"jac": A}, X), (lambda x: A @ x, {"rmatvec": lambda w: A.T @ w}, X),
    (r, {"jvp": lambda x, v: jac(x) @ v, "vjp": lambda x, w: w @ jac(x)}, X), (f, {"jac": df}, [X, 2 * X]),
    (f, {"jac": df}, [0.3, 0.7, 1.2]), (np.exp, {"jac": np.exp}, 0.7),
    (lambda x: x[0] ** 2, {"jac": lambda x: 2 * x}, [3]),
])  # fmt: skip
def test_right_ones_of_all_forms_pass(f: Any, given: dict[str, Any], at: Any) -> None:
    gw.testing.assert_derivatives(f, **given, at=at)


def test_further_arguments_are_passed_to_both() -> None:
    assert gw.check_pair(lambda x, a, b: a * f(x) + b, lambda x, a, b: a * df(x), at=X, args=(3.0, 1.0))
    assert gw.check_pair(lambda x, a: a * f(x), lambda x, a: df(x), at=X, args=(3.0,))[0].cause == "factor"


@pytest.mark.parametrize("bounds", [(0.0, 2.0), ([0, 0, 0], [1, 1, 1.2]), [(0, 1), (None, 1), (0.5, None)]])
def test_bounds_may_have_any_form(bounds: Any) -> None:
    seen: list[Any] = []

    def value(x: Any) -> float:
        seen.append(x)
        return float(f(x))

    assert gw.check_pair(value, df, at=X, bounds=bounds)
    assert all((x >= 0).all() or bounds[1][0] is None for x in seen)


def test_points_are_made_up_where_none_is_given() -> None:
    assert gw.check_pair(r, jac)
    with pytest.raises(ValueError, match="say at=, an array that it takes"):
        gw.check_pair(lambda x: x @ np.ones(99), lambda x: np.ones(99))


def test_another_variable_may_be_declared() -> None:
    assert gw.check_pair(f, lambda x: x * df(x), at=X)[0].cause == "log parameter"
    assert gw.check_pair(f, lambda x: x * df(x), at=X, by="log")[0].verdict is Verdict.OTHER_VARIABLE


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(TypeError, match="expected functions"):
        gw.check_pair(f, 3, at=X)
    with pytest.raises(TypeError, match="expected a derivative"):
        gw.check_pair(f, at=X)


def test_in_a_test_the_sentence_is_the_message() -> None:
    with pytest.raises(AssertionError, match=r"has the wrong sign.*test_check.py"):
        gw.testing.assert_derivatives(f, lambda x: -df(x), at=X)
    with pytest.raises(AssertionError, match="NOT SHOWN"):
        gw.testing.assert_derivatives(lambda x: np.nan, df, at=X)
