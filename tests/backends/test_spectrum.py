"""What counts as equal, on matrices whose eigenvalues are known; and what the checks then say."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradwright.backends import spectrum
from gradwright.errors import GradientWarning, LinAlgError


def with_values(values: Any, seed: int, dtype: Any) -> Any:
    """A matrix that has these eigenvalues, up to its rounding."""
    q = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(values),) * 2))[0]
    x = ((q * values) @ q.T).astype(dtype)
    return (x + x.T) / 2


def all_used(values: Any) -> Any:
    return lambda: np.ones(values.shape, bool)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@given(seed=st.integers(0, 10**6), n=st.integers(2, 12), scale=st.sampled_from([1e-12, 1.0, 1e12]))
def test_computed_values_of_a_repeated_one_are_equal(dtype: Any, seed: int, n: int, scale: float) -> None:
    values = np.random.default_rng(seed).choice([-1.0, 0.0, 0.3, 1.0], n)
    values[1] = values[0]
    x = with_values(values * scale, seed, dtype)
    for found, of in ((np.linalg.eigvalsh(x), "linalg.eigh"), (np.linalg.svd(x, compute_uv=False), "linalg.svd")):
        with pytest.raises(LinAlgError, match=r"are equal up to rounding .*gradwright\.linalg\.matrix_function"):
            spectrum.distinct(found, used=all_used(found), of=of)


@pytest.mark.parametrize(("dtype", "gap"), [(np.float64, 1e-12), (np.float32, 1e-3)])
@given(seed=st.integers(0, 10**6), n=st.integers(2, 12), scale=st.sampled_from([1e-12, 1.0, 1e12]))
def test_values_with_a_gap_are_not(dtype: Any, gap: float, seed: int, n: int, scale: float) -> None:
    values = 1.0 + gap * np.arange(n)
    found = np.linalg.eigvalsh(with_values(values * scale, seed, dtype))
    assert spectrum.distinct(found, used=all_used(found), of="linalg.eigh") is found


def test_only_vectors_that_are_used_matter() -> None:
    values = np.array([[1.0, 1.0, 3.0], [1.0, 2.0, 3.0]])
    third = np.array([[False, False, True], [True, True, True]])
    assert spectrum.distinct(values, used=lambda: third, of="linalg.eigh") is values
    with pytest.raises(LinAlgError, match=r"eigenvalues 0 and 1 of matrix \[0\] are equal .*\(1 and 1\)"):
        spectrum.distinct(values, used=lambda: ~third, of="linalg.eigh")


def test_vectors_beyond_the_values_belong_to_the_last() -> None:
    values = np.array([2.0, 0.0, 0.0])
    used = np.array([True, False, False, True])
    with pytest.raises(LinAlgError, match="singular values 1 and 2"):
        spectrum.distinct(values, used=lambda: used, of="linalg.svd")
    assert spectrum.distinct(values, used=lambda: used[:2], of="linalg.svd") is values


@pytest.mark.parametrize("values", [np.zeros(0), np.zeros((0, 2)), np.ones(1), np.array([np.nan, np.nan])])
def test_nothing_to_tell_apart(values: Any) -> None:
    assert spectrum.distinct(values, used=all_used(values), of="linalg.eigh") is values
    assert spectrum.level(values, values, of="linalg.eigh") is values


def test_slopes_of_equal_values() -> None:
    values = np.array([1.0, 1.0 + 1e-16, 2.0])
    spectrum.level(np.array([3.0, 3.0 + 1e-9, 7.0]), values, of="linalg.eigh")
    with pytest.warns(GradientWarning, match="eigenvalues 0 and 1 are equal .* weighs them differently"):
        spectrum.level(np.array([3.0, 3.1, 7.0]), values, of="linalg.eigh")


def test_independent_vectors() -> None:
    values = np.ones(2) + 0j
    spectrum.independent(np.eye(2) + 0j, values, of="linalg.eig")
    one = np.array([[1.0, -1.0], [0.0, 2e-16]]) + 0j
    spectrum.independent(one, np.array([1.0, 2.0]) + 0j, of="linalg.eig")
    with pytest.raises(LinAlgError, match="defective"):
        spectrum.independent(one, values, of="linalg.eig")


def test_a_basis_that_may_turn() -> None:
    w = np.linalg.qr(np.random.default_rng(0).standard_normal((5, 2)))[0]
    a = np.random.default_rng(1).standard_normal((5, 5))
    spectrum.turnable(w, (a + a.T) @ w)  # of the loss tr(a w w^T)
    with pytest.raises(LinAlgError, match="full_matrices"):
        spectrum.turnable(w, np.eye(5)[:, :2])


def test_a_phase_that_may_turn() -> None:
    rng = np.random.default_rng(0)
    v, w = (rng.standard_normal((2, 3, 3)) + 1j * rng.standard_normal((2, 3, 3)) for _ in range(2))
    turn = np.imag(np.sum(np.conj(v) * w, axis=-2))
    assert spectrum.unphased(v, np.zeros((2, 3)), of="linalg.eig") is v
    with pytest.raises(LinAlgError, match=r"the phase of complex vector 0 of matrix \[0\]"):
        spectrum.unphased(w, turn, of="linalg.eig")


@pytest.mark.parametrize("k", [0, 1, 2])
@pytest.mark.parametrize("dtype", ["f", "d", "F", "D"])
def test_dependent_columns(dtype: str, k: int) -> None:
    x = np.random.default_rng(k).standard_normal((2, 5, 3)).astype(dtype)
    spectrum.full_rank(np.linalg.qr(x)[1])
    x[1, :, k] = x[1, :, :k] @ np.arange(1, k + 1)
    with pytest.raises(LinAlgError, match=rf"column {k} of matrix \[1\]"):
        spectrum.full_rank(np.linalg.qr(x)[1])
