"""Steps of recurrent networks, one by one and over time, against the formulas written out."""

import numpy as np
import pytest

import gradwright as gw
from gradwright.nn.functional.recurrent import GATES, cell, layer

draw = np.random.default_rng(0)


def logistic(x):
    return 1 / (1 + np.exp(-x))


def written_out(mode, x, state, w_ih, w_hh, b_ih, b_hh):
    """The next state, as textbooks have it."""
    a, b, h = x @ w_ih.T + b_ih, state[0] @ w_hh.T + b_hh, state[0]
    if mode == "LSTM":
        i, f, g, o = np.split(a + b, 4, 1)
        c = logistic(f) * state[1] + logistic(i) * np.tanh(g)
        return logistic(o) * np.tanh(c), c
    if mode == "GRU":
        (xr, xz, xn), (hr, hz, hn) = np.split(a, 3, 1), np.split(b, 3, 1)
        z = logistic(xz + hz)
        return ((1 - z) * np.tanh(xn + logistic(xr + hr) * hn) + z * h,)
    return (np.tanh(a + b) if mode == "RNN_TANH" else np.maximum(a + b, 0),)


def drawn(mode, n=2):
    rows = 3 * GATES[mode]
    weights = [draw.standard_normal(s) for s in ((rows, 4), (rows, 3), (rows,), (rows,))]
    return weights, [draw.standard_normal((n, 3)) for _ in range(2 if mode == "LSTM" else 1)]


@pytest.mark.parametrize("mode", GATES)
def test_one_step(mode):
    weights, state = drawn(mode)
    x = draw.standard_normal((2, 4))
    found = cell(mode, gw.tensor(x), tuple(map(gw.tensor, state)), *map(gw.tensor, weights))
    for mine, expected in zip(found, written_out(mode, x, state, *weights), strict=True):
        np.testing.assert_allclose(mine, expected, 1e-12)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("mode", GATES)
def test_steps_of_a_batch_that_shrinks(mode, reverse):
    """Row i of the batch has lengths[i] steps; going backwards it starts at its own end."""
    weights, state = drawn(mode, 3)
    lengths, sizes = (4, 2, 2), [3, 3, 1, 1]
    x = draw.standard_normal((sum(sizes), 4))
    results, last = layer(mode, gw.tensor(x), sizes, tuple(map(gw.tensor, state)), [*map(gw.tensor, weights), None],
                          reverse)  # fmt: skip
    starts = np.cumsum([0, *sizes])
    for i, length in enumerate(lengths):
        held = [s[i : i + 1] for s in state]
        for t in range(length)[:: -1 if reverse else 1]:
            held = written_out(mode, x[starts[t] + i][None], held, *weights)
            np.testing.assert_allclose(results[starts[t] + i], held[0][0], 1e-12)
        for mine, expected in zip(last, held, strict=True):
            np.testing.assert_allclose(mine[i], expected[0], 1e-12)
