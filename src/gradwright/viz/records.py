"""What a picture of a graph is made from: plain records, of numbers and strings, that hold no tensor."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from gradwright.base.cpython.forks import cached_property
from gradwright.base.errors import LayoutError
from gradwright.base.pages import files

if TYPE_CHECKING:
    from gradwright.engine.base import TensorBase
    from gradwright.nn.module import Module

Params: TypeAlias = "Module | Mapping[str, TensorBase] | Iterable[tuple[str, TensorBase]] | None"
"""Names for tensors: a dictionary, pairs, or a module, whose parameters are named."""

forms: dict[str, Callable[..., str]] = {}
"""What writes a graph down, by the names of `Graph`'s methods. They need these records, so the package fills it in."""

Kind = Literal["op", "custom", "surrogate", "accumulate", "output", "stop", "group"]
"""What a node is: an operation, a user's Function or Op, one whose gradient is declared untrue (`surrogate`), a leaf, a
tensor that was asked for, the place where a gradient stops, or several nodes folded into one."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the user's program: its file, number, function and text."""

    file: str
    line: int
    function: str
    code: str

    def __str__(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}"


@dataclass(frozen=True, slots=True)
class Gradient:
    """The size of a gradient: its Euclidean norm, and the root of the mean square of its entries."""

    norm: float
    rms: float


@dataclass(frozen=True, slots=True)
class Saved:
    """A value that a node keeps for backward.

    Attributes:
        name: as PyTorch has it, without ``_saved_``: ``self``, ``result``, ``saved_tensors[0]``.
        shape, dtype, nbytes: of a tensor; None, None and 0 of anything else.
        value: what is short enough to be written out: ``'2.0'``, also of a tensor without dimensions.
        memory: a number for the memory it lies in: equal for those that share it, so that bytes are counted once.
        changed: whether it was written in place since, so that a backward pass would raise.
    """

    name: str
    shape: tuple[int, ...] | None = None
    dtype: str | None = None
    nbytes: int = 0
    value: str | None = None
    memory: int | None = None
    changed: bool = False


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node of a graph.

    Attributes:
        id: its index in ``graph.nodes``; every edge goes from a smaller one to a larger.
        name: ``MulBackward0``, ``AccumulateGrad``; of an output ``Output``, of a stop what stops the gradient:
            ``detach()``; of a group the name of its members, or the path of its module.
        kind: one of `Kind`.
        shape, dtype: of its result; None if they are not known.
        saved: what it keeps for backward.
        label: the name of the parameter or variable it belongs to.
        module: the path of the module that computed it, ``layers.0``; ``""`` is the root. None if it is not known.
        place: the line that recorded it, if the graph was recorded under `trace` or anomaly mode.
        order: 1 if a forward pass recorded it, 2 a backward pass of that, 3 a backward pass of one of order 2.
        reason: of a surrogate, and a group with such in it, why; of a stop, or an output without history, why no
            gradient goes on from here.
        formula: the first line of the operation's docstring.
        freed: whether a backward pass has freed what it saved; of a group, what any of its nodes did.
        gradient: the size of the gradient at its result, if a pass under `trace`, or a ``.grad``, tells.
        count: how many nodes it stands for.
    """

    id: int
    name: str
    kind: Kind = "op"
    shape: tuple[int, ...] | None = None
    dtype: str | None = None
    saved: tuple[Saved, ...] = ()
    label: str | None = None
    module: str | None = None
    place: Place | None = None
    order: int = 1
    reason: str | None = None
    formula: str | None = None
    freed: bool = False
    gradient: Gradient | None = None
    count: int = 1


@dataclass(frozen=True, slots=True)
class Edge:
    """From a node to one that its gradient flows to: as ``source.next_functions[input] == (target, output)``."""

    source: int
    target: int
    output: int = 0
    input: int = 0


@dataclass(frozen=True, slots=True)
class Stats:
    """How large a graph is: its nodes and edges, the bytes saved in it, and the longest way from a root, in nodes."""

    nodes: int
    edges: int
    saved_bytes: int
    depth: int


@dataclass(frozen=True)
class Graph:
    """A graph as records: what `gradwright.viz.graph` returns.

    As a string it is the tree that `text` makes; a notebook shows it as a picture.

    Attributes:
        nodes: the `GraphNode` of each id, in order of ids.
        edges: from each node to those its gradient flows to, in order of ``source`` and ``input``.
        roots: the ids of the tensors that were asked for.
        whole: how large the graph is that this one was folded from; None if it was not.
    """

    nodes: tuple[GraphNode, ...]
    edges: tuple[Edge, ...]
    roots: tuple[int, ...]
    whole: Stats | None = None

    @cached_property
    def outgoing(self) -> tuple[list[Edge], ...]:
        """The edges that go out from each node."""
        found: tuple[list[Edge], ...] = tuple([] for _ in self.nodes)
        for e in self.edges:
            found[e.source].append(e)
        return found

    @cached_property
    def stats(self) -> Stats:
        """How large it is. A group counts as the nodes it stands for, and as one on the way."""
        depths = [1] * len(self.nodes)
        for e in self.edges:
            depths[e.target] = max(depths[e.target], depths[e.source] + 1)
        return Stats(sum(n.count for n in self.nodes), len(self.edges), held(self.nodes), max(depths, default=0))

    def as_dict(self) -> dict[str, Any]:
        """The records as dictionaries, lists, strings and numbers; what is as by default is left out of a node."""
        return {
            "nodes": [_plain(n) for n in self.nodes],
            "edges": [[e.source, e.target, e.output, e.input] for e in self.edges],
            "roots": list(self.roots),
            "stats": _plain(self.stats),
        }

    def json(self) -> str:
        """`as_dict` as JSON. Numbers that are not finite are strings."""
        return json.dumps(self.as_dict(), allow_nan=False, separators=(",", ":"))

    def text(self, width: int = 80) -> str:
        """The graph as a tree for a terminal: see `gradwright.viz.text.text`."""
        return forms["text"](self, width)

    def dot(self) -> str:
        """The graph in Graphviz's language: see `gradwright.viz.dot.dot`."""
        return forms["dot"](self)

    def mermaid(self) -> str:
        """The graph in Mermaid's language, which many sites show as a picture: see `gradwright.viz.mermaid.mermaid`."""
        return forms["mermaid"](self)

    def svg(self) -> str:
        """The graph as a picture: see `gradwright.viz.svg.svg`."""
        return forms["svg"](self)

    def html(self) -> str:
        """The graph as a page to be explored: see `gradwright.viz.explorer.page`."""
        return forms["html"](self)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it to a file in the form that its suffix names: .txt, .json, .dot or .gv, .mmd, .svg, .html.

        Returns:
            The path.

        Raises:
            ValueError: for another suffix.
            OSError: if the file cannot be written; what was there before stays.
        """
        form = _SUFFIXES.get(Path(path).suffix.lower())
        if form is None:
            raise ValueError(f"save: the suffix of {os.fspath(path)!r} names no form of a graph; these do: "
                             f"{', '.join(_SUFFIXES)}")  # fmt: skip
        return files.write(f"{getattr(self, form)()}\n", path)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Graph of {len(self.nodes):,} nodes and {len(self.edges):,} edges>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """What a notebook shows: a picture, or the tree where nothing can lay one out."""
        shown = {"text/plain": str(self)}
        try:
            return {**shown, "image/svg+xml": self.svg()}
        except LayoutError:
            return shown


_SUFFIXES = {".txt": "text", ".json": "json", ".dot": "dot", ".gv": "dot", ".mmd": "mermaid", ".svg": "svg",
             ".html": "html"}  # fmt: skip


def held(nodes: Iterable[GraphNode]) -> int:
    """The bytes that nodes keep, those of one memory once."""
    found: dict[Any, int] = {}
    for node in nodes:
        for s in node.saved:
            key = (node.id, s.name) if s.memory is None else s.memory
            found[key] = max(found.get(key, 0), s.nbytes)
    return sum(found.values())


def _plain(record: Any) -> Any:
    if isinstance(record, float) and not math.isfinite(record):
        return str(record)
    if isinstance(record, tuple):
        return [_plain(v) for v in record]
    if not hasattr(record, "__dataclass_fields__"):
        return record
    values = ((f, getattr(record, f.name)) for f in fields(record))
    return {f.name: _plain(v) for f, v in values if v != f.default}
