"""What nodes have saved of memory that is about to be written in place by the very operation that they stand for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from gradwright.engine.levels import LevelArray
from gradwright.engine.memory import unwritten
from gradwright.engine.nodes_of_ops import OpNode


def keep(old: Iterable[Any], new: Iterable[Any], since: int) -> None:
    """Let nodes behind the ``new`` tensors, made after ``since``, keep copies of what the ``old`` ones hold.

    An operation in place at a level is computed out of place by tensors outside, of which it may take several, and then
    written: a derivative may need what was there. `gradwright.engine.view.assign` does so for one node.
    """
    counters = {id(t._counter) for t in _all(old)}  # those of their memory, which views share
    seen = {t._node for t in _all(new)}
    stack = list(seen)
    while stack:
        node = stack.pop()
        if node is None or node._seq <= since:
            continue
        if isinstance(node, OpNode) and node._packed and type(node._saved) is tuple:
            saved, n = node._saved, node._packed
            node._saved = tuple([_apart(entry, counters) for entry in saved[:n]]) + saved[n:]
        fresh = [n for n in node._next if n not in seen]
        seen.update(fresh)
        stack += fresh


def _all(tensors: Iterable[Any]) -> Iterator[Any]:
    """The tensors, and those that they are made of."""
    for t in tensors:
        yield t
        if isinstance(t.array, LevelArray):
            yield from _all(t.array.parts)


def _apart(entry: tuple[Any, ...], counters: set[int]) -> tuple[Any, ...]:
    if type(entry[0]) is tuple:  # several under one name
        return tuple([_apart(e, counters) for e in entry])
    return (unwritten(entry[0]), [0], 0, entry[3]) if id(entry[1]) in counters else entry
