import numpy as np
import pytest

import gradwright
from gradwright.ops import linalg as m


def test_matrix_product_slopes() -> None:
    x, y = (gradwright.tensor(np.random.standard_normal(s), requires_grad=True) for s in ((3, 4), (4, 2)))
    g = gradwright.tensor(np.random.standard_normal((3, 2)))
    m.matmul(x, y).backward(g)
    np.testing.assert_allclose(x.grad.numpy(), g.numpy() @ y.detach().numpy().T)
    np.testing.assert_allclose(y.grad.numpy(), x.detach().numpy().T @ g.numpy())


def test_linear_is_matmul_and_bias() -> None:
    x, w, b = (np.random.standard_normal(s) for s in ((5, 3), (2, 3), (2,)))
    np.testing.assert_allclose(m.linear(b, x, w), x @ w.T + b)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [("ij,jk->ik", [(2, 3), (3, 4)]), ("ij->ji", [(2, 3)]), ("ij->ij", [(2, 3)]), ("i,j->ij", [(2,), (3,)]),
     ("ij,jk,kl->li", [(2, 3), (3, 4), (4, 2)]), ("ij->", [(2, 3)])],
)  # fmt: skip
def test_einsum(equation: str, shapes: list[tuple[int, ...]]) -> None:
    xs = [np.random.standard_normal(s) for s in shapes]
    out = m.einsum(*xs, equation=equation)
    np.testing.assert_allclose(out, np.einsum(equation, *xs), rtol=1e-13)
    assert not any(np.shares_memory(out, x) for x in xs)
