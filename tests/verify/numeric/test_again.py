"""A subject called again with one thing changed: functions of tensors, and calls of either library."""

import numpy as np
import pytest

import gradwright as gw
from examples.right_functions import Product
from gradwright.verify.experiments import EXPERIMENTS
from gradwright.verify.numeric.again import UNASKED, Change, OfFunction, laid
from tests.verify.check.functions import trial

A, B = np.array([[0.3, -1.2], [0.7, 2.0]]), np.array([[1.5, 0.5], [-0.4, 0.9]])


def of_function():
    return OfFunction(Product.apply, tuple(gw.tensor(a, requires_grad=True) for a in (A, B)))


def of_trial():
    return trial(Product, A, B)


@pytest.mark.parametrize("calls", [of_function, of_trial])
def test_one_thing_is_changed(calls):
    calls = calls()
    ones = lambda k, a: np.ones_like(a)
    (y,), (ga, gb) = calls.outcome(Change(cotangents=ones))
    assert [np.array_equal(*pair) for pair in ((y, A * B), (ga, B), (gb, A))] == [True] * 3
    for other in (Change(layouts={0: "transposed", 1: "negative-stride", 2: "strided"}, cotangents=ones),
                  Change(recorded=True, cotangents=ones)):  # fmt: skip
        (found,), gradients = calls.outcome(other)
        assert np.array_equal(found, y)
        assert all(map(np.array_equal, gradients, (ga, gb)))
    assert np.array_equal(calls.outcome(Change([A, 2 * B], cotangents=ones)).gradients[0], 2 * B)
    alone = calls.outcome(Change(asked=[False, True], cotangents=ones)).gradients
    assert alone[0] is UNASKED
    assert np.array_equal(alone[1], A)
    assert calls.outcome(Change(cotangents=lambda k, a: None)).gradients == [None, None]
    values, gradients = calls.outcome(Change(plain=True))
    assert np.array_equal(values[0], y)
    assert gradients == []
    assert all(map(np.array_equal, calls.arrays, (A, B)))  # as they were


def test_a_function_that_holds_its_input_is_called_with_that():
    x = gw.tensor(A, requires_grad=True)
    found = OfFunction(lambda _: x * x, (x,)).outcome(Change(layouts={0: "transposed"}))
    assert np.array_equal(found.values[0], A * A)
    assert found.gradients[0] is not None


def test_how_arrays_lie():
    for layout in ("negative-stride", "strided", "transposed", "read-only"):
        assert np.array_equal(laid(A, layout), A)
    assert laid(A, "stride-0").strides == (0, 0)
    assert laid(A[:1, :1], "strided").strides == A.strides


def test_each_experiment_says_what_changes_and_what_must_stay():
    assert all(e.changed and e.stays for e in EXPERIMENTS.values())
