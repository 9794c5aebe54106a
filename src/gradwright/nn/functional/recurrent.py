"""Recurrent networks over arrays: one step of each kind, and a layer of steps over time.

A state is a tuple of tensors (n, h): of one, or for a long short-term memory of h and its memory c.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from gradwright.engine.apply import apply
from gradwright.face.functions import elementwise as e
from gradwright.face.functions.algebra.linalg import linear, matmul
from gradwright.face.functions.join import cat, stack
from gradwright.nn.functional.dropout import dropout
from gradwright.ops import recurrent as _ops

State = tuple[Any, ...]


def _plain(activation: Callable[[Any], Any]) -> Callable[..., State]:
    def step(x: Any, state: State, weight_hh: Any, bias: Any, projection: Any) -> State:
        return (activation(apply(_ops.advance, (x, state[0], weight_hh), {})),)

    return step


def _lstm(x: Any, state: State, weight_hh: Any, bias: Any, projection: Any) -> State:
    _, (h, c) = _lstm_steps(x.unsqueeze(0), state, weight_hh)
    return (h if projection is None else matmul(h, projection.t())), c


def _lstm_steps(x: Any, state: State, weight_hh: Any) -> tuple[Any, State]:
    """The results (t, n, h) of steps without projection, and the last state."""
    h, c, _ = apply(_ops.lstm, (x, *state, weight_hh), {})
    return h, (h[-1], c[-1])


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
) -> tuple[Any, State]:
    """The results (t, n, h) over an input (t, n, in), and the last state.

    With ``sizes`` the input is that of a `PackedSequence`, (sum of sizes, in), step t is for the first sizes[t] rows of
    the batch, and the results are (sum of sizes, h). ``weights`` are weight_ih, weight_hh, bias_ih, bias_hh (or None)
    and perhaps weight_hr. ``reverse``: from the last step to the first.
    """
    weight_ih, weight_hh, bias_ih, bias_hh, projection = weights
    x, bias = _from_input(mode, input, weight_ih, bias_ih, bias_hh)
    if sizes is None:
        return _steps(mode, x, state, weight_hh, bias, projection, reverse)
    runs = [(n, len([*steps])) for n, steps in groupby(sizes)]
    parts = [part.reshape(t, n, -1) for part, (n, t) in zip(x.split([n * t for n, t in runs]), runs, strict=True)]
    first, ended, results = state, [], []
    if reverse:
        state = tuple(s[: runs[-1][0]] for s in first)
    for x in reversed(parts) if reverse else parts:
        n, before = x.array.shape[1], state[0].array.shape[0]
        if n < before:  # some sequences have ended
            ended.append(tuple(s[n:] for s in state))
            state = tuple(s[:n] for s in state)
        elif n > before:  # backwards, some begin
            state = tuple(cat([s, f[before:n]]) for s, f in zip(state, first, strict=True))
        result, state = _steps(mode, x, state, weight_hh, bias, projection, reverse)
        results.append(result.flatten(0, 1))
    if ended:
        state = tuple(cat(parts) for parts in zip(state, *reversed(ended), strict=True))
    return cat(results[::-1] if reverse else results), state


def _steps(
    mode: str, x: Any, state: State, weight_hh: Any, bias: Any, projection: Any, reverse: bool
) -> tuple[Any, State]:
    """`layer` for a batch that stays, of what the input contributes."""
    if mode == "LSTM" and projection is None:
        results, state = _lstm_steps(x.flip(0) if reverse else x, state, weight_hh)
        return results.flip(0) if reverse else results, state
    step, found = STEPS[mode], []
    steps = x.unbind(0)
    for x in reversed(steps) if reverse else steps:
        state = step(x, state, weight_hh, bias, projection)
        found.append(state[0])
    return stack(found[::-1] if reverse else found), state


def network(
    mode: str, x: Any, sizes: Sequence[int] | None, first: State, weights: Sequence[Sequence[Any]], directions: int,
    chance: float,
) -> tuple[Any, State]:  # fmt: skip
    """All layers over x, as `layer` takes it: the results of the last, and the last states, (places, n, h).

    ``weights`` are those of each layer and direction, in this order, as are the ``first`` states. Between layers
    entries are dropped with that ``chance``.
    """
    firsts, lasts = list(zip(*(s.unbind(0) for s in first), strict=True)), []
    for k in range(0, len(weights), directions):
        outputs = []
        for i in range(k, k + directions):
            output, last = layer(mode, x, sizes, firsts[i], weights[i], i > k)
            outputs.append(output)
            lasts.append(last)
        x = outputs[0] if directions == 1 else cat(outputs, -1)
        if chance and k + directions < len(weights):
            x = dropout(x, chance)
    return x, tuple(stack(parts) for parts in zip(*lasts, strict=True))
