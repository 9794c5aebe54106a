"""Loops of large programs parted where nothing connects their nodes, so that the same ones come again and again.

A network of 128 layers has then as many different loops as one of 4, and the compiler has as little to do (`source`).
"""

from __future__ import annotations

from math import prod

from gradwright.compilation.by_c.elements import Element
from gradwright.compilation.by_c.lowered import Join, Lowered
from gradwright.compilation.by_c.steps import MOST, Step, Steps, in_step, operands, readers
from gradwright.compilation.node import Node

_MANY = 120
"""From so many nodes on a program is large."""


def part(lowered: Lowered, steps: Steps) -> None:
    """Part the loops of a large program; what a single later loop alone reads is computed there."""
    if len(lowered.nodes) < _MANY:
        return
    found: list[Step] = []
    for step in steps.steps:
        if step.space is None or step.alone:
            found.append(step)
        else:
            found += [Step(nodes, step.space) for nodes in _connected(lowered, steps, step)]
    where = {node: k for k, step in enumerate(found) for node in step.nodes}
    read = readers(lowered)
    for k in reversed(range(len(found))):
        to = _only_reader(lowered, found, k, where, read)
        if to is not None:
            found[to].nodes[:0] = found[k].nodes
            where |= dict.fromkeys(found[k].nodes, to)
            found[k].nodes = []
    steps.steps = [step for step in found if step.nodes]
    where = {node: k for k, step in enumerate(steps.steps) for node in step.nodes}
    for node in steps.where:
        way = lowered.how[node]
        steps.where[node] = max(where[x] for x in way.parts) if isinstance(way, Join) else where[node]


def _connected(lowered: Lowered, steps: Steps, step: Step) -> list[list[Node]]:
    """The nodes of a loop, in groups that need nothing of each other, and read no array that another one reads."""
    own, whole = set(step.nodes), prod(step.space or ())
    group, first = [*range(len(step.nodes))], dict[Node, int]()

    def top(k: int) -> int:
        while group[k] != k:
            k = group[k]
        return k

    for k, node in enumerate(step.nodes):
        roots = [node, *([steps.written[node]] if node in steps.written else [])]
        roots += [root for o in operands(lowered, node)
                  if (root := lowered.root(o)) in own or whole == prod(o.shape) > 1]  # fmt: skip
        for root in roots:
            group[top(k)] = top(first.setdefault(root, k))
    found: dict[int, list[Node]] = {}
    for k, node in enumerate(step.nodes):
        found.setdefault(top(k), []).append(node)
    return [*found.values()]


def _only_reader(lowered: Lowered, steps: list[Step], k: int, where: dict[Node, int],
                 read: dict[Node, list[tuple[Node, Node]]]) -> int | None:  # fmt: skip
    """The later loop that alone reads what a loop computes, each entry at the turn at which that is computed."""
    step, found = steps[k], set[int]()
    if step.space is None or step.alone:
        return None
    for node in step.nodes:
        if not isinstance(lowered.how[node], Element) or node in lowered.part_of or node in lowered.outputs:
            return None
        for reader, operand in read.get(node, ()):
            if where.get(reader) != k:
                found.add(where.get(reader, k))
                shape = reader.shape if isinstance(lowered.how[reader], Element) else operand.shape
                if shape is None or not in_step(lowered, operand, shape):
                    return None
    to = found.pop() if len(found) == 1 else k
    fits = steps[to].space == step.space and not steps[to].alone and len(steps[to].nodes) + len(step.nodes) <= MOST
    return to if to > k and fits else None
