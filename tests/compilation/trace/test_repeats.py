"""What an optimiser does for each parameter is run once for each kind of them, and is what an eager run does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright.compilation.trace.trace import Before, Trace

SHAPES = [((3, 2), gw.float32), ((3, 2), gw.float32), ((3,), gw.float32), ((3, 2), gw.float64), ((2,), gw.complex64),
          ((2,), gw.complex64), ((3,), gw.bfloat16), ((3,), gw.bfloat16)]  # fmt: skip
OPTIMIZERS = {
    "SGD": {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}, "Adam": {"amsgrad": True, "maximize": True},
    "NAdam": {}, "RAdam": {}, "Adagrad": {"lr_decay": 0.1}, "RMSprop": {"centered": True}, "Rprop": {},
}  # fmt: skip


def made(name: str) -> tuple[Any, list[Any], Any]:
    """A step over parameters of several kinds in two groups, and these."""
    rng = np.random.default_rng(0)
    cls = getattr(gw.optim, name)
    params = []
    for shape, dtype in SHAPES:
        values = rng.normal(size=shape) + 1j * rng.normal(size=shape)
        values = values if dtype.is_complex else values.real
        params.append(gw.tensor(values, dtype=dtype, requires_grad=True))
    optim = cls([{"params": params[:4], "lr": 0.1}, {"params": params[4:], "lr": 0.02}], lr=0.1, **OPTIMIZERS[name])

    def step() -> Any:
        optim.zero_grad()
        loss = sum((p * p.conj()).real.float().sum() * k for k, p in enumerate(params, 1))
        loss.backward()
        optim.step()
        return loss

    return step, params, optim


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_parameters_of_several_kinds(name: str) -> None:
    step, mine, optim = made(name)
    eager, theirs, other = made(name)
    compiled = gw.compile(step, backend="plan", exact=True, fullgraph=True)
    for _ in range(6):
        assert compiled() == eager()
    for p, q in zip(mine, theirs, strict=True):
        assert p.detach().numpy().tobytes() == q.detach().numpy().tobytes()
        for key, value in other.state[q].items():
            held = optim.state[p][key]
            assert (held == value).all() if isinstance(value, gw.Tensor) else held == value


def test_a_function_is_run_once_for_each_kind_of_tensors() -> None:
    runs = []

    def f(x: Any, y: Any) -> list[Any]:
        runs.append(x.dtype)
        return [x * 2 + y, x, y + 1]

    def looking(x: Any) -> list[Any]:
        runs.append(x.dtype)
        return [x * 2 if x.sum() > 0 else x]

    pairs = [(gw.full((2,), 1.0 + k, dtype=t), gw.ones(2, dtype=t)) for k in range(3) for t in (gw.float32, gw.float64)]
    same = [(x, x) for x, _ in pairs[::2]]
    trace = Trace(Before(), set())
    with trace:
        found = [trace.repeated("f", f, pair) for pair in (*pairs, *same)]
        looked = [trace.repeated("looking", looking, (x,)) for x, _ in pairs[::2]]
        nodes = [a.array.node.op for row in found for a in row]
        values = [[np.array(t.array.node.value) for t in row] for row in found]
        own = [row[1] is pair[0] for row, pair in zip(found, (*pairs, *same), strict=True)]
    trace.restore()
    assert len(looked) == 3
    assert runs == [gw.float32, gw.float64, gw.float32, *[gw.float32] * 3]
    assert nodes == ["add", "input", "add"] * 9
    assert all(own)
    for (a, b, c), (x, y) in zip(values, (*pairs, *same), strict=True):
        assert a.tolist() == (x * 2 + y).tolist()
        assert (b.tolist(), c.tolist()) == (x.tolist(), (y + 1).tolist())
        assert a.dtype == b.dtype == x.numpy().dtype
