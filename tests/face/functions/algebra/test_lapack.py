from typing import Any

import numpy as np
import pytest

import gradwright


def test_older_names(same: Any) -> None:
    x, y = np.random.standard_normal((3, 3)) + 3 * np.eye(3), np.random.standard_normal((3, 2))
    same(lambda t, x: [t.inverse(x), t.pinverse(x), t.det(x), t.logdet(x), t.svd(x).S, t.qr(x).R.abs()], x, names=False)
    same(lambda t, x, y: [t.lu_solve(y, *t.lu(x)), t.triangular_solve(y, x)[0]], x, y, names=False)
    same(lambda t, x, y: y.triangular_solve(x, upper=False, transpose=True, unitriangular=True)[0], x, y, names=False)
    same(lambda t, x: [*t.lu_unpack(*t.lu(x))[1:]], x, names=False)


@pytest.mark.parametrize("upper", [False, True])
def test_solutions_by_cholesky(upper: bool) -> None:
    x = np.random.standard_normal((2, 3, 3))
    x = x @ x.swapaxes(-1, -2) + np.eye(3)
    factor = gradwright.tensor(x).cholesky(upper)
    np.testing.assert_allclose(factor.cholesky_inverse(upper).numpy(), np.linalg.inv(x), atol=1e-10)
    b = gradwright.ones(2, 3, 1, dtype=gradwright.float64)
    np.testing.assert_allclose(b.cholesky_solve(factor, upper).numpy(), np.linalg.solve(x, b.numpy()), atol=1e-10)


def test_the_gradient_by_the_triangle_that_is_not_read_is_0() -> None:
    factor = gradwright.tensor([[2.0, 9.0], [1.0, 3.0]], requires_grad=True)
    factor.cholesky_inverse().sum().backward()
    assert factor.grad[0, 1] == 0


@pytest.mark.parametrize("shape", [(20, 8), (8, 20), (2, 9, 7)], ids=str)
def test_low_rank(shape: tuple[int, ...]) -> None:
    m, n = shape[-2:]
    left, right = gradwright.randn(*shape[:-2], m, 2), gradwright.randn(*shape[:-2], 2, n)
    x = (left @ right).double()
    u, s, v = gradwright.svd_lowrank(x, 3)
    np.testing.assert_allclose((u * s.unsqueeze(-2) @ v.mT).numpy(), x.numpy(), atol=1e-6)
    u, s, v = gradwright.pca_lowrank(x, 3)
    np.testing.assert_allclose((u * s.unsqueeze(-2) @ v.mT).numpy(), (x - x.mean(-2, keepdim=True)).numpy(), atol=1e-6)
