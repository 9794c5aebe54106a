"""Recurrent networks and bags of rows as functions of their weights, against PyTorch's."""

import numpy as np
import pytest

import gradwright as gw
from gradwright.pytorch import networks

RNG = np.random.default_rng(0)
HIDDEN, SIZE = 3, 2


def weights(T, gates, layers, directions, bias, projection=0):
    rng, found = np.random.default_rng(1), []
    out = projection or HIDDEN
    for k in range(layers):
        for _ in range(directions):
            shapes = [(gates * HIDDEN, SIZE if not k else out * directions), (gates * HIDDEN, out)]
            shapes += [(gates * HIDDEN,)] * 2 * bias + [(projection, HIDDEN)] * bool(projection)
            found += [T.tensor(rng.standard_normal(s), requires_grad=True) for s in shapes]
    return found


def states(T, n, sizes):
    rng = np.random.default_rng(2)
    return [T.tensor(rng.standard_normal((n, 4, s))) for s in sizes]


def compared(torch, run):
    found = []
    for T, space in ((gw, networks), (torch, torch)):
        outputs, inputs = run(T, space)
        slopes = T.autograd.grad(sum((o * o).sum() for o in outputs), inputs)
        found.append([v.detach().numpy() for v in (*outputs, *slopes)])
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("options", [(True, 1, False, False), (False, 2, True, False), (True, 2, True, True)])
@pytest.mark.parametrize("name", ["gru", "lstm", "rnn_tanh", "rnn_relu"])
def test_networks(torch, name, options):
    bias, layers, both, batch_first = options
    array = np.random.default_rng(0).standard_normal((4, 5, SIZE) if batch_first else (5, 4, SIZE))

    def run(T, space):
        w = weights(T, {"gru": 3, "lstm": 4}.get(name, 1), layers, 1 + both, bias)
        hx = states(T, layers * (1 + both), (HIDDEN,) * (1 + (name == "lstm")))
        x = T.tensor(array, requires_grad=True)
        h = hx if name == "lstm" else hx[0]
        return getattr(space, name)(x, h, w, bias, layers, 0.0, True, both, batch_first), [x, *w]

    compared(torch, run)


@pytest.mark.parametrize("name", ["gru", "lstm", "rnn_tanh"])
def test_networks_of_packed_sequences(torch, name):
    array = np.random.default_rng(0).standard_normal((9, SIZE))

    def run(T, space):
        w = weights(T, {"gru": 3, "lstm": 4}.get(name, 1), 1, 2, True)
        hx = states(T, 2, (HIDDEN,) * (1 + (name == "lstm")))
        x = T.tensor(array, requires_grad=True)
        h = hx if name == "lstm" else hx[0]
        return getattr(space, name)(x, T.tensor([4, 3, 2]), h, w, True, 1, 0.0, False, True), [x, *w]

    compared(torch, run)


def test_an_lstm_with_a_projection(torch):
    array = np.random.default_rng(0).standard_normal((5, 4, SIZE))

    def run(T, space):
        w = weights(T, 4, 2, 1, True, projection=2)
        x = T.tensor(array, requires_grad=True)
        return space.lstm(x, states(T, 2, (2, HIDDEN)), w, True, 2, 0.0, False, False, False), [x, *w]

    compared(torch, run)


def test_what_networks_refuse():
    x, h, w = gw.ones(5, 4, SIZE), gw.ones(1, 4, HIDDEN), weights(gw, 3, 1, 1, True)
    with pytest.raises(RuntimeError, match=r"expected 4 weights for each of 1 layers and directions, but got 3"):
        networks.gru(x, h, w[:3], True, 1, 0.0, False, False, False)
    with pytest.raises(TypeError, match=r"gru\(\): missing bidirectional, batch_first"):
        networks.gru(x, h, w, True, 1, 0.0, False)
    with pytest.raises(TypeError, match="'trian'; did you mean 'train'"):
        networks.gru(x, h, w, True, 1, 0.0, trian=False)
    with pytest.raises(TypeError, match=r"takes input, hx, .*but got 10 arguments"):
        networks.gru(x, h, w, True, 1, 0.0, False, False, False, 1)


@pytest.mark.parametrize("mode", [0, 1, 2])
def test_bags(torch, mode):
    array = np.random.default_rng(0).standard_normal((5, 3))

    def run(T, space):
        w = T.tensor(array, requires_grad=True)
        return [space.embedding_bag(w, T.tensor([0, 1, 3, 2, 4]), T.tensor([0, 2]), mode=mode)[0]], [w]

    compared(torch, run)


def test_rows_are_renormed_in_place(torch):
    found = []
    for T, space in ((gw, networks), (torch, torch)):
        w = T.tensor(np.arange(12.0).reshape(4, 3))
        assert space.embedding_renorm_(w, T.tensor([1, 3, 3]), 2.0, 2.0) is w
        found.append(w.numpy())
    np.testing.assert_allclose(*found, rtol=1e-12)
