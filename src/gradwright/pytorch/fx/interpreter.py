"""Running a graph, node by node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradwright.pytorch.fx.graph import Graph
from gradwright.pytorch.fx.node import Node, map_arg


class Interpreter:
    """Runs the graph of a module; a subclass may do something else for an op, or for each node (`run_node`)."""

    def __init__(self, module: Any, garbage_collect_values: bool = True, graph: Graph | None = None) -> None:
        self.module, self.graph = module, module.graph if graph is None else graph
        self.submodules = dict(module.named_modules())
        self.env: dict[Node, Any] = {}
        self.args_iter: Iterator[Any] = iter(())
        nodes = self.graph.nodes if garbage_collect_values else ()
        self._last = {x: node for node in nodes for x in node.all_input_nodes}

    def run(self, *args: Any, initial_env: dict[Node, Any] | None = None, enable_io_processing: bool = True) -> Any:
        """What the graph returns for these inputs; nodes in ``initial_env`` have their values already."""
        self.env = dict(initial_env or {})
        self.args_iter = iter(args)
        for node in self.graph.nodes:
            if node not in self.env:
                self.env[node] = self.run_node(node)
            if node.op == "output":
                return self.env.pop(node)
            for x in node.all_input_nodes:
                if self._last.get(x) is node:
                    del self.env[x]
        return None

    def run_node(self, n: Node) -> Any:
        """The value of a node, those of its arguments being known."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[Any, Any]:
        """The arguments of a node, as values."""
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)

    def map_nodes_to_values(self, args: Any, n: Node) -> Any:
        """``args`` with values in place of nodes; RuntimeError for one that has not run."""

        def value(x: Node) -> Any:
            if x not in self.env:
                raise RuntimeError(f"Node {n} referenced nonexistent value {x}! Run Graph.lint() to diagnose such "
                                   "issues")  # fmt: skip
            return self.env[x]

        return map_arg(args, value)

    def placeholder(self, target: Any, args: Any, kwargs: Any) -> Any:
        """The next input, or its default; RuntimeError if there is neither. All that are left for one with a star."""
        if target.startswith("**"):
            return {}  # which only calls of a module have
        if target.startswith("*"):
            return list(self.args_iter)
        for given in self.args_iter:
            return given
        if args:
            return args[0]
        raise RuntimeError(f"Expected positional argument for parameter {target}, but one was not passed in!")

    def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
        """What the module has under a name."""
        return self.fetch_attr(target)

    def fetch_attr(self, target: str) -> Any:
        """What the module has under a name with dots."""
        found = self.module
        for name in target.split("."):
            found = getattr(found, name)
        return found

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        """The result of a function."""
        return target(*args, **kwargs)

    def call_method(self, target: Any, args: Any, kwargs: Any) -> Any:
        """The result of a method of the first argument."""
        return getattr(args[0], target)(*args[1:], **kwargs)

    def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
        """The result of a module inside the module."""
        return self.submodules[target](*args, **kwargs)

    def output(self, target: Any, args: Any, kwargs: Any) -> Any:
        """What is returned."""
        return args[0]
