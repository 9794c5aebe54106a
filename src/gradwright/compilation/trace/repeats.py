"""Parts of a traced run that come again with other tensors: what the first has left is noted anew, not run.

An optimiser does the same for each parameter of a shape. To run it in Python takes twenty times as long as to copy its
nodes, and a deep network has many parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gradwright.backends.numpy import NUMPY
from gradwright.backends.quiet import quietly
from gradwright.compilation.node import CHECK, CONSTANT, HOST, INPUT, PICK, Node, compute
from gradwright.compilation.trace.traced import Notes, Traced
from gradwright.engine.base import wrap

_ALIKE = frozenset({INPUT, CONSTANT})
"""Nodes that are the same each time."""
_ONCE = frozenset({CHECK, HOST, PICK})
"""Nodes by which a part may be another one next time."""


class _Part(NamedTuple):
    """One part: its function, which stays alive; the nodes it takes, makes and gives, each as its place among them."""

    function: Any
    taken: list[Node]
    made: list[Node]
    given: list[Node]


class Repeats:
    """The parts of one run, by what they depend on."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._parts: dict[Any, _Part | None] = {}

    def of(self, key: Any, function: Callable[..., Sequence[Any]], tensors: Sequence[Any]) -> Sequence[Any]:
        """What a function of tensors gives, which depends on ``key`` and on their shapes and dtypes alone."""
        arrays = [t.array for t in tensors]
        if not all(type(a) is Traced for a in arrays):
            return function(*tensors)
        nodes = [a.node for a in arrays]
        which = (key, *[(t.dtype, n.shape, nodes.index(n)) for t, n in zip(tensors, nodes, strict=True)])
        if which not in self._parts:
            start = len(self._notes.nodes)
            found = function(*tensors)
            self._parts[which] = self._part(function, nodes, self._notes.nodes[start:], found)
            return found
        part = self._parts[which]
        return function(*tensors) if part is None else quietly(self._again, part, tensors, nodes)

    @staticmethod
    def _part(function: Any, taken: list[Node], made: list[Node], found: Sequence[Any]) -> _Part | None:
        """What is to be noted anew; None if that is not all that the function has done."""
        given = [t.array.node for t in found if type(t.array) is Traced]
        if len(given) < len(found) or any(n.op in _ONCE or n.shape is None or n.library is not NUMPY for n in made):
            return None
        return _Part(function, taken, [n for n in made if n.op not in _ALIKE], given)

    def _again(self, part: _Part, tensors: Sequence[Any], nodes: list[Node]) -> list[Any]:
        now: dict[Node, Node] = dict(zip(part.taken, nodes, strict=True))
        own = dict(zip(part.taken, tensors, strict=True))
        for node in part.made:
            args, kwargs = node.with_args(lambda n: now.get(n, n))
            made = node.like(node.op, args, kwargs)
            made.value = compute(made, *made.with_args(_value))
            now[node] = made
            self._notes.nodes.append(made)
        return [own[n] if n in own else wrap(self._notes.traced(now.get(n, n))) for n in part.given]


def _value(node: Node) -> Any:
    return node.value
