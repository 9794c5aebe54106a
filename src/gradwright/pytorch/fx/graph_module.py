"""Modules that run a graph."""

from __future__ import annotations

from typing import Any

from gradwright.nn.module import Module
from gradwright.nn.parameter import Parameter
from gradwright.pytorch.fx.graph import Graph
from gradwright.pytorch.fx.interpreter import Interpreter
from gradwright.pytorch.fx.node import Node


class GraphModule(Module):
    """A module that runs ``graph``, node by node, with those parts of ``root`` that the graph names.

    ``root`` is a module, or a dictionary of parts by their names with dots. A graph that is changed is run as it is
    then.
    AttributeError if ``root`` has no part of a name.
    """

    def __init__(self, root: Any, graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        self._graph_name = class_name
        if isinstance(root, Module) and hasattr(root, "training"):
            self.training = root.training
        for target in dict.fromkeys(n.target for n in graph.nodes if n.op in ("get_attr", "call_module")):
            found = root[target] if isinstance(root, dict) else _part(root, target)
            _set_part(self, target, found)
        self.graph = graph

    @property
    def graph(self) -> Graph:
        """What it runs; may be set."""
        found: Graph = self._graph
        return found

    @graph.setter
    def graph(self, g: Graph) -> None:
        object.__setattr__(self, "_graph", g)
        g.owning_module = self

    def _get_name(self) -> str:
        return self._graph_name

    def recompile(self) -> None:
        """Nothing: the graph is run as it is."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the graph returns; arguments may be given by the names of its inputs. TypeError unless they fit."""
        nodes = [n for n in self._graph.nodes if n.op == "placeholder"]
        return Interpreter(self).run(initial_env=_bound(nodes, list(args), kwargs))

    def print_readable(self, print_output: bool = True, **_: Any) -> str:
        """The graph as text."""
        if print_output:
            print(self._graph)  # noqa: T201 - it was asked for
        return str(self._graph)


def _bound(inputs: list[Node], given: list[Any], named: dict[str, Any]) -> dict[Node, Any]:
    """The values of inputs in a call, without those that have their default."""
    found: dict[Node, Any] = {}
    missing: list[str] = []
    inputs_are = f": inputs are {[n.target for n in inputs]}"
    for node in inputs:
        name = node.target
        if name.startswith("**"):
            found[node], named = named, {}
        elif name.startswith("*"):
            found[node], given = tuple(given), []
        elif given and name in named:
            raise TypeError(f"forward() got multiple values for argument {name!r}{inputs_are}")
        elif given or name in named:
            found[node] = given.pop(0) if given else named.pop(name)
        elif not node.args:
            missing.append(name)
    if given:
        raise TypeError(f"forward() got {len(given)} more positional arguments than it takes{inputs_are}")
    if named:
        raise TypeError(f"forward() got an unexpected keyword argument {min(named)!r}{inputs_are}")
    if missing:
        raise TypeError(f"forward() missing required arguments: {', '.join(missing)}{inputs_are}")
    return found


def _part(root: Any, target: str) -> Any:
    for name in target.split("."):
        root = getattr(root, name)
    return root


def _set_part(module: Module, target: str, value: Any) -> None:
    *above, last = target.split(".")
    for name in above:
        if not hasattr(module, name):
            setattr(module, name, Module())
        module = getattr(module, name)
    registered = isinstance(value, (Module, Parameter)) or not hasattr(value, "detach")
    if registered:
        setattr(module, last, value)
    else:
        module.register_buffer(last, value)
