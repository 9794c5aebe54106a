"""``torch.fx``: graphs of functions, traced with proxies or made by hand, and modules that run them.

Graphs are run node by node; no code is generated. What else there is in PyTorch's is not here: `gradwright.compile`
traces functions in its own way, and shows what was traced.
"""

from __future__ import annotations

from typing import Any, TypeVar

from gradwright.absent import Absent
from gradwright.around.fx.graph import Graph
from gradwright.around.fx.graph_module import GraphModule
from gradwright.around.fx.interpreter import Interpreter
from gradwright.around.fx.node import Node, map_arg
from gradwright.around.fx.proxy import Proxy
from gradwright.around.fx.tracer import Tracer, symbolic_trace

__all__ = ["Graph", "GraphModule", "Interpreter", "Node", "Proxy", "Tracer", "map_arg", "symbolic_trace", "wrap"]

F = TypeVar("F")
_MEND = "gradwright.compile traces functions; explain() and viz.program show what was traced"


def wrap(fn_or_name: F) -> F:
    """The function as it is."""
    return fn_or_name


def __getattr__(name: str) -> Any:
    if name.startswith(("__", "pytest")):
        raise AttributeError(f"gradwright has no torch.fx.{name} yet", name=name)
    return Absent(f"torch.fx.{name}", _MEND)
