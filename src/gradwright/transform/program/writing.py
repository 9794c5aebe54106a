"""The Python text of a program: NumPy's calls, with a place for each result."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gradwright.transform.program.buffers import OWN, Buffers, array
from gradwright.transform.program.interpreted import function
from gradwright.transform.program.layout import CALL, CAST, COPY, NUMBER, PRODUCT, SUM, VIEW, Layout, entries
from gradwright.transform.program.names import Names
from gradwright.transform.program.node import CHECK, HOST, INDEX, INPUT, PICK, VARIABLE, Node, Program
from gradwright.transform.program.places import escaping, inside, written_in_place
from gradwright.transform.program.schedule import Step, cut, steps

_OPERATORS = {"add": "{} + {}", "subtract": "{} - {}", "multiply": "{} * {}", "divide": "{} / {}",
              "negative": "-{}", "square": "{0} * {0}"}  # fmt: skip
_add = np.add.reduce
_BY_NAME = ("maximum", "minimum")
"""Ufuncs that NumPy wants to be told by name where their results go."""


class Text(Names):
    """A program written as a function of its inputs.

    Attributes:
        source: the text.
        order: the steps, one after another.
    """

    def __init__(self, program: Program, layout: Layout) -> None:
        self._program, self.order = program, steps(program, layout)
        super().__init__(layout, written_in_place(program, layout, self.order))
        self._apart = {*self.targets, *escaping(program, layout)}
        self.buffers = Buffers(program, layout, self.order, self._apart, inside(program, layout, self.order))
        given = ", ".join(f"x{n.number}" for n in program.inputs)
        self.line(f"{given}{',' * (len(program.inputs) == 1)} = arrays" if given else "")
        for step in self.order:
            if step.shape is None:
                self._step(step.nodes[0])
            else:
                self._loop(step)
        self._end()
        self.source = "\n".join([
            f"def bound({', '.join(self.names)}):", "    def run(arrays):", *(f"        {s}" for s in self.body),
            "    return run", "",
        ])  # fmt: skip
        self.lines = {k + 3: node for k, node in self.lines.items()}

    # -- steps --

    def _step(self, node: Node) -> None:
        """A node that is computed at once."""
        way, out = self.layout.way[node], f"v{node.number}"
        if (way in OWN and node in self.buffers.arrays) or node in self.targets:
            self.line(self._filled(node, way, [self.arg(x) for x in node.args], self.name(node)), node)
        elif way == NUMBER:
            self.line(f"{out} = {self._computed(node)}", node)
        elif way == SUM:
            self.line(f"{out} = {self._total(node)}", node)
        elif way == VIEW and self.fixed(node) is not None:
            return
        elif node.op == CHECK:
            self.line(f"check({self.bind('k', node)}, {self.arg(node.args[0])})", node)
        elif node.op == HOST:
            call = f"as_user({', '.join(map(self.arg, node.args))})"
            self.line(f"{out} = {self._held(node, call) if node.shape is not None else call}", node)
        elif node.op in (INDEX, PICK):
            self.line(f"{out} = {self.arg(node.args[0])}[{self.arg(node.args[1])}]", node)
        else:
            call = f"{self.f(function(node.op), node.op)}({self.args(node)})"
            known = node.op not in VARIABLE or node.shape is None
            self.line(f"{out} = {call if known else self._held(node, call)}", node)

    def _held(self, node: Node, call: str) -> str:
        """A call whose result is to have the shape that it had."""
        return f"shaped({self.bind('k', node)}, {call})"

    def _filled(self, node: Node, way: str, args: list[str], out: str) -> str:
        """The call that computes a node into an array."""
        if way == CAST:
            return f"copyto({out}, {args[0]}, 'unsafe')"
        if way == COPY:
            shape = node.args[0].shape
            return f"copyto({self.bind('r', self.buffers.arrays[node].reshape(shape))}, {args[0]})"
        f = np.matmul if way == PRODUCT else function(node.op)
        return f"{self.f(f, node.op)}({', '.join(args)}, {'out=' * (node.op in _BY_NAME)}{out})"

    def _computed(self, node: Node) -> str:
        """One number."""
        plain = node.dtype.char in "fd" and all(isinstance(x, Node) and x.dtype == node.dtype for x in node.args)
        if plain and node.op in _OPERATORS:
            return _OPERATORS[node.op].format(*map(self.number, node.args))
        return f"{self.f(function(node.op), node.op)}({', '.join(map(self.number, node.args))})"

    def _lined_up(self, node: Node) -> str:
        """The text of an array as a line of its entries."""
        fixed = self.fixed(node)
        if fixed is not None:
            return self.bind("l", fixed) if fixed.ndim == 1 else self.bind("l", fixed.reshape(-1))
        return self.name(node) + ".reshape(-1)" * (len(node.shape) != 1)

    def _total(self, node: Node) -> str:
        """A sum over all axes."""
        if node in self.layout.factors:
            a, b = map(self._lined_up, self.layout.factors[node])
            return f"{a}.dot({b})"
        x = node.args[0]
        if 1 < entries(x) <= 8192:
            return f"{self._lined_up(x)}.dot({self.bind('l', _ones(entries(x), x.dtype))})"
        return f"{self.f(function('sum'), 'sum')}({self.name(x)})"

    # -- loops --

    def _loop(self, step: Step) -> None:
        """Nodes that are computed piece by piece."""
        pieces = step.pieces()
        columns: dict[str, list[Any]] = {"s": list(pieces)}
        text: dict[Node, str] = {}
        before: list[str] = []
        body: list[tuple[str, Node]] = []
        after: list[tuple[str, Node]] = []

        def view(whole: Any) -> Any:
            return whole.reshape(-1) if step.flat else whole

        def piece(x: Node) -> str:
            """The text of what a loop takes of an array outside of it."""
            name = f"p{x.number}"
            if not cut(x, step):
                if self.layout.way[x] in (NUMBER, SUM):
                    before.append(f"{name} = asarray({self.name(x)})")
                    return name
                return self.name(x) if not x.shape or not step.flat else self._lined_up(x)
            fixed = self.fixed(x)
            if fixed is not None:
                columns[name] = [view(fixed)[s] for s in pieces]
                return name
            whole = self.name(x)
            if step.flat:
                known = self.layout.row(x)
                whole = f"w{x.number}"
                before.append(f"{whole} = {self.name(x)}.reshape(-1)" if known else (
                    f"{whole} = {self.f(np.ascontiguousarray, 'ascontiguousarray')}({self.name(x)}).reshape(-1)"))
            first.append(f"{name} = {whole}[s]")
            return name

        first: list[str] = []
        for node in step.nodes:
            for x in self.layout.reads(node):
                if x not in text:
                    text[x] = piece(x)
            if self.layout.way[node] == SUM:
                self._partial(node, step, [text[x] for x in self.layout.reads(node)], columns, body, after)
                continue
            out = f"p{node.number}"
            if node in self.buffers.scratch:
                shapes = [(s.stop - s.start, *(() if step.flat else step.shape[1:])) for s in pieces]  # type: ignore[index]
                columns[out] = [array(self.buffers.scratch[node], shape, node.dtype) for shape in shapes]
            elif node in self.buffers.arrays:
                columns[out] = [view(self.buffers.arrays[node])[s] for s in pieces]
            else:
                if node not in self.targets:
                    before.append(f"v{node.number} = empty({node.shape!r}, {self.bind('d', node.dtype)})")
                before.append(f"w{node.number}_ = {self.name(node)}{'.reshape(-1)' * step.flat}")
                first.append(f"{out} = w{node.number}_[s]")
            text[node] = out
            given = [text[x] if isinstance(x, Node) else self.arg(x) for x in node.args]
            body.append((self._filled(node, self.layout.way[node], given, out), node))
        for line in dict.fromkeys(before):
            self.line(line)
        rows = list(zip(*columns.values(), strict=True))
        self.line(f"for {', '.join(columns)}{',' * (len(columns) == 1)} in {self.bind('L', rows)}:")
        for line in first:
            self.line(f"    {line}")
        for line, node in body:
            self.line(f"    {line}", node)
        for line, node in after:
            self.line(line, node)

    def _partial(self, node: Node, step: Step, given: list[str], columns: dict[str, list[Any]],
                 body: list[tuple[str, Node]], after: list[tuple[str, Node]]) -> None:  # fmt: skip
        """A sum in a loop: those of the pieces in double, which are added when the loop is over."""
        count = len(columns["s"])
        parts = self.bind("q", np.zeros(count))
        columns.setdefault("k", list(range(count)))
        if node in self.layout.factors:
            a, b = given
            part = f"{a}.dot({b})" if step.flat else f"{self.f(np.vdot, 'vdot')}({a}, {b})"
        else:
            part = f"{self.f(_add, 'add_reduce')}({given[0]}, None)"
        body.append((f"{parts}[k] = {part}", node))
        kind = self.bind("d", node.dtype.type)
        after.append((f"v{node.number} = {kind}({self.f(_add, 'add_reduce')}({parts}))", node))

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


_ones_made: dict[Any, Any] = {}


def _ones(n: int, dtype: Any) -> Any:
    """Ones, which nobody writes; the same for equal arguments."""
    found = _ones_made.get((n, dtype))
    if found is None:
        found = _ones_made[n, dtype] = np.ones(n, dtype)
    return found
