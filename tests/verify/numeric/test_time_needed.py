"""What a comparison costs."""

import time

import numpy as np

import gradwright
from gradwright.verify.numeric.jacobian import Subject
from gradwright.verify.numeric.time_needed import estimate


def leaf(data, dtype="float64"):
    return gradwright.tensor(data, dtype=getattr(gradwright, dtype), requires_grad=True)


def slow(x):
    time.sleep(1e-3)
    return x.sin()


def test_the_estimate():
    cost = estimate(Subject(lambda x, z: (slow(x), z * 2), (leaf(np.ones(30)), leaf([1j], "complex128"))))
    assert (cost.rows, cost.columns) == (32, 32)
    assert cost.call >= 1e-3
    assert cost.seconds >= 64e-3


def test_of_what_has_no_backward_only_calls_count():
    cost = estimate(Subject(lambda x: slow(x).detach(), leaf(np.ones(3))))
    assert (cost.rows, cost.columns, cost.passes) == (3, 3, 0)
