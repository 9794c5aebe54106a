import numpy as np
import pytest

import gradwright
from gradwright.ops import scatter as s

X = np.arange(20.0).reshape(4, 5)


def test_take_and_scatter() -> None:
    where = np.array([[0, 4], [1, 1], [2, 3], [0, 0]])
    assert np.array_equal(s.take_along_axis(X, where, axis=1), np.take_along_axis(X, where, 1))
    out = s.scatter_add(np.zeros((4, 5)), where, np.ones((4, 2)), axis=1)
    assert out.tolist() == [[1, 0, 0, 0, 1], [0, 2, 0, 0, 0], [0, 0, 1, 1, 0], [2, 0, 0, 0, 0]]


def test_tied_entries_share_the_cotangent() -> None:
    x = gradwright.tensor([[2.0, 0.0]], requires_grad=True)
    src = gradwright.tensor([[2.0, 2.0, 1.0]], requires_grad=True)
    gradwright.xp.scatter_max(x, gradwright.tensor([[0, 0, 0]]), src, axis=1).sum().backward()
    assert x.grad.tolist() == [[pytest.approx(1 / 3), 1.0]]
    assert src.grad.tolist() == [[pytest.approx(1 / 3), pytest.approx(1 / 3), 0.0]]
