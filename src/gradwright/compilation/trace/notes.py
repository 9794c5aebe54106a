"""The nodes of a program while it is traced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import get_ident
from typing import Any, ClassVar

import numpy as np

from gradwright.backends import Library, is_array, library, to_host
from gradwright.backends.numpy import NUMPY
from gradwright.compilation.node import CHECK, CONSTANT, INPUT, PICK, VARIABLE, Node, Program
from gradwright.compilation.watch.numbers import Numbers
from gradwright.engine.source_line import here


class Noted:
    """What stands for the value of a node, an array: `tracing.traced` makes an array library of it."""

    __slots__ = ("node", "notes")

    def __init__(self, notes: Notes, node: Node) -> None:
        self.notes, self.node = notes, node


class Notes:
    """A program while it is traced.

    Attributes:
        nodes: so far.
        name: the operation that runs.
        open: whether it is traced still.
        numbers: those that Python takes.
    """

    kinds: ClassVar[Callable[..., Any]]
    """From a library to the class of what stands for its arrays."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.name = ""
        self.open = True
        self.numbers = Numbers(set(), is_on=False)
        self.thread = get_ident()
        self._constants: dict[int, Node] = {}

    @property
    def is_on(self) -> bool:
        """Whether it is this thread that is traced, still."""
        return self.open and get_ident() == self.thread

    def enter(self, op: str, args: tuple[Any, ...], kwargs: dict[str, Any], value: Any, by: Library = NUMPY) -> Node:
        """A new node; ``args`` are nodes and Python values."""
        node = Node(op, args, kwargs, value, here(2), self.name, library(value) if is_array(value) else by)
        self.nodes.append(node)
        return node

    def input(self, array: Any) -> Any:
        """A traced array that is an input of the program, with these values, which nobody writes meanwhile."""
        return self.traced(self.enter(INPUT, (), {}, np.asarray(array) if _is_numpys(array) else array))

    def traced(self, node: Node) -> Any:
        """The value of a node, an array, as a traced one."""
        return type(self).kinds(node.library)(self, node)

    def constant(self, array: Any) -> Node:
        """A node with values that stay."""
        found = self._constants.get(id(array))
        if found is None:
            kept = array
            if _is_numpys(array):
                kept = np.array(array, order="K")
                kept.flags.writeable = False
            found = self._constants[id(array)] = self.enter(CONSTANT, (kept,), {}, kept)
            found.value = array  # which lives as long, and keeps its id
        return found

    def call(self, op: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any],
             by: Library = NUMPY) -> Any:  # fmt: skip
        """What a function of a library's namespace makes of arguments, traced arrays among them; traced.

        It is not once the run is over, nor in another thread, which may use tensors that are traced.
        """
        value = function(*mapped_values(args), **mapped_values(kwargs))
        if not self.is_on:
            return value
        return self.hold(self.enter(op, self.noted(args), self.noted(kwargs), value, by), value)

    def noted(self, value: Any) -> Any:
        """``value`` with nodes in place of arrays."""
        if isinstance(value, Noted):
            return value.node
        if isinstance(value, Node):
            return value
        if isinstance(value, np.ndarray):
            return value if value.dtype == object else self.constant(value)
        if is_array(value) and not isinstance(value, np.generic):
            return self.constant(value)
        if isinstance(value, (tuple, list)):
            return _like(value, [self.noted(v) for v in value])
        if isinstance(value, dict):
            return {k: self.noted(v) for k, v in value.items()}
        return value

    def hold(self, node: Node, value: Any) -> Any:
        """The value of a node, traced: an array, or several."""
        if is_array(value):
            if _may_vary(node.args[0] if node.op == PICK else node):
                self.check_shape(node)
            return self.traced(node)
        if isinstance(value, (tuple, list)):
            parts = [self.hold(self.enter(PICK, (node, k), {}, v), v) for k, v in enumerate(value)]
            return _like(value, parts)
        self.enter(CHECK, (node, np.asarray(value)), {}, None)  # a bool or a number, on which Python decides
        return value

    def check_shape(self, node: Node) -> None:
        """Python goes by the shape of this value, which may be another one for other values."""
        self.enter(CHECK, (self.enter("shape", (node,), {}, node.shape), np.asarray(node.shape)), {}, None)

    def read(self, x: Noted) -> Any:
        """The values of a traced array, for Python to see: the program is as it is only while they stay these."""
        kept = np.array(to_host(x.node.value))
        if self.is_on:
            kept.flags.writeable = False
            self.enter(CHECK, (x.node, kept), {}, None)
        return kept

    def number(self, x: Noted, how: str) -> Any:
        """What Python is given by `item` or `tolist`: it, or a `Number` if it may be that it is only returned."""
        found = self.numbers.give(x.node) if self.is_on else None
        return getattr(self.read(x), how)() if found is None else found

    def program(self, inputs: Sequence[Noted], outputs: Sequence[Any], writes: Sequence[int | None]) -> Program:
        """The program of what was noted, with these outputs: traced arrays, or constants."""
        nodes = [self.noted(np.asarray(x) if isinstance(x, np.generic) else x) for x in outputs]
        return Program(self.nodes, [x.node for x in inputs], nodes, writes)


def _is_numpys(array: Any) -> bool:
    return isinstance(array, (np.ndarray, np.generic)) or not is_array(array)


def _may_vary(node: Node) -> bool:
    """Whether the shape of a value follows from other values: of an index, if it holds a mask."""
    if node.op in ("at", "at_index"):
        return any(n.dtype == bool for n in list(node.nodes())[1:])
    return node.op in VARIABLE


def _like(value: Any, parts: list[Any]) -> Any:
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*parts)
    return type(value)(parts)


def mapped_values(value: Any) -> Any:
    """``value`` with the values of traced arrays in place of them."""
    if isinstance(value, Noted):
        return value.node.value
    if isinstance(value, (tuple, list)):
        return _like(value, [mapped_values(v) for v in value])
    if isinstance(value, dict):
        return {k: mapped_values(v) for k, v in value.items()}
    return value
