"""One step of a recurrent network, cut where the parts of its derivative are shared.

A step takes x (n, k h), what its input contributes to k gates, and the state h (n, h): `advance` adds what the state
contributes, an activation or `lstm_gates` follows, and `lstm_state` or `gru_state` makes the next state.
"""

from __future__ import annotations

from gradwright.op import A, Sample, builtin


@builtin(node="AddmmBackward0", samples=[Sample(A(3, 4), A(3, 2), A(4, 2))])
def advance(xp, x, h, weight):
    """x + h weight^T for x (n, m), h (n, k), weight (m, k)."""
    return x + xp.matmul(h, xp.permute_dims(weight, (1, 0)))


advance.vjp(
    x=lambda xp, g: g,
    h=lambda xp, g, weight: xp.matmul(g, weight),
    weight=lambda xp, g, h: xp.matmul(xp.permute_dims(g, (1, 0)), h),
)


@builtin(node="ThnnFusedLstmCellBackward0", samples=[Sample(A(3, 8))])
def lstm_gates(xp, x):
    """The gates of a long short-term memory, side by side: input, forget, candidate, output; all logistic but that."""
    n = x.shape[-1] // 4
    return xp.concat([_logistic(xp, x[:, : 2 * n]), xp.tanh(x[:, 2 * n : 3 * n]), _logistic(xp, x[:, 3 * n :])], axis=1)


def _logistic(xp, x):
    return 1 / (1 + xp.exp(-x))


def _lstm_gates_slope(xp, g, out):
    n = out.shape[-1] // 4
    slope, candidate = out * (1 - out), out[:, 2 * n : 3 * n]
    return g * xp.concat([slope[:, : 2 * n], 1 - candidate * candidate, slope[:, 3 * n :]], axis=1)


lstm_gates.vjp(x=_lstm_gates_slope)


def _quarters(x):
    n = x.shape[-1] // 4
    return x[:, :n], x[:, n : 2 * n], x[:, 2 * n : 3 * n], x[:, 3 * n :]


@builtin(node="ThnnFusedLstmCellBackward0", samples=[Sample(A(3, 8), A(3, 2))], several=True)
def lstm_state(xp, gates, c):
    """Of gates i, f, z, o: the next states h' = o tanh c' and c' = f c + i z."""
    i, f, z, o = _quarters(gates)
    c = f * c + i * z
    return [o * xp.tanh(c), c]


def _memory(xp, g, o, out):
    """The cotangent of c', also through h', and tanh c'."""
    t = xp.tanh(out[1])
    return g[1] + g[0] * o * (1 - t * t), t


def _lstm_gates_share(xp, g, gates, c, out):
    i, _, z, o = _quarters(gates)
    d, t = _memory(xp, g, o, out)
    return xp.concat([d * z, d * c, d * i, g[0] * t], axis=1)


def _lstm_memory_share(xp, g, gates, out):
    _, f, _, o = _quarters(gates)
    return _memory(xp, g, o, out)[0] * f


lstm_state.vjp(gates=_lstm_gates_share, c=_lstm_memory_share)


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
    both = _logistic(xp, gates[:, : 2 * n])
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
    h=lambda xp, g, gates: g * _logistic(xp, gates[:, gates.shape[1] // 4 : gates.shape[1] // 2]),
)
