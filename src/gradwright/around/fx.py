"""``torch.fx``: what only decorates. Graphs of functions are `gradwright.compile`'s and `gradwright.viz`'s."""

from __future__ import annotations

from typing import Any, TypeVar

from gradwright.absent import Absent

F = TypeVar("F")
_MEND = "gradwright.compile traces functions; explain() and viz.program show what was traced"


def wrap(fn_or_name: F) -> F:
    """The function as it is."""
    return fn_or_name


def __getattr__(name: str) -> Any:
    if name.startswith(("__", "pytest")):
        raise AttributeError(f"gradwright has no torch.fx.{name} yet", name=name)
    return Absent(f"torch.fx.{name}", _MEND)
