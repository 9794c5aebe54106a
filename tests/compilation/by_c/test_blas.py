"""NumPy's BLAS."""

from __future__ import annotations

import ctypes
import importlib

import numpy as np
import pytest

from gradwright.compilation.by_c import blas


def test_it_multiplies() -> None:
    found = blas.find_blas()
    if found is None:
        pytest.skip("NumPy's BLAS has no names that are known: NumPy is asked for products")
    size = ctypes.c_longlong if found.size == "long long" else ctypes.c_int
    kinds = [ctypes.c_int, ctypes.c_int, size, size, ctypes.c_double, ctypes.c_void_p, size, ctypes.c_void_p, size,
             ctypes.c_double, ctypes.c_void_p, size]  # fmt: skip
    dgemv = ctypes.CFUNCTYPE(None, *kinds)(found.addresses[blas.NAMES.index("dgemv")])
    a, x, y = np.arange(6.0).reshape(2, 3), np.array([1.0, 2.0, 3.0]), np.full(2, np.nan)
    dgemv(101, 111, 2, 3, 1.0, a.ctypes.data, 3, x.ctypes.data, 1, 0.0, y.ctypes.data, 1)
    np.testing.assert_array_equal(y, a @ x)


def test_without_its_names_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas, "_FORMS", (("no_{}", "int"),))
    blas.find_blas.cache_clear()
    try:
        assert blas.find_blas() is None
    finally:
        monkeypatch.undo()
        blas.find_blas.cache_clear()
        importlib.reload(blas)
