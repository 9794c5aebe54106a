"""From a compiled function to a `Graph`: its program, node by node, in frames that are its loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwright.base.source_line import Place as Line
from gradwright.compilation.explain import entries_of, names_of
from gradwright.compilation.node import CHECK, CONSTANT, HOST, INPUT, Node, Program
from gradwright.viz.records import Edge, Graph, GraphNode, Kind, Place


def program(function: Callable[..., Any], backward: bool = False) -> Graph:
    """The newest program of a compiled function as records, which are drawn as every graph is.

    Arrays that are read are leaves, and results and writes are asked for; what one loop computes stands in one frame,
    and what runs in Python is as a Function of the user's.

    Args:
        function: what `gradwright.compile` has returned, called at least twice.
        backward: show the program of the backward pass of its results instead.

    Raises:
        TypeError: it is no compiled function.
        ValueError: there is no such program.

    >>> step = gw.compile(lambda x: (x * 2.0).exp().sum(), backend="plan")
    >>> for _ in range(3):
    ...     _ = step(gw.ones(3))
    >>> [node.label or node.name for node in program(step).nodes]
    ['output 0', 'sum', 'exp', 'multiply', 'argument 0']
    """
    programs = getattr(function, "programs", None)
    if programs is None:
        raise TypeError(f"viz.program(): expected what compile() has returned, but got {type(function).__name__}")
    for entry in entries_of(programs):
        if not backward:
            return graph_of(entry.runner, names_of(entry))
        for history in entry.record.histories:
            return graph_of(history.runner, [])
        raise ValueError("viz.program(): its results have no history, so there is no program of a backward pass")
    raise ValueError(f"viz.program(): there is no program: {programs.reason or 'call the function twice first'}")


def graph_of(runner: Any, names: list[str]) -> Graph:
    """A program that was made ready as records; ``names`` are those of its inputs, as far as they have some."""
    loops = getattr(runner, "loops", [])
    frames = {node: f"{loop['kind']} {k + 1}" for k, loop in enumerate(loops) for node in loop["nodes"]}
    return _Shown(getattr(runner, "ready", runner.program), names, frames).graph()


class _Shown:
    """The records while they are made, results first."""

    def __init__(self, program: Program, names: list[str], frames: dict[Node, str]) -> None:
        self.program, self.frames = program, frames
        self.names = dict(zip(program.inputs, names, strict=False))
        self.ids: dict[Node, int] = {}
        self.nodes: list[GraphNode] = []
        self.edges: list[Edge] = []

    def graph(self) -> Graph:
        """All of them."""
        program = self.program
        ends = [*zip(program.outputs, program.writes, strict=True)]
        roots: list[tuple[int | None, Node]] = [(self._output(k, at), node) for k, (node, at) in enumerate(ends)]
        roots += [(None, node) for node in program.nodes if node.op == CHECK]
        used, found = set[Node](), [node for _, node in roots]
        for node in found:  # which grows
            if node not in used:
                used.add(node)
                found += [n for n in node.nodes() if n.op != CONSTANT]
        for node in reversed(program.nodes):
            if node in used and node.op != CONSTANT:
                self.ids[node] = len(self.nodes)
                self.nodes.append(self._record(node))
        for root, node in roots:
            if root is not None and node in self.ids:
                self.edges.append(Edge(root, self.ids[node]))
        for node, k in self.ids.items():
            inputs = [n for n in node.nodes() if n in self.ids]
            self.edges += [Edge(k, self.ids[n], 0, j) for j, n in enumerate(inputs)]
        self.edges.sort(key=lambda e: (e.source, e.input))
        starts = [self.ids[node] if root is None else root for root, node in roots]
        return Graph(tuple(self.nodes), tuple(self.edges), tuple(starts))

    def _output(self, k: int, at: int | None) -> int:
        node = self.program.outputs[k]
        label = f"output {k}" if at is None else f"write {self.names.get(self.program.inputs[at], f'input {at}')}"
        self.nodes.append(GraphNode(len(self.nodes), "Output", "output", node.shape, str(node.dtype), label=label))
        return len(self.nodes) - 1

    def _record(self, node: Node) -> GraphNode:
        kind: Kind = "accumulate" if node.op == INPUT else "custom" if node.op in (HOST, CHECK) else "op"
        label = self.names.get(node, f"input {node.number}") if node.op == INPUT else None
        name = repr(node.args[0]).strip("<>") if node.op == HOST else node.op
        dtype = None if node.dtype is None else str(node.dtype)
        place = None
        if node.place:
            line = Line(*node.place)
            place = Place(line.code.co_filename, line.line, line.code.co_name, line.source)
        return GraphNode(len(self.nodes), name, kind, node.shape, dtype, label=label, place=place,
                         module=self.frames.get(node))  # fmt: skip
