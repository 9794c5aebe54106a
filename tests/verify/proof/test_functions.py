"""Functions of balls: values and slopes against NumPy's, SciPy's and calculus."""

import numpy as np
import pytest
import scipy.special

from gradwright.errors import NotProvedError
from gradwright.verify.proof import functions, shapes
from gradwright.verify.proof.balls import Truths, balls, conditions
from gradwright.verify.proof.series import working
from tests.verify.proof.test_balls import around, middles, moving

X = np.array([-1.25, 0.5, 2.0])
S = functions.Special()


@pytest.fixture(autouse=True)
def _precision():
    with working(bits=120):
        yield


@pytest.mark.parametrize(("made", "value", "slope"), [
    (functions.absolute, np.abs, np.sign),
    (functions.sign, np.sign, np.zeros_like),
    (lambda x: functions.copysign(x, -1.0), lambda x: -np.abs(x), lambda x: -np.sign(x)),
    (lambda x: functions.atan2(x, balls(0.7)), lambda x: np.arctan2(x, 0.7), lambda x: 0.7 / (x * x + 0.49)),
    (lambda x: functions.atan2(x, balls(-0.7)), lambda x: np.arctan2(x, -0.7), lambda x: -0.7 / (x * x + 0.49)),
    (lambda x: functions.hypot(x, balls(3.0)), lambda x: np.hypot(x, 3), lambda x: x / np.hypot(x, 3)),
    (lambda x: functions.logaddexp(x, balls(1.0)), lambda x: np.logaddexp(x, 1), lambda x: 1 / (1 + np.exp(1 - x))),
    (lambda x: S.erf(x), scipy.special.erf, lambda x: 2 / np.sqrt(np.pi) * np.exp(-x * x)),
    (lambda x: S.jv(2.0, x), lambda x: scipy.special.jv(2, x), lambda x: scipy.special.jvp(2, x)),
    (lambda x: S.i1e(x), scipy.special.i1e,
     lambda x: np.exp(-np.abs(x)) * (scipy.special.ivp(1, x) - np.sign(x) * scipy.special.iv(1, x))),
    (lambda x: S.airy(x)[0], lambda x: scipy.special.airy(x)[0], lambda x: scipy.special.airy(x)[1]),
    (lambda x: S.eval_chebyt(np.array(3), x), lambda x: 4 * x**3 - 3 * x, lambda x: 12 * x * x - 3),
])  # fmt: skip
def test_values_and_slopes(made, value, slope):
    found = made(moving(X))
    np.testing.assert_allclose(middles(found), value(X), rtol=1e-13)
    slopes = middles(found, "slope") if found.slope is not None else 0 * X
    np.testing.assert_allclose(slopes, slope(X), rtol=1e-12, atol=1e-30)


def test_parameters():
    assert middles(S.zeta(balls(2.0), moving([1.5])), "slope") == pytest.approx(-2 * scipy.special.zeta(3, 1.5))
    assert middles(S.gammainc(balls(1.5), balls(0.5))) == pytest.approx(scipy.special.gammainc(1.5, 0.5))
    with pytest.raises(NotProvedError, match="by the order"):
        S.zeta(moving([2.0]), balls(1.5))
    with pytest.raises(NotProvedError, match="struve has no balls"):
        S.struve(1, balls(1.0))


def test_kinks_and_signs():
    assert middles(functions.absolute(around(-1, 2))) == 0  # the middle of the hull of -1 to 2 and -2 to 1
    assert functions.signbit(balls(-1.0)).item()
    assert functions.isfinite(balls(1.0)).item()
    assert not functions.isnan(balls(1.0)).item()
    assert isinstance(functions.isnan(balls(1.0) / 0.0), Truths)
    assert not functions.isinf(balls(1.0)).item()


def test_complex():
    z = balls(np.array([3 + 4j]))
    assert middles(functions.absolute(z)) == 5
    assert middles(functions.conj(z).imag) == -4
    assert functions.conj(balls(1.0)).dtype == np.float64
    assert middles(functions.sign(z).real) == pytest.approx(0.6)


ROWS = np.array([[3.0, -1.5, 2.25], [0.5, 7.0, -4.75]])


@pytest.mark.parametrize(("made", "wanted"), [
    (lambda x: functions.largest(x, axis=1), ROWS.max(1)),
    (lambda x: functions.smallest(x), ROWS.min()),
    (lambda x: functions.maximum(x, 1.0), np.maximum(ROWS, 1.0)),
    (lambda x: functions.clip(x, -1.0, 2.5), ROWS.clip(-1.0, 2.5)),
    (lambda x: functions.sort(x, axis=1), np.sort(ROWS, 1)),
    (lambda x: functions.sort(x, axis=1, descending=True), -np.sort(-ROWS, 1)),
    (functions.floor, np.floor(ROWS)), (functions.ceil, np.ceil(ROWS)), (functions.round_, np.round(ROWS)),
    (functions.trunc, np.trunc(ROWS)),
    (lambda x: functions.floor_divide(x, 2.0), np.floor_divide(ROWS, 2.0)),
    (lambda x: functions.remainder(x, 2.0), np.remainder(ROWS, 2.0)),
    (lambda x: functions.fmod(x, 2.0), np.fmod(ROWS, 2.0)),
])  # fmt: skip
def test_values_are_numpys(made, wanted):
    assert middles(made(balls(ROWS))).tolist() == wanted.tolist()


def test_places_are_numpys():
    assert functions.argmax(balls(ROWS), axis=1).tolist() == ROWS.argmax(1).tolist()
    assert functions.argmin(balls(ROWS)) == ROWS.argmin()
    assert functions.argmax(balls(ROWS), axis=0, keepdims=True).shape == (1, 3)
    assert functions.searchsorted(balls(np.array([1.0, 2, 3])), balls(np.array([0.5, 2.5]))).tolist() == [0, 2]


@pytest.mark.parametrize("f", [
    lambda: functions.floor(moving([2.0])), lambda: functions.round_(around(0.4, 0.6)),
    lambda: functions.trunc(around(-1.1, -0.9)),
    lambda: functions.sort(moving([1.0, 1.0])), lambda: functions.argmax(shapes.stack([around(0, 2), around(1, 3)])),
])  # fmt: skip
def test_what_is_not_certain_is_not_proved(f):
    with pytest.raises(NotProvedError):
        f()


def test_the_larger_of_balls_that_meet_is_noted():
    with conditions() as found:
        functions.maximum(around(0, 2), around(1, 3))
    assert found


def test_halves_are_rounded_to_even():
    halves = np.array([-1.5, -0.5, 0.5, 1.5, 2.5])
    assert middles(functions.round_(balls(halves))).tolist() == np.round(halves).tolist()


def test_what_is_certain_is_numpys():
    assert functions.floor(np.array(2)) == 2
    assert functions.argsort(np.array([2, 1])).tolist() == [1, 0]
    with pytest.raises(ValueError, match="an extremum of no entries"):
        functions.largest(balls(np.zeros(0)))
