"""Order and rounding of balls: NumPy's where it is certain, an error where it is not."""

from __future__ import annotations

import numpy as np
import pytest
from gradwright.errors import NotProvedError

from gradwright.verify.proof import order, shapes
from gradwright.verify.proof.balls import balls
from gradwright.verify.proof.library import working
from gradwright.verify.proof.truths import conditions
from tests.verify.proof.test_balls import around, middles, moving

X = np.array([[3.0, -1.5, 2.25], [0.5, 7.0, -4.75]])


@pytest.fixture(autouse=True)
def _precision():
    with working(bits=120):
        yield


@pytest.mark.parametrize(("made", "wanted"), [
    (lambda x: order.largest(x, axis=1), X.max(1)),
    (lambda x: order.smallest(x), X.min()),
    (lambda x: order.maximum(x, 1.0), np.maximum(X, 1.0)),
    (lambda x: order.clip(x, -1.0, 2.5), X.clip(-1.0, 2.5)),
    (lambda x: order.sort(x, axis=1), np.sort(X, 1)),
    (lambda x: order.sort(x, axis=1, descending=True), -np.sort(-X, 1)),
    (order.floor, np.floor(X)), (order.ceil, np.ceil(X)), (order.round_, np.round(X)), (order.trunc, np.trunc(X)),
    (lambda x: order.floor_divide(x, 2.0), np.floor_divide(X, 2.0)),
    (lambda x: order.remainder(x, 2.0), np.remainder(X, 2.0)),
    (lambda x: order.fmod(x, 2.0), np.fmod(X, 2.0)),
])  # fmt: skip
def test_values_are_numpys(made, wanted):
    assert middles(made(balls(X))).tolist() == wanted.tolist()


def test_places_are_numpys():
    assert order.argmax(balls(X), axis=1).tolist() == X.argmax(1).tolist()
    assert order.argmin(balls(X)) == X.argmin()
    assert order.argmax(balls(X), axis=0, keepdims=True).shape == (1, 3)
    assert order.searchsorted(balls(np.array([1.0, 2, 3])), balls(np.array([0.5, 2.5]))).tolist() == [0, 2]


@pytest.mark.parametrize("f", [
    lambda: order.floor(moving([2.0])), lambda: order.round_(around(0.4, 0.6)), lambda: order.trunc(around(-1.1, -0.9)),
    lambda: order.sort(moving([1.0, 1.0])), lambda: order.argmax(shapes.stack([around(0, 2), around(1, 3)])),
])  # fmt: skip
def test_what_is_not_certain_is_not_proved(f):
    with pytest.raises(NotProvedError):
        f()


def test_the_larger_of_balls_that_meet_is_noted():
    with conditions() as found:
        order.maximum(around(0, 2), around(1, 3))
    assert found


def test_halves_are_rounded_to_even():
    halves = np.array([-1.5, -0.5, 0.5, 1.5, 2.5])
    assert middles(order.round_(balls(halves))).tolist() == np.round(halves).tolist()


def test_what_is_certain_is_numpys():
    assert order.floor(np.array(2)) == 2
    assert order.argsort(np.array([2, 1])).tolist() == [1, 0]
    with pytest.raises(ValueError, match="an extremum of no entries"):
        order.largest(balls(np.zeros(0)))
