"""Modules and functions traced, as PyTorch's are."""

import copy
import importlib

import pytest

import gradwright as gw
from gradwright.around import fx as ours


def net(T):
    class Net(T.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = T.nn.Sequential(T.nn.Linear(2, 3), T.nn.Tanh())
            self.w = T.nn.Parameter(T.ones(3))
            self.register_buffer("shift", T.full((1,), 0.5))

        def forward(self, x, k: int = 2, *, flip=False):
            return (self.inner(x) @ self.w) * k + self.shift + T.ones(1)

    module = Net()
    with T.no_grad():
        for n, p in enumerate(module.parameters()):
            p.copy_(T.arange(float(p.numel())).reshape(p.shape) / (n + 3))
    return module


def test_graphs_are_pytorchs(torch):
    theirs = importlib.import_module("torch.fx")
    found = []
    for T, fx in ((torch, theirs), (gw, ours)):
        module = net(T)
        traced = fx.symbolic_trace(module)
        x = T.ones(4, 2)
        assert T.equal(traced(x), module(x))
        assert T.equal(traced(x, k=3), module(x, 3))
        assert isinstance(traced, T.nn.Module)
        traced(x).sum().backward()
        assert module.w.grad is traced.w.grad is not None
        found.append(([(n.op, n.name) for n in traced.graph.nodes], sorted(traced.state_dict())))
    assert found[0] == found[1]


def test_functions_and_arguments_that_are_values():
    double = ours.symbolic_trace(lambda x, n: gw.relu(x).view(-1) * n, concrete_args={"n": 2})
    assert double(gw.tensor([[1.0, -1.0]])).tolist() == [2.0, 0.0]
    with pytest.raises(RuntimeError, match="Expected positional argument for parameter x"):
        double()
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        double(z=1)


def test_modules_are_gone_through_only_while_tracing():
    kept = gw.nn.Module.__call__
    with pytest.raises(ours.proxy.TraceError):
        ours.symbolic_trace(lambda x: x if x > 0 else -x)
    assert gw.nn.Module.__call__ is kept


def test_copies_run_alike():
    traced = ours.symbolic_trace(net(gw))
    x = gw.ones(4, 2)
    assert gw.equal(copy.deepcopy(traced)(x), traced(x))
