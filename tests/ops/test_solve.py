from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradwright
from gradwright.ops import solve as s

SINGULAR = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [5.0, 7.0, 9.0]])


def adjugate(x: Any) -> Any:
    """By its definition, from minors."""
    n = len(x)
    minors = [
        [np.linalg.det(np.delete(np.delete(x, i, 0), j, 1)) * (-1) ** (i + j) for i in range(n)] for j in range(n)
    ]
    return np.array(minors)


@pytest.mark.parametrize(
    "x", [SINGULAR, np.diag([2.0, 3.0, 0.0]), np.diag([2.0, 0.0, 0.0]), np.vander([0.5, 2.0, 3.0])],
    ids=["rank 2", "diagonal of rank 2", "rank 1", "regular"],
)
def test_determinant_of_singular_matrices(x: Any) -> None:
    """Value, slope (the cofactors) and second derivative, by minors of minors."""
    t = gradwright.tensor(x, requires_grad=True)
    s.det(t).backward()
    np.testing.assert_allclose(t.grad.numpy(), adjugate(x).T, atol=1e-12)
    w = np.random.standard_normal((3, 3))
    (slope,) = gradwright.autograd.grad(s.det(t), t, create_graph=True)
    (second,) = gradwright.autograd.grad(slope, t, gradwright.tensor(w))
    h = 1e-5
    numeric = (adjugate(x + h * w) - adjugate(x - h * w)).T / (2 * h)
    np.testing.assert_allclose(second.numpy(), numeric, atol=1e-6)


def test_a_batch_with_one_singular_matrix() -> None:
    x = np.stack([SINGULAR - SINGULAR, np.eye(3), np.diag([1.0, 1.0, 0.0])])
    t = gradwright.tensor(x, requires_grad=True)
    s.det(t).sum().backward()
    np.testing.assert_allclose(t.grad.numpy(), [adjugate(m).T for m in x], atol=1e-15)


def test_complex_sign_and_logarithm() -> None:
    x = np.random.standard_normal((3, 3)) + 1j * np.random.standard_normal((3, 3))
    sign, size = s.slogdet(gradwright.tensor(x))
    np.testing.assert_allclose((sign * gradwright.exp(size)).numpy(), np.linalg.det(x))
    assert size.dtype is gradwright.float64


@pytest.mark.parametrize("scale", [1e-8, 1.0, 30.0])
def test_exponential_of_a_rotation(scale: float) -> None:
    out = s.matrix_exp(scale * np.array([[0.0, -1.0], [1.0, 0.0]]))
    np.testing.assert_allclose(out, [[np.cos(scale), -np.sin(scale)], [np.sin(scale), np.cos(scale)]], atol=1e-13)


def test_exponential_of_what_is_not_finite() -> None:
    out = s.matrix_exp(np.stack([np.full((2, 2), np.inf), np.zeros((2, 2))]))
    assert np.isnan(out[0]).all()
    np.testing.assert_array_equal(out[1], np.eye(2))


def test_pseudo_inverse_of_low_rank() -> None:
    x = np.outer([1.0, 2.0], [3.0, 4.0, 5.0])
    np.testing.assert_allclose(s.pinv(x, rtol=1e-12), x.T / (5 * 50), atol=1e-15)


def test_triangles_with_zeros() -> None:
    out = s.solve_triangular(np.array([[0.0, 0.0], [1.0, 1.0]]), np.ones((2, 1)), upper=False)
    np.testing.assert_array_equal(out, [[np.inf], [-np.inf]])
