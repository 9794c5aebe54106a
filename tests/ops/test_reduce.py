from typing import Any

import numpy as np
import pytest

import gradwright
from gradwright.ops import reduce as r


def test_over_nothing() -> None:
    none = np.zeros((0, 2))
    assert r.sum(none, axis=(0,)).tolist() == [0.0, 0.0]
    assert r.prod(none, axis=(0,)).tolist() == [1.0, 1.0]
    assert r.logsumexp(none, axis=(0,)).tolist() == [-np.inf, -np.inf]
    assert np.isnan(r.mean(none, axis=(0,))).all()


def test_second_slope_of_prod_at_zeros() -> None:
    x = gradwright.tensor([0.0, 3.0, 0.0, 5.0], requires_grad=True)
    (g,) = gradwright.autograd.grad(r.prod(x), x, create_graph=True)
    rows = [gradwright.autograd.grad(g[i], x, retain_graph=True)[0].tolist() for i in range(4)]
    assert rows == [[0, 0, 15, 0], [0] * 4, [15, 0, 0, 0], [0] * 4]


def test_slope_of_a_long_product() -> None:
    x = np.exp(0.01 * np.random.standard_normal((3, 10_001)))
    t = gradwright.tensor(x, requires_grad=True)
    r.prod(t, axis=(1,)).sum().backward()
    np.testing.assert_allclose(t.grad.numpy(), np.prod(x, 1, keepdims=True) / x, rtol=1e-11)


def test_spread() -> None:
    x = np.random.standard_normal((3, 4))
    for axis in (None, (0,), (1,), (0, 1)):
        for correction in (0, 1, 2):
            expected = np.var(x, axis=axis, ddof=correction)
            np.testing.assert_allclose(r.var(x, axis=axis, correction=correction), expected, rtol=1e-13)
            np.testing.assert_allclose(r.std(x, axis=axis, correction=correction), expected**0.5, rtol=1e-13)


def test_too_few_for_the_correction() -> None:
    assert np.isnan(r.var(np.array([1.0]), correction=1))
    assert np.isinf(r.var(np.array([1.0, 2.0]), correction=5))


def test_logsumexp_far_out() -> None:
    assert r.logsumexp(np.array([1000.0, 1000.0])) == pytest.approx(1000 + np.log(2), rel=1e-15)
    assert r.logsumexp(np.array([-np.inf, -np.inf])) == -np.inf
    assert r.logsumexp(np.array([np.inf, 0.0])) == np.inf


@pytest.mark.parametrize("order", [0, 0.5, 1, 2, 3, np.inf, -np.inf])
@pytest.mark.parametrize("axis", [None, (0,), (1,)])
def test_norms(order: float, axis: Any) -> None:
    x = np.random.standard_normal((3, 4))
    expected = np.linalg.norm(x.ravel(), order) if axis is None else np.linalg.norm(x, order, axis=axis[0])
    np.testing.assert_allclose(r.vector_norm(x, ord=order, axis=axis), expected, rtol=1e-13)


def test_any_and_all() -> None:
    x = np.array([[0.0, 2.0], [1.0, 3.0]])
    assert r.any(x, axis=(0,)).tolist() == [True, True]
    assert r.all(x, axis=(0,)).tolist() == [False, True]
    assert not r.all(x)


@pytest.mark.parametrize("n", [999, 1000, 1025])
def test_rows_of_a_large_matrix(n: int) -> None:
    x = np.random.uniform(0.9, 1.1, (200, n))
    for keepdims in (False, True):
        np.testing.assert_allclose(r.sum(x, axis=(1,), keepdims=keepdims), x.sum(1, keepdims=keepdims))
        got = r.prod(x, axis=(1,), keepdims=keepdims)
        np.testing.assert_allclose(got, x.prod(1, keepdims=keepdims), rtol=1e-11)
    t = gradwright.tensor(x, requires_grad=True)
    t.prod(1).sum().backward()
    np.testing.assert_allclose(t.grad.numpy(), x.prod(1, keepdims=True) / x, rtol=1e-11)


def _second(f: Any, x: Any) -> Any:
    t = gradwright.tensor(x, requires_grad=True)
    (g,) = gradwright.autograd.grad(f(t).sum(), t, create_graph=True)
    assert g.tolist()[0] in (0.0, [0.0, 0.0])
    return gradwright.autograd.grad(g.flatten()[0], t)[0].tolist()


def test_second_slopes_at_kinks() -> None:
    np.testing.assert_array_equal(_second(gradwright.linalg.vector_norm, [0.0, 0.0]), [np.nan, np.nan])
    rows = _second(lambda x: gradwright.linalg.vector_norm(x, dim=1), [[0.0, 0.0], [3.0, 4.0]])
    np.testing.assert_array_equal(rows, [[np.nan, np.nan], [0, 0]])
    assert _second(gradwright.std, [0.0, 0.0, 0.0]) == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(("shape", "dim"), [((1,), 0), ((1, 1), None), ((3, 1), 1), ((2, 1, 2), 1), ((2, 2), 0)])
def test_products_of_any_number_of_entries_have_second_slopes(torch: Any, shape: Any, dim: Any) -> None:
    found = []
    for t in (gradwright, torch):
        x = t.tensor(np.random.default_rng(0).standard_normal(shape), requires_grad=True)
        (g,) = t.autograd.grad((x.prod() if dim is None else x.prod(dim)).sum(), x, create_graph=True)
        (second,) = t.autograd.grad((g * t.ones_like(g).cumsum(0)).sum(), x)
        found.append([g.detach().numpy(), second.numpy()])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
