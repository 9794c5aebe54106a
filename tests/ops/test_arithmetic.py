import math

import numpy as np
import pytest

import gradwright
from gradwright.ops import arithmetic as a


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 10, -1, -2, 0.5, -0.5, 2.5, 2.0, 3.0])
def test_powers_by_products_are_powers(n: float) -> None:
    x = np.array([0.5, 1.0, 2.0, 3.7])
    np.testing.assert_allclose(a.power(x, exponent=n), x**n, rtol=1e-15)


def test_power_of_1_is_a_copy() -> None:
    x = np.array([1.0, 2.0])
    assert not np.shares_memory(a.power(x, exponent=1), x)


def test_remainder_has_the_sign_of_the_divisor() -> None:
    x, y = np.array([5.0, -5.0, 5.0, -5.0]), np.array([3.0, 3.0, -3.0, -3.0])
    assert a.remainder(x, y).tolist() == [2.0, 1.0, -1.0, -2.0]


def test_division_by_0() -> None:
    assert math.isnan(a.divide(np.array([0.0]), np.array([0.0]))[0])


@pytest.mark.parametrize("f", [
    lambda lib, x: x**2, lambda lib, x: x**2.0, lambda lib, x: lib.square(x), lambda lib, x: x**3, lambda lib, x: x**4,
    lambda lib, x: (x**2).sum(), lambda lib, x: 3 * x**2 + x, lambda lib, x: x**1, lambda lib, x: x**0,
    lambda lib, x: (2 * x) ** 2,
])  # fmt: skip
def test_derivatives_of_a_polynomial_down_to_the_zeros(torch, f):
    """The derivative past the last is 0, where PyTorch gives one; then neither has a history."""
    chains = []
    for lib in (torch, gradwright):
        x = lib.tensor(1.5, dtype=lib.float64, requires_grad=True)
        d, chain = f(lib, x), []
        while d.requires_grad:
            (d,) = lib.autograd.grad(d, x, create_graph=True)
            chain.append(d.item())
        chains.append(chain)
    assert chains[1] == pytest.approx(chains[0])
