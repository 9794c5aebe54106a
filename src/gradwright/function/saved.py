"""What a Function has kept for its backward, with other arrays in the place of those that were kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


def kept(node: Any) -> Iterator[Any]:
    """What was saved, and the tensors among the attributes: each as array, counter, version, node."""
    yield from (packed for packed in node._saved or () if packed is not None)
    yield from (part.packed for part in _attributes(node))


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
