"""Where the nodes of a picture stand: in layers, by Graphviz where it is installed, or else by python-igraph.

Both minimise crossings within layers that are given: a node is one layer further from the outputs than the furthest
node that uses it. An edge that passes layers goes through a vertex of its own in each.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from itertools import pairwise

from gradwright.base.errors import LayoutError

PATIENCE = 20
"""Seconds after which Graphviz is given up."""
ROOM = 20_000
"""Edges that pass layers have vertices of their own as long as there are no more than these; then they go straight."""

Point = tuple[float, int]
"""A column and a layer; nodes of one layer are at least 1 apart, and the first column is 0."""
_Edges = Sequence[tuple[int, int]]


def layered(count: int, edges: _Edges) -> tuple[list[Point], list[list[Point]]]:
    """Places for the vertices ``0`` to ``count - 1`` of a graph without cycles, in layers from 0 at the outputs on.

    Returns:
        For each vertex its column and layer; for each edge the points in the layers that it passes, from its first
        vertex on.

    Raises:
        LayoutError: neither Graphviz nor python-igraph is there, or neither works.
    """
    layers = longest_ways(count, edges)
    chains: list[list[int]] = []
    room = ROOM
    for a, b in edges:
        passed = range(layers[a] + 1, layers[b]) if layers[b] - layers[a] - 1 <= room else ()
        room -= len(passed)
        chains.append(list(range(len(layers), len(layers) + len(passed))))
        layers += passed
    inner = [pair for (a, b), chain in zip(edges, chains, strict=True) for pair in pairwise([a, *chain, b])]
    columns = _columns(layers, inner)
    places = list(zip(columns, layers, strict=True))
    routes = [[places[v] for v in chain] or _straight(places[a], places[b])
              for (a, b), chain in zip(edges, chains, strict=True)]  # fmt: skip
    return places[:count], routes


def spread(points: Sequence[Point], halves: Sequence[float], gap: float) -> list[float]:
    """Columns as distances: where the middles of things stand that reach as far to both sides as ``halves`` says.

    What is in one column stays in one line, what is in one layer stays ``gap`` apart. From the left as near as can be,
    and from the right, and in the middle between these.
    """
    columns: dict[int, list[int]] = {}
    for k, (column, _) in enumerate(points):
        columns.setdefault(round(column * 50), []).append(k)
    order = [columns[c] for c in sorted(columns)]

    def sweep(order: Sequence[list[int]]) -> list[float]:
        taken: dict[int, float] = {}
        at = 0.0
        found = []
        for column in order:
            at = max([at, *(taken[points[k][1]] + gap + halves[k] for k in column if points[k][1] in taken)])
            taken.update((points[k][1], at + halves[k]) for k in column)
            found.append(at)
        return found

    left, right = sweep(order), sweep(order[::-1])[::-1]
    middles = [(a - b + left[-1]) / 2 for a, b in zip(left, right, strict=True)]
    found = [0.0] * len(points)
    for members, x in zip(order, middles, strict=True):
        for k in members:
            found[k] = x
    return found


def longest_ways(count: int, edges: _Edges) -> list[int]:
    """The longest way to each vertex from one to which no edge goes, in edges."""
    targets: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for a, b in edges:
        targets[a].append(b)
        waiting[b] += 1
    layers = [0] * count
    free = [v for v in range(count) if not waiting[v]]
    for v in free:
        for w in targets[v]:
            layers[w] = max(layers[w], layers[v] + 1)
            waiting[w] -= 1
            if not waiting[w]:
                free.append(w)
    if len(free) < count:
        raise ValueError("layered: the edges form a cycle")
    return layers


def _straight(a: Point, b: Point) -> list[Point]:
    """The points of a straight line in the layers between its ends."""
    steps = b[1] - a[1]
    return [(a[0] + (b[0] - a[0]) * k / steps, a[1] + k) for k in range(1, steps)]


def _columns(layers: list[int], edges: _Edges) -> list[float]:
    """A column for each vertex, by the first that can tell."""
    if not layers:
        return []
    tried = []
    for way in (_by_graphviz, _by_igraph):
        try:
            columns = way(layers, edges)
        except (ImportError, OSError, ValueError, subprocess.SubprocessError) as e:
            tried.append(str(e))
            continue
        return _spaced(columns, layers)
    raise LayoutError(
        "a picture of a graph needs Graphviz or python-igraph, to say where its nodes stand: pip install "
        f"igraph, or install Graphviz ({'; '.join(tried)}). Text, JSON, DOT and Mermaid need neither"
    )


def _by_graphviz(layers: list[int], edges: _Edges) -> list[float]:
    program = shutil.which("dot")
    if program is None:
        raise OSError("there is no program dot")
    lines = ["digraph {", "node [shape=box fixedsize=true width=1 height=1 label=\"\"]; nodesep=0; ranksep=1;"]
    lines += [f"{v};" for v in range(len(layers))]
    lines += [f"{a} -> {b};" for a, b in edges]
    done = subprocess.run([program, "-Tplain"], input="\n".join([*lines, "}"]), capture_output=True, text=True,
                          check=True, timeout=PATIENCE)  # fmt: skip
    rows = [line.split() for line in done.stdout.splitlines()]
    columns = {int(row[1]): float(row[2]) for row in rows if row[:1] == ["node"]}
    if columns.keys() != set(range(len(layers))):
        raise ValueError("dot did not say where the nodes are")
    return [columns[v] for v in range(len(layers))]


def _by_igraph(layers: list[int], edges: _Edges) -> list[float]:
    import igraph  # noqa: PLC0415 - optional

    graph = igraph.Graph(len(layers), edges, directed=True)
    found = graph.layout_sugiyama(layers=layers)
    return [float(x) for x, _ in list(found)[: len(layers)]]


def _spaced(columns: list[float], layers: list[int]) -> list[float]:
    """The columns, from 0 on, with vertices of one layer at least 1 apart."""
    order = sorted(range(len(columns)), key=lambda v: columns[v])
    last: dict[int, float] = {}
    shift = columns[order[0]]
    for v in order:
        columns[v] = max(columns[v] - shift, last.get(layers[v], -1.0) + 1)
        last[layers[v]] = columns[v]
    return columns
