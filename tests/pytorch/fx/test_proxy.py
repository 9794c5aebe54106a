"""What is done with proxies becomes nodes, as PyTorch's does."""

import importlib
import operator

import pytest

import gradwright as gw
from gradwright.pytorch import fx as ours
from gradwright.pytorch.fx.proxy import GraphAppendingTracer, TraceError


def drawn(T, fx, tracer):
    graph = fx.Graph()
    t = tracer(graph)
    x, y = (fx.Proxy(graph.placeholder(name), t) for name in "xy")
    z = T.einsum("ij,kj->ik", [x, y]) * 2.0 + x.shape[0]
    a, b = z.t().max(dim=1)
    c = T.cat([a.unsqueeze(0), x[:, 0:2].reshape(1, -1)], dim=-1).sin().relu() - (1 - b.sum() ** 2)
    graph.output(T.tensordot(c, -c, dims=([0, 1], [0, 1])).node)
    graph.lint()
    return graph


def test_graphs_are_pytorchs(torch):
    theirs = importlib.import_module("torch.fx")
    graphs = [drawn(torch, theirs, theirs.proxy.GraphAppendingTracer), drawn(gw, ours, GraphAppendingTracer)]
    for their, our in zip(*(graph.nodes for graph in graphs), strict=True):
        assert (our.op, our.name, str(our.args)) == (their.op, their.name, str(their.args))
        assert getattr(our.target, "__name__", our.target) == getattr(their.target, "__name__", their.target)
    found = []
    for T, fx, graph in ((torch, theirs, graphs[0]), (gw, ours, graphs[1])):
        x, y = (T.arange(6.0).reshape(3, 2) / k for k in (2, 3))
        x.requires_grad_()
        value = fx.GraphModule({}, graph)(x, y=y)
        value.backward()
        found.append([value.item(), *x.grad.flatten().tolist()])
    assert found[1] == pytest.approx(found[0], rel=1e-5)


def test_values_are_not_known():
    x = ours.Proxy(ours.Graph().placeholder("x"))
    with pytest.raises(TraceError, match="control flow"):
        bool(x > 0)
    with pytest.raises(TraceError, match="cannot be iterated"):
        list(x)
    with pytest.raises(TraceError, match="'len' is not supported"):
        len(x)
    assert repr(x) == "Proxy(x)"
    assert (x == 1).node.target is operator.eq
    assert not hasattr(x, "__array__")
