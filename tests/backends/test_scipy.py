"""SciPy's functions for NumPy's arrays, with it and without."""

import sys

import array_api_strict
import numpy as np
import pytest

from gradwright.backends import strict
from gradwright.backends.scipy import Special, Transforms


def test_transforms_are_scipys_and_keeps_single_precision() -> None:
    scipy = pytest.importorskip("scipy.fft")
    transforms = Transforms()
    assert transforms.fftn is scipy.fftn
    assert transforms.rfftn(np.ones(3, np.float32)).dtype == np.complex64


def test_transforms_without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.fft", None)
    assert Transforms().irfftn is np.fft.irfftn


def test_results_have_the_dtype_of_the_last_argument() -> None:
    special = Special()
    for dtype in (np.float16, np.float32, np.float64):
        assert special.erf(np.ones(2, dtype)).dtype == dtype
    assert special.eval_chebyt(np.array([2, 3]), np.ones(2, np.float32)).dtype == np.float32
    assert [y.dtype for y in special.airy(np.ones(2, np.float16))] == [np.float16] * 4


def test_arrays_of_another_library_come_back_as_its_own() -> None:
    for device in map(array_api_strict.Device, ("CPU_DEVICE", "device1")):
        x = array_api_strict.asarray([0.5], dtype=array_api_strict.float32, device=device)
        y = strict.namespace.special.jv(2.0, x)
        assert (type(y), y.device, y.dtype) == (type(x), device, x.dtype)
        np.testing.assert_allclose(float(y[0]), 0.0306040234587, rtol=1e-6)


def test_without_scipy_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    with pytest.raises(ImportError, match="erfinv needs SciPy: pip install scipy"):
        Special().erfinv(np.ones(2))


@pytest.mark.parametrize("name", ["erf", "erfc"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_without_scipy_there_is_the_error_function(monkeypatch: pytest.MonkeyPatch, name: str, dtype: type) -> None:
    scipy_special = pytest.importorskip("scipy.special")
    x = np.array([-np.inf, -30, -1.5, -0.0, 1e-300, 0.3, 2, 6, 26, np.inf, np.nan], dtype)
    expected = getattr(scipy_special, name)(x)
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    for given, due in ((x, expected), (x[5], expected[5]), (x[:0], expected[:0])):
        found = getattr(Special(), name)(given)
        assert (found.dtype, found.shape) == (dtype, due.shape)
        np.testing.assert_allclose(found, due, rtol=1e-15 if dtype is np.float64 else 2e-7)
