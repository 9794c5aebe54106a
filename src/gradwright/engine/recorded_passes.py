"""Which nodes a backward pass has recorded: the sequence numbers of the last passes with ``create_graph``."""

from __future__ import annotations

from bisect import bisect

from gradwright.base.cpython.forks import lock
from gradwright.engine.node import Node, ticket

REMEMBERED = 50
_passes: list[tuple[int, int, int]] = []
"""Of each pass its last sequence number, its first, and the order of the nodes between; one after another."""


def order(node: Node) -> int:
    """1 if a forward pass recorded a node, 2 if a backward pass of such nodes did, 3 a backward pass of those.

    Known of the last `REMEMBERED` passes; of passes that run at the same time in several threads only the highest.
    """
    return _order(node._seq)


def _order(seq: int) -> int:
    k = bisect(_passes, (seq,))
    return _passes[k][2] if k < len(_passes) and _passes[k][1] < seq else 1


def ended(first: int, ran: list[int]) -> None:
    """A recorded pass has ended, which began with this sequence number and ran these nodes; so have those inside it."""
    order, latest = 2, _passes[-1][0] if _passes else 0
    for seq in ran:
        if seq <= latest:  # else a forward pass since has made it
            order = max(order, 1 + _order(seq))
    with lock:
        while _passes and _passes[-1][1] > first:
            order = max(order, _passes.pop()[2])
        _passes.append((ticket(), first, order))
        if len(_passes) > 2 * REMEMBERED:
            del _passes[:REMEMBERED]
