"""Whether pairs agree, and what the wrong ones are instead."""

import numpy as np
import pytest

from gradwright.verify.pairs.calls import Budget
from gradwright.verify.pairs.judge import judge
from gradwright.verify.pairs.judgement import Verdict
from gradwright.verify.pairs.pair import Pair, Point
from tests.verify.pairs.cases import RIGHT, WRONG, A, X, df, f, gradient


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found_and_named(name: str) -> None:
    cause, pair = WRONG[name]
    found = judge(pair)
    assert (found.verdict, found.cause) == (Verdict.WRONG, cause), str(found)
    assert found.mend


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_no_alarm(name: str) -> None:
    verdict, pair = RIGHT[name]
    found = judge(pair)
    assert found.verdict is verdict, str(found)


def test_the_sentence_tells_entry_bar_and_point() -> None:
    found = judge(gradient(lambda x: 2 * df(x), where=("m.py", 3), door="minimize(jac=)", points=(Point(X, call=4),)))
    assert found.worst is not None
    k = found.worst.index[0]
    said, measured = 2 * df(X)[k], df(X)[k]
    assert f"entry [{k}] is {said:.8g} where differences say {measured:.8g} ± " in found.sentence
    assert "at x = [0.3, 0.7, 1.2], call 4 of the run" in found.sentence
    assert str(found).splitlines()[0].endswith("(minimize(jac=), m.py:3)")
    assert abs(found.worst.measured - measured) < 5 * found.worst.bar < 1e-8


def test_one_entry_of_many_is_found_within_a_budget_that_is_told() -> None:
    x = np.linspace(0.5, 2, 400)
    k = np.ones(400)
    k[123] = 1.0001
    found = judge(gradient(lambda x: k * np.cos(x), lambda x: np.sum(np.sin(x)), x), Budget(calls=600))
    assert found.cause == "component factor"
    assert "x[123]" in found.sentence
    assert "of 400 entries of x were moved one by one, all together along 4 random ways" in found.sampled
    assert found.calls <= 600 + 600


def test_no_call_is_made_beyond_the_bounds() -> None:
    seen = []
    low, high = np.array([0.3, 0.0, 1.0]), np.array([0.9, 0.7, 2.0])

    def value(x: np.ndarray) -> float:
        seen.append(x)
        return float(f(x))

    assert judge(gradient(df, value, bounds=(low, high))).verdict is Verdict.RIGHT
    assert all((low <= x).all() and (x <= high).all() for x in seen)


def test_what_is_handed_in_is_a_copy() -> None:
    x, kept = X.copy(), X.copy()

    def value(x: np.ndarray) -> float:
        result = float(f(x))
        x[:] = 0
        return result

    assert judge(gradient(df, value, x)).passes
    assert (x == kept).all()


def test_a_sparse_jacobian_is_read() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    pair = Pair("jacobian", lambda x: A @ x, lambda x: sparse.csr_array(A), (Point(X),))
    assert judge(pair).verdict is Verdict.RIGHT
