import numpy as np

from gradwright.ops import norm as ops


def test_standardize() -> None:
    x = np.random.standard_normal((4, 5, 6)) * 3 + 2
    y, mean, var = ops.standardize(x, axis=(0, 2), eps=0.0)
    np.testing.assert_allclose(y.mean((0, 2)), 0, atol=1e-14)
    np.testing.assert_allclose(y.var((0, 2)), 1)
    np.testing.assert_allclose(mean, x.mean((0, 2), keepdims=True))
    np.testing.assert_allclose(var, x.var((0, 2), keepdims=True))


def test_rms_normalize() -> None:
    y = ops.rms_normalize(np.array([[3.0, 4.0], [0.0, 0.0]]), axis=(1,), eps=1e-30)
    np.testing.assert_allclose(y, [[3 / 12.5**0.5, 4 / 12.5**0.5], [0, 0]])


def test_of_nothing() -> None:
    y, mean, _ = ops.standardize(np.zeros((2, 0)), axis=(1,), eps=1.0)
    assert y.shape == (2, 0)
    assert mean.shape == (2, 1)
