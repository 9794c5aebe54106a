"""What a picture of a graph is made from: plain records, of numbers and strings, that hold no tensor.

The modules that write a `Graph` down (`text`, `dot`, `mermaid`, `svg`, `explorer`) are imported here, so they know its
records by name only.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal

Kind = Literal["op", "custom", "surrogate", "accumulate", "output", "stop", "group"]
"""What a node is: an operation, a user's Function, one whose gradient is declared untrue (`surrogate`), a leaf, a
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
        value: what is short enough to be written out and is no tensor: ``'2.0'``.
        memory: a number for the memory it lies in: equal for those that share it, so that bytes are counted once.
    """

    name: str
    shape: tuple[int, ...] | None = None
    dtype: str | None = None
    nbytes: int = 0
    value: str | None = None
    memory: int | None = None


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node of a graph.

    Attributes:
        id: its index in ``graph.nodes``; nodes are numbered as they are met on the way from the roots.
        name: ``MulBackward0``, ``AccumulateGrad``; of an output ``Output``, of a stop what stops the gradient:
            ``detach()``; of a group the name of its members or the path of its module.
        kind: one of `Kind`.
        shape, dtype: of its result; None if they are not known.
        saved: what it keeps for backward.
        label: the name of the parameter or variable it belongs to.
        module: the path of the module that computed it, ``layers.0``; ``""`` is the root. None if it is not known.
        place: the line that recorded it, if the graph was recorded under `trace` or anomaly mode.
        order: 1 if a forward pass recorded it, 2 a backward pass of that, 3 a backward pass of one of order 2.
        reason: of a surrogate why, of a stop why the gradient ends here, of an output without history the same.
        formula: the first line of the operation's docstring.
        freed: whether a backward pass has freed what it saved.
        gradient: the size of the gradient at its result, if a pass under `trace` or a ``.grad`` tells.
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
    """How large a graph is: its nodes and edges, the bytes saved in it, and the longest way from a root in nodes."""

    nodes: int
    edges: int
    saved_bytes: int
    depth: int


@dataclass(frozen=True)
class Graph:
    """A graph as records: what `gradwright.viz.graph` returns.

    Attributes:
        nodes: the `GraphNode` of each id, in order of ids.
        edges: from each node to those its gradient flows to.
        roots: the ids of the tensors that were asked for.
    """

    nodes: tuple[GraphNode, ...]
    edges: tuple[Edge, ...]
    roots: tuple[int, ...]
