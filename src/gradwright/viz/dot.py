"""A graph in the language of Graphviz: ``dot -Tsvg graph.dot`` makes a picture of it."""

from __future__ import annotations

from gradwright.viz.fold import fold
from gradwright.viz.labels import COLOURS, line, shape, title
from gradwright.viz.records import Graph

MOST = 5_000
"""A graph with more nodes than this is folded first."""


def dot(graph: Graph) -> str:
    r"""The graph in Graphviz's language: leaves above, arrows along the forward pass, modules in frames.

    A graph with more than `MOST` nodes is folded first.

    >>> from gradwright import viz
    >>> x = gw.tensor(2.0, requires_grad=True)
    >>> print(viz.graph(x.exp(), params={"x": x}).dot())
    digraph {
      node [shape=box style="rounded,filled" fontname="sans-serif" fontsize=11 margin="0.12,0.06"];
      edge [color="#5b6570" arrowsize=0.7];
      n0 [label="Output\nfloat32 []" color="#3d7a35" fillcolor="#e8f3e4"];
      n1 [label="ExpBackward0\nfloat32 []" color="#aab2ba" fillcolor="#ffffff"];
      n2 [label="x\nfloat32 []" color="#1f6f8b" fillcolor="#e3f0f4"];
      n1 -> n0;
      n2 -> n1;
    }
    """
    graph = fold(graph, MOST)
    lines = [
        "digraph {",
        '  node [shape=box style="rounded,filled" fontname="sans-serif" fontsize=11 margin="0.12,0.06"];',
        '  edge [color="#5b6570" arrowsize=0.7];',
    ]
    for node in graph.nodes:
        frame, ground, *_ = COLOURS[node.kind]
        label = quoted("\n".join(part for part in (title(node), shape(node)) if part))
        dashed = ' style="rounded,filled,dashed"' if node.kind in ("stop", "surrogate") else ""
        lines.append(f'  n{node.id} [label={label} color="{frame}" fillcolor="{ground}"{dashed}];')
    modules: dict[str, list[str]] = {}
    for node in graph.nodes:
        if node.module:
            modules.setdefault(node.module, []).append(f"n{node.id};")
    for k, (path, members) in enumerate(modules.items()):
        if len(members) > 1:
            frame = 'color="#aab2ba" fontcolor="#5b6570" fontname="sans-serif" fontsize=10 style=rounded'
            lines.append(f"  subgraph cluster_{k} {{ label={quoted(line(path))} {frame} {' '.join(members)} }}")
    lines += [f"  n{e.target} -> n{e.source};" for e in graph.edges]
    return "\n".join([*lines, "}"])


def quoted(text: str) -> str:
    """A text as a string of the language, which shows it as it is."""
    for character, written in (("\\", "\\\\"), ('"', '\\"'), ("&", "&amp;"), ("\n", "\\n")):
        text = text.replace(character, written)
    return f'"{text}"'
