"""Series of balls: enclosures of values and derivatives, held against a higher precision and against NumPy."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradwright.verify.proof import series
from gradwright.verify.proof.series import flint, order, working

arb = flint.arb
NUMPY = {
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh,
}  # fmt: skip


def point(name):
    return 1.7 if name == "acosh" else 0.6


@pytest.mark.parametrize("name", series.ELEMENTARY)
def test_values_are_numpys(name):
    with working(bits=100):
        (value,) = series.ELEMENTARY[name](arb(point(name)), 1)
    assert float(value.mid()) == pytest.approx(getattr(np, name, NUMPY.get(name))(point(name)), rel=1e-14)


@pytest.mark.parametrize("name", series.ELEMENTARY)
@given(st.floats(-1, 1), st.floats(1e-6, 1e-2))
def test_coefficients_over_a_ball_hold_those_at_its_points(name, place, radius):
    middle = point(name) + 0.3 * place
    with working(bits=100):
        wide = series.ELEMENTARY[name](arb(middle, radius), 4)
        for share in (-1.0, 0.3, 1.0):
            exact = series.ELEMENTARY[name](arb(middle) + arb(radius) * share * 0.999, 4)
            assert all(w.contains(e) for w, e in zip(wide, exact, strict=True))


@pytest.mark.parametrize("name", series.ELEMENTARY)
def test_the_slope_is_the_limit_of_differences(name):
    f, h = series.ELEMENTARY[name], arb(2) ** -100
    with working(bits=400):
        x = series.arb_series([arb(point(name))])
        slope = series.start(series.through(f, x, series.constant(1))[1])
        quotient = (f(arb(point(name)) + h, 1)[0] - f(arb(point(name)) - h, 1)[0]) / (2 * h)
        assert abs(slope - quotient) < arb(2) ** -180


def test_through_composes_series():
    with working(bits=100, order=3):
        x = series.series([arb(0.5), arb(2), arb(1)])
        value, slope = series.through(series.ELEMENTARY["exp"], x, series.constant(3))
        wanted = x.exp()
        assert all(a.overlaps(b) for a, b in zip(series.coefficients(value), series.coefficients(wanted), strict=True))
        assert all((3 * a).overlaps(b) for a, b in zip(wanted.coeffs(), slope.coeffs(), strict=True))


def test_what_is_not_known_is_not_finite():
    with working(bits=100):
        assert not series.finite(series.divided(series.constant(1), series.series([arb(0, 1)])))
        assert not series.ELEMENTARY["log"](arb(-1), 2)[1].is_finite()
        assert not series.ELEMENTARY["tanh"](arb("nan"), 1)[0].is_finite()


def test_whole_powers_of_a_ball_around_0():
    with working(bits=100):
        cube = series.whole_power(arb(0, 2), 3)
        assert cube.contains(8)
        assert cube.contains(-8)
        assert cube < 9
        assert series.whole_power(arb(0, 2), 0) == 1


def test_a_hull_holds_both():
    with working(bits=100, order=1):
        both = series.hull(series.series([1, 5]), series.series([3]))
        assert series.start(both).contains(2)
        assert series.coefficients(both)[1].contains(0)


def test_working_sets_bits_and_order_and_puts_them_back():
    before = flint.ctx.prec, flint.ctx.cap
    with working(bits=77, order=4):
        assert (flint.ctx.prec, order()) == (77, 4)
    with pytest.raises(ZeroDivisionError), working(bits=77):
        1 / 0
    assert (flint.ctx.prec, flint.ctx.cap) == before


def test_without_python_flint_the_error_names_the_extra():
    code = (
        "import sys; sys.modules['flint'] = None; import gradwright, gradwright.verify\n"
        "gradwright.verify.prove"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.stderr.endswith("ImportError: gradwright.verify.proof needs python-flint: pip install python-flint\n")


def test_gradwright_imports_none_of_it():
    code = "import sys, gradwright; print([m for m in sys.modules if 'flint' in m or 'verify.proof' in m])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"
