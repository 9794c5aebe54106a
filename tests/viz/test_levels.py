"""A graph as a tree of groups: every node once, every edge drawn, no line through the wrong place."""

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradwright as gw
from gradwright import nn, viz
from gradwright.viz.levels import BOTTOM, LARGE, MOST, TOP, Group, levels
from gradwright.viz.records import Edge, Graph, GraphNode

pytest.importorskip("igraph", reason="igraph is not installed: no layouts")


@st.composite
def graphs(draw: Any, largest: int = 90) -> Graph:
    """Graphs without cycles, with modules that come and go."""
    count = draw(st.integers(1, largest))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    paths = [None, "Net", "Net.a", "Net.a.0", "Net.b", "Other"]
    nodes, path, order = [], None, 3
    for k in range(count):
        if rng.random() < 0.2:
            path = paths[rng.integers(len(paths))]
        order = order - 1 if order > 1 and rng.random() < 0.02 else order
        nodes.append(GraphNode(k, "MulBackward0", "output" if k == 0 else "op", module=path, order=order))
    edges = {(int(rng.integers(k)), k) for k in range(1, count) for _ in range(rng.integers(1, 4))}
    slots = np.zeros(count, int)
    made = []
    for a, b in sorted(edges):
        made.append(Edge(a, b, 0, int(slots[a])))
        slots[a] += 1
    return Graph(tuple(nodes), tuple(made), (0,))


def ways(whole: Group) -> dict[int, list[Group]]:
    """For each node the groups that it is in, from the outside in."""
    found = {}
    stack = [(whole, [whole])]
    while stack:
        group, way = stack.pop()
        for m in group.members:
            if isinstance(m, Group):
                stack.append((m, [*way, m]))
            else:
                assert m not in found, "a node is in one group"
                found[m] = way
    return found


@given(graphs())
def test_groups_of_any_graph(graph: Graph) -> None:
    whole = levels(graph)
    every_node_is_in_one_group_and_every_edge_can_be_followed(graph, whole)
    inner = {e.source for e in graph.edges}
    for group in whole.walk():
        lines_go_up_layer_by_layer_between_things_that_stand_apart(group)
        assert sum(not isinstance(m, int) or m in inner for m in group.members) <= MOST, "too large to be looked at"
        assert group.kind == "graph" or len(group.members) > 1


def every_node_is_in_one_group_and_every_edge_can_be_followed(graph: Graph, whole: Group) -> None:
    home = ways(whole)
    assert sorted(home) == [n.id for n in graph.nodes]
    counted = 0
    for e in graph.edges:
        below, above = home[e.source], home[e.target]
        shared = sum(a is b for a, b in zip(below, above, strict=False))
        down = [*below[shared:], e.source]
        up = [*above[shared:], e.target]
        wanted = [(below[shared - 1], down[0], up[0])]
        wanted += [(g, m, TOP) for g, m in pairwise(down)]
        wanted += [(g, BOTTOM, m) for g, m in pairwise(up)]
        for group, lower, upper in wanted:
            ends = [m if isinstance(m, int) and m < 0 else group.members.index(m) for m in (lower, upper)]
            assert any([s.lower, s.upper] == ends for s in group.segments)
        counted += len(wanted)
    assert counted == sum(s.count for g in whole.walk() for s in g.segments)


def lines_go_up_layer_by_layer_between_things_that_stand_apart(group: Group) -> None:
    at = {rim: len(group.members) + k for k, rim in enumerate(group.rims)}
    assert len(group.places) == len(group.members) + len(at)
    for s in group.segments:
        (_, low), (_, high) = (group.places[at.get(end, end)] for end in (s.lower, s.upper))
        assert high - low == len(s.bends) + 1
    if TOP in at:
        assert group.places[at[TOP]][1] > max(layer for _, layer in group.places[: len(group.members)])
    layers: dict[int, list[float]] = {}
    for x, layer in group.places:
        layers.setdefault(layer, []).append(x)
    assert all(b - a > 0.99 for row in map(sorted, layers.values()) for a, b in pairwise(row))


def test_modules_are_groups_one_for_each_call() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cell = nn.Sequential(nn.Linear(2, 2), nn.Tanh())

        def forward(self, x: Any) -> Any:
            return self.cell(self.cell(x) * 2)

    net = Net()
    with viz.trace():
        y = net(gw.ones(1, 2)).sum()
    groups = list(levels(viz.graph(y, params=net)).walk())
    assert {"Net", "Net.cell", "Net.cell, call 2"} <= {g.title for g in groups}
    graph = viz.graph(y, params=net)
    shared = next(g for g in levels(graph).walk() if g.title == "Net")
    labels = [graph.nodes[m].label for m in shared.members if isinstance(m, int)]
    assert {"cell.0.weight", "cell.0.bias"} <= set(labels), "used by both calls, so in neither"


def test_a_large_graph_of_a_second_derivative_is_divided_by_orders() -> None:
    x = gw.ones(3, requires_grad=True)
    y = x
    for _ in range(LARGE // 2):
        y = y.sin()
    (g,) = gw.autograd.grad(y.sum(), x, create_graph=True)
    titles = [m.title for m in levels(viz.graph(g.sum())).members if isinstance(m, Group)]
    assert titles == ["backward", "forward"]


def test_many_leaves_are_divided_too() -> None:
    leaves = [gw.ones(1, requires_grad=True) for _ in range(500)]
    whole = levels(viz.graph(gw.stack(leaves).sum()))
    assert len(whole.members) <= 2 * MOST
    assert sorted(whole.nodes()) == list(range(503))
    assert max(len(g.members) for g in whole.walk()) <= 2 * MOST


def test_a_long_chain_is_folded_into_parts_of_parts() -> None:
    x = gw.ones(2, requires_grad=True)
    y = x
    for _ in range(3000):
        y = y * 1.0
    whole = levels(viz.graph(y.sum()))
    assert max(len(g.members) for g in whole.walk()) <= MOST + 1
    assert sorted(whole.nodes()) == list(range(3003))
    assert any(re.fullmatch(r"part 3: \d+ × Mul", g.title) for g in whole.walk())
