"""From tensors to records: everything that next_functions leads to, and what is known of it."""

import sys
from typing import Any

import pytest

import gradwright as gw
from gradwright import viz
from gradwright.autograd import Function
from gradwright.function.contract.surrogate import surrogate
from gradwright.op import op
from gradwright.viz.records import Edge, Graph
from gradwright.viz.walk import alone


def reached(T: Any, *tensors: Any) -> set[tuple[str, str, int, int]]:
    """The edges that one finds by following next_functions: names, output and input."""
    found, seen, stack = set(), set(), [t.grad_fn for t in tensors if t.grad_fn is not None]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        for i, (target, output) in enumerate(node.next_functions):
            if target is not None:
                found.add((type(node).__name__, type(target).__name__, output, i))
                stack.append(target)
    return found


def edges(graph: Graph) -> set[tuple[str, str, int, int]]:
    names = [n.name for n in graph.nodes]
    inner = (e for e in graph.edges if graph.nodes[e.source].kind != "output")
    return {(names[e.source], names[e.target], e.output, e.input) for e in inner}


def network(T: Any) -> Any:
    T.manual_seed(0)
    x = T.ones(4, 3, requires_grad=True)
    w, b = T.ones(3, 2, requires_grad=True), T.ones(2, requires_grad=True)
    h = T.tanh(x @ w + b)
    left, right = h.split(1, dim=1)
    values, _ = (h @ w.t()).max(dim=1)
    y = h.clone()
    y[0].mul_(2.0)
    return (left * right).sum() + values.sum(), T.cat([y, h]).prod(), T.ones(4, 2) * h


def test_every_edge_is_there_and_no_other() -> None:
    tensors = network(gw)
    graph = viz.graph(tensors)
    assert edges(graph) == reached(gw, *tensors)
    assert len({n.id for n in graph.nodes}) == len(graph.nodes)
    assert [n.id for n in graph.nodes] == list(range(len(graph.nodes)))
    assert all(e.source < e.target for e in graph.edges)
    assert list(graph.edges) == sorted(graph.edges, key=lambda e: (e.source, e.input))


def test_it_is_pytorchs_graph(torch: Any) -> None:
    def simple(T: Any) -> Any:
        x = T.ones(3, requires_grad=True)
        a, b = (x.exp() * x).split([1, 2])
        return a.sum() + (b / x[0]).prod()

    assert edges(viz.graph(simple(gw))) == reached(torch, simple(torch))


# -- roots, names and kinds --


def test_outputs_come_first_and_are_named_by_their_keys() -> None:
    x = gw.ones(2, requires_grad=True)
    y = x * 2
    graph = viz.graph({"a": y, "b": y.sum(), "x": x, "again": y})
    assert graph.roots == (0, 1, 4)
    assert [(n.name, n.kind, n.label) for n in graph.nodes] == [
        ("Output", "output", "again"), ("Output", "output", "b"), ("SumBackward0", "op", None),
        ("MulBackward0", "op", None), ("AccumulateGrad", "accumulate", None)]  # fmt: skip


@pytest.mark.parametrize("many", [list, tuple, lambda ts: [ts[0], {"deep": ts[1:]}]])
def test_tensors_may_come_in_containers(many: Any) -> None:
    x = gw.ones(2, requires_grad=True)
    assert viz.graph(many([x * 2, x * 3])).roots == (0, 1)


def test_an_output_of_several_says_which() -> None:
    x = gw.ones(4, requires_grad=True)
    _, b = x.split(2)
    graph = viz.graph(b)
    assert graph.edges[0] == Edge(0, 1, 1, 0)
    assert graph.nodes[1].name == "SplitBackward0"


@pytest.mark.parametrize("form", [dict, lambda d: list(d.items())])
def test_parameters_are_named(form: Any) -> None:
    x, y = gw.ones(2, requires_grad=True), gw.ones(2, requires_grad=True)
    h = x * y
    graph = viz.graph(h.sum(), params=form({"x": x, "y": y, "h": h, "unused": gw.ones(1)}))
    assert {n.label for n in graph.nodes} == {"x", "y", "h", None}


def test_a_modules_parameters_are_named() -> None:
    net = gw.nn.Sequential(gw.nn.Linear(2, 3), gw.nn.Linear(3, 1))
    graph = viz.graph(net(gw.ones(1, 2)), params=net)
    assert {n.label for n in graph.nodes if n.kind == "accumulate"} == {"0.weight", "0.bias", "1.weight", "1.bias"}


class Mine(Function):
    """Twice the argument.

    And more of it.
    """

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        ctx.factor = 2
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 2


@surrogate("straight-through")
class Round(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.round()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g


@op(kind="elementwise")
def double(xp: Any, x: Any) -> Any:
    """Twice x."""
    return x + x


double.vjp(x=lambda xp, g: g + g)


def test_kinds_reasons_and_formulas() -> None:
    x = gw.ones(2, requires_grad=True)
    graph = viz.graph(Mine.apply(Round.apply(double(x))).exp())
    assert [(n.name, n.kind, n.reason, n.formula) for n in graph.nodes[2:5]] == [
        ("MineBackward", "custom", None, "Twice the argument."),
        ("RoundBackward", "surrogate", "straight-through", None),
        ("DoubleBackward0", "custom", None, "Twice x."),
    ]
    assert graph.nodes[1].kind == "op"
    assert "Exponential" in str(graph.nodes[1].formula)


def test_orders() -> None:
    x = gw.tensor([1.0, 2.0], requires_grad=True)
    (first,) = gw.autograd.grad(x.sin().sum(), x, create_graph=True)
    (second,) = gw.autograd.grad((first * x.exp()).sum(), x, create_graph=True)
    graph = viz.graph(second)
    assert {n.order for n in graph.nodes if n.name == "ExpBackward0"} == {1}
    assert {n.order for n in graph.nodes if n.name == "CosBackward0"} == {2}
    assert {n.order for n in graph.nodes if n.name == "NegBackward0"} == {3}


def test_anomaly_mode_tells_lines() -> None:
    with gw.autograd.detect_anomaly():
        y = gw.ones(1, requires_grad=True).exp()
    place = viz.graph(y).nodes[1].place
    assert place is not None
    assert (place.file, place.function, place.code) == (
        __file__, "test_anomaly_mode_tells_lines", "y = gw.ones(1, requires_grad=True).exp()")  # fmt: skip


def test_a_gradient_at_a_leaf_is_measured() -> None:
    x = gw.zeros(2, requires_grad=True)
    y = (x * gw.tensor([3.0, 4.0])).sum()
    assert viz.graph(y).nodes[-1].gradient is None
    y.backward()
    gradient = viz.graph(y).nodes[-1].gradient
    assert gradient is not None
    assert gradient.norm == pytest.approx(5)
    assert gradient.rms == pytest.approx((25 / 2) ** 0.5)


# -- what is odd --


def test_tensors_without_history() -> None:
    graph = viz.graph([gw.ones(2), gw.ones(3, dtype=gw.int64)])
    assert [(n.kind, n.shape, n.dtype) for n in graph.nodes] == [
        ("output", (2,), "float32"), ("output", (3,), "int64")]  # fmt: skip
    assert [n.reason for n in graph.nodes] == [
        "no history: its requires_grad is False",
        "no history: it is of int64, and only floating point and complex tensors can require grad"]  # fmt: skip
    assert graph.edges == ()


def without_grad(x: Any) -> Any:
    with gw.no_grad():
        return (x * 2).sum()


@pytest.mark.parametrize(("lose", "reason"), [
    (lambda x: (x * 2).detach(), "no history: detach(), the history is taken away"),
    (lambda x: (x * 2).data[0], "no history: .data, the history is taken away"),
    (without_grad, "no history: no_grad(), nothing is recorded there"),
    (lambda x: x.argmax(), "no history: argmax, whole numbers have no gradient"),
])  # fmt: skip
def test_where_a_trace_saw_the_history_lost(lose: Any, reason: str) -> None:
    x = gw.ones(2, requires_grad=True)
    with viz.trace():
        y = lose(x)
    (node,) = viz.graph(y).nodes
    assert node.reason == reason
    assert node.place is not None
    assert node.place.file == __file__
    why = alone([y])
    assert why is not None
    assert f"{reason}, at {__file__}" in why
    assert alone([y, x * 2]) is None


def test_without_a_trace_the_mend_is_told() -> None:
    x = gw.ones(2, requires_grad=True)
    assert "requires_grad is False; make it with requires_grad=True" in str(alone([(x * 2).detach()]))
    assert "a leaf was given" in str(alone([x]))


def test_a_leaf_is_its_own_root() -> None:
    graph = viz.graph(gw.ones(2, requires_grad=True))
    assert [n.kind for n in graph.nodes] == ["accumulate"]
    assert graph.roots == (0,)


def test_a_freed_graph() -> None:
    x = gw.ones(2, requires_grad=True)
    y = Mine.apply(x.exp() + 1).sum()
    before = viz.graph(y)
    y.backward()
    after = viz.graph(y)
    assert [n.name for n in after.nodes] == [n.name for n in before.nodes]
    assert [n.name for n in after.nodes if n.freed] == ["MineBackward", "ExpBackward0"]
    assert not any(n.freed for n in before.nodes)
    assert after.stats.saved_bytes == 0 < before.stats.saved_bytes


def test_a_graph_that_was_written_into() -> None:
    x = gw.ones(2, requires_grad=True)
    y = x * 2
    z = (y * y).sum()
    y.add_(1)
    graph = viz.graph((z, y))
    assert [s.changed for n in graph.nodes for s in n.saved if n.name == "MulBackward0" and s.name == "self"] == [True]
    assert "changed in place" in str(graph)


def test_a_view_that_cannot_be_told_any_more() -> None:
    x = gw.ones(4, requires_grad=True)
    y = x * 2
    a, _ = y.split(2)
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified inplace"):
        viz.graph(a)


def test_second_derivatives_that_stop() -> None:
    class Once(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return g * 2 * x.detach()

    x = gw.ones(2, requires_grad=True)
    (g,) = gw.autograd.grad(Once.apply(x).sum(), x, create_graph=True)
    stops = [n for n in viz.graph(g).nodes if n.kind == "stop"]
    assert stops
    assert "cut the gradient off with detach()" in str(stops[0].reason)


@pytest.mark.parametrize(("tensors", "params", "message"), [
    (3, None, "expected a Tensor, or several in a container, but got int"),
    ([], None, "but got list"),
    (gw.ones(1), {"x": 3}, "params names tensors, but 'x' is int"),
])  # fmt: skip
def test_what_is_no_tensor_is_refused(tensors: Any, params: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        viz.graph(tensors, params=params)


def test_nothing_is_kept_or_changed() -> None:
    x = gw.ones(1000, requires_grad=True)
    y = x.exp()
    held = sys.getrefcount(y.array), sys.getrefcount(y._node)
    graph = viz.graph(y.sum(), params={"x": x})
    assert (sys.getrefcount(y.array), sys.getrefcount(y._node)) == held
    assert x.grad is None
    assert graph.nodes[-1].label == "x"


def test_saved_values_can_be_left_out() -> None:
    x = gw.ones(2, requires_grad=True)
    assert not any(n.saved for n in viz.graph(x.exp() * x, saved=False).nodes)


def test_a_long_chain_needs_no_recursion() -> None:
    y = gw.ones(1, requires_grad=True)
    for _ in range(20_000):
        y = y * 1.0001
    graph = viz.graph(y)
    assert (len(graph.nodes), graph.stats.depth) == (20_002, 20_002)


@pytest.mark.parametrize("params", [3, ["x"], [gw.ones(2)], gw.ones(2, 2)])
def test_names_of_another_form(params: Any) -> None:
    with pytest.raises(TypeError, match=r"^graph: params must be a dictionary of tensors, pairs .*, but got "):
        viz.graph(gw.ones(2), params)


def test_a_module_is_no_tensor() -> None:
    with pytest.raises(TypeError, match=r"but got Linear: give what it returns$"):
        viz.graph(gw.nn.Linear(1, 1))
