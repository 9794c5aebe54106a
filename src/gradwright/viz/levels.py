"""A graph as a tree of groups, each small enough to be looked at, and each with a layout of its own.

Groups are the modules of a network, one for each time that it was called; forward, backward and double backward, in a
large graph that has them; and parts, of what is still too many. As all of them are stretches of one order in which no
edge goes back, the edges between the members of a group never form a cycle.

An edge between two groups is drawn in parts: within the group that holds both, and in either to its rim, at the top
towards inputs and at the bottom towards outputs. So a group that is unfolded takes the place of the one that was
folded, and nothing has to be laid out again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import ceil, log
from typing import Any

from gradwright.viz.layout import layered, longest_ways
from gradwright.viz.records import Graph

MOST = 28
"""A group with more members than this is divided into parts; so are leaves that lie in it, by themselves."""
LARGE = 80
"""A graph with more nodes than this is divided into forward, backward and double backward, if it has them."""
TOP, BOTTOM = -1, -2
"""The rim of a group, as an end of a `Segment`."""
ORDERS = {1: "forward", 2: "backward", 3: "double backward"}


@dataclass(slots=True)
class Segment:
    """A line in the picture of a group: from a member (its index, or `TOP` or `BOTTOM`) up to one that it has used.

    Attributes:
        count: how many edges it stands for.
        bends: where it crosses the layers between its ends, in columns.
    """

    lower: int
    upper: int
    count: int = 0
    bends: tuple[float, ...] = ()


@dataclass(eq=False, slots=True)
class Group:
    """Nodes that belong together, or groups of such.

    Attributes:
        title: the path of the module, ``layers.0``, or what the members are.
        kind: ``graph`` (the whole), ``order``, ``module`` or ``part``.
        members: ids of nodes, and groups.
        places: of each member, then of the top and the bottom rim if it has any lines there: column and layer.
        segments: the lines between them.
        rims: which of `TOP` and `BOTTOM` have a place.
    """

    title: str
    kind: str
    members: list[int | Group] = field(default_factory=list)
    places: list[tuple[float, int]] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    rims: list[int] = field(default_factory=list)
    parent: Group | None = field(default=None, repr=False)

    def walk(self) -> Iterator[Group]:
        """It and all groups in it, each before those in it."""
        stack = [self]
        while stack:
            group = stack.pop()
            yield group
            stack += [m for m in reversed(group.members) if isinstance(m, Group)]

    def nodes(self) -> Iterator[int]:
        """The ids of all nodes in it."""
        return (m for group in self.walk() for m in group.members if isinstance(m, int))


def levels(graph: Graph) -> Group:
    """The group of everything, laid out."""
    whole = Group("", "graph")
    has = {e.source for e in graph.edges}
    inner = [n.id for n in graph.nodes if n.id in has or n.kind == "output"]
    paths = _paths(graph)
    whole.members = _divided(graph, _by_path(inner, paths, 0))
    home = _homes(whole)
    _place_ends(graph, whole, home)
    _connect(graph, _homes(whole))
    known: dict[Any, Any] = {}
    for group in whole.walk():
        _lay_out(group, known)
    return whole


# ---- which group each node belongs to


def _paths(graph: Graph) -> list[tuple[tuple[str, str], ...]]:
    """For each node the groups that it is to be in, from the outside in: their kinds and titles."""
    lanes = len(graph.nodes) > LARGE and len({n.order for n in graph.nodes if n.kind != "output"}) > 1
    found = []
    for n in graph.nodes:
        order = ORDERS.get(n.order, f"order {n.order}")
        parts = n.module.split(".") if n.module else []
        more = f", {order}" if n.order > 1 and not lanes else ""
        path = [("module", ".".join(parts[: k + 1]) + more) for k in range(len(parts))]
        if lanes and n.kind != "output":
            path.insert(0, ("order", order))
        found.append(tuple(path))
    return found


def _by_path(ids: Iterable[int], paths: Sequence[tuple[tuple[str, str], ...]], depth: int) -> list[int | Group]:
    """Nodes in order, those that follow each other with one path as a group."""
    found: list[int | Group] = []
    for key, run in groupby(ids, lambda i: paths[i][depth] if len(paths[i]) > depth else None):
        nodes = list(run)
        if key is None or len(nodes) == 1:
            found += nodes
            continue
        inside = _by_path(nodes, paths, depth + 1)
        if len(inside) == 1 and isinstance(inside[0], Group):
            found += inside
        else:
            found.append(Group(key[1], key[0], inside))
    _number(found)
    return found


def _number(members: Sequence[int | Group]) -> None:
    """Calls of a module but the first get a number: ``cell, call 2``. Members are in order from the outputs back."""
    seen: Counter[str] = Counter()
    for m in reversed(members):
        if isinstance(m, Group):
            seen[m.title] += 1
            if seen[m.title] > 1:
                m.title += f", call {seen[m.title]}"


def _divided(graph: Graph, members: list[int | Group]) -> list[int | Group]:
    """The members, or if they are too many parts of them; so for the groups among them."""
    for m in members:
        if isinstance(m, Group):
            m.members = _divided(graph, m.members)
    while len(members) > MOST:
        depth = ceil(log(len(members)) / log(MOST))
        pieces = _cut(graph, members, ceil(len(members) ** (1 / depth)))
        members = [p[0] if len(p) == 1 else Group(_described(graph, p), "part", p) for p in pieces]
        parts = [m for m in reversed(members) if isinstance(m, Group) and m.kind == "part"]
        for k, part in enumerate(parts, 1):
            part.title = f"part {k}: {part.title}"
    return members


def _cut(graph: Graph, members: list[int | Group], length: int) -> list[list[int | Group]]:
    """Pieces of about this length, and not longer, cut where few edges cross."""
    at = {i: k for k, m in enumerate(members) for i in ([m] if isinstance(m, int) else m.nodes())}
    change = [0] * (len(members) + 1)
    for source, k in at.items():
        reach = max((at[e.target] for e in graph.outgoing[source] if e.target in at), default=k)
        change[k + 1] += 1
        change[reach + 1] -= 1
    crossing, now = [], 0
    for c in change:
        now += c
        crossing.append(now)
    pieces, start = [], 0
    while len(members) - start > length:
        near = range(start + (3 * length + 3) // 4, start + length + 1)
        best = min(near, key=lambda k: (crossing[k], -k))
        pieces.append(members[start:best])
        start = best
    return [*pieces, members[start:]]


def _described(graph: Graph, members: list[int | Group]) -> str:
    """The contents of a part: ``24 × Mul``, or the most frequent of several: ``Mul, Add, …``."""
    names = Counter(graph.nodes[i].name.split("Backward")[0] for i in Group("", "part", members).nodes())
    common = names.most_common(3)
    if len(names) == 1:
        return f"{common[0][1]} × {common[0][0]}"
    return ", ".join(name for name, _ in common) + (", …" if len(names) > 3 else "")


def _homes(whole: Group) -> dict[int, Group]:
    """The group of each node; groups get their parents."""
    home = {}
    for group in whole.walk():
        for m in group.members:
            if isinstance(m, Group):
                m.parent = group
            else:
                home[m] = group
    return home


def _place_ends(graph: Graph, whole: Group, home: dict[int, Group]) -> None:
    """Put each node without edges of its own, a leaf or a stop, into the smallest group that holds all its users."""
    users: dict[int, list[int]] = {}
    ends: dict[Group, list[int]] = {}
    for e in graph.edges:
        if e.target not in home:
            users.setdefault(e.target, []).append(e.source)
    for n in graph.nodes:
        if n.id in home:
            continue
        ways = [list(_way(home[u])) for u in users.get(n.id, ())]
        group = whole
        for step in zip(*ways, strict=False):
            if any(g is not step[0] for g in step):
                break
            group = step[0]
        ends.setdefault(group, []).append(n.id)
    for group, members in ends.items():
        group.members += _divided(graph, list(members))


def _way(group: Group | None) -> list[Group]:
    """From the whole down to a group."""
    found = []
    while group is not None:
        found.append(group)
        group = group.parent
    return found[::-1]


# ---- lines and places


def _connect(graph: Graph, home: dict[int, Group]) -> None:
    """The lines of every group."""
    index: dict[int | Group, int] = {}
    for group in {id(g): g for g in home.values()}.values():
        for g in _way(group):
            index.update((m, k) for k, m in enumerate(g.members))
    lines: dict[tuple[Group, int, int], Segment] = {}

    def line(group: Group, lower: int, upper: int) -> None:
        key = (group, lower, upper)
        segment = lines.get(key)
        if segment is None:
            segment = lines[key] = Segment(lower, upper)
            group.segments.append(segment)
        segment.count += 1

    for e in graph.edges:
        below, above = _way(home[e.source]), _way(home[e.target])
        shared = sum(1 for a, b in zip(below, above, strict=False) if a is b)
        lower: int | Group = e.source
        upper: int | Group = e.target
        for group in reversed(below[shared:]):
            line(group, index[lower], TOP)
            lower = group
        for group in reversed(above[shared:]):
            line(group, BOTTOM, index[upper])
            upper = group
        line(below[shared - 1], index[lower], index[upper])


def _lay_out(group: Group, known: dict[Any, Any]) -> None:
    """Places for the members of a group and for its rims, bends for its lines; groups often look alike."""
    group.rims = [rim for rim in (TOP, BOTTOM) if any(rim in (s.lower, s.upper) for s in group.segments)]
    count = len(group.members) + len(group.rims)
    at = {rim: len(group.members) + k for k, rim in enumerate(group.rims)}
    edges = [(at.get(s.lower, s.lower), at.get(s.upper, s.upper)) for s in group.segments]
    if TOP in at:  # nothing lies above it
        heights = longest_ways(count, edges)
        edges.append((max((v for v in range(count) if v != at[TOP]), key=heights.__getitem__), at[TOP]))
    key = count, tuple(edges)
    if key not in known:
        known[key] = layered(count, edges)
    places, routes = known[key]
    group.places = list(places)
    for s, route in zip(group.segments, routes, strict=False):
        s.bends = tuple(x for x, _ in route)
