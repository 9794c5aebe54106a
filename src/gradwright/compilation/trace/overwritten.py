"""What backward would read of memory that a traced run has written, with no version that says so.

A write through ``x.data``, or after `set_`, is not counted by the versions of other tensors over that memory: backward
reads what has been written. The arrays of a traced run never change, so that there it would read what was saved. (So it
does in JAX's, which never change either.)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gradwright.compilation.trace.traced import Traced
from gradwright.compilation.trace.untraceable import Untraceable
from gradwright.engine.memory import root, whole

_NONE: tuple[Any, list[Any]] = None, []


def met(t: Any) -> None:
    """An operation reads ``t``, and may save it under the counter that it has."""
    part = getattr(t, "_part", None)
    if part is not None:
        part.memory.count(t)


class Overwritten:
    """Values that memory held before it was written, where several counters count what is written there."""

    def __init__(self) -> None:
        self._values: dict[int, tuple[Any, list[Any]]] = {}

    def note(self, t: Any) -> None:
        """``t`` is about to be written."""
        met(t)
        part, held = getattr(t, "_part", None), whole(t)
        if part is not None and len(part.memory.counters) > 1 and isinstance(held.plain, np.ndarray):
            value = _owner(held.plain)
            others = [counter for counter in part.memory.counters if counter is not t._counter]
            self._values.setdefault(id(value), (value, []))[1].extend(others)

    def check(self, node: Any) -> None:
        """Raise `Untraceable` if a node, which is about to run backward, has saved such values under such a counter."""
        for array, counter, version in _saved(node) if self._values else ():
            _, counters = self._values.get(id(_owner(array.plain)), _NONE)
            if counter[0] == version and any(other is counter for other in counters):
                raise Untraceable(
                    f"backward of {node.name()} reads a tensor that has been written since through .data, or through "
                    "another tensor of the same memory that counts its own writes: write to a clone() of it, or to the "
                    "tensor itself under no_grad(), which notices"
                )


def _saved(node: Any) -> Iterator[tuple[Any, Any, int]]:
    """The arrays that a node has saved, some of them several under one name, with their counters and versions."""
    for entry in getattr(node, "_saved", None) or ():
        for one in entry if type(entry) is tuple and entry and type(entry[0]) is tuple else (entry,):
            if type(one) is tuple and len(one) == 4 and isinstance(one[0], Traced):
                yield one[:3]


def _owner(value: Any) -> Any:
    """What owns the memory of values in a traced run: those of a view are a view."""
    return root(value) if isinstance(value, np.ndarray) else value
