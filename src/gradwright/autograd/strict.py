"""Warnings of gradients as errors."""

from gradwright.engine.strict import is_strict, strict

__all__ = ["is_strict", "strict"]
