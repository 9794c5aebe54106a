"""Values that are computed once more where they are read, since that is quicker than to write and read them.

Between two loops a value lies in memory. If the later loop reads already what it is made of, and that takes a few cheap
operations, these are made there as well, and the value itself is never written.
"""

from __future__ import annotations

from math import prod
from typing import Any

from gradwright.compilation.by_c.elements import Element
from gradwright.compilation.by_c.lowered import Lowered, Reduction
from gradwright.compilation.by_c.steps import Steps, in_step, operands
from gradwright.compilation.node import CONSTANT, INPUT, Node

_CHEAP = frozenset({
    "add", "subtract", "multiply", "negative", "square", "absolute", "abs", "maximum", "minimum", "where", "astype",
    "less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "logical_not", "bitwise_invert",
})  # fmt: skip
_MOST, _LONG = 3, 4096
"""How many operations are made once more at most, and from how many entries on."""


def recompute(lowered: Lowered, steps: Steps) -> None:
    """Put what is better computed once more into the steps that read it, and have these read that."""
    _Recomputing(lowered, steps)


class _Recomputing:
    """It, and what it goes by.

    Attributes:
        kept: what lies in memory.
        needed: what must lie there, come what may.
        copies: for each step what is made once more in it: at its beginning, of what is there before it begins.
    """

    def __init__(self, lowered: Lowered, steps: Steps) -> None:
        self.lowered, self.steps = lowered, steps
        self.kept, self.written = {*steps.kept()}, {*steps.written.values()}
        self.readers = self._readers()
        self.copies: dict[int, dict[Node, Node]] = {}
        self.needed = {*lowered.outputs, *lowered.part_of}
        self.order = {node: k for k, node in enumerate(lowered.nodes)}
        for node in self.order:
            if node in self.kept and prod(node.shape or ()) >= _LONG:
                self._look(node)
        if self.copies:
            self._drop()

    def _drop(self) -> None:
        """Take out what nobody reads any more."""
        readers, last = self._readers(), {*self.lowered.outputs, *self.lowered.part_of}
        for node in reversed(self.order):
            if isinstance(self.lowered.how[node], Element) and node not in last and not readers.get(node):
                self.lowered.nodes.remove(node)
                self.steps.steps[self.steps.where[node]].nodes.remove(node)
                for operand in operands(self.lowered, node):
                    readers[self.lowered.root(operand)].remove(node)

    def _readers(self) -> dict[Node, list[Node]]:
        """For each node in memory or in a loop those that read it."""
        found: dict[Node, list[Node]] = {}
        for node in self.lowered.nodes:
            for operand in operands(self.lowered, node):
                found.setdefault(self.lowered.root(operand), []).append(node)
        return found

    def _look(self, node: Node) -> None:
        if node in self.needed:
            return
        own = self.steps.where[node]
        later = [reader for reader in self.readers.get(node, ()) if self.steps.where[reader] != own]
        if not later or not all(self._reads_in_order(reader, node) for reader in later):
            return
        chains = {at: self._chain(node, at) for at in {self.steps.where[reader] for reader in later}}
        if all(chains.values()):
            for at, chain in chains.items():
                self._put(at, chain, [reader for reader in later if self.steps.where[reader] == at])
            self.kept.remove(node)

    def _reads_in_order(self, reader: Node, node: Node) -> bool:
        """Whether a loop takes the node entry by entry."""
        way = self.lowered.how[reader]
        if not isinstance(way, (Element, Reduction)) or reader in self.lowered.part_of:
            return False
        given = [o for o in operands(self.lowered, reader) if self.lowered.root(o) is node]
        shape = reader.shape if isinstance(way, Element) else way.operand.shape
        return all(o is node and in_step(self.lowered, o, shape) for o in given)

    def _chain(self, node: Node, at: int) -> list[Node]:
        """What is to be made once more for a step, in order; nothing if it does not pay."""
        found: list[Node] = []
        open_ = [node]
        read = {self.lowered.root(o) for n in self.steps.steps[at].nodes for o in operands(self.lowered, n)} - {node}
        while open_:
            one = open_.pop()
            if one in found:
                continue
            if one.op not in _CHEAP or not isinstance(self.lowered.how[one], Element) or len(found) == _MOST:
                return []
            found.append(one)
            for operand in operands(self.lowered, one):
                root = self.lowered.root(operand)
                if self._at_hand(root, at, read, prod(node.shape)):
                    continue
                if root.op in (INPUT, CONSTANT) or operand is not root or root.shape != node.shape:
                    return []
                open_.append(root)
        return sorted(found, key=self.order.__getitem__)

    def _at_hand(self, root: Node, at: int, read: set[Node], entries: int) -> bool:
        """Whether a step has what lies somewhere, or has it for little."""
        if root.op == CONSTANT:
            return root in read or root.args[0].size * 16 <= entries
        if root.op == INPUT:
            return root not in self.written and (root in read or prod(root.shape) * 16 <= entries)
        return root in read and root in self.kept and self.steps.where[root] < at

    def _put(self, at: int, chain: list[Node], readers: list[Node]) -> None:
        """Make nodes once more at the beginning of a step."""
        copies = self.copies.setdefault(at, {})
        for node in chain:
            if node not in copies:
                way: Any = self.lowered.how[node]
                self.needed.update(self.lowered.root(o) for o in operands(self.lowered, node))
                copy = Node(node.op, node.args, node.kwargs, None, node.place, node.name)
                copy.shape, copy.dtype, copy.number = node.shape, node.dtype, node.number
                changed = tuple(copies.get(o, o) for o in way.operands)
                self.lowered.enter(copy, way._replace(operands=changed))
                self.steps.where[copy] = at
                self.steps.steps[at].nodes.insert(len(copies), copy)
                copies[node] = copy
        for reader in readers:
            way = self.lowered.how[reader]
            if isinstance(way, Element):
                changed = tuple(copies.get(o, o) for o in way.operands)
                self.lowered.how[reader] = way._replace(operands=changed)
            else:
                self.lowered.how[reader] = way._replace(operand=copies.get(way.operand, way.operand))
