"""A graph as text."""

from __future__ import annotations

from typing import Any


def text(graph: Any, *args: Any) -> str:
    """The graph."""
    return repr(graph)
