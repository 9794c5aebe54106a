"""A graph as a tree in the terminal.

A line leads on to the next one under it; of several that follow, the one with most below it does, and the others branch
off before. What several nodes share is written out once, with a number, and afterwards referred to by it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from gradwright.viz.fold import chains, fold
from gradwright.viz.labels import about, line, remarks, shape, title
from gradwright.viz.records import Graph, GraphNode

LONG = 400
"""A graph with more nodes than this is folded as far as `fold` can; runs of one operation are, at any size."""
_STYLES = {"output": "bold", "accumulate": "green", "stop": "red", "custom": "cyan", "surrogate": "yellow",
           "group": "blue"}  # fmt: skip

Segment = tuple[str, str]
"""Text and its style."""


def text(graph: Graph, width: int = 80) -> str:
    """The tree of a graph, no line of it wider than ``width``."""
    return "\n".join("".join(part for part, _ in line).rstrip() for line in lines(graph, width))


def lines(graph: Graph, width: int = 80) -> Iterator[list[Segment]]:
    """The lines of the tree, each as pieces of text with styles that the package rich knows."""
    graph = fold(graph, LONG) if len(graph.nodes) > LONG else graph
    graph = chains(graph, period=1, least=5)
    rows = [(prefix, *_described(node, number)) for prefix, node, number in _Tree(graph).rows()]
    left = min(max((cells(p) + cells(n) for p, n, _, _, _ in rows), default=0), max(width - 30, width // 2))
    middle = max((cells(m) for _, _, m, _, _ in rows), default=0)
    for prefix, name, meta, rest, style in rows:
        prefix = prefix if cells(prefix) <= width // 2 else f"⋯ {prefix[2 - width // 2 :]}"
        made = [(prefix, "dim"), (fitted(name, left - cells(prefix)), style)]
        room = width - left - 2
        if meta or rest:
            made += [("  ", ""), (fitted(meta, min(middle, room)), "dim")]
        if rest and room > middle + 6:
            made += [("  ", ""), (clipped(rest, room - middle - 2), style if style == "red" else "dim")]
        yield made
    yield [(about(graph), "dim")]


class _Tree:
    """The order in which nodes are written, each with what stands in front of it."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.targets: list[list[int]] = [list(dict.fromkeys(e.target for e in out)) for out in graph.outgoing]
        self.heights = [0] * len(graph.nodes)
        self.users = [0] * len(graph.nodes)
        for k in range(len(graph.nodes) - 1, -1, -1):
            self.heights[k] = 1 + max((self.heights[t] for t in self.targets[k]), default=0)
            for t in self.targets[k]:
                self.users[t] += 1
        self.numbers: dict[int, str] = {}
        """Of those that are referred to and have no label."""

    def rows(self) -> Iterator[tuple[str, GraphNode, str]]:
        """What stands in front of each line, its node, and a number or a reference."""
        seen: set[int] = set()
        stack = [("", "", k, True) for k in reversed(self.graph.roots)]  # before it, before what follows, node, alone
        while stack:
            first, rest, k, alone = stack.pop()
            node = self.graph.nodes[k]
            if k in seen:
                yield self._mark(first, True, alone), node, f"↑ {self._number(k)}".rstrip()
                continue
            seen.add(k)
            follow = self.targets[k]
            main = max(follow, key=lambda t: (t not in seen, self.heights[t]), default=None)
            yield self._mark(first, main is None, alone), node, self._number(k) if self.users[k] > 1 else ""
            if main is not None:
                stack.append((rest, rest, main, False))
            stack += ((f"{rest}├", f"{rest}│ ", t, True) for t in reversed(follow) if t != main)

    def _mark(self, first: str, last: bool, alone: bool) -> str:
        if alone:
            return first and f"{first}─{' ' if last else '┬ '}"
        return f"{first}{'└ ' if last else '│ '}"

    def _number(self, k: int) -> str:
        node = self.graph.nodes[k]
        if node.kind == "accumulate" and node.label:
            return ""
        return self.numbers.setdefault(k, f"#{len(self.numbers) + 1}")


def _described(node: GraphNode, number: str) -> tuple[str, str, str, str]:
    """A node's name, its shape, what else is to be said, and its style."""
    name, style = title(node), _STYLES.get(node.kind, "")
    if node.label and node.kind not in ("accumulate", "output"):
        name = f"{name} {line(node.label)}"
    if number.startswith("↑"):
        return f"{name} {number}", "", "", style
    return f"{name} {number}".rstrip(), shape(node), ", ".join(remarks(node)), style


# ---- text of a certain width ------------------------------------------------------------------------------


def cells(value: str) -> int:
    """How wide a text is in a terminal."""
    if value.isascii():
        return len(value)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in value)


def clipped(value: str, width: int) -> str:
    """A text that is no wider than this."""
    if cells(value) <= width:
        return value
    while value and cells(value) > width - 1:
        value = value[:-1]
    return f"{value}…"[: max(width, 0)]


def fitted(value: str, width: int) -> str:
    """A text that is as wide as this."""
    value = clipped(value, width)
    return value + " " * (width - cells(value))
