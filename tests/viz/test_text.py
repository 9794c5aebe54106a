"""The tree in the terminal: what it looks like, and that it fits."""

import pytest
from hypothesis import given

import gradwright as gw
from gradwright import nn, viz
from gradwright.viz.records import Edge, Graph, GraphNode
from gradwright.viz.text import cells, clipped, fitted, lines, text
from tests.viz.nasty import named, names


def shared() -> Graph:
    x, y = gw.ones(2, requires_grad=True), gw.ones(2, requires_grad=True)
    h = x * y
    return viz.graph({"loss": (h.sin() * h + y).sum()}, params={"x": x})


def test_branches_come_before_what_goes_on_and_shared_nodes_once() -> None:
    assert str(shared()) == """\
loss                      float32 []
│ SumBackward0            float32 []
│ AddBackward0            float32 [2]
├─ AccumulateGrad #1      float32 [2]
│ MulBackward0            float32 [2]  saves 16 B
├─┬ MulBackward0 #2       float32 [2]  saves 16 B
│ ├─ AccumulateGrad ↑ #1
│ └ x                     float32 [2]
│ SinBackward0            float32 [2]  saves 8 B
└ MulBackward0 ↑ #2
8 nodes, depth 7, 32 B saved"""


def test_every_node_is_written_once_and_every_other_use_refers_to_it() -> None:
    graph = shared()
    rows = str(graph).splitlines()[:-1]
    assert len(rows) == len(graph.nodes) + sum("↑" in row for row in rows)
    assert sum("↑" in row for row in rows) == len({(e.source, e.target) for e in graph.edges}) - (len(graph.nodes) - 1)


def test_runs_of_one_operation_are_folded() -> None:
    y = gw.ones(2, requires_grad=True)
    for _ in range(7):
        y = y.sin()
    assert "│ 7 × SinBackward0" in str(viz.graph(y))
    assert str(viz.graph(y)).endswith("9 nodes, folded to 3, depth 9, 56 B saved")
    few = viz.graph(gw.ones(2, requires_grad=True).sin().sin().sin().sin())
    assert str(few).count("SinBackward0") == 4


def test_a_large_graph_is_folded_to_a_page() -> None:
    net = nn.Sequential(*[nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.LayerNorm(3)) for _ in range(200)])
    with viz.trace():
        y = net(gw.ones(1, 3))
    rows = str(viz.graph(y, params=net)).splitlines()
    assert len(rows) < 450
    assert any("Sequential.17" in row for row in rows)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_too_wide(width: int) -> None:
    with viz.trace():
        x = gw.ones(2, 3, 4, requires_grad=True)
        y = x
        for k in range(12):
            y = (y.sin() * y.cos().exp() + x.detach() * k).reshape(2, 3, 4)
    made = text(viz.graph(y, params={"a name that is long, too long to be written": x}), width)
    assert max(map(cells, made.splitlines())) <= width


def test_deep_nesting_is_cut_and_not_wrapped() -> None:
    x = gw.ones(1, requires_grad=True)
    y = x
    for _ in range(60):
        y = (y.sin() + x.exp()) * (y.cos() - x)
    made = text(viz.graph(y), 80).splitlines()
    assert max(map(cells, made)) <= 80
    assert len(made) > 60


def test_what_is_said_of_nodes() -> None:
    x = gw.ones(2, requires_grad=True)
    with viz.trace():
        (g,) = gw.autograd.grad((x.detach() * x**3).sum(), x, create_graph=True)
        g.sum().backward()
    made = text(viz.graph(g, params={"x": x}), 150)
    assert "✂ detach()" in made
    assert "test_text.py:" in made
    assert "the history is taken away" in made
    assert "freed" in made
    assert "gradient " in made
    assert "backward" in made


def test_styles() -> None:
    x = gw.ones(2, requires_grad=True)
    with viz.trace():
        y = x * x.detach()
    styles = {part.strip(): style for line in lines(viz.graph(y, params={"x": x})) for part, style in line}
    assert styles["Output"] == "bold"
    assert styles["x"] == "green"
    assert styles["✂ detach()"] == "red"
    assert styles["MulBackward0"] == ""


@given(names)
def test_names_do_nothing_to_a_terminal(name: str) -> None:
    made = str(named(name))
    assert all(c.isprintable() or c == "\n" for c in made)
    assert len(made.splitlines()) == 5
    assert max(map(cells, made.splitlines())) <= 80


def test_no_recursion() -> None:
    nodes = tuple(GraphNode(k, f"Op{k}") for k in range(300))
    graph = Graph(nodes, tuple(Edge(k, k + 1) for k in range(299)), (0,))
    assert len(str(graph).splitlines()) == 301


def test_no_nodes_at_all() -> None:
    assert str(Graph((), (), ())) == "0 nodes, depth 0, nothing saved"


@pytest.mark.parametrize(("value", "width", "expected"), [
    ("abc", 5, "abc  "), ("abcdef", 4, "abc…"), ("日本語", 4, "日… "), ("日本", 4, "日本"),
    ("e\u0301", 3, "e\u0301  "), ("abc", 0, ""),
])  # fmt: skip
def test_widths(value: str, width: int, expected: str) -> None:
    assert fitted(value, width) == expected
    assert cells(clipped(value, width)) <= width


def test_a_graph_as_a_string_is_the_tree() -> None:
    assert f"{shared()}" == text(shared(), 80)
