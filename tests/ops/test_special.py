import math
from typing import Any

import numpy as np
import pytest
import scipy.special

import gradwright
from gradwright.ops import special as s


def slope(op: Any, value: float, *others: Any, order: int = 1, **static: Any) -> float:
    """The derivative of ``op`` of some order, at a number."""
    x = gradwright.tensor([value], dtype=gradwright.float64, requires_grad=True)
    y = op(x, *others, **static)
    for _ in range(order):
        (y,) = gradwright.autograd.grad(y.sum(), x, create_graph=True)
    return y.item()


def test_the_normal_distribution_is_finite_far_out() -> None:
    x = np.array([-1e4, -40.0, 0.0, 40.0])
    np.testing.assert_allclose(s.log_ndtr(x), [-5.00000102e7, -804.608442, -math.log(2), 0.0], rtol=1e-7, atol=1e-300)
    assert slope(s.log_ndtr, -1e4) == pytest.approx(1e4)
    np.testing.assert_allclose(s.ndtr(s.ndtri(np.array([1e-20, 0.3]))), [1e-20, 0.3])


def test_gamma_functions_at_known_places() -> None:
    assert s.digamma(np.array(1.0)) == pytest.approx(-np.euler_gamma)
    assert s.polygamma(np.array(1.0), n=1) == pytest.approx(math.pi**2 / 6)
    assert slope(s.lgamma, 1.0, order=3) == pytest.approx(-2 * 1.2020569031595942)
    assert s.igamma(np.array(1.0), np.array(2.0)) == pytest.approx(1 - math.exp(-2))


def test_the_slope_of_igamma_at_zero() -> None:
    one, x = gradwright.tensor([1.0]), gradwright.tensor([0.0], requires_grad=True)
    s.igamma(one, x).sum().backward()
    assert x.grad.item() == 1.0  # e**-x, which PyTorch has as NaN


def test_values_at_zero() -> None:
    assert s.bessel_j(np.zeros(1), order=1) == 0
    zero = np.array(0.0)
    assert s.xlogy(zero, zero) == 0
    assert s.xlog1py(zero, -np.ones(())) == 0
    assert np.isnan(s.xlogy(zero, np.array(np.nan)))
    assert s.entr(np.array([0.0, 1.0, -1.0])).tolist() == [0.0, 0.0, -math.inf]


def test_logit_outside_its_range() -> None:
    x = np.array([-0.5, 0.0, 0.5, 1.0, 1.5])
    np.testing.assert_array_equal(s.logit(x, eps=None), [np.nan, -np.inf, 0, np.inf, np.nan])
    np.testing.assert_allclose(s.logit(x, eps=0.25), np.array([-1, -1, 0, 1, 1]) * math.log(3))


def test_sinc_has_its_second_derivative_at_zero() -> None:
    assert slope(s.sinc, 0.0, order=2) == pytest.approx(-(math.pi**2) / 3)
    assert slope(s.sinc, 1e-4) == pytest.approx(-(math.pi**2) / 3 * 1e-4)


def test_airy_solves_its_equation() -> None:
    assert slope(s.airy_ai, 0.7, order=2) == pytest.approx(0.7 * s.airy_ai(np.array(0.7)))


def test_polynomials_of_negative_degree_are_zero() -> None:
    x, n = np.array(0.3), np.array(-2)
    for op, static in ((s.chebyshev_t, {}), (s.hermite_h, {}), (s.hermite_he, {}), (s.gegenbauer, {"alpha": 1.0}),
                       (s.laguerre, {"alpha": 0.0})):  # fmt: skip
        assert op(x, n, **static) == 0


@pytest.mark.parametrize("name", ["i0e", "i1e"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_scaled_bessel_functions_far_out(name: str, dtype: str) -> None:
    x = gradwright.tensor(np.array([-np.inf, -1e30, 1e30, np.inf], dtype), requires_grad=True)
    (g,) = gradwright.autograd.grad(getattr(gradwright.special, name)(x).sum(), x, create_graph=True)
    g.sum().backward()
    np.testing.assert_allclose(g.detach(), 0, atol=1e-20)
    np.testing.assert_allclose(x.grad, 0, atol=1e-20)


def test_scaled_bessel_functions_of_higher_orders_meet_their_expansion() -> None:
    x = np.array([-9e8, -1.001e8, 1.001e8, 9e8])
    for order in (2, 3):
        np.testing.assert_allclose(s.bessel_ie(x, order=order), scipy.special.ive(order, x), rtol=1e-14)
