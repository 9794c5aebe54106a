"""Handles of hooks."""

from gradwright.engine.hooks import RemovableHandle

__all__ = ["RemovableHandle"]
