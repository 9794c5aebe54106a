"""PyTorch's top-level forms."""

import numpy as np
import pytest

draw = np.random.default_rng(0)
X, Y = draw.standard_normal((3, 4, 5)), draw.standard_normal((3, 4, 5))


@pytest.mark.parametrize("call", [
    lambda lib, x, y: lib.batch_norm(x, y[0, :, 0], None, None, None, True, 0.1, 1e-5, False),
    lambda lib, x, y: lib.instance_norm(x, y[0, :, 1], y[0, :, 0], None, None, True, 0.1, 1e-5, False),
    lambda lib, x, y: lib.layer_norm(x, (4, 5), y[0]),
    lambda lib, x, y: lib.group_norm(x, 2, y[0, :, 0]),
    lambda lib, x, y: lib.kl_div(x, y, 2, log_target=True),
    lambda lib, x, y: lib.hinge_embedding_loss(x, (y.detach() > 0) * 2.0 - 1, 0.5, 0),
    lambda lib, x, y: lib.triplet_margin_loss(x, y, y * 2, 1.0, 2.0, 1e-6, False, 0),
    lambda lib, x, y: lib.poisson_nll_loss(x, y, True, False, 1e-8, 1),
    lambda lib, x, y: lib.native_group_norm(x, None, None, 3, 4, 5, 2, 1e-5)[0],
    lambda lib, x, y: lib.dropout(x, 0.5, False),
    lambda lib, x, y: lib.embedding(x[0], lib.tensor([1, 3]), 1),
    lambda lib, x, y: lib.celu(x, 0.5) + lib.selu(y) + lib.threshold(x, 0.1, 0.0) + lib.rrelu(x),
])  # fmt: skip
def test_agree_with_torch(agree, call):
    agree(call, X, Y)


def test_native_batch_norm(lib):
    x, mean = lib.tensor(X), lib.zeros(4, dtype=lib.float64)
    y, center, scale = lib.native_batch_norm(x, None, None, mean, lib.ones(4, dtype=lib.float64), True, 0.1, 1e-5)
    np.testing.assert_allclose(center.numpy(), X.mean((0, 2)), 1e-12)
    np.testing.assert_allclose(scale.numpy(), (X.var((0, 2)) + 1e-5) ** -0.5, 1e-12)
    np.testing.assert_allclose(mean.numpy(), 0.1 * X.mean((0, 2)), 1e-12)
    assert lib.native_batch_norm(x, None, None, mean, mean + 1, False, 0.1, 1e-5)[1].numel() == 0


def test_native_dropout(lib):
    y, kept = lib.native_dropout(lib.ones(1000), 0.75, True)
    assert y.tolist() == (kept.float() * 4).tolist()


def test_in_place(lib):
    x = lib.ones(6, 2)
    assert lib.feature_dropout_(x, 0.5, True) is x
    assert lib.relu_(x) is x
    assert set(x.flatten().tolist()) <= {0.0, 2.0}
