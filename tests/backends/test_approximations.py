"""Special functions of many float32 numbers against SciPy's in float64."""

import numpy as np
import pytest

from gradwright.backends import approximations

special = pytest.importorskip("scipy.special")


@pytest.mark.parametrize("name", ["erf", "erfc", "i0", "i1"])
@pytest.mark.parametrize(("low", "high"), [(-1.0, 1.0), (-9.0, 9.0), (0.0, 80.0), (-1e-30, 1e-30)])
def test_close_to_scipy(name: str, low: float, high: float) -> None:
    x = np.random.default_rng(0).uniform(low, high, 40_000).astype(np.float32)
    with np.errstate(all="ignore"):
        ours, exact = getattr(approximations, name)(x), getattr(special, name)(x.astype(np.float64))
    np.testing.assert_allclose(ours, exact, rtol=5e-7, atol=np.finfo(np.float32).tiny)


@pytest.mark.parametrize("name", ["erf", "erfc", "i0", "i1"])
def test_ends(name: str) -> None:
    x = np.tile([0.0, -0.0, np.inf, -np.inf, np.nan, 91.0, -91.5, 93.0, 3e38], 10).astype(np.float32)
    with np.errstate(all="ignore"):
        ours, theirs = getattr(approximations, name)(x), getattr(special, name)(x)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    np.testing.assert_array_equal(np.signbit(ours)[theirs == 0], np.signbit(theirs)[theirs == 0])


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1.2e-7), ("float64", 2e-15)])
def test_trigamma(dtype: str, tolerance: float) -> None:
    x = (10 ** np.random.default_rng(0).uniform(-5, 5, 1000)).astype(dtype)
    x[:4] = [0.0, -1.0, np.inf, np.nan]
    with np.errstate(all="ignore"):
        ours, theirs = approximations.zeta(2.0, x), special.zeta(2.0, x.astype(np.float64)).astype(dtype)
    np.testing.assert_allclose(ours, theirs, rtol=tolerance)
    np.testing.assert_array_equal(approximations.zeta(3.0, x), special.zeta(3.0, x).astype(dtype))


@pytest.mark.parametrize(("dtype", "near", "tail"), [("float32", 1e-6, 5e-6), ("float64", 3e-15, 3e-14)])
def test_the_normal_distribution(dtype, near, tail):
    x = np.linspace(-12, 12, 20_001).astype(dtype)
    y, wanted = approximations.ndtr(x), special.ndtr(x.astype(np.float64))
    assert y.dtype == dtype
    np.testing.assert_allclose(y, wanted, near, near / 3)
    seen = wanted > 1e-30
    np.testing.assert_allclose(y[seen], wanted[seen], tail)


def test_the_ends_of_the_normal_distribution():
    with np.errstate(all="ignore"):
        y = approximations.ndtr(np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 300.0, -300.0]))
        one = approximations.ndtr(np.float32(1.0))
    np.testing.assert_allclose(y, [0.5, 0.5, 1, 0, np.nan, 1, 0], 1e-15)
    assert one.dtype == np.float32
    assert float(one) == pytest.approx(0.8413447460685429, rel=1e-6)
    assert approximations.ndtr(np.empty((0, 2))).shape == (0, 2)
