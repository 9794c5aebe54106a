"""The Python text of a program: NumPy's calls, with a place for each result."""

from __future__ import annotations

from math import prod
from time import perf_counter
from typing import Any

import numpy as np

from gradwright.compilation.by_numpy.buffers import Buffers
from gradwright.compilation.by_numpy.calls import Calls
from gradwright.compilation.by_numpy.layout import CALL, NUMBER, OWN, SUM, VIEW, Layout, entries
from gradwright.compilation.by_numpy.loops import Loop
from gradwright.compilation.by_numpy.places import escaping, inside, written_in_place
from gradwright.compilation.by_numpy.schedule import Step, steps
from gradwright.compilation.node import HOST, INPUT, Node, Program


class Text(Calls):
    """A program written as a function of its inputs.

    Attributes:
        source: the text.
        order: the steps, one after another.
        records: for each step that has lines its ``kind`` ("NumPy" or "host"), its ``name``, the ``nodes`` in it, how
            many ``entries`` it has, and the ``seconds`` that were spent in it, if the text is ``timed``.
    """

    def __init__(self, program: Program, layout: Layout, timed: bool = False) -> None:
        self._program, self.order = program, steps(program, layout)
        super().__init__(layout, written_in_place(program, layout, self.order))
        self._apart = {*self.targets, *escaping(program, layout)}
        self.buffers = Buffers(program, layout, self.order, self._apart, inside(program, layout, self.order))
        given = ", ".join(f"x{n.number}" for n in program.inputs)
        self.line(f"{given}{',' * (len(program.inputs) == 1)} = arrays" if given else "")
        self.records: list[dict[str, Any]] = []
        for step in self.order:
            before = len(self.body)
            if timed:
                self.line(f"start = {self.f(perf_counter, 'clock')}()")
            if step.shape is None:
                self.step(step.nodes[0])
            else:
                Loop(self, step)
            if len(self.body) > before + timed:
                self.records.append(_record(step))
                if timed:
                    self.line(f"{self.bind('record', self.records[-1])}['seconds'] += clock() - start")
        self._end()
        self.source = "\n".join([
            f"def bound({', '.join(self.names)}):", "    def run(arrays):", *(f"        {s}" for s in self.body),
            "    return run", "",
        ])  # fmt: skip
        self.lines = {k + 3: node for k, node in self.lines.items()}

    # -- the end --

    def _end(self) -> None:
        """Outputs, and what is written."""
        results: list[str] = []
        taken: set[Node] = set()
        late: list[str] = []
        for k, node in enumerate(self._program.outputs):
            w = self._program.writes[k]
            if w is None:
                results.append(self._output(node, k, taken))
                continue
            results.append("None")
            if node in self.targets:
                continue
            place, value = f"x{self._program.inputs[w].number}", self.arg(node)
            if any(x.op == INPUT or self.layout.way[x] == CALL for x in self.layout.owners[node]):
                self.line(f"o{k} = array({value})")
                value = f"o{k}"
            late.append(f"copyto({place}, {value})" if node.shape else f"{place}[()] = {value}")
        self.line(f"results = [{', '.join(results)}]")
        for line in late:
            self.line(line)
        self.line("return results")

    def _output(self, node: Node, k: int, taken: set[Node]) -> str:
        """The text of an array that is the caller's from now on."""
        way, owners = self.layout.way[node], self.layout.owners[node]
        if way in (NUMBER, SUM):
            return f"asarray({self.name(node)})"
        own = way in OWN and owners == {node}
        through = way == VIEW and len(owners) == 1 and self.layout.way[next(iter(owners))] in OWN
        if (own or through) and not owners & taken and self._kept_order(node):
            owner = next(iter(owners))
            whole = node.shape and prod(node.shape) == prod(owner.shape)
            if owner in self._apart - self.targets.keys() and (own or whole):
                taken.add(owner)
                return self.name(node)
        self.line(f"o{k} = array({self.arg(node)}, order='K')")
        return f"o{k}"

    def _kept_order(self, node: Node) -> bool:
        """Whether an array lies in memory as a copy of it would."""
        shown = self.layout.shown[node]
        return bool(np.empty_like(shown).strides == shown.strides)


def _record(step: Step) -> dict[str, Any]:
    """What a step is, for people."""
    first = step.nodes[0]
    names = dict.fromkeys(node.name or node.op for node in step.nodes)
    return {
        "kind": "host" if first.op == HOST else "NumPy", "name": ", ".join(names), "nodes": step.nodes,
        "entries": prod(step.shape) if step.shape is not None else max(map(entries, (first, *first.nodes()))),
        "seconds": 0.0,
    }  # fmt: skip
