"""The explorer: a graph, and a backward pass through it, as a page that is one file and needs nothing else."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from math import hypot, prod
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, overload

from gradwright.base.cpython.frames import frame
from gradwright.base.errors import size
from gradwright.base.pages import files
from gradwright.base.pages.document import document
from gradwright.base.pages.markup import Markup, data, join, prose, tag
from gradwright.base.pages.numbers import number
from gradwright.base.pages.shown import Page
from gradwright.debug.profiler.table import in_bytes
from gradwright.engine.base import TensorBase
from gradwright.nn import Module
from gradwright.viz.fold import fold
from gradwright.viz.labels import count
from gradwright.viz.levels import Group, levels
from gradwright.viz.play import CELLS, Play, Step, Values, record
from gradwright.viz.sizes import EXPLODING, VANISHING
from gradwright.viz.walk import alone, walked

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor
    from gradwright.viz.records import Graph, Params, Saved

SCRIPTS = ["data.js", "place.js", "draw.js", "view.js", "panel.js", "outline.js", "play.js", "main.js"]
SHOWN = 25_000
"""A page has no more nodes than about this: of a larger graph, it shows what is left when the rest is folded."""
BUDGET = 200_000
"""So many entries of gradients a page may have."""
LISTED = 400
"""The text of a graph with no more nodes than this stands in the page for readers without scripts."""


@overload
def explore(tensors: Any, path: None = None, *, params: Params = None,
            grad_outputs: Tensor | Sequence[Tensor | None] | None = None, play: bool = True,
            title: str | None = None) -> Page: ...  # fmt: skip
@overload
def explore(tensors: Any, path: str | os.PathLike[str], *, params: Params = None,
            grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
            play: bool = True, title: str | None = None) -> Path: ...  # fmt: skip
def explore(
    tensors: Tensor | Sequence[Tensor],
    path: str | os.PathLike[str] | None = None,
    *,
    params: Params = None,
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    play: bool = True,
    title: str | None = None,
) -> Path | Page:  # fmt: skip
    """Write the graph of tensors, and a backward pass through it, as a page to be opened in a browser.

    The page is one file; nothing is fetched. The backward pass is run and recorded as `gradwright.viz.play` does: the
    graph is kept, and no ``.grad`` is changed. If it cannot be run, because the graph has been freed or a saved value
    has been written in place, the page shows the graph and says so. Record the graph under `gradwright.viz.trace`, and
    the page also has its modules, lines, and the places where gradients stop.

    Args:
        tensors: a tensor, or several in containers, as for `gradwright.viz.graph`.
        path: where to write the page; without one, a notebook shows it.
        params: names of tensors: a module, or a dictionary; without it, the calling function's variables name them.
        grad_outputs: cotangents of the tensors, in a list; ones, where there is none.
        play: whether to run a backward pass.
        title: of the page.

    Returns:
        The path; without one, the `Page`, whose ``save`` writes it.

    Raises:
        TypeError: there is no tensor among ``tensors``.
        OSError: the page cannot be written.
        LayoutError: there is neither Graphviz nor the package igraph, which say where the nodes stand.

    >>> from gradwright import viz
    >>> w = gw.tensor([1.0, -2.0], requires_grad=True)
    >>> viz.explore((w * w).sum(), "graph.html") # doctest: +SKIP
    PosixPath('graph.html')
    """
    graph, ids, roots = walked(tensors, list(_named(frame(1))) if params is None else params)
    notes, played = list(filter(None, [alone(roots)])), None
    if play and not notes:
        why = _unplayable(graph)
        if why is None:
            flows = len(graph.edges) or 1
            cells = max(1, min(CELLS, BUDGET // flows))
            played = record(graph, ids, roots, grad_outputs, cells=cells)
        else:
            notes.append(why)
    text = page(graph, played, title=title, notes=notes)
    return Page(text) if path is None else files.write(text, path)


def _named(frame: FrameType | None) -> Iterator[tuple[str, Any]]:
    """The tensors among a function's variables, and the parameters of the modules there, by the names they have."""
    for name, value in (frame.f_globals | frame.f_locals).items() if frame is not None else ():
        if name.startswith("_"):
            continue
        if isinstance(value, TensorBase):
            yield name, value
        elif isinstance(value, Module):
            yield from ((f"{name}.{path}", p) for path, p in value.named_parameters())


def _unplayable(graph: Graph) -> str | None:
    """Why no backward pass can be run; None if one can."""
    if any(n.freed for n in graph.nodes):
        return (
            "There is nothing to play: a backward pass has freed what these nodes had saved. Call `explore` before "
            "`backward()`, or `backward(retain_graph=True)`."
        )
    if len(graph.nodes) > SHOWN:
        return f"There is nothing to play: passes through more than {SHOWN:,} nodes are not recorded."
    return None


def page(graph: Graph, play: Play | None = None, *, title: str | None = None, notes: Sequence[str] = ()) -> str:
    """The page as HTML, of a graph and, if there is one, a backward pass through it."""
    stats = graph.stats
    stopped = play.stopped if play else None
    notes = [*notes, *([f"The backward pass stopped on the way. {stopped}"] if stopped else [])]
    if len(graph.nodes) > SHOWN:
        graph, play = fold(graph, SHOWN), None
        notes.append("What repeats has been folded into one node each: the graph is too large to be shown whole.")
    about = [count(stats.nodes), f"{in_bytes(stats.saved_bytes)} saved" if stats.saved_bytes else "nothing saved",
             f"{stats.depth:,} deep"]  # fmt: skip
    whole = levels(graph)
    return document(
        "gradwright.viz",
        "explorer.html",
        ["explorer.css", "panels.css"],
        SCRIPTS,
        title=join(title or "Graph"),
        about=join(" · ".join(part.replace(" ", "\N{NO-BREAK SPACE}") for part in about)),
        notes=tag("div", [tag("p", prose(n)) for n in notes], class_="notes", role="note") if notes else Markup(),
        text=tag("pre", graph.text()) if len(graph.nodes) <= LISTED else Markup(),
        data=data(_plain(graph, whole, play)),
    )


# ---- what the scripts read --------------------------------------------------------------------------------


class _Table(dict[Any, int]):
    """Things by number, each once; ``made`` has them in order as ``form`` writes them. None is number 0."""

    def __init__(self, form: Callable[[Any], Any]) -> None:
        super().__init__({None: 0})
        self.form = form
        self.made: list[Any] = [None]

    def __missing__(self, thing: Any) -> int:
        self.made.append(self.form(thing))
        k = self[thing] = len(self.made) - 1
        return k


def _plain(graph: Graph, whole: Group, play: Play | None) -> dict[str, Any]:
    texts = _Table(str)
    groups = list(whole.walk())
    numbers = {id(g): k for k, g in enumerate(groups)}
    gradients = {s.node: v for s in play.steps for v in _reached(s)} if play else {}
    return {
        "nodes": _columns(graph, gradients, texts),
        "edges": [[getattr(e, end) for e in graph.edges] for end in ("source", "target", "output", "input")],
        "groups": [_group(g, numbers) for g in groups],
        "play": _play(play, texts) if play else None,
        "limits": [VANISHING, EXPLODING],
        "texts": texts.made,
    }


def _columns(graph: Graph, gradients: dict[int, tuple[float, float]], texts: _Table) -> dict[str, list[Any]]:
    """The nodes, field by field; words are numbers in the table of texts."""
    found: dict[str, list[Any]] = {"saved": [], "gradient": []}
    for n in graph.nodes:
        place, shape = n.place, None if n.shape is None else size(n.shape)
        words = {
            "name": n.name, "kind": n.kind, "shape": shape, "dtype": n.dtype, "label": n.label,
            "module": n.module, "reason": n.reason, "formula": n.formula, "file": place and place.file,
            "line": place and str(place.line), "function": place and place.function, "code": place and place.code,
        }  # fmt: skip
        for name, word in words.items():
            found.setdefault(name, []).append(texts[word])
        for name in ("order", "freed", "count"):
            found.setdefault(name, []).append(int(getattr(n, name)))
        found["saved"].append([_saved(s, texts) for s in n.saved])
        gradient = gradients.get(n.id) or (n.gradient and (n.gradient.norm, n.gradient.rms))
        found["gradient"].append([*map(number, gradient)] if gradient else 0)
    return found


def _saved(s: Saved, texts: _Table) -> list[Any]:
    shape = None if s.shape is None else size(s.shape)
    return [texts[s.name], texts[shape], texts[s.dtype], s.nbytes, texts[s.value], int(s.changed), s.memory]


def _reached(step: Step) -> list[tuple[float, float]]:
    """Norm and root mean square of the gradient that reached a node, all of its outputs taken together."""
    given = [v for _, v in step.incoming]
    count = sum(prod(v.shape) for v in given)
    norm = hypot(*(v.norm for v in given))
    return [(norm, norm / count**0.5)] if count else []


def _group(g: Group, numbers: dict[int, int]) -> list[Any]:
    """Members are ids, or of groups -1 less their number."""
    members = [m if isinstance(m, int) else -1 - numbers[id(m)] for m in g.members]
    return [
        g.title,
        g.kind,
        members,
        [round(x, 2) for x, _ in g.places],
        [layer for _, layer in g.places],
        g.rims,
        [[s.lower, s.upper, s.count, *(round(x, 2) for x in s.bends)] for s in g.segments],
    ]


def _play(play: Play, texts: _Table) -> dict[str, Any]:
    values = _Table(lambda v: _values(v, texts))
    steps = [
        [
            step.node,
            [[output, values[v]] for output, v in step.incoming],
            [[flow.edge, values[flow.values]] for flow in step.flows],
            values[step.before],
            values[step.after],
        ]
        for step in play.steps
    ]
    return {"steps": steps, "values": values.made, "stopped": play.stopped}


def _values(v: Values, texts: _Table) -> list[Any]:
    summary = (v.norm, v.rms, v.minimum, v.maximum, v.mean)
    return [texts[size(v.shape)], texts[v.dtype], *(None if x is None else number(x) for x in summary),
            v.rows, v.columns, int(v.whole), v.cells]  # fmt: skip
