from typing import Any

import numpy as np
import pytest

from gradwright.backends import quotients as q

SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 0.1, -0.3, 5.5, 1e-300, 1e15, np.inf, -np.inf, np.nan])


@pytest.mark.parametrize("name", ["fmod", "remainder", "floor_divide"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_floats_come_out_as_few(name: str, dtype: type) -> None:
    x, y = np.random.uniform(-9, 9, (2, 999)).astype(dtype)
    x[::3], y[::3] = np.round(x[::3]), np.round(y[::3])
    grid = [g.ravel().astype(dtype) for g in np.meshgrid([*SPECIAL, *SPECIAL + 2], SPECIAL)]
    with np.errstate(all="ignore"):
        for a, b in ((x, y), (x * dtype(1e9), y), (x, dtype(0.1)), (x, np.array(-2, dtype)), grid):
            np.testing.assert_array_equal(getattr(q, name)(a, b), getattr(np, name)(a, b))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("times", [1, 5])
def test_a_remainder_of_nothing_has_the_sign_of_the_dividend(dtype: type, times: int) -> None:
    x = np.tile(np.array([6.0, -6.0, 0.0, -0.0, -7.0], dtype), 20 * times)
    for y in (3.0, -3.0):
        for left in (q.fmod(x, np.full_like(x, y)), q.remainder(x, np.full_like(x, y))):
            zero = left == 0
            assert zero.sum() == 80 * times
            np.testing.assert_array_equal(np.signbit(left)[zero], np.signbit(x)[zero])
    assert np.signbit(q.remainder(dtype(-4), dtype(2)))
    assert not np.signbit(q.remainder(dtype(4), dtype(-2)))


def test_an_infinite_divisor() -> None:
    x = np.full(1000, -1.0)
    assert np.all(q.remainder(x, np.array(np.inf)) == np.inf)
    assert np.all(q.floor_divide(x, np.array(np.inf)) == -1)


@pytest.mark.parametrize("f", [q.fmod, q.remainder, q.floor_divide])
def test_refused(f: Any) -> None:
    with pytest.raises(ValueError, match="divided by zero"):
        f(np.array([1, 2]), np.array([1, 0]))
    with pytest.raises(TypeError, match="booleans"):
        f(np.array([True]), np.array([True]))
