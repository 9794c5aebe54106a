"""Graphs made by hand, changed and checked, as PyTorch's are."""

import copy
import importlib
import operator

import pytest

import gradwright as gw
from gradwright.around import fx


@pytest.fixture(params=["gradwright", "torch"])
def T(request):
    if request.param == "gradwright":
        return gw, fx
    return request.getfixturevalue("torch"), importlib.import_module("torch.fx")


def made(fx):
    graph = fx.Graph()
    x, y = graph.placeholder("x"), graph.placeholder("y", default_value=2.0)
    s = graph.call_function(operator.mul, (x, y))
    t = graph.call_method("sum", (s,), {"dim": 0})
    graph.output((t, {"s": [s, 1]}))
    return graph


def test_nodes_are_pytorchs(T):
    _, fx = T
    graph = made(fx)
    graph.lint()
    x, y, s, t, out = graph.nodes
    assert [n.name for n in graph.nodes] == ["x", "y", "mul", "sum_1", "output"]
    assert (list(x.users), list(s.users), s.all_input_nodes, out.all_input_nodes) == ([s], [t, out], [x, y], [t, s])
    assert (s.next, s.prev, len(graph.nodes), graph.output_node()) == (t, y, 5, out)
    assert [n.name for n in reversed(graph.nodes)] == ["output", "sum_1", "mul", "y", "x"]
    assert [n.name for n in graph.find_nodes(op="placeholder")] == ["x", "y"]
    with graph.inserting_before(s):
        a = graph.call_function(operator.add, (x, 1))
    with graph.inserting_after(s):
        b = graph.call_function(operator.mul, (s, 3))
    s.replace_input_with(x, a)
    s.replace_all_uses_with(b, lambda user: user is not b)
    assert [n.name for n in graph.nodes] == ["x", "y", "add", "mul", "mul_1", "sum_1", "output"]
    assert (s.args, t.args, b.args) == ((a, y), (b,), (s, 3))
    with pytest.raises(RuntimeError, match="still had 1 users"):
        graph.erase_node(s)
    t.append(unused := graph.call_method("sin", (t,)))
    assert [n.name for n in graph.nodes][-3:] == ["sum_1", unused.name, "output"]
    assert graph.eliminate_dead_code()
    assert not graph.eliminate_dead_code()
    b.update_arg(1, 5)
    t.update_kwarg("dim", 1)
    assert (b.args[1], t.kwargs) == (5, {"dim": 1})
    x.append(s)
    with pytest.raises(RuntimeError, match="before it has been defined"):
        graph.lint()


def test_copies(T):
    T, fx = T
    graph = made(fx)
    for other in (copy.deepcopy(graph), copy.copy(graph) if T is gw else graph):
        assert [(n.op, n.name, n.target) for n in other.nodes] == [(n.op, n.name, n.target) for n in graph.nodes]
        other.lint()
        total, parts = fx.GraphModule({}, other)(T.ones(2, 3))
        assert (total.tolist(), parts["s"][1]) == ([4.0] * 3, 1)
    inside = fx.Graph()
    values = {n: inside.placeholder(n.name) for n in graph.nodes if n.op == "placeholder"}
    assert inside.graph_copy(graph, values)[0].name == "sum_1"
    other = fx.Graph()
    other.call_function(operator.neg, (next(iter(graph.nodes)),))
    with pytest.raises(RuntimeError, match="does not belong to this Graph"):
        other.lint()


def test_what_is_no_op_is_refused():
    with pytest.raises(ValueError, match="expected an op among placeholder"):
        fx.Graph().create_node("call", len)
    with pytest.raises(RuntimeError, match="has no output"):
        fx.Graph().output_node()
