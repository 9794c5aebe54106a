from typing import Any

import numpy as np
import pytest

import gradwright
from gradwright.engine.apply import apply
from gradwright.ops import activation as a

EXTREME = np.array([-1000.0, -30.0, 0.0, 30.0, 1000.0])


def test_sigmoid_far_out() -> None:
    assert a.sigmoid(EXTREME)[[0, 2, 4]].tolist() == [0.0, 0.5, 1.0]
    x = gradwright.tensor(EXTREME, requires_grad=True)
    gradwright.sigmoid(x).sum().backward()
    assert np.isfinite(x.grad.numpy()).all()


def test_softplus_is_a_line_beyond_the_threshold() -> None:
    out = a.softplus(EXTREME, beta=1.0, threshold=20.0)
    assert out[[0, 3, 4]].tolist() == [0.0, 30.0, 1000.0]
    assert out[2] == pytest.approx(np.log(2), rel=1e-15)
    assert out[1] == pytest.approx(np.exp(-30.0), rel=1e-12)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax_rows(axis: int) -> None:
    x = np.random.standard_normal((3, 4)) * 100
    rows = a.softmax(x, axis=axis)
    np.testing.assert_allclose(rows.sum(axis), 1, rtol=1e-14)
    np.testing.assert_allclose(a.softmax(x + 1e4, axis=axis), rows, rtol=1e-9)
    np.testing.assert_allclose(np.exp(a.log_softmax(x, axis=axis)), rows, rtol=1e-12)


def test_softmax_of_nothing() -> None:
    assert a.softmax(np.zeros((2, 0)), axis=1).shape == (2, 0)
    assert a.log_softmax(np.zeros((0, 2)), axis=0).shape == (0, 2)


def test_softmax_with_excluded_entries() -> None:
    x = np.array([-np.inf, 0.0, 0.0])
    assert a.softmax(x, axis=0).tolist() == [0.0, 0.5, 0.5]
    assert a.log_softmax(x, axis=0)[0] == -np.inf


def test_masked_softmax_where_all_is_excluded() -> None:
    x = gradwright.tensor([[0.0, 0.0, 5.0], [1.0, 2.0, 3.0]], dtype=gradwright.float64, requires_grad=True)
    mask = gradwright.tensor([[0.0, 0.0, -np.inf], [-np.inf] * 3], dtype=gradwright.float64)
    y = apply(a.masked_softmax, (x, mask), {"axis": -1})
    assert y.tolist() == [[0.5, 0.5, 0.0], [0.0, 0.0, 0.0]]
    y.backward(gradwright.tensor([[1.0, 0.0, 7.0]] * 2, dtype=gradwright.float64))
    assert x.grad.tolist() == [[0.25, -0.25, 0.0], [0.0, 0.0, 0.0]]
    assert a.masked_softmax(np.zeros((2, 0)), np.zeros((2, 0)), axis=1).shape == (2, 0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_mish_far_out(dtype: str) -> None:
    x = gradwright.tensor(np.array([21.0, 1000.0, 1e30, np.inf], dtype), requires_grad=True)
    (g,) = gradwright.autograd.grad(gradwright.nn.functional.mish(x).sum(), x, create_graph=True)
    g.sum().backward()
    np.testing.assert_allclose(g.detach(), 1, rtol=1e-15)
    np.testing.assert_allclose(x.grad, 0, atol=1e-14)


_BENT = "elu celu selu hardswish hardtanh relu6 hardsigmoid hardshrink softshrink"


@pytest.mark.parametrize("name", _BENT.split())
def test_slope_at_nan(torch: Any, name: str) -> None:
    """Beside so many that PyTorch takes its vector code, AVX-512 or not: the scalar one has other slopes there."""
    slopes = []
    for lib in (torch, gradwright):
        x = lib.tensor([float("nan")] * 64, dtype=lib.float32, requires_grad=True)
        getattr(lib.nn.functional, name)(x).sum().backward()
        slopes.append(x.grad.numpy())
    np.testing.assert_array_equal(*slopes)


def test_hardswish_by_its_cotangent_at_infinity() -> None:
    x = gradwright.tensor([-np.inf, np.inf], requires_grad=True)
    v = gradwright.ones(2, requires_grad=True)
    (g,) = gradwright.autograd.grad(gradwright.nn.functional.hardswish(x), x, v, create_graph=True)
    assert gradwright.autograd.grad(g.sum(), v)[0].tolist() == [0.0, 1.0]
