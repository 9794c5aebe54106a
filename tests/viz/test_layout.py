"""Where nodes stand: by whatever there is that can tell."""

import stat
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradwright.errors import LayoutError
from gradwright.viz import layout
from gradwright.viz.layout import layered, spread

DIAMOND = [(0, 1), (0, 2), (1, 3), (2, 3), (0, 3)]


def random_edges(n: int, seed: int) -> list[tuple[int, int]]:
    random = np.random.default_rng(seed)
    order = random.permutation(n)
    pairs = {tuple(sorted(random.integers(n, size=2))) for _ in range(2 * n)}
    return [(int(order[a]), int(order[b])) for a, b in pairs if a != b]


def is_sound(count: int, edges: list[tuple[int, int]], found: Any) -> None:
    places, routes = found
    assert len(places) == count
    assert len(routes) == len(edges)
    for (a, b), route in zip(edges, routes, strict=True):
        assert places[a][1] < places[b][1]
        assert [layer for _, layer in route] == list(range(places[a][1] + 1, places[b][1]))
    points = [*places, *(p for route in routes for p in route)]
    by_layer: dict[int, list[float]] = {}
    for x, layer in points:
        by_layer.setdefault(layer, []).append(x)
    for xs in by_layer.values():
        assert all(b - a > 0.999 for a, b in zip(sorted(xs), sorted(xs)[1:], strict=False))
    assert min((x for x, _ in points), default=0) == 0


@pytest.fixture(params=["igraph", "dot", "heap"])
def way(request: Any, monkeypatch: Any, tmp_path: Path) -> str:
    """What tells: python-igraph, or a program that answers as Graphviz does, or puts all in one place."""
    if request.param == "igraph":
        pytest.importorskip("igraph")
        monkeypatch.setenv("PATH", "")
    else:
        monkeypatch.setitem(sys.modules, "igraph", None)
        program(tmp_path, GOOD if request.param == "dot" else GOOD.replace("k * 1.5", "0.5"))
        monkeypatch.setenv("PATH", str(tmp_path))
    return str(request.param)


GOOD = """
import re
print("graph 1 2 2")
for k, v in enumerate(re.findall(r"^(\\d+);", sys.stdin.read(), re.M)):
    print("node", v, k * 1.5, 1, 1, 1, '""', "solid", "box", "black", "lightgrey")
print("stop")
"""


def program(folder: Path, text: str) -> None:
    path = folder / "dot"
    path.write_text(f"#!{sys.executable}\nimport sys\n{text}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_a_diamond(way: str) -> None:
    found = layered(4, DIAMOND)
    is_sound(4, DIAMOND, found)
    assert [layer for _, layer in found[0]] == [0, 1, 1, 2]
    assert len(found[1][4]) == 1


@pytest.mark.parametrize("seed", range(5))
def test_any_graph(way: str, seed: int) -> None:
    edges = random_edges(40, seed)
    is_sound(40, edges, layered(40, edges))


@pytest.mark.parametrize(("count", "edges"), [(0, []), (1, []), (3, []), (2, [(0, 1), (0, 1)])])
def test_small_ones(way: str, count: int, edges: Any) -> None:
    places, routes = layered(count, edges)
    assert (len(places), len(routes)) == (count, len(edges))


def test_a_cycle_is_refused() -> None:
    with pytest.raises(ValueError, match="cycle"):
        layered(2, [(0, 1), (1, 0)])


def test_lines_through_very_many_layers_go_straight(way: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(layout, "ROOM", 10)
    edges = [(k, k + 1) for k in range(30)] + [(0, 30), (0, 5)]
    _, routes = layered(31, edges)
    assert [len(r) for r in routes[30:]] == [29, 4]
    assert [layer for _, layer in routes[30]] == list(range(1, 30))


@pytest.mark.parametrize("text", [
    "sys.exit(1)", "print('nonsense')", "print('node 0 x 1')", "import os; os.kill(os.getpid(), 9)",
    "print('node 7 1 1')",
])  # fmt: skip
def test_a_broken_graphviz_leaves_it_to_igraph(tmp_path: Path, monkeypatch: Any, text: str) -> None:
    pytest.importorskip("igraph")
    program(tmp_path, text)
    monkeypatch.setenv("PATH", str(tmp_path))
    is_sound(4, DIAMOND, layered(4, DIAMOND))


def test_a_graphviz_that_hangs_is_given_up(tmp_path: Path, monkeypatch: Any) -> None:
    pytest.importorskip("igraph")
    program(tmp_path, "import time; time.sleep(60)")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(layout, "PATIENCE", 0.5)
    is_sound(4, DIAMOND, layered(4, DIAMOND))


@pytest.mark.parametrize("broken", [False, True], ids=["absent", "broken"])
def test_without_either_the_error_says_what_to_install(tmp_path: Path, monkeypatch: Any, broken: bool) -> None:
    if broken:
        program(tmp_path, "sys.exit(3)")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "igraph", None)
    with pytest.raises(LayoutError, match="pip install igraph,") as caught:
        layered(4, DIAMOND)
    assert ("status 3" if broken else "no program dot") in str(caught.value)


@pytest.mark.parametrize("seed", range(5))
def test_things_of_different_widths_stay_apart(seed: int) -> None:
    random = np.random.default_rng(seed)
    points = list({(float(c) / 2, int(layer)) for c, layer in random.integers(8, size=(30, 2))})
    points = [p for p in points if (p[0] - 0.5, p[1]) not in points]
    halves = [float(h) for h in random.uniform(1, 50, len(points))]
    xs = spread(points, halves, 4)
    for (p, h, x), (q, i, y) in combinations(zip(points, halves, xs, strict=True), 2):
        if p[1] == q[1]:
            assert abs(x - y) >= h + i + 4 - 1e-6
            assert (x < y) == (p[0] < q[0])
        if p[0] == q[0]:
            assert x == y
