"""Folded graphs: as small as asked for, without cycles, and true to what they stand for."""

import time
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright import nn, viz
from gradwright.viz.fold import chains, fold
from gradwright.viz.records import Edge, Graph, GraphNode


def chain(n: int) -> Graph:
    """A graph of a chain, made of records."""
    nodes = [GraphNode(0, "Output", "output"), *(GraphNode(k, "MulBackward0") for k in range(1, n + 1)),
             GraphNode(n + 1, "AccumulateGrad", "accumulate")]  # fmt: skip
    return Graph(tuple(nodes), tuple(Edge(k, k + 1) for k in range(n + 1)), (0,))


def is_sound(folded: Graph, whole: Graph) -> None:
    """What holds of every fold."""
    assert [n.id for n in folded.nodes] == list(range(len(folded.nodes)))
    assert all(e.source < e.target for e in folded.edges)
    assert list(folded.edges) == sorted(folded.edges, key=lambda e: (e.source, e.input))
    assert sum(n.count for n in folded.nodes) == len(whole.nodes)
    assert [folded.nodes[r].kind for r in folded.roots] == [whole.nodes[r].kind for r in whole.roots]
    if folded is not whole:
        assert folded.whole == whole.stats
    reached, stack = set(folded.roots), list(folded.roots)
    while stack:
        fresh = {e.target for e in folded.outgoing[stack.pop()]} - reached
        reached |= fresh
        stack += fresh
    assert len(reached) == len(folded.nodes)


def test_a_small_graph_stays_as_it_is() -> None:
    graph = chain(10)
    assert fold(graph) is graph


def test_a_chain_is_one_node() -> None:
    whole = chain(1000)
    folded = fold(whole)
    is_sound(folded, whole)
    assert [(n.name, n.kind, n.count) for n in folded.nodes] == [
        ("Output", "output", 1), ("1,000 × MulBackward0", "group", 1000), ("AccumulateGrad", "accumulate", 1),
    ]  # fmt: skip
    assert [(e.source, e.target) for e in folded.edges] == [(0, 1), (1, 2)]
    assert fold(folded, 1).nodes == folded.nodes


def test_what_repeats_may_be_several_operations_and_have_branches() -> None:
    x, w = gw.ones(2, 2, requires_grad=True), gw.ones(2, 2, requires_grad=True)
    for _ in range(100):
        x = (x @ w.t() + 1.0).tanh()
    whole = viz.graph(x)
    folded = fold(whole, 20)
    is_sound(folded, whole)
    assert [n.name for n in folded.nodes if n.kind == "group"] == [
        "99 × (TanhBackward0 → AddBackward0 → MmBackward0)"]  # fmt: skip
    assert len([n for n in folded.nodes if n.kind == "accumulate"]) == 2  # shared by all, so it is shown


def test_a_branch_that_others_use_stays_outside() -> None:
    y, w = gw.ones(2, requires_grad=True), gw.ones(2, requires_grad=True)
    scale = w.sin()
    for _ in range(50):
        y = (y * scale).tanh()
    whole = viz.graph(y)
    folded = fold(whole, 10)
    is_sound(folded, whole)
    assert [n.name for n in folded.nodes] == [
        "Output", "50 × (TanhBackward0 → MulBackward0)", "SinBackward0", "AccumulateGrad", "AccumulateGrad",
    ]  # fmt: skip


def test_layers_that_are_no_chain_repeat_too() -> None:
    x, w = gw.ones(2, 2, requires_grad=True), gw.ones(2, 2, requires_grad=True)
    for _ in range(50):
        x = x + (x @ w).tanh() * (x @ w.t()).sin()
    whole = viz.graph(x, params={"w": w})
    folded = fold(whole, 20)
    is_sound(folded, whole)
    assert next(n.name for n in folded.nodes if n.kind == "group").startswith("49 × (")
    assert [n.label for n in folded.nodes if n.kind == "accumulate"][-1] is None
    assert "w" in [n.label for n in folded.nodes]


def test_what_is_used_elsewhere_ends_a_chain() -> None:
    y = x = gw.ones(2, requires_grad=True)
    kept = []
    for k in range(100):
        y = y * 1.1
        if k % 20 == 10:
            kept.append(y)
    whole = viz.graph((y, *kept))
    folded = fold(whole, 20)
    is_sound(folded, whole)
    assert [n.name for n in folded.nodes if n.kind == "group"] == [
        "9 × MulBackward0", *["20 × MulBackward0"] * 4, "11 × MulBackward0"]  # fmt: skip
    assert x.grad is None


def test_bytes_of_one_memory_are_counted_once() -> None:
    x = gw.ones(100, requires_grad=True)
    data = gw.ones(100)
    for _ in range(10):
        x = x * data
    (group,) = [n for n in chains(viz.graph(x)).nodes if n.kind == "group"]
    assert (group.saved[0].name, group.saved[0].nbytes) == ("10 values", 400)


def test_a_group_says_what_became_of_its_nodes() -> None:
    @gw.autograd.surrogate("straight through")
    class Sign(gw.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.sign()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g

    x = gw.ones(2, requires_grad=True)
    data = gw.ones(2)
    y = x
    for _ in range(10):
        y = -Sign.apply(y) * data
    groups = [n for n in chains(viz.graph(y)).nodes if n.kind == "group"]
    assert [(n.reason, n.freed, n.saved[0].changed) for n in groups] == [("straight through", False, False)]
    data.add_(1)
    assert [n.saved[0].changed for n in chains(viz.graph(y)).nodes if n.kind == "group"] == [True]
    y = x
    for _ in range(10):
        y = -y.exp()
    y.sum().backward()
    assert [n.freed for n in chains(viz.graph(y)).nodes if n.kind == "group"] == [True], "though negations keep nothing"


def test_values_are_counted_in_groups_of_groups() -> None:
    net = nn.Sequential(*(nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4), nn.GELU()) for _ in range(12)))
    with viz.trace():
        y = net(gw.ones(2, 4)).sum()
    whole = viz.graph(y, params=net)
    folded = fold(whole, 10)
    inside = [s.name for n in folded.nodes if n.kind == "group" for s in n.saved]
    outside = sum(len(n.saved) for n in folded.nodes if n.kind != "group")
    assert sum(int(name.removesuffix(" values")) for name in inside) + outside == sum(len(n.saved) for n in whole.nodes)


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(4, 4)
        self.norm = nn.LayerNorm(4)

    def forward(self, x: Any) -> Any:
        return x + self.inner(self.norm(x)).tanh()


def network(depth: int) -> Graph:
    net = nn.Sequential(*[Block() for _ in range(depth)])
    with viz.trace():
        x = gw.ones(2, 4, requires_grad=True)
        y = net(x).sum()
    return viz.graph(y, params={"x": x, **dict(net.named_parameters())})


def test_modules_are_folded_from_the_inside() -> None:
    whole = network(12)
    folded = fold(whole, 40)
    is_sound(folded, whole)
    assert [n.name for n in folded.nodes if n.kind == "group"] == [f"Sequential.{k}" for k in range(11, -1, -1)]
    assert [n.label for n in folded.nodes if n.kind == "accumulate"] == ["x"]
    inner = fold(whole, 110)
    is_sound(inner, whole)
    groups = {n.name for n in inner.nodes if n.kind == "group"}
    assert {"Sequential.0.norm", "Sequential.0.inner"} <= groups
    assert "Sequential.0" not in groups


def test_too_many_modules_are_taken_together() -> None:
    whole = network(60)
    folded = fold(whole, 20)
    is_sound(folded, whole)
    assert len(folded.nodes) <= 25
    groups = [n.name for n in folded.nodes if n.kind == "group"]
    assert any(" … " in name for name in groups)


def random_graph(n: int, seed: int) -> Graph:
    random = np.random.default_rng(seed)
    nodes = [GraphNode(0, "Output", "output")]
    nodes += [GraphNode(k, f"Op{random.integers(3)}", module=f"M.{k // 7}" if random.random() < 0.7 else None)
              for k in range(1, n)]  # fmt: skip
    edges = {(int(random.integers(max(0, k - 6), k)), k) for k in range(1, n) for _ in range(2)}
    leaves = [GraphNode(n + k, "AccumulateGrad", "accumulate") for k in range(5)]
    edges |= {(int(random.integers(n)), n + k) for k in range(5) for _ in range(3)}
    return Graph((*nodes, *leaves), tuple(Edge(a, b, 0, b) for a, b in sorted(edges)), (0,))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("limit", [10, 40])
def test_any_graph_gets_small_enough(seed: int, limit: int) -> None:
    whole = random_graph(300, seed)
    folded = fold(whole, limit)
    is_sound(folded, whole)
    assert len(folded.nodes) <= limit + 6
    is_sound(chains(whole, period=2, least=2), whole)


def test_a_deep_graph_with_sharing_takes_no_exponential_time() -> None:
    x = gw.ones(1, requires_grad=True)
    for _ in range(300):
        x = x.sin() * x.cos()
    whole = viz.graph(x)
    start = time.perf_counter()
    folded = fold(whole, 50)
    assert time.perf_counter() - start < 2
    is_sound(folded, whole)
    assert len(folded.nodes) <= 55


def test_a_chain_of_a_hundred_thousand_is_folded_in_no_time() -> None:
    whole = chain(100_000)
    start = time.perf_counter()
    assert len(fold(whole).nodes) == 3
    assert time.perf_counter() - start < 5
