"""Tangents by a declared jvp."""

from gradwright.function.pushforward import pushforward

__all__ = ["pushforward"]
