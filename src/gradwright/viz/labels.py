"""What is written on the nodes of a picture, whatever language it is in."""

from __future__ import annotations

from collections.abc import Iterator

from gradwright.base.errors import size
from gradwright.debug.profiler.table import in_bytes
from gradwright.viz.records import Graph, GraphNode, held

COLOURS = {
    "accumulate": ("#1f6f8b", "#e3f0f4", "#6cb8d6", "#1b333d"),
    "output": ("#3d7a35", "#e8f3e4", "#8cc97f", "#21361e"),
    "custom": ("#6d4aa8", "#f0eaf9", "#b79ce6", "#30264a"),
    "surrogate": ("#8a6400", "#fbf3dc", "#dcb04a", "#3a3018"),
    "stop": ("#b5400f", "#fdeee6", "#f58a55", "#3d281e"),
    "group": ("#5b6570", "#eceef0", "#a0a9b3", "#2a2f35"),
    "op": ("#aab2ba", "#ffffff", "#59626c", "#1c1f23"),
}
"""For each kind of node the colours of its frame and its ground, on light paper and on dark."""
MEANINGS = {
    "output": "asked for", "accumulate": "leaf", "custom": "your Function", "surrogate": "gradient declared untrue",
    "stop": "the gradient stops", "group": "several in one",
}  # fmt: skip
"""Names of the kinds in a legend; an operation needs no explanation."""
ORDERS = {2: "backward", 3: "double backward"}
_LONGEST = 60


def title(node: GraphNode) -> str:
    """The name of a node."""
    if node.kind == "stop":
        return f"✂ {line(node.name)}"
    if node.kind in ("accumulate", "output"):
        return line(node.label or node.name)
    return line(node.name)


def shape(node: GraphNode) -> str:
    """``float32 [2, 3]``, as far as it is known."""
    return "" if node.shape is None else f"{node.dtype or ''} {size(node.shape)}".strip()


def remarks(node: GraphNode) -> Iterator[str]:
    """What else is to be said of a node, the most important first."""
    place = line(str(node.place)) if node.place else ""
    if node.reason:
        yield f"{place}: {line(node.reason)}" if place else line(node.reason)
    if any(s.changed for s in node.saved):
        yield "a saved value was changed in place"
    if node.freed:
        yield "freed"
    elif nbytes := held([node]):
        yield f"saves {in_bytes(nbytes)}"
    if place and not node.reason:
        yield place
    if node.gradient is not None:
        yield f"gradient {node.gradient.rms:.2g}"
    if node.order > 1:
        yield ORDERS.get(node.order, f"order {node.order}")
    if node.module:
        yield line(node.module)


def about(graph: Graph) -> str:
    """How large a graph is, in a sentence."""
    whole = graph.whole or graph.stats
    folded = f", folded to {len(graph.nodes):,}" if whole.nodes != len(graph.nodes) else ""
    saved = f"{in_bytes(whole.saved_bytes)} saved" if whole.saved_bytes else "nothing saved"
    return f"{count(whole.nodes)}{folded}, depth {whole.depth:,}, {saved}"


def count(nodes: int) -> str:
    """How many nodes there are."""
    return "1 node" if nodes == 1 else f"{nodes:,} nodes"


def line(text: str) -> str:
    r"""A text as one line that is not too long, without characters that are not to be seen.

    >>> line("a\n\x1b[31mb")
    'a �[31mb'
    """
    shown = "".join(c if c.isprintable() else " " if c.isspace() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"
