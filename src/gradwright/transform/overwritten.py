"""What nodes have saved of memory that is about to be written in place by the very operation that they stand for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gradwright.engine.levels import LevelArray
from gradwright.engine.memory import unwritten
from gradwright.engine.nodes_of_ops import OpNode


def write(array: Any, new: Sequence[Any], since: int) -> None:
    """Copy new tensors into those that an array of a level is made of; None: zeros. Further ones remain as they are.

    An operation in place at a level is computed out of place by tensors outside, of which it may take several: nodes
    that have been made for it, after ``since``, keep copies of what was there. (`gradwright.engine.view.assign` does so
    for one node.)
    """
    counted: list[Any] = array.tensor._counter
    if getattr(array, "writer", None) is counted:
        counted[0] += -1  # that the tensor at the level counted: it is counted outside, too
    old = array.parts[: len(new)]
    _keep(old, [t for t in new if t is not None], since)
    for x, value in zip(old, new, strict=True):
        if value is None:
            x.zero_()
        else:
            x.copy_(value)


def _keep(old: Sequence[Any], new: Iterable[Any], since: int) -> None:
    counters = {id(t._counter) for t in _all(old)}  # views share it
    seen = {t._node for t in _all(new)}
    stack = list(seen)
    while stack:
        node = stack.pop()
        if node is None or node._seq <= since:
            continue
        if isinstance(node, OpNode) and node._packed and type(node._saved) is tuple:
            saved, n = node._saved, node._packed
            node._saved = tuple([_with_own_array(entry, counters) for entry in saved[:n]]) + saved[n:]
        fresh = [n for n in node._next if n not in seen]
        seen.update(fresh)
        stack += fresh


def _all(tensors: Iterable[Any]) -> Iterator[Any]:
    """The tensors, and those that they are made of."""
    for t in tensors:
        yield t
        if isinstance(t.array, LevelArray):
            yield from _all(t.array.parts)


def _with_own_array(entry: tuple[Any, ...], counters: set[int]) -> tuple[Any, ...]:
    if type(entry[0]) is tuple:  # several under one name
        return tuple([_with_own_array(e, counters) for e in entry])
    array, counter, version, node = entry
    return (unwritten(array), [0], 0, node) if id(counter) in counters and int(counter[0]) == version else entry
