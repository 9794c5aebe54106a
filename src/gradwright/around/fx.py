"""``torch.fx``: what only decorates. Graphs of functions are `gradwright.compile`'s and `gradwright.viz`'s."""

from __future__ import annotations

from typing import Any, TypeVar

from gradwright.absent import Absent
from gradwright.nn.module import Module

F = TypeVar("F")
_MEND = "gradwright.compile traces functions; explain() and viz.program show what was traced"


def wrap(fn_or_name: F) -> F:
    """The function as it is."""
    return fn_or_name


class GraphModule(Module):
    """A class to derive modules from and to ask for; none can be made (AttributeError), as there are no graphs."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise AttributeError(f"gradwright has no torch.fx.GraphModule yet: {_MEND}")


def __getattr__(name: str) -> Any:
    if name.startswith(("__", "pytest")):
        raise AttributeError(f"gradwright has no torch.fx.{name} yet", name=name)
    return Absent(f"torch.fx.{name}", _MEND)
