"""The text of a program: NumPy's calls, into memory that is there already, and loops of them, piece by piece."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from time import perf_counter
from typing import Any

import numpy as np

from gradwright.backends.quiet import as_user
from gradwright.compilation.by_numpy.buffers import Buffers, array, escaping, inside, written_in_place
from gradwright.compilation.by_numpy.layout import (
    CALL,
    CAST,
    CHOICE,
    COPY,
    FEW,
    LINES,
    NUMBER,
    OWN,
    PRODUCT,
    SHORT,
    SUM,
    UFUNC,
    VIEW,
    Layout,
    Step,
    cut,
    entries,
    steps,
)
from gradwright.compilation.node import (
    CHECK,
    CONSTANT,
    HOST,
    INDEX,
    INPUT,
    PICK,
    VARIABLE,
    GuardFailed,
    Node,
    Program,
    compute,
    function,
    same,
)
from gradwright.compilation.rewriting import number

_OPERATORS = {"add": "{} + {}", "subtract": "{} - {}", "multiply": "{} * {}", "divide": "{} / {}",
              "negative": "-{}", "square": "{0} * {0}"}  # fmt: skip
_BY_NAME = ("maximum", "minimum")
"""Ufuncs that NumPy wants to be told by name where their results go."""
_METHODS = {"permute_dims": "transpose", "reshape": "reshape"}
"""Functions that arrays have, too, and there without a detour."""
_SHORTEST = 8
add_reduce = np.add.reduce
_PLAIN = (bool, int, str, type(None), type(...))


def check(node: Node, value: Any) -> None:
    """Raise `GuardFailed` unless a value is what it was."""
    if not same(value, node.args[1]):
        raise GuardFailed(node, value)


def shaped(node: Node, value: Any) -> Any:
    """The value of a node, if it has the shape and dtype that it had."""
    if getattr(value, "shape", None) != node.shape or value.dtype != node.dtype:
        raise GuardFailed(node, value)
    return value


class Text:
    """A program written as a function of its inputs.

    Attributes:
        source: the text.
        names: what the names in it stand for.
        lines: for each number of a line the node that is computed there.
        order: the steps, one after another.
        records: for each step that has lines its ``kind`` ("NumPy" or "host"), its ``name``, the ``nodes`` in it, how
            many ``entries`` it has, and the ``seconds`` that were spent in it, if the text is ``timed``.
        targets: for each node that is computed into the memory of an input, that input.
        buffers: the memory of the program.
        body: the lines so far.
    """

    def __init__(self, program: Program, layout: Layout, timed: bool = False) -> None:
        self._program, self.layout, self.order = program, layout, steps(program, layout)
        self.targets = written_in_place(program, layout, self.order)
        self.names: dict[str, Any] = {"check": check, "shaped": shaped, "as_user": as_user, "array": np.array,
                                      "asarray": np.asarray, "empty": np.empty, "copyto": np.copyto}  # fmt: skip
        self.lines: dict[int, Node] = {}
        self.body: list[str] = []
        self._bound: dict[int, str] = {}
        self._numbers: set[Node] = set()
        self._ones: dict[Any, Any] = {}
        self._masks: dict[int, Any] = {}
        self._arrays: set[Node] = set()
        self._elsewhere = {*self.targets, *escaping(program, layout)}
        self.buffers = Buffers(program, layout, self.order, self._elsewhere, inside(program, layout, self.order))
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
        if (own or through) and not owners & taken and self._order_kept(node):
            owner = next(iter(owners))
            whole = node.shape and prod(node.shape) == prod(owner.shape)
            if owner in self._elsewhere - self.targets.keys() and (own or whole):
                taken.add(owner)
                return self.name(node)
        self.line(f"o{k} = array({self.arg(node)}, order='K')")
        return f"o{k}"

    def _order_kept(self, node: Node) -> bool:
        """Whether an array lies in memory as a copy of it would."""
        shown = self.layout.shown[node]
        return bool(np.empty_like(shown).strides == shown.strides)

    # -- names --

    def fixed(self, node: Node) -> Any:
        """The array that a node's value is in at every call, or None."""
        if node.op == CONSTANT:
            return node.args[0]
        if node in self.buffers.arrays:
            return self.buffers.arrays[node]
        if self.layout.way[node] == VIEW:
            base = self.fixed(node.args[0])
            if base is not None:
                found = compute(node, *node.with_args(lambda x: base))
                return found if np.may_share_memory(found, base) else None
        return None

    def line(self, text: str, node: Node | None = None) -> None:
        """One more line."""
        if node is not None:
            self.lines[len(self.body)] = node
        self.body.append(text)

    def bind(self, prefix: str, value: Any) -> str:
        """A name for a value."""
        name = self._bound.get(id(value))
        if name is None or self.names[name] is not value:
            name = f"{prefix}{len(self.names)}"
            self.names[name] = value
            self._bound[id(value)] = name
        return name

    def f(self, f: Any, name: str) -> str:
        """The name of a function."""
        name = name.replace(".", "_")
        if self.names.setdefault(name, f) is not f:
            return self.bind(name, f)
        return name

    def name(self, node: Node) -> str:
        """The text of a node's value."""
        if node.op == INPUT:
            return f"x{node.number}"
        if node in self.targets:
            return f"x{self.targets[node].number}"
        if self.layout.way[node] not in (CALL, NUMBER, SUM) and (found := self.fixed(node)) is not None:
            known = self._bound.get(id(node))
            if known is None:
                known = self._bound[id(node)] = f"{'c' if node.op == CONSTANT else 'b'}{node.number}"
                self.names[known] = found
            return known
        return f"v{node.number}"

    def number(self, value: Any) -> str:
        """The text of one number, as NumPy's scalar where it is that of a node."""
        if not isinstance(value, Node):
            return self.arg(value)
        if value.op == CONSTANT:
            return self.bind("n", value.args[0][()])
        if value.op != INPUT:
            return self.name(value)
        if value not in self._numbers:
            self._numbers.add(value)
            self.line(f"n{value.number}_ = x{value.number}[()]")
        return f"n{value.number}_"

    def arg(self, value: Any) -> str:
        """The text of an argument, with its nodes."""
        if isinstance(value, Node):
            return self.name(value)
        if type(value) in _PLAIN:
            return repr(value)
        if type(value) in (tuple, list):
            inner = ", ".join(map(self.arg, value))
            return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' * (len(value) == 1)})"
        if isinstance(value, dict) and all(isinstance(k, str) for k in value):
            return "{" + ", ".join(f"{k!r}: {self.arg(v)}" for k, v in value.items()) + "}"
        if isinstance(value, slice):
            return f"slice({value.start!r}, {value.stop!r}, {value.step!r})"
        return self.bind("k", value)

    def args(self, node: Node) -> str:
        """The text of all arguments of a node."""
        return ", ".join([*map(self.arg, node.args), *(f"{k}={self.arg(v)}" for k, v in node.kwargs.items())])

    # -- single nodes --

    def ones(self, n: int, dtype: Any) -> Any:
        """Ones, which nobody writes."""
        return self._ones.setdefault((n, dtype), np.ones(n, dtype))

    def step(self, node: Node) -> None:
        """The lines of a node that is computed at once."""
        way, out = self.layout.way[node], f"v{node.number}"
        if (way in OWN and node in self.buffers.arrays) or node in self.targets:
            self.line(self.filled(node, self.name(node)), node)
        elif way in (LINES, CHOICE):
            self.line(f"{out} = empty({node.shape!r}, {self.bind('d', node.dtype)})")
            self.line(self.filled(node, out), node)
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
        elif node.op in _METHODS and len(node.args) == 2 and not node.kwargs and isinstance(node.args[0], Node):
            self.line(f"{out} = {self.arg(node.args[0])}.{_METHODS[node.op]}({self.arg(node.args[1])})", node)
        elif way in (UFUNC, PRODUCT):
            f = np.matmul if way == PRODUCT else function(node.op)
            self.line(f"{out} = {self.f(f, node.op)}({', '.join(map(self.array, node.args))})", node)
        else:
            call = f"{self.f(function(node.op), node.op)}({self.args(node)})"
            known = node.op not in VARIABLE or node.shape is None
            self.line(f"{out} = {call if known else self._held(node, call)}", node)

    def _held(self, node: Node, call: str) -> str:
        """A call whose result is to have the shape that it had."""
        return f"shaped({self.bind('k', node)}, {call})"

    def filled(self, node: Node, out: str) -> str:
        """The call that computes a node at once into an array."""
        way = self.layout.way[node]
        if way == COPY:
            line = self.buffers.arrays[node].reshape(node.args[0].shape)
            return f"copyto({self.bind('r', line)}, {self.arg(node.args[0])})"
        if way == LINES:
            return self._lines(node, out)
        if way == CHOICE:
            mask = self._masks.setdefault(entries(node), np.empty(entries(node), "i1")).reshape(node.shape)
            return self.choice(node, out, self.bind("m", mask), self._bits)
        return self.by_entry(node, [self.array(x) for x in node.args], out)

    def array(self, x: Any) -> str:
        """The text of an argument, a number that is computed being made an array once: ufuncs take these quicker."""
        if not isinstance(x, Node) or self.layout.way[x] not in (NUMBER, SUM):
            return self.arg(x)
        if x not in self._arrays:
            self._arrays.add(x)
            self.line(f"a{x.number} = asarray({self.name(x)})")
        return f"a{x.number}"

    def by_entry(self, node: Node, args: list[str], out: str) -> str:
        """The call that computes a node entry by entry, or as a product of matrices, into an array."""
        way = self.layout.way[node]
        if way == CAST:
            return f"copyto({out}, {args[0]}, 'unsafe')"
        f = np.matmul if way == PRODUCT else function(node.op)
        return f"{self.f(f, node.op)}({', '.join(args)}, {'out=' * (node.op in _BY_NAME)}{out})"

    def _bits(self, x: Node | None, out: str, dtype: str) -> str:
        """The text of an array's bits as whole numbers."""
        fixed = None if x is None else self.fixed(x)
        if x is not None and fixed is not None:
            return self.bind("i", fixed.view(dtype))
        return f"{out if x is None else self.name(x)}.view({dtype!r})"

    def choice(self, node: Node, out: str, mask: str, bits: Callable[[Node | None, str, str], str]) -> str:
        """The calls of `where`, which take no branches: of floats by their bits, with NaN and all.

        Args:
            node: of it.
            out: the array to fill.
            mask: an array of int8 numbers to write to.
            bits: from a node, or None for ``out``, the text of that, and a dtype to the text of its bits.
        """
        f = {name: self.f(getattr(np, name), name) for name in ("negative", "subtract", "bitwise_and", "bitwise_xor")}
        condition, a, b = node.args
        kind = f"i{node.dtype.itemsize}"
        x, y, to = bits(a, "", kind), bits(b, "", kind), bits(node if out == self.name(node) else None, out, kind)
        test = bits(condition, "", "i1")
        if _is_zero(b):
            return f"{f['negative']}({test}, {mask}); {f['bitwise_and']}({x}, {mask}, {to})"
        if _is_zero(a):
            return f"{f['subtract']}({test}, 1, {mask}); {f['bitwise_and']}({y}, {mask}, {to})"
        return (f"{f['negative']}({test}, {mask}); {f['bitwise_xor']}({x}, {y}, {to}); "
                f"{f['bitwise_and']}({to}, {mask}, {to}); {f['bitwise_xor']}({to}, {y}, {to})")  # fmt: skip

    def _computed(self, node: Node) -> str:
        """One number."""
        if node.op == "astype":
            return f"{self.bind('t', node.dtype.type)}({self.number(node.args[0])})"
        plain = node.dtype.char in "fd" and all(isinstance(x, Node) and x.dtype == node.dtype for x in node.args)
        if plain and node.op in _OPERATORS:
            return _OPERATORS[node.op].format(*map(self.number, node.args))
        if plain and node.op == "power" and not self.layout.exact(node):  # a tenth of the ufunc's time; other last bits
            return " ** ".join(map(self.number, node.args))
        return f"{self.f(function(node.op), node.op)}({', '.join(map(self.arg, node.args))})"

    # -- sums --

    def lined_up(self, node: Node) -> str:
        """The text of an array as a line of its entries."""
        fixed = self.fixed(node)
        if fixed is not None:
            return self.bind("l", fixed) if fixed.ndim == 1 else self.bind("l", fixed.reshape(-1))
        return self.name(node) + ".reshape(-1)" * (len(node.shape) != 1)

    def _total(self, node: Node) -> str:
        """A sum over all axes."""
        if node in self.layout.factors:
            a, b = map(self.lined_up, self.layout.factors[node])
            return f"{a}.dot({b})"
        x = node.args[0]
        if 1 < entries(x) <= SHORT:
            return f"{self.lined_up(x)}.dot({self.bind('l', self.ones(entries(x), x.dtype))})"
        return f"{self.f(function('sum'), 'sum')}({self.name(x)})"

    def _lines(self, node: Node, out: str) -> str:
        """A sum over some axes."""
        x, axes = node.args[0], self.layout.axes[node]
        if node in self.layout.factors or self.by_rows(node):
            return self.row_sums(node, [self.name(v) for v in self.layout.reads(node)], out)
        kept = bool(node.kwargs.get("keepdims"))
        if axes == (0,) and len(x.shape) == 2 and not kept and x.shape[0] < FEW and entries(x) <= SHORT:
            return f"{self.bind('l', self.ones(x.shape[0], x.dtype))}.dot({self.name(x)}, {out})"
        if entries(x) < FEW * entries(node) or axes == (len(x.shape) - 1,):
            return f"{self.f(add_reduce, 'add_reduce')}({self.name(x)}, {axes!r}, None, {out}, {kept!r})"
        return f"copyto({out}, {self.f(function('sum'), 'sum')}({self.args(node)}))"

    def by_rows(self, node: Node) -> bool:
        """Whether a sum is one over the last axis, such that scalar products with ones are the quickest way."""
        x = node.args[0]
        last = self.layout.axes[node] == (len(x.shape) - 1,) and not node.kwargs.get("keepdims")
        return last and _SHORTEST <= x.shape[-1] <= SHORT

    def row_sums(self, node: Node, given: list[str], out: str) -> str:
        """Sums of rows, or of products of two of them."""
        x = node.args[0]
        other = given[1] if len(given) > 1 else self.bind("l", self.ones(x.shape[-1], x.dtype))
        return f"{self.f(np.vecdot, 'vecdot')}({given[0]}, {other}, {out})"


def _is_zero(node: Node) -> bool:
    """Whether a node is the constant 0.0, with no bit set."""
    value = number(node)
    return value is not None and value == 0 and not np.signbit(value)


class Loop:
    """A loop that is written.

    What it takes of memory that is made before, a piece at a time, is bound as a list with a tuple for each piece.
    """

    def __init__(self, text: Text, step: Step) -> None:
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


def _record(step: Step) -> dict[str, Any]:
    """The description of a step, for people."""
    first = step.nodes[0]
    names = dict.fromkeys(node.name or node.op for node in step.nodes)
    return {
        "kind": "host" if first.op == HOST else "NumPy", "name": ", ".join(names), "nodes": step.nodes,
        "entries": prod(step.shape) if step.shape is not None else max(map(entries, (first, *first.nodes()))),
        "seconds": 0.0,
    }  # fmt: skip
