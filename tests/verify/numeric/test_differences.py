"""Finite differences: against analytic truth in higher precision, and within their own error bars."""

import numpy as np
import pytest

import gradwright
from gradwright.engine.base import wrap
from gradwright.verify.numeric.differences import central, differences, extrapolated, moved, sample, slope_along, step
from gradwright.verify.numeric.jacobian import Subject, analytical

X, U, V = (np.random.default_rng(k).uniform(0.3, 1.9, 5) for k in range(3))


def leaf(data, dtype=gradwright.float64):
    return gradwright.tensor(data, dtype=dtype, requires_grad=True)


def test_any_sampler_will_do():
    """Of a function of plain numbers, with rows that go different ways."""
    found = differences(lambda h: (h, [np.exp(1 + h)[:, None]]), np.array([1e-5, 2e-5]))
    np.testing.assert_allclose(found.slopes[0], np.e, rtol=1e-9)
    left, right = found.one_sided([np.full((2, 1), np.e)])[0]
    assert (left < np.e).all()
    assert (right > np.e).all()
    assert found.ahead.tolist() == found.behind.tolist() == [1e-5, 2e-5]


# ---- moving inputs ---------------------------------------------------------------------------------------

LAYOUTS = {
    "transposed": lambda a: a.T,
    "negative": lambda a: a[::-1, ::-1],
    "steps": lambda a: a[::2, 1::2],
    "0-d": lambda a: a[1, 1],
    "empty": lambda a: a[:0],
}


@pytest.mark.parametrize("locked", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_layout_and_read_only_memory(layout, locked):
    memory = np.linspace(0.5, 1.5, 24).reshape(4, 6)
    before = memory.copy()
    memory.flags.writeable = not locked
    x = wrap(np.asarray(LAYOUTS[layout](memory)))
    x.requires_grad_()
    array = x.array
    slopes = central(Subject(lambda x: x.exp(), x), x, 1e-6).slopes[0]
    np.testing.assert_allclose(slopes, np.diag(np.exp(array.reshape(-1))), atol=1e-8)
    assert x.array is array
    assert memory.tolist() == before.tolist()


def test_memory_that_the_user_also_holds_is_left_alone():
    x = leaf([1.0, 2.0])
    held = x.detach().numpy()
    subject = Subject(lambda x: (x * x).sum(), x)
    central(subject, x, 1e-6)
    assert analytical(subject, 0).jacobians[0].tolist() == [[2], [4]]  # the old graph has seen no write
    assert held.tolist() == [1, 2]


def test_an_input_is_put_back_if_the_function_raises():
    calls = []

    def fails(x):
        calls.append(1)
        if len(calls) == 3:
            raise KeyError("third")
        return x * 2

    x = leaf([1.0, 2.0])
    subject = Subject(fails, x)
    with pytest.raises(KeyError):
        sample(subject, x, [5.0, 6.0])
    assert x.tolist() == [1, 2]


def test_an_output_that_is_the_input_is_read_while_it_is_moved():
    x = leaf([1.0, 2.0])
    assert sample(Subject(lambda x: x, x), x, [5.0, 6.0])[0].tolist() == [[5, 2], [1, 6]]


def test_how_far_an_entry_goes_is_measured_after_rounding():
    x = leaf([1.0, 1000.0], gradwright.float16)
    values, gone = moved(x, [1e-3, 0.3])
    assert gone.tolist() == [2.0**-10, 0.5]
    assert values == [1 + 2.0**-10, 1000.5]
    with np.errstate(all="ignore"):
        slopes = central(Subject(lambda x: x / 2, x), x, [0.1, 0.3]).slopes[0]
    np.testing.assert_allclose(np.diag(slopes), [0.5, 0.5], atol=1e-3)


# ---- slopes and steps -----------------------------------------------------------------------------------


def test_one_sided_slopes():
    x = leaf([0.0, 1.0, -2.0])
    subject = Subject(lambda x: x.abs() + 2 * x, x)
    left, right = central(subject, x, 1e-6, [0, 1, 2]).one_sided(subject.values())[0]
    np.testing.assert_allclose(np.diag(left), [1, 3, 1], atol=1e-8)
    np.testing.assert_allclose(np.diag(right), [3, 3, 1], atol=1e-8)


def test_steps_follow_the_size_of_a_number():
    x = leaf([0.0, 0.5, -3.0, np.inf])
    assert step(x, 0.1).tolist() == pytest.approx([0.025, 0.05, 0.1, 0.025])
    assert step(x, 0.1, rows=[2]).tolist() == pytest.approx([0.1])
    assert step(leaf([1000.0], gradwright.float16), 0.1)[0] == 16 * 2.0**-10 * 1000


# ---- extrapolation ---------------------------------------------------------------------------------------


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


# ---- along a direction -----------------------------------------------------------------------------------


@pytest.mark.parametrize("levels", [3, 8])
@pytest.mark.parametrize(("f", "derivative"), [
    (lambda x: x.exp(), np.exp), (lambda x: x.log(), lambda x: 1 / x), (lambda x: x**3, lambda x: 3 * x**2),
])  # fmt: skip
def test_it_is_the_derivative(f, derivative, levels):
    x = leaf(X)
    found = slope_along(Subject(f, x), [U], [V], levels)
    assert abs(found.value - V @ (derivative(X) * U)) <= found.bar < 1e-6
    assert abs(found.last - found.value) < 1e-4
    assert not found.bent
    assert x.tolist() == X.tolist()


def test_of_several_inputs_and_outputs_some_of_them_complex():
    x, z = leaf(X), leaf(X + 1j, gradwright.complex128)
    found = slope_along(Subject(lambda x, z: (x * x, z * z), (x, z)), [U, np.concatenate((U, -U))], [V, V * 1j])
    due = V @ (2 * X * U) + (np.conj(V * 1j) @ (2 * (X + 1j) * (U - 1j * U))).real
    assert found.value == pytest.approx(due, abs=found.bar)


def test_a_kink_is_seen():
    assert slope_along(Subject(lambda x: x.abs(), leaf(np.zeros(5))), [U], [V]).bent


def test_some_coordinates_of_a_complex_input():
    z = gradwright.tensor([1 + 2j, 3 - 1j], dtype=gradwright.complex128, requires_grad=True)
    found = central(Subject(lambda z: z * z, z), z, 1e-6, [3, 0]).slopes[0]
    np.testing.assert_allclose(found, [[0, 1j * (6 - 2j)], [2 + 4j, 0]], atol=1e-8)
