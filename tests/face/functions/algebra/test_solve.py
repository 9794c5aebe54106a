from typing import Any

import numpy as np
import pytest

import gradwright

linalg = gradwright.linalg


def numbers(*shape: int) -> Any:
    return np.random.standard_normal(shape)


@pytest.mark.parametrize("driver", ["gels", "gelsy", "gelsd", "gelss"])
@pytest.mark.parametrize(
    "shapes", [((5, 3), (5, 2)), ((3, 5), (3, 2)), ((2, 5, 3), (2, 5)), ((2, 4, 4), (2, 4, 1))], ids=str
)
def test_least_squares(torch: Any, driver: str, shapes: Any) -> None:
    a, b = (numbers(*s) for s in shapes)
    ours, theirs = (t.linalg.lstsq(t.tensor(a), t.tensor(b), driver=driver) for t in (gradwright, torch))
    for x, y in zip(ours, theirs, strict=True):
        assert x.dtype.name == str(y.dtype)[6:]
        np.testing.assert_allclose(x.numpy(), y.numpy(), atol=1e-10)


def test_least_squares_of_low_rank() -> None:
    a = np.outer([1.0, 2.0, 3.0], [1.0, 1.0])
    out = linalg.lstsq(gradwright.tensor(a), gradwright.tensor([[1.0], [2.0], [3.0]], dtype=gradwright.float64))
    np.testing.assert_allclose(out.solution.numpy(), [[0.5], [0.5]])
    assert out.rank.item() == 1
    assert out.residuals.shape == (0,)


def test_tolerances_of_the_pseudo_inverse(same: Any) -> None:
    x = np.diag([3.0, 1.0, 0.1])
    tolerance = np.array([0.5])
    same(lambda t, x: [t.linalg.pinv(x, atol=0.5), t.linalg.pinv(x, rtol=0.5), t.linalg.pinv(x, 0.5)], x, names=False)
    same(lambda t, x: t.linalg.pinv(x.unsqueeze(0), rtol=t.tensor(tolerance), hermitian=True), x, names=False)
    same(lambda t, x: [t.linalg.matrix_rank(x), t.linalg.matrix_rank(x, atol=0.5, hermitian=True)], x, names=False)


@pytest.mark.parametrize("n", [-3, -1, 0, 1, 2, 5])
def test_powers(same: Any, n: int) -> None:
    same(lambda t, x: t.linalg.matrix_power(x, n), numbers(2, 3, 3) + 3 * np.eye(3), names=False)


def test_logarithm_of_the_determinant() -> None:
    x = gradwright.tensor([[[2.0, 0.0], [0.0, 3.0]], [[0.0, 1.0], [1.0, 0.0]], [[1.0, 1.0], [1.0, 1.0]]])
    out = gradwright.logdet(x)
    np.testing.assert_allclose(out.numpy(), [np.log(6), np.nan, -np.inf], rtol=1e-6)
