"""Ball arrays: arithmetic with slopes, comparisons, the hull of both sides, and what balls refuse."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradwright.errors import NotProvedError
from gradwright.verify.proof import series
from gradwright.verify.proof.balls import (
    Balls,
    Truths,
    balls,
    chosen,
    compared,
    conditions,
    entries_of,
    left_open,
    power,
    settled,
)
from gradwright.verify.proof.series import flint, working

arb = flint.arb


@pytest.fixture(autouse=True)
def _precision():
    with working(bits=120):
        yield


def moving(values):
    """Balls whose entries all have slope 1."""
    return Balls(entries_of(values), entries_of(np.ones(np.shape(values))))


def middles(x, part="value"):
    return np.array([float(series.start(e).mid()) for e in getattr(x, part).flat]).reshape(x.shape)


def around(low, high):
    """A ball array of no dimensions: an interval."""
    return balls(0.0) + Balls(_entry(arb((low + high) / 2, (high - low) / 2)))


def _entry(ball):
    held = np.empty(1, object)
    held[0] = series.arb_series([ball])
    return held.reshape(())


@given(st.floats(-3, 3), st.floats(0.5, 3))
def test_slopes_are_those_of_calculus(a, b):
    x, y = moving([a]), balls(np.array([b]))
    for made, wanted, slope in [
        (x + y, a + b, 1), (x - y, a - b, 1), (y - x, b - a, -1), (x * y, a * b, b), (x / y, a / b, 1 / b),
        (-x, -a, -1), (x * x, a * a, 2 * a), (x**3, a**3, 3 * a * a), (2.0 + x, 2 + a, 1), (x @ y, a * b, b),
    ]:  # fmt: skip
        assert middles(made) == pytest.approx(wanted, abs=1e-12)
        assert middles(made, "slope") == pytest.approx(slope, abs=1e-12)


def test_powers():
    x = moving([2.0])
    assert middles(x**0.5, "slope") == pytest.approx(0.5 / 2**0.5)
    assert middles(x**-2, "slope") == pytest.approx(-0.25)
    assert middles(x**2.5, "slope") == pytest.approx(2.5 * 2**1.5)
    assert middles(2.0**x, "slope") == pytest.approx(4 * np.log(2))
    assert middles(power(x, np.array(2.0)), "slope") == pytest.approx(4)


def test_a_denominator_that_may_be_0_makes_nothing_known():
    assert not series.finite((1.0 / around(-1, 1)).value[()])


def test_shapes_are_numpys():
    x = moving(np.arange(6.0).reshape(2, 3))
    assert (x.shape, x.ndim, x.size, x.nbytes, len(x), x.T.shape, x.mT.shape) == ((2, 3), 2, 6, 48, 2, (3, 2), (3, 2))
    assert x[1, 2].shape == ()
    assert x[:, None].shape == (2, 1, 3)
    assert x.reshape(3, 2).shape == (3, 2)
    assert middles(x[1]).tolist() == [3, 4, 5]
    assert (x + np.arange(3)).shape == (2, 3)
    assert (np.arange(3) * x).shape == (2, 3)


def test_comparisons_are_certain_where_balls_are_apart():
    assert (around(1, 2) < around(3, 4)).item()
    assert not (around(1, 2) >= 3.0).item()
    assert isinstance(around(1, 2) < around(2, 3), Truths)
    assert (balls(2.0) <= 2.0).item()
    assert not (balls(2.0) != 2.0).item()
    x = around(1, 2)
    assert (x == x).item()


def test_at_equality_what_moves_is_open():
    assert isinstance(moving([0.0]) <= 0.0, Truths)
    assert isinstance(compared("==", moving([1.0]), balls(1.0)), Truths)
    assert (moving([0.5]) > 0.0).all()


def test_where_takes_both_sides_of_what_is_open_and_says_so():
    with conditions() as found:
        both = chosen(around(-1, 1) < 0.0, moving([1.0]), moving([5.0]) * 2.0)
    assert series.start(both.value[0]).contains(1)
    assert series.start(both.value[0]).contains(10)
    assert series.start(both.slope[0]).contains(1)
    assert series.start(both.slope[0]).contains(2)
    assert len(found) == 1
    assert found[0].endswith("< 0")
    with conditions() as found:
        one = chosen(around(1, 2) < 0.0, moving([1.0]), moving([5.0]))
    assert middles(one) == 5
    assert not found


@pytest.mark.parametrize("use", [bool, float, int, np.asarray, lambda x: x.item(), lambda x: x.plain])
def test_numbers_are_not_to_be_read(use):
    with pytest.raises(NotProvedError, match="the formula reads numbers"):
        use(balls(1.0))


def test_dtypes():
    assert balls(1.0).astype(np.float32).dtype == np.float32
    assert balls(1j).dtype == np.complex128
    with pytest.raises(NotProvedError):
        balls(1.0).astype(np.int64)
    with pytest.raises(NotProvedError):
        balls(1.0)[balls(1.0) == around(0, 2)]
    with pytest.raises(NotProvedError):
        balls(np.array(["a"]))


def test_complex_parts():
    z = balls(np.array([1 + 2j]))
    assert middles(z.real) == 1
    assert middles(z.imag) == 2
    assert middles((z * z).imag) == 4


OPEN = Truths([1.0, 0.5, 0.0], "x < y")


def test_logic_is_that_of_three_values():
    assert (~OPEN).state.tolist() == [0.0, 0.5, 1.0]
    assert (OPEN & np.array([True, True, True])).state.tolist() == [1.0, 0.5, 0.0]
    assert (OPEN & np.array([True, False, True])).tolist() == [True, False, False]
    assert (np.array([True, True, False]) | OPEN).tolist() == [True, True, False]
    assert (OPEN ^ True).state.tolist() == [0.0, 0.5, 1.0]


def test_what_is_certain_is_numpys():
    assert settled([1.0, 0.0], "").tolist() == [True, False]
    assert OPEN[::2].tolist() == [True, False]
    assert OPEN.shape == (3,)
    assert OPEN.ndim == 1
    assert OPEN.size == 3


@pytest.mark.parametrize("use", [bool, int, float, np.asarray, lambda t: t.item()])
def test_a_decision_on_it_is_not_proved(use):
    with pytest.raises(NotProvedError, match="a decision on x < y, which the balls leave open"):
        use(OPEN)


def test_conditions_are_noted_once():
    left_open("nobody listens")
    with conditions() as found:
        left_open("a")
        left_open("a")
    assert found == ["a"]


def test_a_number_is_no_infinity():
    for infinity in (np.inf, -np.inf):
        assert not (balls([1.0, 2.0]) == infinity).any()
        assert (balls([1.0, 2.0]) != infinity).all()
    assert (balls([np.nan]) == np.inf).state.tolist() == [0.5]
