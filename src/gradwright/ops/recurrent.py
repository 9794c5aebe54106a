"""Recurrent networks, cut where the parts of their derivatives are shared.

A step takes x (n, k h), what its input contributes to k gates, and the state h (n, h): `advance` adds what the state
contributes, and an activation follows; `gru_state`, after `gru_advance`, makes the next state. `lstm` is all steps.
"""

from __future__ import annotations

from gradwright.ops.activation import sigmoid
from gradwright.ops.declare import A, Sample, builtin


@builtin(node="AddmmBackward0", samples=[Sample(A(3, 4), A(3, 2), A(4, 2))])
def advance(xp, x, h, weight):
    """x + h weight^T for x (n, m), h (n, k), weight (m, k)."""
    return x + xp.matmul(h, xp.permute_dims(weight, (1, 0)))


advance.vjp(
    x=lambda xp, g: g,
    h=lambda xp, g, weight: xp.matmul(g, weight),
    weight=lambda xp, g, h: xp.matmul(xp.permute_dims(g, (1, 0)), h),
)


_STEPS = Sample(A(3, 2, 8), A(2, 2), A(2, 2), A(8, 2))
_ONE_STEP = Sample(A(1, 3, 8), A(3, 3), A(3, 2), A(8, 3))


@builtin(node="MkldnnRnnLayerBackward0", samples=[_STEPS, _ONE_STEP], several=True)
def lstm(xp, x, h, c, weight):
    """Steps of a long short-term memory: its states h' and c' after each, and its gates.

    x (t, n, 4 k) is what the inputs contribute to the gates i, f, z, o, side by side, h (n, m) and c (n, k) are the
    states before. With weight (4 k, m), where m = k unless t = 1, x + h weight^T has the logistic function applied, for
    z the hyperbolic tangent; then c' = f c + i z and h' = o tanh c'.
    """
    k, weight = c.shape[1], xp.permute_dims(weight, (1, 0))
    steps = []
    for t in range(x.shape[0]):
        gates = x[t, ...] + xp.matmul(h, weight)
        logistic, z = sigmoid.forward(xp, gates), xp.tanh(gates[:, 2 * k : 3 * k])
        c = logistic[:, k : 2 * k] * c + logistic[:, :k] * z
        h = logistic[:, 3 * k :] * xp.tanh(c)
        steps.append((h, c, logistic, z))
    h, c, logistic, z = (_over_time(xp, values) for values in zip(*steps, strict=True))
    return [h, c, xp.concat([logistic[..., : 2 * k], z, logistic[..., 3 * k :]], axis=2)]


def _lstm_back(xp, g, c, weight, out, reached):
    """The cotangents of x, h and c, from the last step back to the first."""
    _, states, gates = out
    k = c.shape[1]
    i, f, z, o = (gates[..., j * k : (j + 1) * k] for j in range(4))
    shown = xp.tanh(states)
    slopes = xp.concat([i * (1 - i), f * (1 - f), 1 - z * z, o * (1 - o)], axis=2)
    factors = xp.concat([z, _before(xp, c, states), i, shown], axis=2) * slopes
    beside = g[2] * slopes if 2 in reached else None
    through = o * (1 - shown * shown)
    to_h, to_c, to_x = g[0][-1, ...], g[1][-1, ...], []
    for t in reversed(range(gates.shape[0])):
        to_c = to_c + to_h * through[t, ...]
        to_gates = xp.concat([to_c, to_c, to_c, to_h], axis=1) * factors[t, ...]
        to_gates = to_gates if beside is None else to_gates + beside[t, ...]
        to_x.append(to_gates)
        to_h, to_c = xp.matmul(to_gates, weight), to_c * f[t, ...]
        if t:
            to_h, to_c = g[0][t - 1, ...] + to_h, g[1][t - 1, ...] + to_c
    return _over_time(xp, to_x[::-1]), to_h, to_c


def _over_time(xp, values):
    """What each step has found, (n, k), as one array (t, n, k)."""
    return xp.reshape(xp.concat(values, axis=0), (len(values), *values[0].shape))


def _before(xp, first, states):
    """The states before each step, given the ``first`` and those after."""
    first = xp.expand_dims(first, axis=0)
    return xp.concat([first, states[:-1, ...]], axis=0) if states.shape[0] > 1 else first


def _lstm_weight(xp, back, h, out):
    to_gates, states = back[0], _before(xp, h, out[0])
    rows = xp.reshape(to_gates, (-1, to_gates.shape[2]))
    return xp.matmul(xp.permute_dims(rows, (1, 0)), xp.reshape(states, (-1, states.shape[2])))


lstm.shared(back=_lstm_back)
lstm.vjp(
    x=lambda xp, g, back: back[0],
    h=lambda xp, g, back: back[1],
    c=lambda xp, g, back: back[2],
    weight=lambda xp, g, back, h, out: _lstm_weight(xp, back, h, out),
)


@builtin(node="ThnnFusedGruCellBackward0", samples=[Sample(A(3, 6), A(3, 2), A(6, 2), A(6))])
def gru_advance(xp, x, h, weight, bias):
    """With y = h weight^T + bias: x_r + y_r, x_z + y_z, x_n and y_n side by side, (n, 3 h) to (n, 4 h)."""
    y, n = xp.matmul(h, xp.permute_dims(weight, (1, 0))) + bias, x.shape[1] // 3
    return xp.concat([x[:, : 2 * n] + y[:, : 2 * n], x[:, 2 * n :], y[:, 2 * n :]], axis=1)


def _gru_state_part(xp, g):
    n = g.shape[1] // 4
    return xp.concat([g[:, : 2 * n], g[:, 3 * n :]], axis=1)


gru_advance.vjp(
    x=lambda xp, g: g[:, : g.shape[1] // 4 * 3],
    h=lambda xp, g, weight: xp.matmul(_gru_state_part(xp, g), weight),
    weight=lambda xp, g, h: xp.matmul(xp.permute_dims(_gru_state_part(xp, g), (1, 0)), h),
    bias=lambda xp, g: xp.sum(_gru_state_part(xp, g), axis=(0,)),
)


def _gru_parts(xp, gates):
    """r and z, logistic; the state's share y in the candidate m = tanh(x + r y); and m."""
    n = gates.shape[1] // 4
    both = sigmoid.forward(xp, gates[:, : 2 * n])
    r, y = both[:, :n], gates[:, 3 * n :]
    return r, both[:, n:], y, xp.tanh(gates[:, 2 * n : 3 * n] + r * y)


@builtin(node="ThnnFusedGruCellBackward0", samples=[Sample(A(3, 8), A(3, 2))])
def gru_state(xp, gates, h):
    """Of what `gru_advance` gives, the next state of a gated recurrent unit: m + z (h - m), m = tanh(x + r y)."""
    _, z, _, m = _gru_parts(xp, gates)
    return m + z * (h - m)


def _gru_gates_share(xp, g, gates, h):
    r, z, y, m = _gru_parts(xp, gates)
    inner = g * (1 - z) * (1 - m * m)
    return xp.concat([inner * y * (r * (1 - r)), g * (h - m) * (z * (1 - z)), inner, inner * r], axis=1)


gru_state.vjp(
    gates=_gru_gates_share,
    h=lambda xp, g, gates: g * sigmoid.forward(xp, gates[:, gates.shape[1] // 4 : gates.shape[1] // 2]),
)
