"""A graph in the language of Mermaid, which Markdown on many sites shows as a picture."""

from __future__ import annotations

import re

from gradwright.viz.fold import fold
from gradwright.viz.labels import COLOURS, shape, title
from gradwright.viz.records import Graph

MOST = 250
"""A graph with more nodes than this is folded first: Mermaid refuses one with more than 500 edges."""


def mermaid(graph: Graph) -> str:
    """The graph in Mermaid's language: leaves above, arrows along the forward pass.

    A graph with more than `MOST` nodes is folded first.

    >>> from gradwright import viz
    >>> x = gw.tensor(2.0, requires_grad=True)
    >>> print(viz.graph(x.exp(), params={"x": x}).mermaid())
    flowchart TD
      n0(["Output<br>float32 []"]):::output
      n1["ExpBackward0<br>float32 []"]:::op
      n2(["x<br>float32 []"]):::accumulate
      n1 --> n0
      n2 --> n1
      classDef output fill:#e8f3e4,stroke:#3d7a35,color:#1d2126
      classDef op fill:#ffffff,stroke:#aab2ba,color:#1d2126
      classDef accumulate fill:#e3f0f4,stroke:#1f6f8b,color:#1d2126
    """
    graph = fold(graph, MOST)
    lines = ["flowchart TD"]
    for node in graph.nodes:
        label = "<br>".join(written(part) for part in (title(node), shape(node)) if part)
        left, right = ("([", "])") if node.kind in ("accumulate", "output") else "[]"
        lines.append(f'  n{node.id}{left}"{label}"{right}:::{node.kind}')
    lines += [f"  n{e.target} --> n{e.source}" for e in graph.edges]
    for kind in dict.fromkeys(node.kind for node in graph.nodes):
        frame, ground, *_ = COLOURS[kind]
        dashed = ",stroke-dasharray:4 3" if kind in ("stop", "surrogate") else ""
        lines.append(f"  classDef {kind} fill:{ground},stroke:{frame},color:#1d2126{dashed}")
    return "\n".join(lines)


def written(text: str) -> str:
    """A text as Mermaid shows it as it is: what could mean something there is written by its number.

    >>> written('<b> & "x"')
    '#60;b#62; #38; #34;x#34;'
    """
    return re.sub(r"[^\w .,:()\[\]✂×→…-]", lambda m: f"#{ord(m.group())};", text)
