from typing import Any

import numpy as np
import pytest

import gradwright

ORDERS = ["fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf]


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (0, 3), (3, 0)], ids=str)
@pytest.mark.parametrize("ord", ORDERS)
def test_matrix_norms(same: Any, ord: Any, shape: Any) -> None:
    if 0 in shape and isinstance(ord, (int, float)) and ord < 0:
        pytest.skip("both refuse it")
    same(lambda t, x: t.linalg.matrix_norm(x, ord), np.random.standard_normal(shape), names=False)


@pytest.mark.parametrize("p", [None, *ORDERS])
def test_condition(same: Any, p: Any) -> None:
    """PyTorch's own backward pass fails on itself for some of them ("modified by an inplace operation")."""
    x = np.random.standard_normal((2, 3, 3))
    same(lambda t, x: t.linalg.cond(x, p), x, order=0)
    leaf = gradwright.tensor(x, requires_grad=True)
    assert gradwright.autograd.gradcheck(lambda x: gradwright.linalg.cond(x, p), [leaf])
    assert gradwright.autograd.gradgradcheck(lambda x: gradwright.linalg.cond(x, p), [leaf], atol=1e-3)


def test_norms_over_dims(same: Any) -> None:
    x = np.random.standard_normal((2, 3, 4))
    same(lambda t, x: [t.linalg.norm(x), t.linalg.norm(x, 1, 1), t.linalg.norm(x, 2, (2, 0), True)], x, names=False)
    same(lambda t, x: t.linalg.norm(x, dim=(0, 1)), x, names=False)
    same(lambda t, x: t.linalg.vector_norm(x, 3, dtype=t.float64), x.astype(np.float32), names=False)
