"""What stands for what in the text of a program."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwright.backends.quiet import as_user
from gradwright.compilation.by_numpy.buffers import Buffers
from gradwright.compilation.by_numpy.layout import CALL, NUMBER, SUM, VIEW, Layout
from gradwright.compilation.interpreted import compute, same
from gradwright.compilation.node import CONSTANT, INPUT, Departed, Node

_PLAIN = (bool, int, str, type(None), type(...))


def check(node: Node, value: Any) -> None:
    """Raise `Departed` unless a value is what it was."""
    if not same(value, node.args[1]):
        raise Departed(node, value)


def shaped(node: Node, value: Any) -> Any:
    """The value of a node, if it has the shape and dtype that it had."""
    if getattr(value, "shape", None) != node.shape or value.dtype != node.dtype:
        raise Departed(node, value)
    return value


class Names:
    """The names of values, functions and constants.

    Args:
        layout: of the program.
        targets: for each node that is computed into the memory of an input, that input.

    Attributes:
        names: what the names of the text stand for.
        lines: for each number of a line the node that is computed there.
        body: the lines so far.
        buffers: the memory of the program.
    """

    buffers: Buffers

    def __init__(self, layout: Layout, targets: dict[Node, Node]) -> None:
        self.layout, self.targets = layout, targets
        self.names: dict[str, Any] = {"check": check, "shaped": shaped, "as_user": as_user, "array": np.array,
                                      "asarray": np.asarray, "empty": np.empty, "copyto": np.copyto}  # fmt: skip
        self.lines: dict[int, Node] = {}
        self.body: list[str] = []
        self._bound: dict[int, str] = {}
        self._numbers: set[Node] = set()

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
