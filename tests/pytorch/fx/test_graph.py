"""Graphs made by hand, changed and checked, as PyTorch's are."""

import copy
import importlib
import operator
import subprocess
import sys

import pytest

import gradwright as gw
from gradwright.pytorch import fx
from gradwright.pytorch.seldom import _assert


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


def test_moves_keep_the_list_whole(T):
    _, fx = T
    graph = made(fx)
    names = [n.name for n in graph.nodes]
    x, y, *_ = graph.nodes
    x.append(x.next)
    y.prepend(y)
    y.append(y)
    y.prepend(x)
    assert [n.name for n in graph.nodes] == names
    other = fx.Graph().placeholder("z")
    for move in (x.append, x.prepend):
        with pytest.raises((RuntimeError, AssertionError), match="Attempting to move a Node into a different Graph"):
            move(other)
    assert (len(graph.nodes), [n.name for n in other.graph.nodes]) == (5, ["z"])


def test_what_does_more_than_give_a_value_is_not_dead(T):
    T, fx = T
    check = _assert if T is gw else T._assert

    def f(x):
        check(x.sum() > 0, "no")
        for unused in (T.rand_like, T.bernoulli, T.sin, T.nn.functional.dropout):
            unused(x)
        return x * 2

    for asked in (None, lambda n: n.name in ("x", "sin", "mul", "output")):
        graph = fx.Tracer().trace(f)
        assert graph.eliminate_dead_code(asked)
        due = ["sin"] if asked else ["sum_1", "gt", "_assert", "rand_like", "bernoulli"]
        assert [n.name for n in graph.nodes] == ["x", *due, "mul", "output"]


def test_what_writes_is_not_dead_either():
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.call_method("add_", (x, 1))
    graph.call_function(operator.setitem, (x, 0, 1))
    graph.call_function(operator.iadd, (x, 1))
    graph.call_function(gw.nn.functional.relu, (x,), {"inplace": True})
    graph.call_function(gw.add, (x, 1), {"out": x})
    graph.call_method("bernoulli", (x,))
    kept = len(graph.nodes)
    graph.call_function(operator.and_, (x, x))
    graph.call_method("__invert__", (x,))
    graph.call_function(gw.nn.functional.relu, (x,), {"inplace": False})
    graph.call_module("layer", (x,))
    assert graph.eliminate_dead_code()
    assert len(graph.nodes) == kept
    graph.owning_module = gw.nn.Module()
    graph.owning_module.layer = gw.nn.Identity()
    graph.owning_module.layer._is_impure = True
    graph.call_module("layer", (x,))
    assert not graph.eliminate_dead_code()


def test_a_function_that_a_module_of_pytorchs_serves_draws_as_well():
    program = (
        "from gradwright.pytorch import hook; hook.install()\n"
        "import torch; from torch import fx\n"
        "graph = fx.Tracer().trace(lambda x: (torch.rand_like(x), x * 2)[1])\n"
        "graph.eliminate_dead_code(); print([node.name for node in graph.nodes])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "['x', 'rand_like', 'mul', 'output']\n"
