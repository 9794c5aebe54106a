"""A graph as a picture that stands alone: it follows the reader's choice of light or dark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import Any

from gradwright.base.pages.markup import Markup, join, tag
from gradwright.viz.fold import fold
from gradwright.viz.labels import COLOURS, MEANINGS, ORDERS, about, line, remarks, shape, title
from gradwright.viz.layout import layered, spread
from gradwright.viz.records import Graph, GraphNode
from gradwright.viz.text import cells, clipped

MOST = 150
"""A graph with more nodes than this is folded first."""
_PAPER, _INK, _SOFT, _LINE = (
    ("#f7f7f5", "#15171a"), ("#1d2126", "#e6e8ea"), ("#5b6570", "#a0a9b3"), ("#8b95a0", "#6b747e"),
)  # fmt: skip
_STRIPES = {2: ("#1f5fa8", "#66a8f0"), 3: ("#6d4aa8", "#b79ce6")}
"""For the orders of nodes that a backward pass recorded, the colour at their side."""
_NARROW, _WIDE, _HIGH, _LANE = 84, 240, 42, 14
"""How wide nodes are, at least and at most, and how high; and what a line takes that passes between them."""
_GAP, _AROUND = 18, 22
_LETTER, _SMALL = 8.5, 6.8
"""How wide letters are taken to be, of titles and of what is under them."""


def svg(graph: Graph) -> str:
    """The graph as an SVG picture: leaves above, arrows along the forward pass.

    Pointing at a node tells what is known of it. A graph with more than `MOST` nodes is folded first.

    Raises:
        LayoutError: there is neither Graphviz nor python-igraph to say where the nodes stand.
    """
    return _Picture(fold(graph, MOST)).made()


class _Picture:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        pairs = list(dict.fromkeys((e.source, e.target) for e in graph.edges))
        places, routes = layered(len(graph.nodes), pairs)
        self.wide = [_width(node) for node in graph.nodes]
        points = [*places, *(p for route in routes for p in route)]
        halves = [*(w / 2 for w in self.wide), *[_LANE / 2] * (len(points) - len(places))]
        xs = spread(points, halves, _GAP)
        least = min((x - h for x, h in zip(xs, halves, strict=True)), default=0)
        self.right = max((x + h for x, h in zip(xs, halves, strict=True)), default=0) - least + 2 * _AROUND
        at = iter([(x - least + _AROUND, layer) for x, (_, layer) in zip(xs, points, strict=True)])
        spots = [next(at) for _ in places]
        lanes = {pair: [next(at) for _ in route] for pair, route in zip(pairs, routes, strict=True)}
        aside = [0.0] * (1 + max((layer for _, layer in points), default=0))
        for (a, b), lane in lanes.items():
            for (x, layer), (to, _) in pairwise([spots[a], *lane, spots[b]]):
                aside[layer] = max(aside[layer], abs(to - x))
        gaps = [min(34 + 0.09 * x, 110) + _HIGH for x in aside[-2::-1]]  # where lines go far to the side, there is more
        layers = [*accumulate(gaps, initial=_AROUND + _HIGH / 2)][::-1]
        self.bottom = layers[0] + _HIGH / 2 + _AROUND
        self.at = [(x, layers[layer]) for x, layer in spots]
        self.lanes = {pair: [(x, layers[layer]) for x, layer in lane] for pair, lane in lanes.items()}
        self.count = Counter((e.source, e.target) for e in graph.edges)

    def made(self) -> str:
        """The picture."""
        legend = list(self._legend())
        said = about(self.graph)
        wide = max(self.right, len(said) * 6.6 + 2 * _AROUND)
        across = max(int((wide - _AROUND) // 180), 1)
        high = self.bottom + 22 * -(-len(legend) // across) + 34
        marks = [
            tag("g", mark, transform=f"translate({_AROUND + k % across * 180},{self.bottom + 8 + k // across * 22:g})")
            for k, mark in enumerate(legend)
        ]
        size = {"width": f"{wide:g}", "height": f"{high:g}", "viewBox": f"0 0 {wide:g} {high:g}"}
        return tag(
            "svg",
            tag("title", "A graph"),
            tag("desc", said),
            tag("style", Markup(_dark())),
            tag("defs", _arrow()),
            tag("rect", width="100%", height="100%", rx=10, fill=_PAPER[0], class_="paper"),
            tag(
                "g",
                tag("g", self._edges(), fill="none", stroke=_LINE[0], stroke_width=1.4, class_="lines"),
                [self._node(n) for n in self.graph.nodes],
                transform=f"translate({(wide - self.right) / 2:g})" if wide > self.right else None,
            ),
            marks,
            _text(said, _AROUND, high - 16, 11),
            xmlns="http://www.w3.org/2000/svg", **size, class_="gradwright-graph", role="img",
            font_family='system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif',
            style=f"max-width:100%;min-width:{0.6 * wide:.0f}px;height:auto",
        )  # fmt: skip

    # -- nodes --

    def _node(self, node: GraphNode) -> Markup:
        (x, y), wide = self.at[node.id], self.wide[node.id]
        left, top = x - wide / 2, y - _HIGH / 2
        frame, ground, *_ = COLOURS[node.kind]
        dashed = "4 3" if node.kind in ("stop", "surrogate") else None
        box = {"width": wide, "height": _HIGH, "rx": 8, "fill": ground, "stroke": frame}
        behind = tag("rect", x=f"{left + 4:g}", y=f"{top + 4:g}", **box) if node.kind == "group" else None
        order = min(node.order, 3)
        stripe = None
        if order > 1:
            stripe = tag("rect", x=f"{left + 5:g}", y=f"{top + 8:g}", width=3, height=_HIGH - 16, rx=1.5,
                         fill=_STRIPES[order][0], class_=f"order-{order}")  # fmt: skip
        below = _below(node)
        return tag(
            "g",
            tag("title", "\n".join(self._told(node))),
            behind,
            tag("rect", x=f"{left:g}", y=f"{top:g}", **box, stroke_dasharray=dashed),
            stripe,
            _text(clipped(title(node), int(wide / _LETTER) - 2), x, y - 3 if below else y + 4.5, 12.5, "middle"),
            below and _text(clipped(below, int(wide / _SMALL) - 2), x, y + 13, 11, "middle"),
            class_=f"node {node.kind}",
        )  # fmt: skip

    def _told(self, node: GraphNode) -> Iterator[str]:
        """All that is known of a node, in lines."""
        yield " ".join(dict.fromkeys(part for part in (node.name, node.label, shape(node)) if part))
        if node.formula:
            yield node.formula
        for s in node.saved:
            size = "" if s.shape is None else f" {s.dtype} {list(s.shape)}"
            yield f"saved {s.name}{size}{f' = {s.value}' if s.value else ''}"
        yield from remarks(node)
        if node.place is not None and node.place.code:
            yield node.place.code

    # -- edges --

    def _edges(self) -> list[Markup]:
        above: dict[int, list[tuple[int, int]]] = {}
        below: dict[int, list[tuple[int, int]]] = {}
        for pair in self.lanes:
            above.setdefault(pair[0], []).append(pair)
            below.setdefault(pair[1], []).append(pair)
        starts: dict[tuple[int, int], float] = {}
        ends: dict[tuple[int, int], float] = {}
        for found, side, places in ((above, 0, ends), (below, 1, starts)):
            for k, pairs in found.items():
                pairs.sort(key=lambda p: self._next(p, side)[0])
                step = min(18.0, self.wide[k] * 0.6 / len(pairs))
                for i, pair in enumerate(pairs):
                    places[pair] = self.at[k][0] + (i - (len(pairs) - 1) / 2) * step
        return [self._edge(pair, lane, starts[pair], ends[pair]) for pair, lane in self.lanes.items()]

    def _next(self, pair: tuple[int, int], side: int) -> tuple[float, float]:
        """Where a line goes to, or comes from, next to one of its ends."""
        lane = self.lanes[pair]
        return lane[-side] if lane else self.at[pair[1 - side]]

    def _edge(self, pair: tuple[int, int], lane: list[tuple[float, float]], start: float, end: float) -> Markup:
        """From the bottom of a node, straight through the layers it passes, to the top of the one that used it."""
        points = [(start, self.at[pair[1]][1] + _HIGH / 2)]
        for x, y in reversed(lane):
            points += [(x, y - _HIGH / 2), (x, y + _HIGH / 2)]
        points.append((end, self.at[pair[0]][1] - _HIGH / 2 - 3))
        path = f"M{points[0][0]:g},{points[0][1]:g}"
        for k in range(1, len(points)):
            (x, y), (to, down) = points[k - 1], points[k]
            middle = (y + down) / 2
            path += f"V{down:g}" if x == to else f"C{x:g},{middle:g} {to:g},{middle:g} {to:g},{down:g}"
        stopped = self.graph.nodes[pair[1]].kind == "stop"
        several = self.count[pair]
        drawn = tag("path", d=path, marker_end="url(#gradwright-arrow)", stroke_dasharray="4 3" if stopped else None)
        if several == 1:
            return drawn
        return join([drawn, _text(f"×{several}", end + 7, points[-1][1] - 6, 10, stroke="none")])

    # -- what it means --

    def _legend(self) -> Iterator[Markup]:
        kinds = dict.fromkeys(n.kind for n in self.graph.nodes)
        for kind in (k for k in MEANINGS if k in kinds):
            frame, ground, *_ = COLOURS[kind]
            dashed = "4 3" if kind in ("stop", "surrogate") else None
            size = {"width": 20, "height": 13, "rx": 3}
            box = tag("rect", x=0.5, y=0.5, **size, fill=ground, stroke=frame, stroke_dasharray=dashed)
            yield tag("g", box, _text(MEANINGS[kind], 28, 11, 11), class_=f"node {kind}")
        for order in sorted({min(n.order, 3) for n in self.graph.nodes} - {1}):
            bar = tag("rect", x=8, width=3, height=14, rx=1.5, fill=_STRIPES[order][0], class_=f"order-{order}")
            yield tag("g", bar, _text(f"recorded by {ORDERS[order]}", 28, 11, 11))


def _below(node: GraphNode) -> str:
    """What stands under the title: of a group also how many it stands for, of a stop the line."""
    if node.kind == "stop" and node.place is not None:
        return line(str(node.place))
    many = f"{node.count:,} nodes" if node.kind == "group" and "×" not in node.name else ""
    return "  ".join(part for part in (many, shape(node)) if part)


def _width(node: GraphNode) -> float:
    needed = max(cells(title(node)) * _LETTER, cells(_below(node)) * _SMALL) + (28 if node.order == 1 else 36)
    return round(min(max(_NARROW, needed), _WIDE))


def _text(content: str, x: float, y: float, size: float, anchor: str | None = None, **rest: Any) -> Markup:
    strong = size > 12
    return tag(
        "text", content, x=f"{x:g}", y=f"{y:g}", font_size=size, font_weight=600 if strong else None,
        fill=_INK[0] if strong else _SOFT[0], class_="ink" if strong else "soft", text_anchor=anchor, **rest,
    )  # fmt: skip


def _arrow() -> Markup:
    head = tag("path", d="M0,0.8 L7,4 L0,7.2 z", fill=_LINE[0], class_="head")
    box = {"viewBox": "0 0 8 8", "refX": 5, "refY": 4, "markerWidth": 7, "markerHeight": 7}
    return tag("marker", head, id="gradwright-arrow", **box, orient="auto-start-reverse", markerUnits="userSpaceOnUse")


def _dark() -> str:
    """The colours on dark paper, which take the place of those written on the elements."""
    rules = {
        ".paper": f"fill:{_PAPER[1]}", ".ink": f"fill:{_INK[1]}", ".soft": f"fill:{_SOFT[1]}",
        ".lines": f"stroke:{_LINE[1]}", ".head": f"fill:{_LINE[1]}",
    }  # fmt: skip
    rules |= {f".node.{kind}>rect": f"stroke:{c[2]};fill:{c[3]}" for kind, c in COLOURS.items()}
    rules |= {f"rect.order-{order}.order-{order}": f"stroke:none;fill:{c[1]}" for order, c in _STRIPES.items()}
    made = "".join(f".gradwright-graph {selector}{{{rule}}}" for selector, rule in rules.items())
    return f"@media (prefers-color-scheme:dark){{{made}}}"
