"""Directions: what holds along them holds, with the factor, for all homogeneous polynomials in all directions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradwright.verify.proof.directions import lines, units


def test_one_variable_has_one_direction():
    assert lines(1, 8) == ([(1.0,)], 1.0)
    assert units(2) == [(1.0, 0.0), (0.0, 1.0)]


@pytest.mark.parametrize(("variables", "order"), [(2, 4), (2, 1), (3, 2)])
def test_directions_reach_the_sides_of_the_box(variables, order):
    found, factor = lines(variables, order)
    assert all(max(map(abs, d)) == 1.0 for d in found)
    assert 1.0 <= factor < 10.0


@given(st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_a_polynomial_is_nowhere_larger_than_the_factor_times_that_along_them(degree, seed):
    generator = np.random.default_rng(seed)
    powers = [p for p in product(range(degree + 1), repeat=2) if sum(p) == degree]
    weights = generator.normal(size=len(powers))

    def value(d):
        return abs(sum(w * np.prod(np.power(d, p)) for w, p in zip(weights, powers, strict=True)))

    found, factor = lines(2, 4)
    largest = max(map(value, found))
    assert all(value(d) <= factor * largest * (1 + 1e-12) for d in generator.uniform(-1, 1, (50, 2)))
