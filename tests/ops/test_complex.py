"""Derivatives of complex numbers: the convention, and what holds at the kinks."""

import math

import numpy as np
import pytest

import gradwright as gw

POINTS = np.array([1 + 2j, -0.5 + 0.1j, -3 - 1j, 0.2 - 2j])


def leaf(z):
    return gw.tensor(z, requires_grad=True)


FUNCTIONS = {
    "z * z": lambda z: z * z,
    "z * conj z": lambda z: z * gw.conj(z),
    "exp": lambda z: gw.exp(z),
    "abs": lambda z: gw.abs(z) * (1 + 1j),
    "angle": lambda z: gw.angle(z) * (2 - 1j),
    "parts": lambda z: gw.complex(gw.imag(z), 3 * gw.real(z)) / z,
    "pairs": lambda z: gw.view_as_complex(gw.view_as_real(z).flip(-1)) * z,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_cotangent_stands_for_the_real_part_of_conj_g_dy(name):
    """dL = Re(conj(g) dy), for the cotangent of the result and for that of z: as central differences have it."""
    f, h = FUNCTIONS[name], 1e-6
    z = leaf(POINTS)
    g = np.random.standard_normal(4) + 1j * np.random.standard_normal(4)
    (found,) = gw.autograd.grad(f(z), z, gw.tensor(g))
    for direction in (1, 1j, 0.6 - 0.8j):
        dy = (f(gw.tensor(POINTS + h * direction)).numpy() - f(gw.tensor(POINTS - h * direction)).numpy()) / (2 * h)
        np.testing.assert_allclose((found.numpy().conj() * direction).real, (g.conj() * dy).real, rtol=1e-7, atol=1e-7)


def test_a_holomorphic_slope_is_conjugated():
    z = leaf(POINTS)
    (z**3).backward(gw.ones(4, dtype=gw.complex128))
    np.testing.assert_allclose(z.grad, np.conj(3 * POINTS**2), rtol=1e-13)


def test_a_real_loss_goes_down_along_its_gradient():
    z = leaf(POINTS)
    (gw.abs(z - 1j) ** 2).sum().backward()
    np.testing.assert_allclose(z.grad, 2 * (POINTS - 1j), rtol=1e-13)


def test_the_gradient_of_a_real_number_is_real():
    x = leaf([2.0, 3.0])
    y = x * gw.tensor([1j, 1 + 1j])
    gw.view_as_real(y * y).sum().backward()  # Re + Im of (c x)**2: 2 x (Re + Im of c**2)
    assert x.grad.dtype is gw.float32
    assert x.grad.tolist() == [-4.0, 12.0]


def test_angle_at_zero_has_slope_zero():
    z = leaf([0j, 1j])
    gw.angle(z).sum().backward()
    assert z.grad.tolist() == [0, -1]


def test_angle_of_real_numbers_is_flat():
    x = leaf([-1.0, -0.0, 0.0, 2.0, math.nan])
    y = gw.angle(x)
    y.sum().backward()
    np.testing.assert_array_equal(y.detach(), np.array([math.pi, 0, 0, 0, math.nan], np.float32))
    assert x.grad.tolist() == [0.0] * 5


def test_angle_is_cut_along_the_negative_reals():
    assert gw.angle(gw.tensor([complex(-1, 0.0), complex(-1, -0.0)])).tolist() == pytest.approx([math.pi, -math.pi])


@pytest.mark.parametrize("name", ["sgn", "abs"])
def test_slopes_at_zero(name):
    """z/|z| and |z| have none at 0, and are given 0; elsewhere z/|z| moves only across the ray."""
    z = leaf([0j, 2j])
    y = getattr(gw, name)(z)
    y.backward(gw.ones_like(y))
    assert z.grad.tolist() == ([0, 0.5] if name == "sgn" else [0, 1j])


def test_sign_refuses_complex_numbers(torch):
    for T in (gw, torch):
        with pytest.raises((RuntimeError, NotImplementedError)):
            T.sign(T.tensor([1j]))
