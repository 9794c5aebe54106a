"""A graph as dot."""

from __future__ import annotations

from typing import Any


def dot(graph: Any, *args: Any) -> str:
    """The graph."""
    return repr(graph)
