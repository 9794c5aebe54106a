"""Extrapolated derivatives: against analytic truth in higher precision, and within their own error bars."""

import numpy as np
import pytest

import gradwright
from gradwright.verify.numeric.extrapolation import extrapolated
from gradwright.verify.numeric.jacobian import Subject


def leaf(data, dtype=gradwright.float64):
    return gradwright.tensor(data, dtype=dtype, requires_grad=True)



@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("scale", [0.01, 1.0, 30.0])
def test_error_bars_hold(dtype, scale):
    """Against the derivative in higher precision: off by no more than the bar says, and not hopelessly wide."""
    x = leaf(scale * np.linspace(0.5, 1.5, 8), getattr(gradwright, dtype))
    values = x.array.astype(np.float64)
    cases = {"sin": (np.cos(values), 1), "log": (1 / values, 1), "tanh": (1 - np.tanh(values) ** 2, 1)}
    for name, (truth, _) in cases.items():
        e = extrapolated(Subject(getattr(gradwright, name), x), x)[0]
        value, bar = np.diag(e.value), np.diag(e.bar)
        assert (np.abs(value - truth) <= 3 * bar).all(), name
        assert (bar[np.isfinite(bar)] <= 0.5 * np.abs(truth).max() + 2).all(), name
        if dtype == "float64":
            assert (bar < 1e-8 * max(1, 1 / scale**3)).all(), name


def test_waves_between_the_steps_are_not_taken_for_a_slope():
    x = leaf([1000.0, 1200.0], gradwright.float16)  # neighbours are 0.5 and 1 apart
    e = extrapolated(Subject(gradwright.sin, x), x)[0]
    assert np.isinf(np.diag(e.bar)).all()
    linear = extrapolated(Subject(lambda x: x * 0.5, x), x)[0]
    np.testing.assert_allclose(np.diag(linear.value), 0.5, atol=0.05)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("frequency", [1, 10, 100, 300])
def test_error_bars_hold_for_waves(dtype, frequency):
    """The longest steps jump over whole waves of the fast ones, and what they say agrees by chance."""
    x = leaf(np.linspace(0.3, 1, 50), getattr(gradwright, dtype))
    values = x.array.astype(np.float64)
    e = extrapolated(Subject(lambda x: (frequency * x).sin(), x), x)[0]
    off = np.abs(np.diag(e.value) - frequency * np.cos(frequency * values))
    assert (off <= 2 * np.diag(e.bar)).all()


def test_rounding_inside_the_function_is_counted():
    """Of 100 x, rounding is 100 times what the sine of it shows."""
    x = leaf(np.linspace(0.3, 1, 50), gradwright.float32)
    bars = np.diag(extrapolated(Subject(lambda x: (100 * x).sin(), x), x)[0].bar)
    assert (bars > 1e-5).all()


def test_steps_that_rounding_makes_alike_do_not_confirm_each_other():
    x = leaf([100.0, 150.0, 250.0], gradwright.float16)  # 1/16, 1/8 and 1/8 from their neighbours
    e = extrapolated(Subject(lambda x: (x / 8).sin(), x), x)[0]
    truth = np.cos(x.array.astype(np.float64) / 8) / 8
    assert (np.abs(np.diag(e.value) - truth) <= np.diag(e.bar)).all()


def test_no_finite_difference():
    x = leaf([0.0])
    e = extrapolated(Subject(lambda x: x.sqrt(), x), x)[0]
    assert np.isinf(e.bar).all()
