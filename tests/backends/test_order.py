"""The quick forms for NumPy beside those written in the standard."""

from typing import Any

import numpy as np
import pytest

from gradwright.backends.generic import Extended
from gradwright.backends.numpy import namespace as numpy

generic = Extended(np)
X = np.random.default_rng(0).permutation(np.arange(240.0)).reshape(4, 60)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("k", [1, 3])
def test_selections(axis: int, k: int) -> None:
    assert np.array_equal(numpy.argselect(X, k=k, axis=axis), generic.argselect(X, k=k, axis=axis))
    for largest in (False, True):
        out = numpy.argtop(X, k=k, axis=axis, largest=largest)
        assert np.array_equal(out, generic.argtop(X, k=k, axis=axis, largest=largest))
        running = numpy.running_extremum(X, axis=axis, largest=largest)
        assert np.array_equal(running, generic.running_extremum(X, axis=axis, largest=largest))


def test_ties_and_nan_are_ordered_as_a_whole_sort_does() -> None:
    x = np.repeat([1.0, np.nan, 2.0, 2.0], 20)
    order = np.argsort(x, stable=True)
    assert np.array_equal(x[numpy.argtop(x, k=3, axis=0, largest=False)], x[order[:3]])
    assert np.isnan(x[numpy.argtop(x, k=3, axis=0, largest=True)]).all()


def test_lines_in_order() -> None:
    x = np.random.default_rng(1).integers(-2, 2, (50, 3))
    order = numpy.sorted_lines(x)
    assert [*map(tuple, x[order])] == sorted(map(tuple, x))
    assert np.array_equal(order, generic.sorted_lines(x))


@pytest.mark.parametrize("name", ["gcd", "lcm"])
def test_divisors(name: str) -> None:
    x, y = np.meshgrid(np.arange(-6, 7), np.array([0, 1, -4, 9, 2**40]))
    assert np.array_equal(getattr(generic, name)(x, y), getattr(np, name)(x, y))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_mantissa_and_exponent(dtype: Any) -> None:
    x = np.array([0.0, 1.0, -0.75, 1e30, -1e-30, np.inf, -np.inf, np.nan, 0.5, 3.0], dtype)
    for got, expected in zip(generic.frexp(x), np.frexp(x), strict=True):
        assert np.array_equal(got, expected, equal_nan=True)
    assert np.array_equal(generic.ldexp(*np.frexp(x)), x, equal_nan=True)
