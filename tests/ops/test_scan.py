from typing import Any

import numpy as np
import pytest

import gradwright
from gradwright.ops import scan as s

INF = float("inf")


@pytest.mark.parametrize("n", [0, 1, 2, 3, 8, 13, 100, 1501, 2000])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_linear_recurrence(n: int, axis: int) -> None:
    shape = [2, 3, 2]
    shape[axis] = n
    a, x = np.random.standard_normal((2, *shape))
    expected = np.empty_like(x)
    y: Any = 0.0
    for k in range(n):
        at = (slice(None),) * axis + (k,)
        y = expected[at] = a[at] * y + x[at]
    np.testing.assert_allclose(s.linear_recurrence(a, x, axis=axis), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("shape", [(3, 4), (1 << 16,), (300, 200)], ids=str)
def test_sums_and_products(shape: tuple[int, ...]) -> None:
    x = np.random.uniform(0.9, 1.1, shape)
    for axis in range(len(shape)):
        np.testing.assert_allclose(s.cumulative_sum(x, axis=axis), np.cumsum(x, axis), rtol=1e-12)
        np.testing.assert_allclose(s.cumulative_prod(x, axis=axis), np.cumprod(x, axis), rtol=1e-9)


def test_large_sums_round_little() -> None:
    x = np.random.random(1_000_000).astype(np.float32)
    exact = np.cumsum(x, dtype=np.float64)
    assert np.abs(s.cumulative_sum(x, axis=0) - exact).max() < 0.25  # NumPy's own: 10
    assert s.cumulative_sum(x, axis=0).dtype == np.float32


def test_logcumsumexp_far_out() -> None:
    x = np.array([-1000.0, 1000.0, 1001.0, -INF])
    expected = [-1000.0, 1000.0, 1001 + np.log1p(np.exp(-1.0)), 1001 + np.log1p(np.exp(-1.0))]
    np.testing.assert_allclose(s.logcumsumexp(x, axis=0), expected, rtol=1e-15)
    t = gradwright.tensor(x, requires_grad=True)
    s.logcumsumexp(t, axis=0).sum().backward()
    q = 1 / (1 + np.exp(-1.0))
    np.testing.assert_allclose(t.grad.numpy(), [1.0, 1 + 2 * (1 - q), 2 * q, 0.0], rtol=1e-12)


def test_slope_of_what_feeds_nan() -> None:
    x = gradwright.tensor([1.0, np.nan, 2.0], requires_grad=True)
    gradwright.logcumsumexp(x, 0).sum().backward()
    assert np.isnan(x.grad.numpy()).all()
