"""Functions of another name or place today."""

import numpy as np
import pytest

import gradwright as gw

CALLS = {
    "frobenius_norm": lambda t, x, w: t.frobenius_norm(x, dim=(0, 1)),
    "frobenius_norm, one dim": lambda t, x, w: t.frobenius_norm(x, dim=1, keepdim=True),
    "nuclear_norm": lambda t, x, w: t.nuclear_norm(x),
    "norm_except_dim": lambda t, x, w: t.norm_except_dim(x, 2, 0),
    "norm_except_dim, last": lambda t, x, w: t.norm_except_dim(x, 2, 1),
    "norm_except_dim, none": lambda t, x, w: t.norm_except_dim(x, 2, -1),
    "lstm_cell": lambda t, x, w: t.lstm_cell(x, (x[:, :2], x[:, 1:]), w, w[:, :2]),
    "gru_cell": lambda t, x, w: t.gru_cell(x, x[:, :2], w[:6], w[:6, :2]),
    "rnn_tanh_cell": lambda t, x, w: t.rnn_tanh_cell(x, x[:, :2], w[:2], w[:2, :2]),
    "rnn_relu_cell": lambda t, x, w: t.rnn_relu_cell(x, x[:, :2], w[:2], w[:2, :2], w[:2, 0], w[:2, 1]),
}


@pytest.mark.filterwarnings("ignore:at..(frobenius|nuclear)_norm is deprecated")
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_values_and_gradients_are_pytorchs(torch, call):
    rng = np.random.default_rng(0)
    arrays = rng.standard_normal((4, 3)), rng.standard_normal((8, 3))
    found = []
    for t in (gw, torch):
        inputs = [t.tensor(a, requires_grad=True) for a in arrays]
        out = call(t, *inputs)
        out = t.cat([o.reshape(-1) for o in out]) if isinstance(out, tuple) else out
        grads = t.autograd.grad(out.sin().sum(), inputs, allow_unused=True)
        found.append([out.detach().numpy(), *[None if g is None else g.numpy() for g in grads]])
    for ours, theirs in zip(*found, strict=True):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
