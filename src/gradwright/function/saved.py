"""What a Function has kept for its backward, with other arrays in the place of those that were kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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


def _attributes(node: Any) -> list[Any]:
    found = getattr(node, "_attributes", None)
    return [part for part in found.parts(found) if hasattr(part, "packed")] if found else []
