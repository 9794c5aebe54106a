"""Which nodes a backward pass has recorded: the sequence numbers of the last passes with ``create_graph``."""

from __future__ import annotations

from bisect import bisect
from heapq import heappop
from typing import Any

from gradwright.base.cpython.forks import lock
from gradwright.engine.node import Node, ticket

KEPT = 50
_passes: list[tuple[int, int, int]] = []
"""Of each pass its last sequence number, its first, and the order of the nodes between; one after another."""


def order(node: Node) -> int:
    """1 if a forward pass recorded a node, 2 if a backward pass of such nodes did, 3 a backward pass of those.

    Known of the last `KEPT` passes; of passes that run at the same time in several threads only the highest.
    """
    return _order(node._seq)


def _order(seq: int) -> int:
    k = bisect(_passes, (seq,))
    return _passes[k][2] if k < len(_passes) and _passes[k][1] < seq else 1


class Recorded:
    """A pass that is recorded, from now until `end`."""

    def __init__(self) -> None:
        self._first = ticket()
        self._before = -_passes[-1][0] if _passes else 0
        self._older: list[int] = []

    def pop(self, heap: list[Any]) -> Any:
        """`heappop` of the engine's heap; notes the nodes that are not younger than every recorded pass."""
        entry = heappop(heap)
        if entry[0] > self._before:
            self._older.append(-entry[0])
        return entry

    def end(self) -> None:
        """The pass is through. Passes inside of it become part of it."""
        order = 1 + max(map(_order, self._older), default=1)
        with lock:
            while _passes and _passes[-1][1] > self._first:
                order = max(order, _passes.pop()[2])
            _passes.append((ticket(), self._first, order))
            if len(_passes) > 2 * KEPT:
                del _passes[:KEPT]
