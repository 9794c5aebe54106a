"""Recurrent networks over arrays: one step of each kind, and a layer of steps over time.

A state is a tuple of tensors (n, h): of one, or for a long short-term memory of h and its memory c.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradwright.engine.apply import apply
from gradwright.face import elementwise as e
from gradwright.face.algebra.linalg import linear, matmul
from gradwright.face.join import cat
from gradwright.ops import recurrent as _ops

State = tuple[Any, ...]


def _plain(activation: Callable[[Any], Any]) -> Callable[..., State]:
    def step(x: Any, state: State, weight_hh: Any, bias: Any, projection: Any) -> State:
        return (activation(apply(_ops.advance, (x, state[0], weight_hh), {})),)

    return step


def _lstm(x: Any, state: State, weight_hh: Any, bias: Any, projection: Any) -> State:
    gates = apply(_ops.lstm_gates, (apply(_ops.advance, (x, state[0], weight_hh), {}),), {})
    h, c = apply(_ops.lstm_state, (gates, state[1]), {})
    return (h if projection is None else matmul(h, projection.t())), c


def _gru(x: Any, state: State, weight_hh: Any, bias: Any, projection: Any) -> State:
    gates = apply(_ops.gru_advance, (x, state[0], weight_hh, bias), {})
    return (apply(_ops.gru_state, (gates, state[0]), {}),)


STEPS = {"RNN_TANH": _plain(e.tanh), "RNN_RELU": _plain(e.relu), "LSTM": _lstm, "GRU": _gru}
GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3}


def _from_input(mode: str, x: Any, weight_ih: Any, bias_ih: Any, bias_hh: Any) -> tuple[Any, Any]:
    """What the input contributes to the gates, and the bias that is left for the steps, which only GRU needs."""
    if mode == "GRU":
        return linear(x, weight_ih, bias_ih), x.new_zeros(weight_ih.size(0)) if bias_hh is None else bias_hh
    return linear(x, weight_ih, None if bias_ih is None else bias_ih + bias_hh), None


def cell(mode: str, input: Any, state: State, weight_ih: Any, weight_hh: Any, bias_ih: Any, bias_hh: Any) -> State:
    """The next state for input (n, in); the weights have `GATES` times h rows."""
    x, bias = _from_input(mode, input, weight_ih, bias_ih, bias_hh)
    return STEPS[mode](x, state, weight_hh, bias, None)


def layer(
    mode: str, input: Any, sizes: Sequence[int] | None, state: State, weights: Sequence[Any], reverse: bool
) -> tuple[list[Any], State]:
    """The results (n, h) of each step over an input (t, n, in), in order of time, and the last state.

    With ``sizes`` the input is that of a `PackedSequence`, (sum of sizes, in), and step t is for the first sizes[t]
    rows of the batch. ``weights`` are weight_ih, weight_hh, bias_ih, bias_hh (or None) and perhaps weight_hr.
    """
    weight_ih, weight_hh, bias_ih, bias_hh, projection = weights
    x, bias = _from_input(mode, input, weight_ih, bias_ih, bias_hh)
    steps = x.unbind(0) if sizes is None else x.split(list(sizes))
    step, first, ended, results = STEPS[mode], state, [], []
    if reverse:
        state = tuple(s[: steps[-1].array.shape[0]] for s in first) if sizes is not None else first
    for x in reversed(steps) if reverse else steps:
        n, before = x.array.shape[0], state[0].array.shape[0]
        if n < before:  # some sequences have ended
            ended.append(tuple(s[n:] for s in state))
            state = tuple(s[:n] for s in state)
        elif n > before:  # backwards, some begin
            state = tuple(cat([s, f[before:n]]) for s, f in zip(state, first, strict=True))
        state = step(x, state, weight_hh, bias, projection)
        results.append(state[0])
    if ended:
        state = tuple(cat(parts) for parts in zip(state, *reversed(ended), strict=True))
    return results[::-1] if reverse else results, state
