"""The picture: well-formed, nothing on top of anything, and safe."""

import re
import sys
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings

import gradwright as gw
from gradwright import nn, viz
from gradwright.errors import LayoutError
from gradwright.viz.labels import line
from gradwright.viz.records import Edge, Graph, GraphNode
from gradwright.viz.svg import MOST, svg
from tests.viz.nasty import named, names

pytest.importorskip("igraph", reason="igraph is not installed: nothing says where nodes stand")

NS = "{http://www.w3.org/2000/svg}"


def read(source: str) -> Any:
    return ElementTree.fromstring(source.encode("utf-8"))


def boxes(picture: Any) -> list[tuple[float, float, float, float]]:
    """Left, top, right and bottom of each node."""
    found = []
    for g in picture.iter(f"{NS}g"):
        if g.get("class", "").startswith("node") and g.find(f"{NS}title") is not None:
            rect = [r for r in g.findall(f"{NS}rect") if "class" not in r.attrib][-1]
            x, y, w, h = (float(rect.get(k)) for k in ("x", "y", "width", "height"))
            found.append((x, y, x + w, y + h))
    return found


def second() -> Graph:
    x = gw.tensor([0.5, 1.0], requires_grad=True)
    y = (x.sin() * x.exp()).sum()
    (g,) = gw.autograd.grad(y, x, create_graph=True)
    (h,) = gw.autograd.grad(g.sum(), x, create_graph=True)
    return viz.graph({"y": y, "dy": g, "ddy": h}, params={"x": x})


def network() -> Graph:
    net = nn.Sequential(*[nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.LayerNorm(3)) for _ in range(40)])
    with viz.trace():
        y = net(gw.ones(1, 3))
        y = y * y.detach()
    return viz.graph(y, params=net)


def lonely() -> Graph:
    return viz.graph([gw.ones(1), gw.ones(2)])


@pytest.mark.parametrize("make", [second, network, lonely, lambda: Graph((), (), ())])
def test_nothing_lies_on_anything(make: Any) -> None:
    graph = make()
    picture = read(svg(graph))
    wide, high = float(picture.get("width")), float(picture.get("height"))
    found = boxes(picture)
    assert (len(found) == len(graph.nodes)) or len(graph.nodes) > MOST
    assert all(left >= 0 and right <= wide and top >= 0 and bottom <= high for left, top, right, bottom in found)
    for (a, b, c, d), (e, f, g, h) in combinations(found, 2):
        assert c <= e or g <= a or d <= f or h <= b


def test_arrows_run_down_from_leaves() -> None:
    picture = read(svg(second()))
    paths = [p.get("d") for p in picture.iter(f"{NS}path") if p.get("marker-end")]
    assert len(paths) == len({(e.source, e.target) for e in second().edges})
    for path in paths:
        numbers = [float(y) for y in re.findall(r"(?:,|V)(-?[\d.]+)", path)]
        assert numbers == sorted(numbers)


def test_what_is_known_is_told_and_kinds_explained() -> None:
    x = gw.ones(2, requires_grad=True)
    with viz.trace():
        y = (x * x.detach()).exp()
    source = svg(viz.graph(y, params={"x": x}))
    words = " ".join(read(source).itertext())
    for part in ("MulBackward0", "Product", "saved other float32 [2]", "y = (x * x.detach()).exp()",
                 "the gradient stops", "leaf", "asked for", "5 nodes, depth 4"):  # fmt: skip
        assert part in words
    assert "recorded by backward" not in words
    assert "recorded by double backward" in " ".join(read(svg(second())).itertext())


def test_several_edges_between_two_nodes_are_one_with_their_number() -> None:
    x = gw.ones(2, requires_grad=True)
    picture = read(svg(viz.graph(x * x)))
    assert [t.text for t in picture.iter(f"{NS}text") if t.text and t.text.startswith("×")] == ["×2"]


def test_long_names_are_cut() -> None:
    x = gw.ones(2, requires_grad=True)
    picture = read(svg(viz.graph(x * 1, params={"n" * 500: x})))
    assert max(r - a for a, _, r, _ in boxes(picture)) <= 240


@settings(max_examples=30)
@given(names)
def test_any_name_is_text_and_nothing_else(name: str) -> None:
    picture = read(svg(named(name)))
    allowed = {"svg", "title", "desc", "style", "defs", "marker", "path", "rect", "g", "text"}
    assert {element.tag.removeprefix(NS) for element in picture.iter()} <= allowed
    assert not [a for element in picture.iter() for a in element.attrib if a.lower().startswith("on") or "href" in a]
    if name and len(line(name)) < 20 and line(name).strip() and line(name).isascii():
        assert line(name) in [t.text for t in picture.iter(f"{NS}text")]


def test_a_large_graph_is_folded_and_quick() -> None:
    nodes = tuple(GraphNode(k, f"Op{k % 7}", module=f"M.{k // 50}.{k // 10}") for k in range(20_000))
    graph = Graph(nodes, tuple(Edge(k, k + 1 + k % 2, 0, 0) for k in range(19_998)), (0,))
    picture = read(svg(graph))
    assert 2 < len(boxes(picture)) <= MOST + 10


def test_without_any_layout_the_error_names_the_extra(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "igraph", None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(LayoutError, match="pip install igraph"):
        svg(second())


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [400, 1600])
def test_a_browser_shows_it(chromium: Any, tmp_path: Path, width: int, dark: bool) -> None:
    page = tmp_path / "page.html"
    page.write_text(f'<!doctype html><meta name="color-scheme" content="light dark"><body>{svg(second())}', "utf-8")
    chromium.open(page, width, 2000, dark=dark)
    assert chromium.complaints == []
    assert chromium.asked == [page.as_uri()]
    paper = chromium.run("getComputedStyle(document.querySelector('.paper')).fill")
    assert (sum(map(int, paper[4:-1].split(","))) < 200) == dark
    overflow = "[...document.querySelectorAll('.node')].filter(n => n.querySelector('title')).filter(n => {"
    overflow += "const box = [...n.querySelectorAll('rect:not([class])')].at(-1).getBBox();"
    overflow += "return [...n.querySelectorAll('text')].some(t => t.getBBox().width > box.width - 4) }).length"
    assert chromium.run(overflow) == 0
