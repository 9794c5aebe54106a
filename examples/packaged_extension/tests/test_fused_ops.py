"""Values against NumPy, derivatives against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from fused_ops import _core, banded_matvec, mish

import gradwright as gw
from gradwright.autograd import gradcheck, gradgradcheck


def leaf(array: np.ndarray) -> gw.Tensor:
    return gw.tensor(array, dtype=gw.float64, requires_grad=True)


def test_mish() -> None:
    x = np.array([-800.0, -3.0, -0.5, 0.0, 0.5, 3.0, 800.0])
    due = x * np.tanh(np.logaddexp(0, x))
    np.testing.assert_allclose(mish(gw.tensor(x)).numpy(), due, rtol=1e-14)
    np.testing.assert_allclose(mish(gw.tensor(x, dtype=gw.float32)).numpy(), due, rtol=1e-6)


def test_derivatives_of_mish() -> None:
    x = leaf(np.linspace(-4, 4, 9).reshape(3, 3))
    assert gradcheck(mish, (x,))
    assert gradgradcheck(mish, (x,))


def dense(band: np.ndarray, lower: int) -> np.ndarray:
    n = band.shape[1]
    a = np.zeros((n, n))
    for k, i in np.ndindex(band.shape):
        if 0 <= i + k - lower < n:
            a[i, i + k - lower] = band[k, i]
    return a


@pytest.mark.parametrize(("bands", "lower"), [(1, 0), (3, 1), (4, 3), (4, 0), (11, 5)])
@pytest.mark.parametrize(("dtype", "atol"), [(np.float32, 1e-5), (np.float64, 1e-14)])
def test_banded_matvec(bands: int, lower: int, dtype: type, atol: float) -> None:
    band, x = np.random.default_rng(0).normal(size=(bands, 4)), np.arange(1.0, 5)
    y = banded_matvec(gw.tensor(band.astype(dtype)), gw.tensor(x.astype(dtype)), lower).numpy()
    assert y.dtype == dtype
    np.testing.assert_allclose(y, dense(band, lower) @ x, rtol=0, atol=atol)


def test_derivatives_of_banded_matvec() -> None:
    rng = np.random.default_rng(0)
    band, x = leaf(rng.normal(size=(3, 5))), leaf(rng.normal(size=5))
    assert gradcheck(banded_matvec, (band, x, 1))
    assert gradgradcheck(banded_matvec, (band, x, 1))


def test_sizes_that_do_not_fit() -> None:
    with pytest.raises(RuntimeError, match=r"argument 'x' to have shape \[4\], but it has \[5\]"):
        banded_matvec(gw.ones(3, 4), gw.ones(5), 1)
    with pytest.raises(RuntimeError, match=r"argument 'y' to have shape \[50\], but it has \[2\]"):
        _core.Outer.apply(gw.ones(2), gw.ones(50), 1, 3)
    with pytest.raises(RuntimeError, match=r"argument 'y' to have shape \[4\], but it has \[5\]"):
        _core.Transposed.apply(gw.ones(3, 4), gw.ones(5), 1)
    with pytest.raises(ValueError, match="lower must be in"):
        banded_matvec(gw.ones(3, 4), gw.ones(4), 3)
    with pytest.raises(RuntimeError, match="Float but found Double for argument 'band'"):
        banded_matvec(gw.ones(3, 4, dtype=gw.float64), gw.ones(4), 1)
