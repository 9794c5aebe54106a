from __future__ import annotations

import numpy as np
import pytest

import gradwright
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
