"""Parts of a recurrent step far out, where exponentials overflow. (Derivatives: test_every_op.)"""

import numpy as np

import gradwright as gw
from gradwright.engine.apply import apply
from gradwright.ops import recurrent as r

FAR = np.array([[1000.0, -1000.0, 1000.0, -1000.0], [-1000.0, 1000.0, -1000.0, 1000.0]], np.float32)


def test_a_memory_far_out():
    h, none = np.full((2, 1), 0.5, np.float32), np.zeros((4, 1), np.float32)
    new, c, gates = r.lstm(FAR[None], h, h, none)
    assert gates.tolist() == [[[1, 0, 1, 0], [0, 1, -1, 1]]]
    assert (new.tolist(), c.tolist()) == ([[[0.0], [float(np.tanh(np.float32(0.5)))]]], [[[1.0], [0.5]]])
    x = gw.tensor(FAR[None], requires_grad=True)
    apply(r.lstm, (x, *map(gw.tensor, (h, h, none))), {})[2].sum().backward()
    assert not x.grad.any()


def test_states_far_out():
    h = np.full((2, 1), 0.5, np.float32)
    assert r.gru_state(FAR, h).tolist() == [[0.0], [0.5]]  # tanh(1000 - 1000) for z = 0, the old state for z = 1
