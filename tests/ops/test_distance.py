import numpy as np

import gradwright
from gradwright.ops.distance import euclidean_distances


def test_distances() -> None:
    x, y = np.random.standard_normal((2, 5, 3)), np.random.standard_normal((2, 4, 3))
    expected = np.linalg.norm(x[:, :, None] - y[:, None], axis=-1)
    np.testing.assert_allclose(euclidean_distances(x, y), expected, rtol=1e-12)


def test_slope_at_0_is_0() -> None:
    x = gradwright.tensor([[1.0, 2.0], [1.0, 5.0]], requires_grad=True)
    euclidean_distances(x, x.detach()).sum().backward()
    assert x.grad.tolist() == [[0.0, -1.0], [0.0, 1.0]]
