"""Functions called anew: counted, with copies, in the state they had."""

from typing import Any

import numpy as np
import pytest

from gradwright.verify.pairs.calls import Budget, Calls, Unusable
from gradwright.verify.pairs.pair import Pair, Point

X = np.ones(2)


def test_calls_are_counted_and_what_is_raised_is_told() -> None:
    calls = Calls(Pair("gradient", lambda x: 1 / int(x[0] - 1), lambda x: {}[0], (Point(X),)), Budget(calls=3))
    f = calls.function(calls.pair.value, Point(X))
    assert f(X) is None
    assert calls.raised.startswith("ZeroDivisionError")
    assert calls.left == 2
    with pytest.raises(Unusable, match="`df` raises KeyError"):
        calls.derivative(Point(X))
    assert Calls(calls.pair, Budget(seconds=0)).left == 0


def test_what_a_point_has_besides_is_passed_and_state_is_put_back() -> None:
    state = [0]

    def value(x: Any, t: float) -> float:
        state[0] += 1
        return float(x.sum() * t * state[0])

    pair = Pair("gradient", value, lambda x, t: x, (Point(X, (3.0,)),), restore=lambda: state.__setitem__(0, 0))
    f = Calls(pair, Budget()).function(value, pair.points[0])
    assert f(X) == f(X) == 6


def test_products_are_given_their_vector() -> None:
    pair = Pair("hvp", sum, lambda x, v: x * v, (Point(X, v=2 * X),))
    calls = Calls(pair, Budget())
    assert (calls.derivative(pair.points[0]) == 2).all()
    assert (calls.derivative(pair.points[0], v=5 * X) == 5).all()
