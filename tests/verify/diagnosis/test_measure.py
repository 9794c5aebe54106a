"""Numeric Jacobians: as close as their error bars say, and kinks and noise known for what they are."""

import numpy as np
import pytest

import gradwright
from gradwright.verify.diagnosis.case import Case
from gradwright.verify.diagnosis.measure import measure
from tests.corpus.wrong import t
from tests.thorough import some


def at(f, *values, dtype=gradwright.float64):
    case = Case(f, gradwright.tensor(values, dtype=dtype, requires_grad=True))
    return measure(case)[0][0]


CURVES = {
    "exp": (lambda x: x.exp(), np.exp),
    "sin": (lambda x: x.sin(), np.cos),
    "fast": (lambda x: (100 * x).sin(), lambda x: 100 * np.cos(100 * x)),
    "log": (lambda x: x.log(), lambda x: 1 / x),
    "pole": (lambda x: 1 / (x - 0.001), lambda x: -1 / (x - 0.001) ** 2),
    "tenth power": (lambda x: x**10, lambda x: 10 * x**9),
}


@pytest.mark.parametrize("dtype", [gradwright.float64, gradwright.float32])
@pytest.mark.parametrize("name", CURVES)
def test_the_truth_is_within_the_error_bars(name, dtype):
    f, slope = CURVES[name]
    x = np.array([0.01, 0.3, 1.0, 2.5, 7.0]).astype("float64" if dtype is gradwright.float64 else "float32")
    r = at(f, *x.tolist(), dtype=dtype)
    truth = np.diag(slope(x.astype(np.float64)))
    assert (np.abs(r.numeric - truth) <= 5 * r.bar + r.unit ** (2 / 3) * np.abs(truth).max()).all()
    assert not r.kinks.any()
    if dtype is gradwright.float64:
        assert (r.bar < 1e-4 * np.abs(truth).max()).all()


def test_slopes_at_a_kink():
    r = at(lambda x: gradwright.where(x > 0, 3 * x, -0.5 * x), 0.0, 1.0)
    assert r.kinks.tolist() == [[True, False], [False, False]]
    assert (r.left[0, 0], r.right[0, 0]) == pytest.approx((-0.5, 3.0))


@pytest.mark.parametrize("x", [1e-2, 3e-3, 1e-3, 2e-4, 1e-4, 1e-5, 1e-6])
def test_a_kink_nearby_is_no_kink_here(x):
    r = at(lambda x: x.abs(), x, -x)
    assert not (r.wrong | r.kinks).any()


@pytest.mark.parametrize("f", [lambda x: x**2, lambda x: x**3, lambda x: x.cos(), lambda x: x.abs() ** 3])
def test_a_bend_is_no_kink(f):
    r = at(f, 0.0)
    assert not r.kinks.any()
    assert abs(r.numeric[0, 0]) < 1e-6


def test_beside_the_edge_nothing_is_known():
    r = at(lambda x: x.sqrt(), 0.0, 1.0)
    assert r.known.all(1).tolist() == [False, True]
    assert r.usable.all(1).tolist() == [False, True]


def test_complex_numbers_in_real_parts():
    case = Case(lambda z: z * z, t(2, dtype=gradwright.complex128))
    (r,), _ = measure(case)
    x, y = case.inputs[0].array.real, case.inputs[0].array.imag
    zero = np.zeros((2, 2))
    truth = 2 * np.block([[np.diag(x), zero], [zero, np.diag(x)]]) + 2 * np.block(
        [[zero, np.diag(y)], [-np.diag(y), zero]])
    np.testing.assert_allclose(r.numeric, truth, atol=1e-9)
    np.testing.assert_allclose(r.analytic, truth, atol=1e-12)


def test_the_ladder():
    case = Case(lambda x: x.exp(), t(3))
    (r,), (rungs,) = measure(case)
    assert rungs.steps.shape == (6, 3)
    assert rungs.slopes.shape == (6, 3, 3)
    error = np.abs(rungs.slopes[:, 0, 0] - r.numeric[0, 0])
    np.testing.assert_allclose(error[:4] / error[1:5], 4, rtol=0.01)  # of second order


@pytest.mark.parametrize(("f", "values"), [
    (lambda x: (x * 1000).round() / 1000, (8.64612, -0.30021, 3.14159, -2.71828)),
    (lambda x: x.remainder(2 * np.pi), (1156161.7461, 3.0)),
    (lambda x: (5 * x).sin(), (1000.0, 1e5)),
], ids=["treads", "saw teeth", "waves"])  # fmt: skip
def test_steps_over_many_treads_or_waves_tell_nothing(f, values):
    assert not at(f, *values).wrong.any()


def test_tiny_moves_leave_wrong_gradients_wrong():
    class Off(gradwright.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return (5 * x).sin()

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0].cos() * 5

    assert np.diag(at(Off.apply, 0.3, 2.0, 50.0).wrong).all()


def test_a_kink_among_the_steps_makes_no_right_derivative_wrong():
    """The steps go from 0.04 down; the kinks lie among them, too near to see and too far to be at one."""
    x = gradwright.tensor([1.0, 1.5], dtype=gradwright.float64, requires_grad=True)
    for at in (1.003, 1.0008, 1.00021):
        found = gradwright.autograd.diagnose(lambda x, at=at: (x * 3).sin() + 0.05 * (x - at).relu(), x)
        assert found.verdict != "WRONG"


def fixed_point(tolerance, factor=1.0):
    """y = cos(x y), and its derivative by the implicit function theorem, times a factor."""

    class FixedPoint(gradwright.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            a = x.detach().numpy()
            y, n = a * 0, a * 0 + 1
            while np.max(np.abs(n - y)) > tolerance:
                y, n = n, np.cos(a * n)
            n = gradwright.from_numpy(n.copy())
            ctx.save_for_backward(x, n)
            return n

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            s = (x * y).sin()
            return factor * g * (-s * y) / (1 + s * x)

    return FixedPoint


@pytest.mark.parametrize(("tolerance", "values"), [
    (tolerance, values) for k, tolerance in enumerate([1e-3, 1e-4, 1e-6, 1e-8, 1e-10, 1e-13])
    for values in some([[0.3, 0.8], [0.5], [0.2, 0.4, 0.9, 0.7]], 3, k)
])  # fmt: skip
def test_an_iteration_that_stops_at_a_tolerance_is_not_wrong(tolerance, values):
    x = gradwright.tensor(values, dtype=gradwright.float64, requires_grad=True)
    d = gradwright.autograd.diagnose(fixed_point(tolerance), x)
    assert d.verdict == "VERIFIED" or (d.verdict, d.reason) == ("INCONCLUSIVE", "noise"), str(d)
    for factor in (1 + max(1e3 * tolerance, 1e-4), 2.0, -1.0, 0.0):
        assert gradwright.autograd.diagnose(fixed_point(tolerance, factor), x).verdict == "WRONG"


def test_an_iteration_that_is_recorded_may_have_the_derivative_of_its_limit():
    class Recorded(fixed_point(1e-6)):
        @staticmethod
        def forward(ctx, x):
            y, n = x * 0, x * 0 + 1
            while float((n - y).abs().max()) > 1e-6:
                y, n = n, (x * n).cos()
            ctx.save_for_backward(x, n)
            return n

    x = gradwright.tensor([0.3, 0.8], dtype=gradwright.float64, requires_grad=True)
    assert gradwright.autograd.diagnose(Recorded, x).verdict == "VERIFIED"
