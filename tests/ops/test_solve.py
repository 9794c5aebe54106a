import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import gradwright
from gradwright.ops import solve as s
from gradwright.ops.solve import cofactor

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


@pytest.mark.parametrize("values", [(3, 2, 1), (1, 1e-4, 1), (1, 1, 1e-10), (1, 1e-9, 1e-9), (1, 1, 0), (1, 0, 0),
                                    (0, 0, 0), (3, 2, 1, 0), (2, 1e-5, 0, 0)], ids=str)  # fmt: skip
@pytest.mark.parametrize("turned", [False, True], ids=["diagonal", "turned"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_derivatives_of_determinants_of_any_rank_and_condition(values: Any, turned: bool, dtype: str) -> None:
    """To order 4, against the polynomial det(x + t h) in fractions; an entry of the Hessian, against its minor."""
    generator, n = np.random.default_rng(1), len(values)
    u, v = (np.linalg.qr(generator.standard_normal((n, n)))[0] if turned else np.eye(n) for _ in range(2))
    x = gradwright.tensor(u @ np.diag(np.array(values, float)) @ v, dtype=getattr(gradwright, dtype))
    h = gradwright.tensor(generator.standard_normal((n, n)), dtype=x.dtype)
    numbers = [Fraction(i) for i in range(-2, n - 1)]
    pairs = np.stack([x.numpy(), h.numpy()], -1).astype(float)
    exact = [leibniz([[Fraction(a) + t * Fraction(b) for a, b in row] for row in pairs]) for t in numbers]
    along = slopes_at_0(numbers, exact)
    at, eps = gradwright.tensor(0.0, dtype=x.dtype), float(np.finfo(dtype).eps)
    by_reverse = by_forward = lambda t: gradwright.linalg.det(x + t * h)
    for order in range(1, 5):
        by_reverse = gradwright.func.grad(by_reverse)
        by_forward = gradwright.func.jacfwd(by_forward) if order < 4 else by_reverse  # nested, it takes long
        size = float(max(*values, 1) ** max(n - order, 0) * np.linalg.norm(pairs[..., 1]) ** order * 24)
        for got in (by_reverse(at), by_forward(at)):
            assert got.item() == pytest.approx(float(along[order]) if order <= n else 0, abs=10 * eps * size)
    want = leibniz(np.delete(np.delete(x.numpy(), [0, n - 1], 0), [0, n - 1], 1).tolist())
    hessian = gradwright.func.hessian(gradwright.linalg.det)(x)[0, 0, n - 1, n - 1].item()
    assert hessian == pytest.approx(want, abs=20 * eps * max(values) if turned else 0, rel=100 * eps)


def test_a_determinant_has_no_derivatives_above_its_degree() -> None:
    assert not cofactor(*np.random.standard_normal((3, 2, 2))).any()
    assert not cofactor(np.ones((1, 1)), np.ones((5, 1, 1))).any()
    assert cofactor(np.ones((1, 1)), np.ones((5, 1, 1))).shape == (5, 1, 1)


def leibniz(rows: list[list[Any]]) -> Any:
    """The determinant, by cofactors along the first row: exact if the entries are fractions."""
    if not rows:
        return 1
    return sum((-1) ** j * a * leibniz([r[:j] + r[j + 1 :] for r in rows[1:]]) for j, a in enumerate(rows[0]))


def slopes_at_0(places: list[Any], values: list[Any]) -> list[Any]:
    """The derivatives at 0 of the polynomial through these values, by Newton's divided differences."""
    table, coefficients = list(values), [Fraction(0)] * len(places)
    for k in range(1, len(places)):
        table[k:] = [(table[i] - table[i - 1]) / (places[i] - places[i - k]) for i in range(k, len(places))]
    for place, value in zip(places[::-1], table[::-1], strict=True):  # Horner's
        coefficients = [a - place * b for a, b in zip([0, *coefficients[:-1]], coefficients, strict=True)]
        coefficients[0] += value
    return [c * math.factorial(k) for k, c in enumerate(coefficients)]
