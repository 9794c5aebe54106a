"""What a comparison costs, and a check within a budget: what fits is compared, and what was left out is said."""

import time
import warnings

import numpy as np
import pytest

import gradwright
from gradwright.verify.numeric.budget import estimate, pick
from gradwright.verify.numeric.jacobian import Subject

check = gradwright.autograd.gradcheck


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


def test_what_fits_is_compared_whole():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert check(lambda x: x.sin(), leaf([1.0, 2.0]), budget=60)


def test_what_does_not_is_sampled_and_said():
    calls = []

    def f(x):
        calls.append(1)
        return slow(x)

    x = leaf(np.linspace(0, 1, 400))
    with pytest.warns(gradwright.GradientWarning, match=r"over the budget of 0.1 s\. \d+ of 400 coordinates .* drawn"):
        assert check(f, x, budget=0.1)
    assert len(calls) < 400


def test_projections_find_what_sampling_misses():
    class Wrong(gradwright.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return slow(x * 1)

        @staticmethod
        def backward(ctx, g):
            return g * gradwright.tensor(np.where(np.arange(60) == 37, 1.01, 1.0))

    class Linear(Wrong):
        @staticmethod
        def forward(ctx, x):
            time.sleep(1e-3)
            return x * 1

    with pytest.warns(gradwright.GradientWarning), pytest.raises(gradwright.GradcheckError, match=r"/ d x.37."):
        check(Linear.apply, leaf(np.linspace(0, 1, 60)), budget=0.01)


def test_both_parts_of_a_complex_entry_are_picked():
    z = leaf(np.linspace(0, 1, 40) + 1j, "complex128")
    with pytest.warns(gradwright.GradientWarning):
        rows = pick(Subject(slow, z), 0.02).rows[0]
    half = len(rows) // 2
    assert (rows[:half] + 40 == rows[half:]).all()


def test_the_second_order():
    with pytest.warns(gradwright.GradientWarning):
        assert gradwright.autograd.gradgradcheck(slow, leaf(np.linspace(0, 1, 40)), budget=0.05)
    with pytest.warns(gradwright.GradientWarning):
        assert gradwright.autograd.gradgradcheck(slow, leaf(np.linspace(0, 1, 40) + 1j, "complex128"), budget=0.05)
