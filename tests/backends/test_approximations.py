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
