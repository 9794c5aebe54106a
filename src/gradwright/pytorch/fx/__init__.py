"""``torch.fx``: graphs of functions, traced with proxies or made by hand, and modules that run them.

Graphs are run node by node; no code is generated. What else there is in PyTorch's is not here: `gradwright.compile`
traces functions in its own way, and shows what was traced.
"""

from __future__ import annotations

from typing import Any, TypeVar

from gradwright.base.absent import Absent
from gradwright.pytorch.fx.graph import Graph
from gradwright.pytorch.fx.graph_module import GraphModule
from gradwright.pytorch.fx.interpreter import Interpreter
from gradwright.pytorch.fx.node import Node, map_arg
from gradwright.pytorch.fx.proxy import Proxy
from gradwright.pytorch.fx.tracer import Tracer, symbolic_trace

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
