"""What is done one after another: loops of nodes over one space, products, and calls that stay in Python."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

from gradwright.compilation.by_c.elements import Element
from gradwright.compilation.by_c.gathers import Gather, Spread
from gradwright.compilation.by_c.lines import Line
from gradwright.compilation.by_c.lowered import COPY, Check, Join, Lowered, Product, Reduction
from gradwright.compilation.by_c.places import Place, in_order, short
from gradwright.compilation.by_c.windows import Windows
from gradwright.compilation.node import CHECK, CONSTANT, INPUT, Node

MOST = 80
"""How many nodes are in a loop at most: the compiler takes ever longer for more."""


class Step:
    """One of them.

    Attributes:
        nodes: what is computed, in order.
        space: the lengths of the loops, outermost first, none of them 1; None for what is no loop.
        alone: whether nothing is to share the loop: entries are read and written in orders that differ.
    """

    def __init__(self, nodes: list[Node], space: tuple[int, ...] | None = None, alone: bool = False) -> None:
        self.nodes, self.space, self.alone = nodes, space, alone


def operands(lowered: Lowered, node: Node) -> Iterator[Node]:
    """The nodes that a node takes, as far as they are arrays."""
    way = lowered.how[node]
    if isinstance(way, Element):
        yield from (o for o in way.operands if isinstance(o, Node))
    elif isinstance(way, Reduction):
        yield way.operand
    elif isinstance(way, (Product, Join)):
        yield from way if isinstance(way, Product) else way.parts
    elif isinstance(way, (Check, Line)):
        yield way.operand
    elif isinstance(way, Spread):
        yield from (way.operand,) if way.base is None else (way.operand, way.base)
    elif isinstance(way, (Windows, Gather)):
        yield from way.operands
    else:
        yield from node.nodes()


def readers(lowered: Lowered) -> dict[Node, list[tuple[Node, Node]]]:
    """For each node in memory or in a loop those that read it, and as which of their operands."""
    found: dict[Node, list[tuple[Node, Node]]] = {}
    for node in lowered.nodes:
        for operand in operands(lowered, node):
            found.setdefault(lowered.root(operand), []).append((node, operand))
    return found


def space_of(lowered: Lowered, node: Node) -> tuple[int, ...] | None:
    """The space of the loop that a node may be in."""
    way = lowered.how[node]
    if isinstance(way, Element):
        return short(node.shape)
    return short(way.operand.shape) if isinstance(way, Reduction) else None


def in_step(lowered: Lowered, operand: Node, shape: tuple[int, ...]) -> bool:
    """Whether in a loop over ``shape`` an operand is, at each turn, what its root is in a loop of its own."""
    place = lowered.places[operand]
    space = short(shape)
    return (isinstance(lowered.how.get(place.root), Element) and place.start == 0 and short(place.root.shape) == space
            and place.over(shape) == in_order(space))  # fmt: skip


class Steps:
    """The steps of a program.

    Attributes:
        steps: in order.
        where: for each node which of them computes it.
        written: for outputs that are written to an input, that.
    """

    def __init__(self, lowered: Lowered) -> None:
        self.lowered = lowered
        self.steps: list[Step] = []
        self.where: dict[Node, int] = {}
        self._readers: dict[Node, int] = {}
        writes = zip(lowered.outputs, lowered.program.writes, strict=True)
        self.written = {node: lowered.program.inputs[at] for node, at in writes if at is not None}
        early = self._early()
        for node in (*early, *(node for node in lowered.nodes if node not in early)):
            self._put(node)

    def _early(self) -> dict[Node, None]:
        """Single numbers that come of what is given alone: put first, they part no loop."""
        found: dict[Node, None] = {}
        for node in self.lowered.nodes:
            if isinstance(self.lowered.how[node], Element) and not space_of(self.lowered, node):
                roots = map(self.lowered.root, operands(self.lowered, node))
                if node not in self.written and all(r.op in (INPUT, CONSTANT) or r in found for r in roots):
                    found[node] = None
        return found

    def _put(self, node: Node) -> None:
        way = self.lowered.how[node]
        if isinstance(way, Join):
            self.where[node] = max((self.where[part] for part in way.parts), default=0)
            return
        space = space_of(self.lowered, node)
        earliest, near = 0, False
        for operand in operands(self.lowered, node):
            root = self.lowered.root(operand)
            if root.op in (INPUT, CONSTANT):
                continue
            at = self.where[root]
            shape = node.shape if isinstance(self.lowered.how[node], Element) else operand.shape
            same = space is not None and self.steps[at].space == space and in_step(self.lowered, operand, shape)
            near |= same
            earliest = max(earliest, at if same else at + 1)
        if node in self.written:
            earliest = max(earliest, self._readers.get(self.written[node], 0))
        at = len(self.steps)
        turned = node.op in (COPY, "batch_last") and isinstance(way, Element)
        turned = turned and not self.lowered.places[way.operands[0]].contiguous  # type: ignore[union-attr]
        if space is not None and not turned:
            fit = [k for k in range(earliest, len(self.steps)) if self._takes(self.steps[k], space)]
            if fit:
                at = fit[0] if near else fit[-1]
        if at == len(self.steps):
            self.steps.append(Step([], space, alone=turned))
        self.steps[at].nodes.append(node)
        self.where[node] = at
        for operand in operands(self.lowered, node):
            root = self.lowered.root(operand)
            self._readers[root] = max(self._readers.get(root, 0), at)

    def _takes(self, step: Step, space: tuple[int, ...]) -> bool:
        return step.space == space and len(step.nodes) < MOST and not step.alone

    def materialized(self) -> dict[Node, int]:
        """The nodes that must lie in memory, and the last step that reads them there."""
        found: dict[Node, int] = {}
        for node in self.lowered.nodes:
            at = self.where[node]
            way = self.lowered.how[node]
            if (not isinstance(way, Element) and node.op != CHECK) or node in self.lowered.part_of:
                found.setdefault(node, at)
            for operand in operands(self.lowered, node):
                root = self.lowered.root(operand)
                shape = node.shape if isinstance(way, Element) else operand.shape
                there = self.where.get(root) == at and self.steps[at].space is not None
                if not (there and in_step(self.lowered, operand, shape)):
                    found[root] = max(found.get(root, 0), at)
        for node in self.lowered.outputs:
            found[node] = len(self.steps)
        return found

    def in_place(self) -> dict[Node, Node]:
        """The outputs that may be written at once to the input that gets them, which nobody reads afterwards.

        Nothing that can raise comes after the step, and in the step itself each entry is read before it is written.
        """
        found = {}
        last_call = max((k for k, s in enumerate(self.steps) if self._calls(s)), default=-1)
        read = readers(self.lowered)
        for node, target in self.written.items():
            at = self.where[node]
            if at > last_call and isinstance(self.lowered.how[node], Element) and self._free(node, target, at, read):
                found[node] = target
        return found

    def _calls(self, step: Step) -> bool:
        ways = [self.lowered.how[node] for node in step.nodes]
        return any(way is None or isinstance(way, (Check, Gather)) for way in ways)

    def _free(self, node: Node, target: Node, at: int, read: dict[Node, list[tuple[Node, Node]]]) -> bool:
        place = self.lowered.places[target]
        if any(s == 0 for s in place.over(place.shape)) or target.dtype != node.dtype:
            return False
        if not place.contiguous and any(self.where[reader] > at for reader, _ in read.get(node, ())):
            return False  # which read it in row-major order
        late = [pair for pair in read.get(target, ()) if self.where[pair[0]] >= at]
        return all(self.where[reader] == at and self._alike(reader, operand, place, node) for reader, operand in late)

    def _alike(self, reader: Node, operand: Node, target: Place, written: Node) -> bool:
        """Whether a reader in the same loop takes of an input just the entry that is written at that turn."""
        shape = reader.shape if isinstance(self.lowered.how[reader], Element) else operand.shape
        read: Any = self.lowered.places[operand]
        return read.start == target.start and read.over(shape) == target.over(written.shape)


_CHEAP = frozenset({
    "add", "subtract", "multiply", "negative", "square", "absolute", "abs", "maximum", "minimum", "where", "astype",
    "less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "logical_not", "bitwise_invert",
})  # fmt: skip
_CHAIN, _LONG = 3, 4096
"""How many operations are made once more at most, and from how many entries on."""


def recompute(lowered: Lowered, steps: Steps) -> None:
    """Put values that are better computed again into the steps that read them, and have these read those."""
    _Recomputing(lowered, steps)


def _readers(lowered: Lowered) -> dict[Node, list[Node]]:
    return {root: [reader for reader, _ in found] for root, found in readers(lowered).items()}


class _Recomputing:
    """It, and what it goes by.

    Attributes:
        materialized: the nodes in memory.
        needed: those that must be there.
        copies: for each step the nodes computed again at its beginning, of values from before.
    """

    def __init__(self, lowered: Lowered, steps: Steps) -> None:
        self.lowered, self.steps = lowered, steps
        self.materialized, self.written = {*steps.materialized()}, {*steps.written.values()}
        self.readers = _readers(lowered)
        self.copies: dict[int, dict[Node, Node]] = {}
        self.needed = {*lowered.outputs, *lowered.part_of}
        self.order = {node: k for k, node in enumerate(lowered.nodes)}
        for node in self.order:
            if node in self.materialized and prod(node.shape or ()) >= _LONG:
                self._look(node)
        if self.copies:
            self._drop()

    def _drop(self) -> None:
        """Take out what nobody reads any more."""
        left, last = _readers(self.lowered), {*self.lowered.outputs, *self.lowered.part_of}
        for node in reversed(self.order):
            if isinstance(self.lowered.how[node], Element) and node not in last and not left.get(node):
                self.lowered.nodes.remove(node)
                self.steps.steps[self.steps.where[node]].nodes.remove(node)
                for operand in operands(self.lowered, node):
                    left[self.lowered.root(operand)].remove(node)

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
            self.materialized.remove(node)

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
            if one.op not in _CHEAP or not isinstance(self.lowered.how[one], Element) or len(found) == _CHAIN:
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
        return root in read and root in self.materialized and self.steps.where[root] < at

    def _put(self, at: int, chain: list[Node], readers: list[Node]) -> None:
        """Make nodes once more at the beginning of a step."""
        copies = self.copies.setdefault(at, {})
        for node in chain:
            if node not in copies:
                way: Any = self.lowered.how[node]
                self.needed.update(self.lowered.root(o) for o in operands(self.lowered, node))
                copy = node.like(node.op, node.args, node.kwargs)
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
