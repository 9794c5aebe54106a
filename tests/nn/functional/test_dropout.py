"""Dropout."""

import numpy as np
import pytest

import gradwright as gw

F = gw.nn.functional


def test_entries_are_dropped_and_the_others_scaled():
    gw.manual_seed(0)
    x = gw.full((50_000,), 2.0, requires_grad=True)
    y = F.dropout(x, 0.2)
    y.sum().backward()
    assert set(y.detach().numpy()) == {0.0, 2.5}
    assert (y == 0).float().mean().item() == pytest.approx(0.2, abs=0.01)
    np.testing.assert_array_equal(x.grad.numpy() * 2, y.detach().numpy())
    gw.manual_seed(0)
    assert (F.dropout(x, 0.2) == y).all()


@pytest.mark.parametrize(("name", "shape"), [("dropout1d", (40, 30, 5)), ("dropout2d", (40, 30, 3, 2)),
                                             ("dropout3d", (40, 30, 2, 2, 2)), ("dropout1d", (1200, 5))])  # fmt: skip
def test_whole_channels(name, shape):
    gw.manual_seed(0)
    kept = getattr(F, name)(gw.ones(shape), 0.5).numpy().reshape(1200, -1) > 0
    assert (kept.all(1) == kept.any(1)).all()
    assert kept[:, 0].mean() == pytest.approx(0.5, abs=0.06)


def test_alpha_dropout_keeps_mean_and_variance():
    gw.manual_seed(0)
    x = gw.randn(200_000)
    y = F.alpha_dropout(x, 0.3, training=True)
    assert y.mean().item() == pytest.approx(0, abs=0.02)
    assert y.var().item() == pytest.approx(1, abs=0.02)
    channels = F.feature_alpha_dropout(gw.zeros(20, 30, 4), 0.3, training=True).numpy()
    assert (channels == channels[:, :, :1]).all()
    assert len(np.unique(channels)) == 2


@pytest.mark.parametrize("name", ["dropout", "alpha_dropout", "feature_alpha_dropout", "dropout2d"])
def test_ends(lib, name):
    f, x = getattr(lib.nn.functional, name), lib.ones(2, 3, 1, 1)
    assert f(x, 0.5, training=False).tolist() == x.tolist()
    assert f(x, 0.0, training=True).tolist() == x.tolist()
    assert not f(x, 1.0, training=True).any()
    for p in (-0.1, 1.1):
        with pytest.raises(ValueError, match="dropout probability has to be between 0 and 1"):
            f(x, p)


def test_in_place(lib):
    x = lib.ones(100)
    assert lib.nn.functional.dropout(x, 0.5, inplace=True) is x
    assert set(x.tolist()) == {0.0, 2.0}
