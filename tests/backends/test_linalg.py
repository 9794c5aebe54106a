from typing import Any

import numpy as np
import pytest

from gradwright.backends import linalg as b
from gradwright.backends import strict
from gradwright.errors import LinAlgError


def numbers(*shape: int, kind: str = "f") -> Any:
    x = np.random.standard_normal(shape)
    return x + 1j * np.random.standard_normal(shape) if kind == "c" else x


@pytest.mark.parametrize("scipy", [True, False])
@pytest.mark.parametrize("kind", ["f", "c"])
@pytest.mark.parametrize("shape", [(5, 5), (40, 40), (2, 3, 7, 7), (3, 50, 20), (20, 50), (0, 3, 3), (0, 0), (3, 0, 4)])
def test_lu(shape: tuple[int, ...], kind: str, scipy: bool, monkeypatch: Any) -> None:
    x = numbers(*shape, kind=kind)
    expected = b.lu_factor(x)[1]
    if not scipy:
        monkeypatch.setattr(b, "_lapack", lambda: None)
    packed, pivots, rows = b.lu_factor(x)
    k = min(shape[-2:])
    product = (np.tril(packed[..., :k], -1) + np.eye(shape[-2], k)) @ np.triu(packed[..., :k, :])
    np.testing.assert_allclose(np.take_along_axis(product, rows[..., None], -2), x, atol=1e-12)
    np.testing.assert_array_equal(pivots, expected)


@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("shape", [(5, 5), (200, 200), (1000, 3, 3), (0, 3, 3), (0, 0)], ids=str)
def test_triangles(shape: tuple[int, ...], upper: bool, unit: bool) -> None:
    x = numbers(*shape) / shape[-1] + 2 * np.eye(shape[-1]) if shape[-1] else numbers(*shape)
    y = numbers(*shape[:-1], 2)
    t = (np.triu if upper else np.tril)(x)
    t = t - np.eye(shape[-1]) * (t - 1) if unit else t
    np.testing.assert_allclose(t @ b.solve_triangular(x, y, upper=upper, unitriangular=unit), y, atol=1e-10)


def test_divergence() -> None:
    with pytest.raises(LinAlgError, match=r"linalg.svd: The algorithm failed to converge"):
        b.svd(np.full((2, 2), np.nan), full_matrices=False)


@pytest.mark.parametrize("kind", ["f", "c"])
@pytest.mark.parametrize("hermitian", [False, True])
def test_ldl(kind: str, hermitian: bool) -> None:
    pytest.importorskip("scipy")
    x = numbers(2, 4, 4, kind=kind)
    x = x + (x.conj() if hermitian else x).swapaxes(-1, -2)
    y = numbers(2, 4, 3, kind=kind)
    packed, pivots, info = b.ldl_factor(x, hermitian=hermitian)
    assert not info.any()
    np.testing.assert_allclose(x @ b.ldl_solve(packed, pivots, y, hermitian=hermitian), y, atol=1e-10)


def test_ldl_without_scipy(monkeypatch: Any) -> None:
    monkeypatch.setattr(b, "_lapack", lambda: None)
    with pytest.raises(ImportError, match="pip install scipy"):
        b.ldl_factor(np.eye(2), hermitian=False)


def test_arrays_of_another_library() -> None:
    x = strict.namespace.asarray(np.diag([2.0, 4.0]))
    out = strict.namespace.linalg.inv(x)
    assert type(out) is type(x)
    assert type(strict.namespace.linalg.matrix_transpose(x)) is type(x)


@pytest.mark.parametrize("bad", [np.inf, np.nan])
@pytest.mark.parametrize("f", [lambda x: b.svd(x, False), b.svdvals])
def test_singular_values_of_what_is_not_finite_are_an_error_at_once(f: Any, bad: float) -> None:
    x = np.eye(3)
    x[0, 0] = bad
    with pytest.raises(LinAlgError, match="non-finite"):
        f(x)
