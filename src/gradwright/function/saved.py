"""A Function's saved values, with other arrays in the place of theirs, or as they were before backward."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from typing import Any


def arrays(node: Any) -> Iterator[Any]:
    """The arrays of what was saved, and of the attributes."""
    yield from (packed[0] for packed in node._saved or () if packed is not None)
    attributes = getattr(node, "_attributes", None)
    if attributes:
        yield from attributes.arrays().values()


def replace(node: Any, other: Callable[[Any], Any]) -> Callable[[], None]:
    """Let a node have kept what ``other`` makes of each; returns what puts back what was there."""
    saved, parts = node._saved, [(part, part.packed) for part in _attributes(node)]
    node._saved = [packed and other(packed) for packed in saved]
    for part, packed in parts:
        part.packed = other(packed)

    def put_back() -> None:
        node._saved = saved
        for part, packed in parts:
            part.packed = packed

    return put_back


def contents(node: Any) -> list[tuple[Any, Any]]:
    """The values on a ctx now, and in its lists and dictionaries, which backward may empty: for `refill`."""
    found, attributes = [vars(node), *vars(node).values()], getattr(node, "_attributes", None)
    if attributes:
        found += attributes.given, *[getattr(part, "value", None) for part in attributes.parts(attributes)]
    return [(held, copy(held)) for held in found if held.__class__ in _REFILLED]


def refill(pairs: Sequence[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Let what `contents` has found be as it was then; returns how it is now."""
    now = [(held, copy(held)) for held, _ in pairs]
    for held, content in pairs:
        held.clear()
        (held.update if hasattr(held, "update") else held.extend)(content)
    return now


_REFILLED = (list, dict, set, deque)


def _attributes(node: Any) -> list[Any]:
    found = getattr(node, "_attributes", None)
    return [part for part in found.parts(found) if hasattr(part, "packed")] if found else []
