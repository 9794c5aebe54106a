"""Parts of a recurrent step far out, where exponentials overflow. (Derivatives: test_every_op.)"""

import numpy as np

import gradwright as gw
from gradwright.engine.apply import apply
from gradwright.ops import recurrent as r

FAR = np.array([[1000.0, -1000.0, 1000.0, -1000.0], [-1000.0, 1000.0, -1000.0, 1000.0]], np.float32)


def test_gates_far_out():
    assert r.lstm_gates(FAR).tolist() == [[1, 0, 1, 0], [0, 1, -1, 1]]
    x = gw.tensor(FAR, requires_grad=True)
    apply(r.lstm_gates, (x,), {}).sum().backward()
    assert not x.grad.any()


def test_states_far_out():
    h = np.full((2, 1), 0.5, np.float32)
    assert r.gru_state(FAR, h).tolist() == [[0.0], [0.5]]  # tanh(1000 - 1000) for z = 0, the old state for z = 1
    new, c = r.lstm_state(r.lstm_gates(FAR), h)
    assert (new.tolist(), c.tolist()) == ([[0.0], [float(np.tanh(np.float32(0.5)))]], [[1.0], [0.5]])
