"""Shapes that a graph tells are those that the results had; many are told."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright import nn, viz
from tests.functions import function


def known(program: Callable[[], Any]) -> tuple[list[Any], list[Any]]:
    """Shape and dtype of each node as the graph tells them, and as they were."""
    with viz.trace():
        traced = viz.graph(program())
    told = viz.graph(program())
    assert [n.name for n in told.nodes] == [n.name for n in traced.nodes]
    return [(n.shape, n.dtype) for n in told.nodes], [(n.shape, n.dtype) for n in traced.nodes]


def network() -> Any:
    gw.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8, 3))
    return nn.functional.cross_entropy(net(gw.ones(2, 1, 6, 6)), gw.tensor([0, 1]))


def elementwise() -> Any:
    x = gw.ones(3, 1, requires_grad=True)
    y = (x + gw.ones(4, requires_grad=True)) * 2
    return (y.sin() + y + 1.0).double().exp() - x


def several() -> Any:
    a, b = gw.ones(4, 2, requires_grad=True).split([1, 3])
    return a + b.sum(0), b.max(dim=0)[0].exp()


def complex_() -> Any:
    z = gw.ones(3, dtype=gw.complex64, requires_grad=True)
    x = gw.ones(3, requires_grad=True)
    return (z * z).abs().sum(), z.exp().real, gw.complex(x, x * 2) * 2, gw.fft.rfft(x).abs()


def functions() -> Any:
    Two = function("Two", lambda ctx, x, n, y: (x[:n], y.sum()), lambda ctx, g, h: (g, None, h))

    x = gw.ones(4, 2, requires_grad=True)
    return Two.apply(x + 1, 2, (x.t() * 2).double())


@pytest.mark.parametrize("program", [network, elementwise, several, complex_, functions])
def test_what_is_told_is_true(program: Callable[[], Any]) -> None:
    told, true = known(program)
    for (shape, dtype), (true_shape, true_dtype) in zip(told, true, strict=True):
        assert shape in (None, true_shape)
        assert dtype in (None, true_dtype)
    assert sum(shape is not None for shape, _ in told) >= 0.7 * len(told)
    assert sum(dtype is not None for _, dtype in told) >= 0.7 * len(told)


def test_random_programs() -> None:
    random = np.random.default_rng(0)
    for _ in range(20):
        seed = int(random.integers(1 << 30))

        def program(seed: int = seed) -> Any:
            choose = np.random.default_rng(seed)
            ts = [gw.ones(*s, requires_grad=True) for s in ((3,), (2, 3), (2, 1), ())]
            for _ in range(12):
                a, b = (ts[choose.integers(len(ts))] for _ in range(2))
                made = [a + b, a * b, a.exp() * 0.1, a.sum(), a.unsqueeze(0), a - 2.0 * b, (a * b).tanh(), a.double()]
                new = made[choose.integers(len(made))]
                ts.append(new if new.dim() < 5 else new.sum())
            return sum(t.sum() for t in ts[-4:])

        told, true = known(program)
        assert all(s in (None, ts) and d in (None, td) for (s, d), (ts, td) in zip(told, true, strict=True))


def test_all_of_a_freed_chain_is_told() -> None:
    x = gw.ones(5, requires_grad=True)
    y = (x + x).exp().neg()
    y.sum().backward()
    assert {n.shape for n in viz.graph(y).nodes} == {(5,)}
