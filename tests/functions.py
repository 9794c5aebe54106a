"""Functions in a line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwright.autograd import Function


def function(name: str, forward: Callable[..., Any], backward: Callable[..., Any]) -> type[Function]:
    """A Function of this name, with these static methods."""
    return type(name, (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})
