"""A graph as mermaid."""

from __future__ import annotations

from typing import Any


def mermaid(graph: Any, *args: Any) -> str:
    """The graph."""
    return repr(graph)
