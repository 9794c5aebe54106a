"""The text of single nodes: NumPy's calls, into memory that is there already."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradwright.compilation.by_numpy.layout import (
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
    entries,
)
from gradwright.compilation.by_numpy.names import Names
from gradwright.compilation.interpreted import function
from gradwright.compilation.node import CHECK, HOST, INDEX, PICK, VARIABLE, Node
from gradwright.compilation.rewriting import number

_OPERATORS = {"add": "{} + {}", "subtract": "{} - {}", "multiply": "{} * {}", "divide": "{} / {}",
              "negative": "-{}", "square": "{0} * {0}"}  # fmt: skip
_BY_NAME = ("maximum", "minimum")
"""Ufuncs that NumPy wants to be told by name where their results go."""
_METHODS = {"permute_dims": "transpose", "reshape": "reshape"}
"""Functions that arrays have, too, and there without a detour."""
_SHORTEST = 8
add_reduce = np.add.reduce


class Calls(Names):
    """The lines of single nodes."""

    def __init__(self, layout: Layout, targets: dict[Node, Node]) -> None:
        super().__init__(layout, targets)
        self._ones: dict[Any, Any] = {}
        self._masks: dict[int, Any] = {}
        self._arrays: set[Node] = set()

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
