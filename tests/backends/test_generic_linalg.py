"""The standard's linear algebra, and what is added to it, beside NumPy's."""

from typing import Any

import array_api_strict
import numpy as np
import pytest

from gradwright.backends import to_host
from gradwright.backends.generic_linalg import Linalg, hermitian
from gradwright.backends.numpy import namespace as numpy
from gradwright.backends.strict import namespace as strict
from gradwright.errors import LinAlgError

KINDS = ["float32", "float64", "complex64", "complex128"]
CALLS = {
    "cholesky": {"upper": True}, "inv": {}, "solve": {}, "solve_triangular": {"upper": False, "unitriangular": True},
    "det": {}, "slogdet": {}, "cofactor": {}, "matrix_exp": {}, "svdvals": {}, "eigvalsh": {"uplo": "U"},
    "lu_factor": {}, "eigvals": {}, "geqrf": {}, "ldl_factor": {"hermitian": True},
}  # fmt: skip
DEVICE = array_api_strict.Device("device1")


def matrices(dtype: str) -> Any:
    """Three Hermitian matrices of positive eigenvalues."""
    x = np.random.default_rng(0).standard_normal((2, 3, 4, 4))
    z = x[0] + 1j * x[1] if "complex" in dtype else x[0]
    return (z @ z.conj().swapaxes(-1, -2) + np.eye(4)).astype(dtype)


def close(got: Any, wanted: Any) -> None:
    assert isinstance(got, type(strict.empty(0)))
    assert got.device == DEVICE
    assert str(got.dtype).rpartition(".")[2] == wanted.dtype.name
    loose = wanted.dtype.itemsize < 8 or wanted.dtype == np.complex64
    np.testing.assert_allclose(to_host(got), wanted, rtol=1e-3 if loose else 1e-10, atol=1e-5 if loose else 1e-12)


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("name", CALLS)
def test_as_numpy(name: str, dtype: str) -> None:
    x = matrices(dtype) / 8 if name == "matrix_exp" else matrices(dtype)
    given = [x, x[:, :, :2]] if name.startswith("solve") else [x]
    wanted = getattr(numpy.linalg, name)(*given, **CALLS[name])
    got = getattr(strict.linalg, name)(*(strict.asarray(a, device=DEVICE) for a in given), **CALLS[name])
    several = isinstance(wanted, tuple)
    for g, w in zip(got if several else [got], wanted if several else [wanted], strict=True):
        close(g, np.asarray(w))


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("uplo", ["L", "U"])
def test_one_triangle_is_read(uplo: str, dtype: str) -> None:
    x = matrices(dtype) + np.random.default_rng(1).standard_normal((4, 4)).astype(dtype)
    x = x + 1j * np.eye(4, dtype=dtype) if "complex" in dtype else x
    values, vectors = strict.linalg.eigh(strict.asarray(x, device=DEVICE), uplo=uplo)
    wanted = numpy.linalg.eigh(x, uplo)[0]
    close(values, wanted)
    whole = hermitian(strict, strict.asarray(x, device=DEVICE), uplo=uplo)
    product = to_host(vectors) * to_host(values)[:, None, :] @ to_host(vectors).conj().swapaxes(-1, -2)
    np.testing.assert_allclose(to_host(whole), product, atol=1e-4)


@pytest.mark.parametrize("xp", [numpy, strict], ids=["NumPy", "array-api-strict"])
def test_matrices_that_fail_are_named(xp: Any) -> None:
    x = xp.asarray(np.stack([np.eye(3), np.diag([1.0, 0.0, 1.0])]), device=DEVICE if xp is strict else None)
    for call, message in (
        (lambda check: xp.linalg.inv(x, check=check), r"linalg.inv: {}The diagonal element 2 is zero"),
        (lambda check: xp.linalg.solve(x, x, check=check), r"linalg.solve: {}The solver failed"),
        (lambda check: xp.linalg.cholesky(x, upper=False, check=check), r"{}.* order 2 is not"),
    ):
        with pytest.raises(LinAlgError, match=message.format(r"\(Batch element 1\): ")):
            call(True)
        out = call(False)
        np.testing.assert_array_equal(to_host(out)[0], np.eye(3))
        assert np.isnan(to_host(out)[1]).all()
        assert xp is numpy or out.device == DEVICE
    np.testing.assert_array_equal(to_host(xp.linalg.zero_pivot(x)), [0, 2])
    np.testing.assert_array_equal(to_host(xp.linalg.indefinite_minor(x, upper=False)), [0, 2])


def test_a_zero_on_the_diagonal_of_a_triangle_makes_no_error() -> None:
    x = strict.asarray([[1.0, 0.0], [1.0, 0.0]])
    out = strict.linalg.solve_triangular(x, strict.ones((2, 1)) * 2, upper=False)
    assert to_host(out)[0] == 2
    assert not np.isfinite(to_host(out)[1])


class Silent:
    """A library whose `inv` gives NaN instead of an error."""

    __name__ = "silent"

    def __init__(self) -> None:
        self.linalg = self

    def __getattr__(self, name: str) -> Any:
        return getattr(array_api_strict.linalg if name in array_api_strict.linalg.__all__ else array_api_strict, name)

    def inv(self, x: Any) -> Any:
        return x * float("nan")


def test_a_library_that_gives_nan_has_the_error_too() -> None:
    with pytest.raises(LinAlgError, match="singular"):
        Linalg(Silent()).inv(strict.zeros((2, 2)))
    assert np.isnan(to_host(Linalg(Silent()).inv(strict.zeros((2, 2)), check=False))).all()


@pytest.mark.parametrize("size", [0.1, 1.0, 30.0, 1e4])
def test_exponential_of_a_rotation(size: float) -> None:
    out = to_host(strict.linalg.matrix_exp(strict.asarray([[0.0, -size], [size, 0.0]])))
    np.testing.assert_allclose(out, [[np.cos(size), -np.sin(size)], [np.sin(size), np.cos(size)]], atol=1e-11 * size)


def test_exponentials_that_do_not_fit() -> None:
    for xp in (numpy, strict):
        x = xp.asarray(np.array([[[np.inf]], [[-3e38]], [[1.0]]], np.float32))
        np.testing.assert_allclose(to_host(xp.linalg.matrix_exp(x))[:, 0, 0], [np.nan, 0, np.e], rtol=1e-6)
        assert xp.linalg.matrix_exp(xp.zeros((2, 0, 0))).shape == (2, 0, 0)


def test_cofactors_of_a_singular_matrix() -> None:
    for xp in (numpy, strict):
        out = to_host(xp.linalg.cofactor(xp.asarray(np.diag([2.0, 3.0, 0.0]))))
        np.testing.assert_allclose(out, np.diag([0.0, 0.0, 6.0]), atol=1e-12)
