"""The normal distribution function against SciPy's."""

import numpy as np
import pytest

from gradwright.backends.normal import ndtr

special = pytest.importorskip("scipy.special")


@pytest.mark.parametrize(("dtype", "near", "tail"), [("float32", 1e-6, 5e-6), ("float64", 3e-15, 3e-14)])
def test_against_scipy(dtype, near, tail):
    x = np.linspace(-12, 12, 20_001).astype(dtype)
    y, wanted = ndtr(x), special.ndtr(x.astype(np.float64))
    assert y.dtype == dtype
    np.testing.assert_allclose(y, wanted, near, near / 3)
    seen = wanted > 1e-30
    np.testing.assert_allclose(y[seen], wanted[seen], tail)


def test_ends():
    with np.errstate(all="ignore"):
        y = ndtr(np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 300.0, -300.0]))
        one = ndtr(np.float32(1.0))
    np.testing.assert_allclose(y, [0.5, 0.5, 1, 0, np.nan, 1, 0], 1e-15)
    assert one.dtype == np.float32
    assert float(one) == pytest.approx(0.8413447460685429, rel=1e-6)
    assert ndtr(np.empty((0, 2))).shape == (0, 2)
