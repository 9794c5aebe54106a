"""The text of a loop: nodes that are computed piece by piece together."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gradwright.compilation.by_numpy.buffers import array
from gradwright.compilation.by_numpy.calls import Calls, add_reduce
from gradwright.compilation.by_numpy.layout import CHOICE, LINES, NUMBER, SUM
from gradwright.compilation.by_numpy.schedule import Step, cut
from gradwright.compilation.node import Node


class Loop:
    """A loop that is written.

    What it takes of memory that is made before, a piece at a time, is bound as a list with a tuple for each piece.
    """

    def __init__(self, text: Calls, step: Step) -> None:
        self._text, self._step, self._layout = text, step, text.layout
        self._pieces = step.pieces()
        self._columns: dict[str, list[Any]] = {}
        self._names: dict[Node, str] = {}
        self._before: list[str] = []
        self._first: list[str] = []
        self._body: list[tuple[str, Node]] = []
        self._after: list[tuple[str, Node]] = []
        self._mask: Any = None
        for node in step.nodes:
            for x in self._layout.reads(node):
                if x not in self._names:
                    self._names[x] = self._taken(x)
            self._write(node)
        self._end()

    def _end(self) -> None:
        text = self._text
        for line in dict.fromkeys(self._before):
            text.line(line)
        if any("[s]" in line for line in self._first):
            self._columns["s"] = [piece.where for piece in self._pieces]
        if any(".reshape(r)" in line for line in self._first):
            self._columns["r"] = [piece.shape for piece in self._pieces]
        rows = list(zip(*self._columns.values(), strict=True))
        text.line(f"for {', '.join(self._columns)}{',' * (len(self._columns) == 1)} in {text.bind('L', rows)}:")
        for line in self._first:
            text.line(f"    {line}")
        for line, node in self._body:
            text.line(f"    {line}", node)
        for line, node in self._after:
            text.line(line, node)

    # -- pieces --

    def _cut(self, whole: Any) -> list[Any]:
        """The pieces of an array that is there already."""
        if not self._step.flat:
            return [whole[piece.where] for piece in self._pieces]
        return [whole.reshape(-1)[piece.where].reshape(piece.shape) for piece in self._pieces]

    def _piece(self, name: str) -> str:
        """The text of a piece of an array, which is lined up in a flat loop."""
        return f"{name}[s]" + ".reshape(r)" * (self._step.flat and self._step.sums)

    def _taken(self, x: Node) -> str:
        """The name of what a loop takes of an array outside of it."""
        text, name = self._text, f"p{x.number}"
        if not cut(x, self._step):
            if self._layout.way[x] in (NUMBER, SUM):
                return text.array(x)
            return text.name(x) if not x.shape or not self._step.flat else text.lined_up(x)
        fixed = text.fixed(x)
        if fixed is not None:
            self._columns[name] = self._cut(fixed)
            return name
        whole = text.name(x)
        if self._step.flat:
            known = whole if self._layout.row(x) else f"{text.f(np.ascontiguousarray, 'ascontiguousarray')}({whole})"
            whole = f"w{x.number}"
            self._before.append(f"{whole} = {known}.reshape(-1)")
        self._first.append(f"{name} = {self._piece(whole)}")
        return name

    def _filled(self, node: Node) -> str:
        """The name of the piece that a node is computed into."""
        text, name = self._text, f"p{node.number}"
        if node in text.buffers.scratch:
            block = text.buffers.scratch[node]
            self._columns[name] = [array(block, piece.shape, node.dtype) for piece in self._pieces]
        elif node in text.buffers.arrays:
            self._columns[name] = self._cut(text.buffers.arrays[node])
        else:
            if node not in text.targets:
                self._before.append(f"v{node.number} = empty({node.shape!r}, {text.bind('d', node.dtype)})")
            whole = f"w{node.number}_"
            self._before.append(f"{whole} = {text.name(node)}{'.reshape(-1)' * self._step.flat}")
            self._first.append(f"{name} = {self._piece(whole)}")
        return name

    # -- nodes --

    def _write(self, node: Node) -> None:
        way, text = self._layout.way[node], self._text
        given = [self._names[x] for x in self._layout.reads(node)]
        if way == SUM:
            self._total(node, given)
        elif way == LINES:
            self._lines(node, given)
        else:
            out = self._names[node] = self._filled(node)
            if way == CHOICE:
                line = text.choice(node, out, self._masks(), self._bits)
            else:
                args = [self._names[x] if isinstance(x, Node) else text.arg(x) for x in node.args]
                line = text.by_entry(node, args, out)
            self._body.append((line, node))

    def _masks(self) -> str:
        """The name of a piece of int8 numbers to write to."""
        if self._mask is None:
            self._mask = np.empty(max(prod(piece.shape) for piece in self._pieces), "i1")
            self._columns["mask"] = [array(self._mask, piece.shape, "i1") for piece in self._pieces]
        return "mask"

    def _bits(self, x: Node | None, out: str, dtype: str) -> str:
        """The name of the bits of a piece."""
        name = out if x is None else self._names[x]
        if name not in self._columns:
            return f"{name}.view({dtype!r})"
        self._columns[f"{name}_{dtype}"] = [piece.view(dtype) for piece in self._columns[name]]
        return f"{name}_{dtype}"

    def _total(self, node: Node, given: list[str]) -> None:
        """A sum over all axes: of the pieces, or of lines of theirs, which are added in double after the loop."""
        text = self._text
        total = text.f(add_reduce, "add_reduce")
        shapes = [piece.shape[:-1] if self._step.in_rows() else () for piece in self._pieces]
        parts, at = np.zeros(sum(map(prod, shapes)), node.dtype), 0
        name = f"q{node.number}"
        columns = self._columns[name] = []
        for shape in shapes:
            columns.append(parts[at : at + prod(shape)].reshape(shape))
            at += prod(shape)
        if not self._step.in_rows():
            product = f"{text.f(np.vdot, 'vdot')}({', '.join(given)})"
            line = f"{name}[()] = {product if len(given) > 1 else f'{total}({given[0]}, None)'}"
        else:
            other = given[1] if len(given) > 1 else f"l{node.dtype.char}"
            if len(given) == 1:
                self._columns[other] = [text.ones(piece.shape[-1], node.dtype) for piece in self._pieces]
            line = f"{text.f(np.vecdot, 'vecdot')}({given[0]}, {other}, {name})"
        self._body.append((line, node))
        double = text.bind("d", np.dtype("f8"))
        number = f"{text.bind('t', node.dtype.type)}({total}({text.bind('parts', parts)}, None, {double}))"
        self._after.append((f"v{node.number} = {number}", node))

    def _lines(self, node: Node, given: list[str]) -> None:
        """A sum over some axes: of each row by itself, or of the pieces, which are added in double after the loop."""
        text, axes = self._text, self._layout.axes[node]
        total = text.f(add_reduce, "add_reduce")
        kept = bool(node.kwargs.get("keepdims"))
        if 0 not in axes:
            out = self._filled(node)
            if len(given) > 1 or text.by_rows(node):
                self._body.append((text.row_sums(node, given, out), node))
            else:
                self._body.append((f"{total}({given[0]}, {axes!r}, None, {out}, {kept!r})", node))
            return
        parts = np.zeros((len(self._pieces), *node.shape), node.dtype)
        name = f"q{node.number}"
        self._columns[name] = [*parts]
        self._body.append((f"{total}({given[0]}, {axes!r}, None, {name}, {kept!r})", node))
        sums = f"{total}({text.bind('parts', parts)}, 0, {text.bind('d', np.dtype('f8'))})"
        if node in text.buffers.arrays:
            self._after.append((f"copyto({text.name(node)}, {sums}, 'unsafe')", node))
        else:
            self._after.append((f"v{node.number} = {sums}.astype({text.bind('d', node.dtype)})", node))
