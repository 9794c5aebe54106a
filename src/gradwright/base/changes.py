"""What holds beside a function's arguments: switches, by name, and how often something was declared.

Derivatives, divergences and defaults of classes are declared. What was recorded while these were others, as a compiled
step is, no longer stands for the function.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

declarations = [0]
SWITCHES: dict[str, ContextVar[Any]] = {}


def declares() -> None:
    """Something is declared, maybe anew."""
    declarations[0] += 1


def switch(name: str, default: Any) -> ContextVar[Any]:
    """A switch, per thread and per asyncio task."""
    made = SWITCHES[name] = ContextVar(name, default=default)
    return made
