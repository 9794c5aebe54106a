"""Nodes, and what is done with everything in their arguments."""

import importlib
from collections import namedtuple

from gradwright.pytorch.fx.graph import Graph
from gradwright.pytorch.fx.node import map_aggregate, map_arg

Pair = namedtuple("Pair", "a b")


def test_everything_inside_is_reached(torch):
    theirs = importlib.import_module("torch.fx.node")
    given = (1, [2, {"k": 3}], slice(4, None, 5), Pair(6, (7,)), "s", None)
    double = lambda x: x * 2 if isinstance(x, int) else x
    assert map_aggregate(given, double) == theirs.map_aggregate(given, double)
    assert type(map_aggregate(given, double)[3]) is Pair


def test_nodes_alone_are_reached():
    graph = Graph()
    x = graph.placeholder("x")
    assert map_arg([x, 1, (x, "x")], lambda n: n.name) == ["x", 1, ("x", "x")]
    assert graph.call_method("sum", (x,), {"dim": 0}).format_node() == (
        "%sum_1 : [num_users=0] = call_method[target=sum](args = (x,), kwargs = {'dim': 0})")  # fmt: skip
    assert "placeholder[target=x]" in str(graph)
