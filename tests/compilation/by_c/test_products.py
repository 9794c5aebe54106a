"""Matrix products of every shape and layout."""

import ctypes
from typing import Any

import numpy as np
import pytest

from gradwright.compilation.by_c import products, runner
from gradwright.compilation.by_c.runner import C
from gradwright.compilation.node import Interpreted
from gradwright.compilation.trace.traced import space, traced


def test_it_multiplies() -> None:
    found = products.find_blas()
    if found is None:
        pytest.skip("NumPy's BLAS has no names that are known: NumPy is asked for products")
    size = ctypes.c_longlong if found.size == "long long" else ctypes.c_int
    kinds = [ctypes.c_int, ctypes.c_int, size, size, ctypes.c_double, ctypes.c_void_p, size, ctypes.c_void_p, size,
             ctypes.c_double, ctypes.c_void_p, size]  # fmt: skip
    dgemv = ctypes.CFUNCTYPE(None, *kinds)(found.addresses[products.FUNCTIONS.index("dgemv")])
    a, x, y = np.arange(6.0).reshape(2, 3), np.array([1.0, 2.0, 3.0]), np.full(2, np.nan)
    dgemv(101, 111, 2, 3, 1.0, a.ctypes.data, 3, x.ctypes.data, 1, 0.0, y.ctypes.data, 1)
    np.testing.assert_array_equal(y, a @ x)


def test_without_its_names_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "_FORMS", (("no_{}", "int"),))
    products.find_blas.cache_clear()
    try:
        assert products.find_blas() is None
    finally:
        monkeypatch.undo()
        products.find_blas.cache_clear()


SHAPES = [
    ((3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)), ((1, 4), (4, 5)), ((3, 4), (4, 1)),
    ((3, 1), (1, 5)), ((1, 1), (1, 1)), ((2, 3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)), ((6, 1, 3, 4), (2, 4, 5)),
    ((2, 3, 4), (4,)), ((0, 4), (4, 5)), ((40, 3, 16, 20), (3, 20, 24)), ((600, 1, 30), (600, 30, 40)),
    ((600, 40, 30), (30,)), ((3, 0), (0, 5)), ((1, 3, 1), (5, 1, 2)),
]  # fmt: skip
LAYOUTS = ["rows", "columns", "steps", "backwards"]


def laid(x: Any, layout: str) -> Any:
    if layout == "columns":
        return np.ascontiguousarray(x.T).T
    if layout == "steps":
        wide = np.zeros((*x.shape[:-1], 3 * x.shape[-1]), x.dtype)
        wide[..., ::3] = x
        return wide[..., ::3]
    return x[::-1].copy()[::-1] if layout == "backwards" else x


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shapes", SHAPES)
def test_products(compiler: None, shapes: Any, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    for left in LAYOUTS:
        x, y = (laid(rng.standard_normal(s).astype(dtype), k) for s, k in zip(shapes, (left, left), strict=True))
        program = traced(lambda x, y: [space.matmul(x, y), space.matmul(x * 2.0, y)], x, y)
        for got, want in zip(C(program)([x, y]), Interpreted(program)([x, y]), strict=True):
            assert got.shape == want.shape
            np.testing.assert_allclose(got, want, rtol=(eps := 1e-5 if dtype == np.float32 else 1e-13), atol=eps)


def test_threads_share_many_small_products_and_leave_large_ones_to_blas(compiler: None) -> None:
    small, large = np.ones((64, 64, 16)), np.ones((3, 200, 100))
    for x, shared in ((small, True), (large, False), (small[:2], False)):
        program = traced(lambda x: space.matmul(x, space.permute_dims(x, (0, 2, 1))), x)
        assert ("parallel_t) P" in C(program).source) == shared


def test_turned_matrices_are_not_copied(compiler: None) -> None:
    x = np.random.default_rng(0).standard_normal((5, 3))
    program = traced(lambda x: space.matmul(x.T, x), x)
    c = C(program)
    assert [r["kind"] for r in c.loops] == ["BLAS"]
    np.testing.assert_allclose(c([x])[0], x.T @ x)


def test_without_blas_numpy_is_asked(compiler: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "find_blas", lambda: None)
    x = np.random.default_rng(0).standard_normal((5, 3))
    c = C(traced(lambda x: space.matmul(x.T, x), x))
    assert [r["kind"] for r in c.loops] == ["NumPy"]
    np.testing.assert_array_equal(c([x])[0], x.T @ x)
