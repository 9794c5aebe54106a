"""Choosing entries: the quick form and NumPy's give the same bits."""

import numpy as np
import pytest

from gradwright.backends.select import where

SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.5, -2.0, 1e-45])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64"])
@pytest.mark.parametrize("n", [5, 10_000])
def test_the_same_bits_as_numpy(dtype, n):
    with np.errstate(all="ignore"):
        x, y = (np.random.default_rng(k).choice(SPECIAL, n).astype(dtype) for k in (0, 1))
    condition = x > 0
    zero, minus = np.zeros((), dtype), -np.zeros((), dtype)
    for a, b in [(x, y), (x, zero), (x, minus), (zero, y), (x[::-1], y), (x[:1], y), (x, y[:1]), (x[:1], y[:1]),
                 (np.float32(2), y), (np.stack([x, y]), y), (zero, zero)]:  # fmt: skip
        got, wanted = where(condition, a, b), np.where(condition, a, b)
        assert got.dtype == wanted.dtype
        assert got.tobytes() == wanted.tobytes()


def test_conditions_of_other_shapes():
    x = np.arange(200.0)
    condition = (x > 100)[:, None]
    np.testing.assert_array_equal(where(condition, x, -x), np.where(condition, x, -x))
    np.testing.assert_array_equal(where(condition, np.float64(1), x), np.where(condition, 1.0, x))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_where_nothing_is_chosen_a_copy_comes_out(dtype):
    y = np.random.default_rng(0).choice(SPECIAL, (90, 70)).astype(dtype)
    for one in (y, y.T, y[::2], y[:, :1]):
        for x in (np.zeros((), dtype), np.ones_like(one)):
            condition = np.zeros((90, 70) if one.shape[1] == 1 else one.shape, bool)
            got, wanted = where(condition, x, one), np.where(condition, x, one)
            assert got.tobytes() == wanted.tobytes()
            assert got.shape == wanted.shape
            assert not np.shares_memory(got, one)
