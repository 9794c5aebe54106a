"""Making and moving balls, their sums and products: call by call against NumPy."""

import numpy as np
import pytest

from gradwright.verify.proof import shapes
from gradwright.verify.proof.balls import balls
from gradwright.verify.proof.series import working
from tests.verify.proof.test_balls import middles, moving

X = np.linspace(-2, 3, 12).reshape(3, 4)


@pytest.fixture(autouse=True)
def _precision():
    with working(bits=120):
        yield


@pytest.mark.parametrize(("made", "wanted"), [
    (lambda m, x: m.reshape(x, (4, 3)), lambda x: x.reshape(4, 3)),
    (lambda m, x: m.permute_dims(x, (1, 0)), lambda x: x.T),
    (lambda m, x: m.flip(x, axis=1), lambda x: x[:, ::-1]),
    (lambda m, x: m.roll(x, 1, axis=0), lambda x: np.roll(x, 1, 0)),
    (lambda m, x: m.expand_dims(x, axis=0), lambda x: x[None]),
    (lambda m, x: m.broadcast_to(x, (2, 3, 4)), lambda x: np.broadcast_to(x, (2, 3, 4))),
    (lambda m, x: m.take(x, np.array([2, 0]), axis=1), lambda x: x[:, [2, 0]]),
    (lambda m, x: m.take_along_axis(x, np.array([[1], [0], [3]]), axis=1), lambda x: x[range(3), [1, 0, 3]][:, None]),
    (lambda m, x: m.concat([x, x + 1.0], axis=1), lambda x: np.concatenate([x, x + 1], 1)),
    (lambda m, x: m.stack(m.unstack(x, axis=1), axis=0), lambda x: x.T),
    (lambda m, x: m.tril(x), np.tril),
    (lambda m, x: m.triu(x, k=1), lambda x: np.triu(x, 1)),
    (lambda m, x: m.total(x, axis=(0,)), lambda x: x.sum(0)),
    (lambda m, x: m.total(x, keepdims=True), lambda x: x.sum(keepdims=True)),
    (lambda m, x: m.total(x[:0], axis=0), lambda x: x[:0].sum(0)),
    (lambda m, x: m.mean(x, axis=1), lambda x: x.mean(1)),
    (lambda m, x: m.prod(x, axis=1), lambda x: x.prod(1)),
    (lambda m, x: m.prod(x, keepdims=True), lambda x: x.prod(keepdims=True)),
    (lambda m, x: m.cumulative_sum(x, axis=1), lambda x: x.cumsum(1)),
    (lambda m, x: m.cumulative_prod(x, axis=0), lambda x: x.cumprod(0)),
])  # fmt: skip
def test_values_are_numpys(made, wanted):
    found = made(shapes, balls(X))
    assert found.shape == wanted(X).shape
    np.testing.assert_allclose(middles(found), wanted(X), rtol=1e-14, atol=1e-14)


def test_the_slope_of_a_product_of_all():
    x = moving(np.array([2.0, 3.0, 5.0]))
    assert middles(shapes.prod(x), "slope") == pytest.approx(15 + 10 + 6)


def test_creation():
    assert middles(shapes.zeros((2,))).tolist() == [0, 0]
    assert middles(shapes.full((2,), 1.5)).tolist() == [1.5, 1.5]
    assert middles(shapes.eye(2)).tolist() == [[1, 0], [0, 1]]
    assert middles(shapes.linspace(0, 1, 3)).tolist() == [0, 0.5, 1]
    assert isinstance(shapes.arange(3), np.ndarray)
    assert isinstance(shapes.ones(2, dtype=bool), np.ndarray)
    assert shapes.asarray(True).dtype == bool


def test_conversions():
    assert middles(shapes.astype(np.array([True, False]), np.float64)).tolist() == [1, 0]
    assert shapes.astype(balls(2.0), np.bool_).item() is True
    assert shapes.astype(np.array([1, 2]), np.float32).dtype == np.float32
