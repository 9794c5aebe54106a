"""The noise of values, measured on points close together."""

import math

import numpy as np
import pytest

from gradwright.verify.numeric.noise import close, noise


@pytest.mark.parametrize("size", [1e-12, 1e-9, 1e-6])
def test_noise_is_measured_to_a_factor(size: float) -> None:
    generator = np.random.default_rng(0)

    def values(t: float) -> object:
        return np.array([math.exp(t) + size * generator.standard_normal(), 3.0])

    found = noise(values, np.zeros(2), close(2.0**-52))
    assert size / 3 < found[0] < 5 * size
    assert found[1] == 0


def test_what_is_not_finite_says_nothing() -> None:
    assert noise(lambda t: math.inf if t > 0 else 1.0, 0.25, close(2.0**-52)) == 0.25
