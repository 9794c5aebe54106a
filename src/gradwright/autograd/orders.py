"""Which nodes a backward pass has recorded: the sequence numbers of the last passes with ``create_graph``."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable
from threading import Lock

from gradwright.autograd.node import Node, ticket

KEPT = 1000
_passes: list[tuple[int, int, int]] = []
"""Of each pass its last sequence number, its first, and the order of the nodes between; one after another."""
_lock = Lock()


def order(node: Node) -> int:
    """1 if a forward pass recorded a node, 2 if a backward pass of such nodes did, 3 a backward pass of those.

    Known of the last `KEPT` passes; of passes that run at the same time in several threads only the highest.
    """
    k = bisect(_passes, (node._seq,))
    return _passes[k][2] if k < len(_passes) and _passes[k][1] < node._seq else 1


def begins(roots: Iterable[Node]) -> tuple[int, int]:
    """A pass from these roots is going to be recorded: what `ends` is to be told."""
    return ticket(), 1 + _highest(roots)


def ends(first: int, order: int) -> None:
    """The pass that began so is through. Passes inside of it become part of it."""
    with _lock:
        while _passes and _passes[-1][1] > first:
            order = max(order, _passes.pop()[2])
        _passes.append((ticket(), first, order))
        if len(_passes) > 2 * KEPT:
            del _passes[:KEPT]


def _highest(roots: Iterable[Node]) -> int:
    """The highest order there is below ``roots``."""
    if not _passes:
        return 1
    newest, oldest, highest = _passes[-1][0], _passes[0][1], 1
    seen = set(roots)
    stack = list(seen)
    while stack:
        node = stack.pop()
        if node._seq < newest:
            if node._seq < oldest:
                continue
            highest = max(highest, order(node))
        for target in node._next:
            if target not in seen:
                seen.add(target)
                stack.append(target)
    return highest
