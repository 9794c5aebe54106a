"""Special functions on balls: values against SciPy, coefficients against a higher precision, over points and balls."""

import numpy as np
import pytest
import scipy.special
from hypothesis import given
from hypothesis import strategies as st

from gradwright.verify.proof import special
from gradwright.verify.proof.series import flint, working

arb = flint.arb
FUNCTIONS = {
    **{name: (f, getattr(scipy.special, name)) for name, f in special.OF_ONE.items()},
    "j0": (special.of_order("j", False, 0), scipy.special.j0),
    "jv3": (special.of_order("j", False, 3), lambda x: scipy.special.jv(3, x)),
    "y1": (special.of_order("y", False, 1), scipy.special.y1),
    "iv2": (special.of_order("i", False, 2), lambda x: scipy.special.iv(2, x)),
    "k1": (special.of_order("k", False, 1), scipy.special.k1),
    "k0e": (special.of_order("k", True, 0), scipy.special.k0e),
    "spherical_jn": (special.spherical_jn(2), lambda x: scipy.special.spherical_jn(2, x)),
    "zeta": (special.zeta(2.5), lambda x: scipy.special.zeta(2.5, x)),
    "gammainc": (special.gammainc(1.5, False), lambda x: scipy.special.gammainc(1.5, x)),
    "gammaincc": (special.gammainc(1.5, True), lambda x: scipy.special.gammaincc(1.5, x)),
    "ai": (special.airy(0), lambda x: scipy.special.airy(x)[0]),
    "aip": (special.airy(1), lambda x: scipy.special.airy(x)[1]),
    "chebyt": (special.polynomial("chebyt", 5), lambda x: scipy.special.eval_chebyt(5, x)),
    "hermite": (special.polynomial("hermite", 4), lambda x: scipy.special.eval_hermite(4, x)),
    "hermitenorm": (special.polynomial("hermitenorm", 4), lambda x: scipy.special.eval_hermitenorm(4, x)),
    "gegenbauer": (special.polynomial("gegenbauer", 4, 0.7), lambda x: scipy.special.eval_gegenbauer(4, 0.7, x)),
    "genlaguerre": (special.polynomial("genlaguerre", 4, 0.5), lambda x: scipy.special.eval_genlaguerre(4, 0.5, x)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("x", [0.21, 0.7])
def test_values_are_scipys(name, x):
    f, wanted = FUNCTIONS[name]
    with working(bits=150):
        value = f(arb(x), 1)[0]
    assert float(value.mid()) == pytest.approx(wanted(x), rel=1e-12)
    assert float(value.rad()) < 1e-35


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_first_coefficient_is_the_limit_of_differences(name):
    f, h = FUNCTIONS[name][0], arb(2) ** -60
    with working(bits=400):
        x = arb(0.6)
        quotient = (f(x + h, 1)[0] - f(x - h, 1)[0]) / (2 * h)
        assert abs(f(x, 2)[1] - quotient) < arb(2) ** -100


@pytest.mark.parametrize("name", FUNCTIONS)
@given(st.floats(0.3, 0.7), st.floats(1e-6, 1e-3))
def test_coefficients_over_a_ball_hold_those_at_its_points(name, middle, radius):
    f = FUNCTIONS[name][0]
    with working(bits=100):
        wide = f(arb(middle, radius), 3)
        for share in (-0.99, 0.4):
            exact = f(arb(middle) + arb(radius) * share, 3)
            assert all(w.contains(e) for w, e in zip(wide, exact, strict=True))


def test_a_complex_point():
    z = 0.4 + 0.7j
    with working(bits=100):
        value = special.spherical_jn(1)(flint.acb(z), 2)
    assert complex(value[0].mid()) == pytest.approx(scipy.special.spherical_jn(1, z))
    assert complex(value[1].mid()) == pytest.approx(scipy.special.spherical_jn(1, z, derivative=True))


@pytest.mark.parametrize(("name", "x"), [("y1", -1.0), ("zeta", 0.0), ("psi", 0.0), ("psi", -2.0), ("erfinv", 1.5)])
def test_at_poles_and_outside_nothing_is_known(name, x):
    with working(bits=100):
        assert not all(c.is_finite() for c in FUNCTIONS[name][0](arb(x), 2))


def test_names_of_bessel_functions_are_read():
    assert special.bessel("kve") == ("k", True, None)
    assert special.bessel("j1") == ("j", False, 1)
    assert special.bessel("erf") is None
    assert np.isfinite(float(special.of_order("k", True, 2)(arb(1), 1)[0].mid()))
