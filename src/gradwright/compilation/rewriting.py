"""The making of a simpler program: node after node, each by the first rule that has a better one for it."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from gradwright.backends.quiet import quietly
from gradwright.compilation.node import (
    CHECK,
    CONSTANT,
    HOST,
    INPUT,
    PICK,
    VARIABLE,
    Node,
    Program,
    compute,
    function,
    mapped,
)

Rule = Callable[["Rewriting", Node], "Node | None"]
"""From a node, whose arguments are of the new program, to one of the new program to put in its place; or None."""
RULES: dict[str, list[tuple[Rule, bool]]] = {}
"""For each operation its rules, and whether each gives the same bits. Under "" are those of all operations."""

_LITTLE = 4096
_WRAPPED = frozenset({
    "where", "abs", "clip", "floor_divide", "remainder", "fmod", "astype", "conj", "to_complex", "atan", "atan2",
    "atanh", "cosh", "expm1", "log1p", "sinh", "tan", "round", "sign", "nan_to_num",
})  # fmt: skip


def rule(*ops: str, exact: bool = True) -> Callable[[Rule], Rule]:
    """Declare a rule for operations; ``exact=False`` if it may round otherwise, or change the sign of a zero."""

    def declare(f: Rule) -> Rule:
        for op in ops:
            RULES.setdefault(op, []).append((f, exact))
        return f

    return declare


@cache
def elementwise(op: str) -> bool:
    """Whether an operation computes each entry of its result from those of its arguments in the same place."""
    if op in _WRAPPED:
        return True
    if op in (INPUT, CONSTANT, PICK, CHECK, HOST) or op.startswith("special."):
        return False
    found = getattr(function(op), "nout", 0) if "." not in op and op not in ("getitem", "at_index") else 0
    return found == 1 and function(op).signature is None


class Rewriting:
    """A new program while it is built.

    Attributes:
        nodes: so far.
        exact: whether the results are to have the old bits: all, or those on which the outcome of a check depends.
    """

    def __init__(self, program: Program, exact: bool, only: frozenset[str] | None = None) -> None:
        self.nodes: list[Node] = []
        self.exact, self._only = exact, only
        strict = checked(program)
        self._known: dict[Any, Node] = {}
        self._uses: dict[Node, int] = {}
        self._values: dict[Node, Any] = {}
        self._new: dict[Node, Node] = {}
        self._scaled = _scaled(program)
        users = program.users()
        outputs = set(program.outputs)
        for old in program.nodes:
            args, kwargs = old.with_args(self._new.__getitem__)
            self.exact = exact or old in strict
            new = self.enter(old.like(old.op, args, kwargs, value=old.value))
            self._new[old] = new
            self._uses[new] = self._uses.get(new, 0) + len(users[old]) + 2 * (old in outputs)
            if old.value is not None:
                self._values.setdefault(new, old.value)
        found = Program([], [], [], program.writes)
        found.inputs = [self._new[x] for x in program.inputs]
        found.outputs = [self._new[x] for x in program.outputs]
        self.program = Program(live(self.nodes, found.outputs), found.inputs, found.outputs, found.writes)

    def make(self, like: Node, op: str, *args: Any, shape: Any = None, dtype: Any = None, **kwargs: Any) -> Node:
        """A node of the new program, which comes from where ``like`` does and has its shape and dtype, unless told."""
        return self.enter(like.like(op, args, kwargs, shape=shape, dtype=dtype))

    def number(self, like: Node, value: Any, dtype: Any = None) -> Node:
        """A constant number of the dtype of ``like``."""
        return self.constant(like, np.array(value, like.dtype if dtype is None else dtype))

    def constant(self, like: Node, array: Any) -> Node:
        """A constant."""
        kept = np.array(array, order="K")
        kept.flags.writeable = False
        return self.enter(Node(CONSTANT, (kept,), {}, kept, like.place, like.name))

    def enter(self, node: Node) -> Node:
        """A node of the new program for this one, by the first rule that has one."""
        for f, same_bits in (*RULES.get(node.op, ()), *RULES.get("", ())):
            if (same_bits or not self.exact) and (self._only is None or f.__name__ in self._only):
                new = f(self, node)
                if new is not None and self._fits(new, node):
                    return new
        return self._shared(node)

    def _shared(self, node: Node) -> Node:
        """The node that computes the same already; else this one, from now on."""
        if node.op in (INPUT, HOST, CHECK) or (self._only is not None and "common" not in self._only):
            self.nodes.append(node)
            return node
        key = (node.op, _key(node.args), _key(node.kwargs))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = node
            self.nodes.append(node)
        return found

    def _fits(self, new: Node, old: Node) -> bool:
        """Whether the one may stand for the other: of the same kind and, to be exact, laid out the same in memory."""
        if new.shape != old.shape or new.dtype != old.dtype:
            return False
        if not self.exact:
            return True
        a, b = self.value(new), self.value(old)
        return a is not None and b is not None and _laid_out(a) == _laid_out(b)

    def value(self, node: Node) -> Any:
        """What a node was in the traced run, or would have been; None if that is not known."""
        found = node.value if node.value is not None else self._values.get(node)
        if found is None and node.op not in (INPUT, HOST, CHECK):
            given = [self.value(x) for x in node.nodes()]
            if all(v is not None for v in given):
                args, kwargs = node.with_args(self.value)
                found = self._values[node] = quietly(compute, node, args, kwargs)
        return found

    def once(self, node: Node) -> bool:
        """Whether a node has been used once, and is no output, or has just been made."""
        return self._uses.get(node, 1) <= 1

    def scaled(self, node: Node, c: Any) -> bool:
        """Whether the old program multiplies what became a node by a number."""
        return any(self._new.get(old) is node for old in self._scaled.get(float(c), ()))


def _scaled(program: Program) -> dict[float, list[Node]]:
    """For each number the nodes that are multiplied by it."""
    found: dict[float, list[Node]] = {}
    for node in program.nodes:
        if node.op == "multiply" and len(node.args) == 2:
            for x, c in (node.args, node.args[::-1]):
                if isinstance(x, Node) and number(x) is None and isinstance(n := number(c), (float, np.floating)):
                    found.setdefault(float(n), []).append(x)
    return found


def _laid_out(array: Any) -> Any:
    return [s for n, s in zip(np.shape(array), np.asarray(array).strides, strict=True) if n > 1]


def checked(program: Program) -> set[Node]:
    """The nodes from which the values of checks are computed: rounded otherwise, these would not be what they were."""
    found: set[Node] = set()
    for node in reversed(program.nodes):
        if node.op == CHECK or node in found:
            found.update(node.nodes())
    return found


def live(nodes: list[Node], outputs: list[Node]) -> list[Node]:
    """Those of the nodes that outputs need, and those that do something else.

    These are inputs, checks, calls of functions whose results may have another shape next time (of which Python may
    know), and of host functions, but for those with a true attribute ``pure``.
    """
    needed = set(outputs)
    for node in reversed(nodes):
        if node.op in (INPUT, CHECK) or node.op in VARIABLE or (
            node.op == HOST and not getattr(node.args[0], "pure", False)
        ):
            needed.add(node)
        if node in needed:
            needed.update(node.nodes())
    return [node for node in nodes if node in needed]


def _key(value: Any) -> Any:
    """Something to look up equal arguments by: equal in type, and to the bit."""
    if isinstance(value, Node):
        return value
    if isinstance(value, (tuple, list)):
        return (type(value), *map(_key, value))
    if isinstance(value, dict):
        return tuple((k, _key(v)) for k, v in sorted(value.items()))
    if isinstance(value, slice):
        return (slice, _key(value.start), _key(value.stop), _key(value.step))
    if isinstance(value, np.ndarray):
        small = value.nbytes <= _LITTLE
        return (value.dtype, value.shape, value.strides, value.tobytes()) if small else (np.ndarray, id(value))
    if isinstance(value, (float, complex, np.generic)):
        return (type(value), repr(value))
    if value is None or isinstance(value, (bool, int, str, type, np.dtype)):
        return (type(value), value)
    return (type(value), id(value))


def number(value: Any) -> Any:
    """The number that an argument is; None if it is an array."""
    if isinstance(value, Node):
        return value.args[0][()] if value.op == CONSTANT and value.shape == () else None
    return value if isinstance(value, (int, float, np.number)) and not isinstance(value, bool) else None


def everywhere(value: Any) -> Any:
    """The number that an argument is, or that all entries of an array are which is small; None if there is none."""
    if isinstance(value, Node):
        if value.op == "broadcast_to":
            return everywhere(value.args[0])
        if value.op != CONSTANT or not few(value.shape) or not value.args[0].size or value.dtype.kind not in "iuf":
            return None
        array = value.args[0]
        signs = np.signbit(array) if value.dtype.kind == "f" else np.zeros(1, bool)
        return array.flat[0] if (array == array.flat[0]).all() and signs.all() == signs.any() else None
    return number(value)


def few(shape: Any) -> bool:
    """Whether an array of this shape is small enough to be kept as a constant."""
    return shape is not None and math.prod(shape) <= _LITTLE


def replaced(args: Any, changes: dict[Node, Any]) -> Any:
    """Arguments with other values in place of some nodes."""
    return mapped(args, lambda node: changes.get(node, node))
