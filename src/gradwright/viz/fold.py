"""A graph made smaller: what repeats, what belongs to a module, and at last just stretches, each in one node.

A fold says for each node which node it goes into, itself or an earlier one. Chains, and stretches of the order in which
nodes are numbered, can be folded without making a cycle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gradwright.viz.records import Graph, GraphNode, Saved, held

PERIOD = 12
"""So many operations may be what repeats along a chain."""
LONG = 60
"""So many nodes may be what repeats otherwise, as a layer of a network."""
LIGHT = 3
"""Branches of no more nodes than this, leaves not counted, go with the node that they end in."""
MANY = 4
"""So many leaves, if a folded chain alone uses them, go with it; fewer are shown."""
FEW = 4
"""A fold that leaves less than this part of what is allowed is too much."""
_ENDS = ("accumulate", "stop", "output")


def fold(graph: Graph, limit: int = 150) -> Graph:
    """The graph with no more than about ``limit`` nodes, not counting leaves that several of them share.

    As many steps are taken as are needed: chains in which something repeats, modules (those inside of others first),
    anything else that repeats, and stretches of what is still too many.
    """
    if len(graph.nodes) <= limit:
        return graph
    graph = chains(graph)
    deepest = max((n.module.count(".") + 1 for n in graph.nodes if n.module), default=0)
    for depth in range(deepest, 0, -1):
        if len(graph.nodes) <= limit:
            return graph
        smaller = _stretched(graph, _by_module(depth))
        if len(smaller.nodes) < limit // FEW:  # then rather some of them together
            break
        graph = smaller
    if len(graph.nodes) > limit:
        graph = _repeated(graph)
    if len(graph.nodes) > limit:
        inner = sum(n.kind not in _ENDS for n in graph.nodes)
        length = -(-inner // limit)
        graph = _stretched(graph, lambda k, node: ("", k // length))
    return graph


def chains(graph: Graph, period: int = PERIOD, least: int = 4) -> Graph:
    """The graph with chains in which ``period`` operations or fewer repeat in one node, if ``least`` times or more.

    A chain goes from a node to the one below it that no other uses; small branches beside it go along.
    """
    found = _Chains(graph)
    homes = list(range(len(graph.nodes)))
    names: dict[int, str] = {}
    for chain in found.all():
        marks = [found.mark(k) for k in chain]
        for start, length, times in _repeats(marks, period, least):
            members = chain[start : start + length * times]
            home = members[0]
            names[home] = _times(times, [graph.nodes[k].name for k in members[:length]])
            for k in members:
                for m in (k, *found.beside(k)):
                    homes[m] = home
    _bring_leaves(graph, homes, dict.fromkeys(names, ""), MANY)
    return _folded(graph, homes, names.get) if names else graph


def _times(times: int, names: list[str]) -> str:
    """``3 × (A → B)``"""
    if len(names) > 6:
        names = [*names[:3], f"… {len(names) - 4} more …", names[-1]]
    return f"{times:,} × {names[0]}" if len(names) == 1 else f"{times:,} × ({' → '.join(names)})"


def _repeated(graph: Graph) -> Graph:
    """The graph with stretches in which the same nodes repeat, used by each other in the same way, in one node."""
    inner = [n.id for n in graph.nodes if n.kind not in _ENDS]
    place = {k: i for i, k in enumerate(inner)}
    numbers: dict[Any, int] = {}
    marks = []
    for i, k in enumerate(inner):
        node = graph.nodes[k]
        used = tuple(place[e.target] - i if e.target in place else None for e in graph.outgoing[k])
        key = node.name, node.kind, node.module, node.order, used
        marks.append(numbers.setdefault(key, len(numbers)))
    homes = list(range(len(graph.nodes)))
    names: dict[int, str] = {}
    for start, length, times in _repeats(marks, LONG, 3):
        members = inner[start : start + length * times]
        names[members[0]] = _times(times, [graph.nodes[k].name for k in members[:length]])
        for k in members:
            homes[k] = members[0]
    _bring_leaves(graph, homes, dict.fromkeys(names, ""), MANY)
    return _folded(graph, homes, names.get) if names else graph


def _repeats(marks: Sequence[int], period: int, least: int) -> Iterator[tuple[int, int, int]]:
    """Where something repeats: the start, how much it is that repeats, and how often it is there."""
    i, n = 0, len(marks)
    while i < n:
        for p in range(1, period + 1):
            if marks[i] != (marks[i + p] if i + p < n else None) or marks[i : i + p] != marks[i + p : i + 2 * p]:
                continue
            end = i + 2 * p
            while end < n and marks[end] == marks[end - p]:
                end += 1
            times = (end - i) // p
            if times >= least:
                yield i, p, times
                i += p * times
                break
        else:
            i += 1


class _Chains:
    """The chains of a graph, and what is beside them."""

    def __init__(self, graph: Graph) -> None:
        nodes = self.nodes = graph.nodes
        self.end = [n.kind in _ENDS for n in nodes]
        self.targets: list[Any] = [()] * len(nodes)
        users = [0] * len(nodes)
        for e in graph.edges:
            if not self.end[e.target] and e.target not in self.targets[e.source]:
                self.targets[e.source] = (*self.targets[e.source], e.target)
                users[e.target] += 1
        self.main, weights = [-1] * len(nodes), [0] * len(nodes)
        self.light: dict[int, list[int]] = {}
        for k in range(len(nodes) - 1, -1, -1):
            targets = self.targets[k]
            if self.end[k]:
                continue
            weights[k] = min(LIGHT + 1, 1 + sum(weights[t] for t in targets))
            own = [t for t in targets if users[t] == 1]
            if len(own) > 1:
                light = [t for t in own if weights[t] <= LIGHT and not self._shared(t, users)]
                own = [t for t in own if t not in light]
                if len(own) == 1:
                    self.light[k] = light
            if len(own) == 1:
                self.main[k] = own[0]
        self.marks: dict[Any, int] = {}

    def _shared(self, k: int, users: list[int]) -> bool:
        """Whether something below a light branch is used by others."""
        return any(users[t] > 1 or self._shared(t, users) for t in self.targets[k])

    def all(self) -> Iterator[list[int]]:
        """The chains, each from its first node on."""
        inside = [False] * len(self.nodes)
        for m in self.main:
            if m >= 0:
                inside[m] = True
        for k, m in enumerate(self.main):
            if m >= 0 and not inside[k]:
                chain = [k]
                while m >= 0:
                    chain.append(m)
                    m = self.main[m]
                yield chain

    def beside(self, k: int) -> list[int]:
        """The small branches that go with a node of a chain."""
        found = self.light.get(k, [])[:]
        for t in found:
            found += self.targets[t]
        return found

    def mark(self, k: int) -> int:
        """A number that nodes have in common which look the same, with what is beside them."""
        node = self.nodes[k]
        key = (node.name, node.kind, node.module, node.order, *(self.nodes[t].name for t in self.beside(k)))
        return self.marks.setdefault(key, len(self.marks))


def _by_module(depth: int) -> Callable[[int, GraphNode], tuple[str, Any]]:
    """Stretches of one module: of one path, as far as it goes to this depth."""

    def key(k: int, node: GraphNode) -> tuple[str, Any]:
        path = node.module.split(".") if node.module else []
        if len(path) < depth:
            return "", k  # it stays by itself
        name = ".".join(path[:depth])
        return name, (name, node.order)

    return key


def _stretched(graph: Graph, key: Callable[[int, GraphNode], tuple[str, Any]]) -> Graph:
    """The graph with neighbours of the same key in one node, under the name that comes with it."""
    homes = list(range(len(graph.nodes)))
    names: dict[int, str] = {}
    home, before, k = -1, None, 0
    for node in graph.nodes:
        if node.kind in _ENDS:
            continue
        name, found = key(k, node)
        k += 1
        if found == before:
            homes[node.id] = home
        else:
            home, before = node.id, found
        if name or home != node.id:
            names[home] = name
    _bring_leaves(graph, homes, names)
    return _folded(graph, homes, names.get)


def _bring_leaves(graph: Graph, homes: list[int], names: Mapping[int, str], least: int = 1) -> None:
    """Let leaves that one of the groups ``names`` alone uses go into it, if it has so many of them.

    Not into a module's, if their names say that they are none of its parameters.
    """
    users: dict[int, set[int]] = {}
    for e in graph.edges:
        if graph.nodes[e.target].kind == "accumulate":
            users.setdefault(e.target, set()).add(homes[e.source])
    own: dict[int, list[int]] = {}
    for leaf, found in users.items():
        home = min(found)
        if len(found) == 1 and leaf not in graph.roots and home in names:
            label, inner = graph.nodes[leaf].label, names[home].partition(".")[2]
            if label is None or not inner or f".{inner}." in f".{label}":
                own.setdefault(home, []).append(leaf)
    for home, leaves in own.items():
        if len(leaves) >= least:
            for leaf in leaves:
                homes[leaf] = home


def _folded(graph: Graph, homes: Sequence[int], called: Callable[[int], str | None]) -> Graph:
    """The graph with each node in its home, which becomes a group."""
    members: dict[int, list[GraphNode]] = {}
    for node, home in zip(graph.nodes, homes, strict=True):
        members.setdefault(home, []).append(node)
    ids = {home: k for k, home in enumerate(members)}
    nodes = tuple(_group(k, m, called(home)) for k, (home, m) in enumerate(members.items()))
    edges, seen = [], set()
    for e in graph.edges:
        a, b = ids[homes[e.source]], ids[homes[e.target]]
        if nodes[a].kind == nodes[b].kind == "group" or "group" in (nodes[a].kind, nodes[b].kind):
            if a == b or (a, b) in seen:
                continue
            seen.add((a, b))
        edges.append(replace(e, source=a, target=b))
    edges.sort(key=lambda e: (e.source, e.input))
    roots = tuple(ids[homes[r]] for r in graph.roots)
    return replace(graph, nodes=nodes, edges=tuple(edges), roots=roots, whole=graph.whole or graph.stats)


def _group(k: int, members: list[GraphNode], name: str | None) -> GraphNode:
    """One node for several."""
    first = members[0]
    if len(members) == 1:
        return replace(first, id=k)
    values = sum(_many(n, s) for n in members for s in n.saved)
    changed = any(s.changed for n in members for s in n.saved)
    reasons = dict.fromkeys(n.reason for n in members if n.reason)  # of declared surrogates
    return replace(
        first, id=k, kind="group", name=name or _common(members), count=sum(n.count for n in members),
        label=None, formula=None, reason="; ".join(reasons) or None,
        saved=(Saved(f"{values:,} values", nbytes=held(members), changed=changed),) if values else (),
        freed=any(n.freed for n in members),
        place=first.place if all(n.place == first.place for n in members) else None,
        module=first.module if all(n.module == first.module for n in members) else name or None,
    )  # fmt: skip


def _many(node: GraphNode, s: Saved) -> int:
    """How many values a record stands for."""
    count = s.name.removesuffix(" values").replace(",", "")
    return int(count) if node.kind == "group" and count.isdecimal() else 1


def _common(members: Sequence[GraphNode]) -> str:
    """What a stretch mostly consists of, or between which modules it lies."""
    first, last = members[0].module, next(n.module for n in reversed(members) if n.kind != "accumulate")
    if first and last:
        return first if first == last else f"{last} … {first}"
    names = Counter(n.name for n in members if n.kind != "accumulate").most_common()
    return ", ".join([name for name, _ in names[:2]] + ["…"] * (len(names) > 2))
