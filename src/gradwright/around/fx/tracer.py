"""Tracing: functions and modules run once with proxies, and what they do becomes a graph."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

from gradwright.around.fx.graph import Graph
from gradwright.around.fx.graph_module import GraphModule
from gradwright.around.fx.node import Node
from gradwright.around.fx.proxy import Proxy, TracerBase
from gradwright.engine.base import TensorBase
from gradwright.nn.module import Module


class Tracer(TracerBase):
    """Makes a graph of a module or function.

    Modules of ``torch.nn`` but `Sequential` are steps of their own (`is_leaf_module`); others are gone through.
    """

    root: Module

    def trace(self, root: Any, concrete_args: dict[str, Any] | None = None) -> Graph:
        """The graph of ``root``; arguments in ``concrete_args`` are these values, not inputs."""
        module = isinstance(root, Module)
        self.root, self.graph = root if module else Module(), Graph(tracer_cls=type(self))
        function = root.forward if module else root
        self._paths = {m: path for path, m in self.root.named_modules()}
        args, kwargs = self._inputs(function, concrete_args or {})
        with self._going_through():
            result = function(*args, **kwargs)
        self.graph.output(self.create_arg(result))
        return self.graph

    def _inputs(self, function: Callable[..., Any], concrete: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for name, p in inspect.signature(function).parameters.items():
            stars = "*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else ""
            if stars:
                made = self.proxy(self.create_node("placeholder", stars + name, (), {}, name))
                (args.append(made) if stars == "*" else kwargs.update({name: made}))
                continue
            default = () if p.default is p.empty else (p.default,)
            made = concrete[name] if name in concrete else self.create_proxy("placeholder", name, default, {})
            kwargs.update({name: made}) if p.kind is p.KEYWORD_ONLY else args.append(made)
        return args, kwargs

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Whether a module is one step."""
        return type(m).__module__.startswith(("torch.nn", "gradwright.nn")) and type(m).__name__ != "Sequential"

    def path_of_module(self, mod: Module) -> str:
        """The name of a module inside the root; NameError if it is not there."""
        if mod not in self._paths:
            raise NameError("module is not installed as a submodule")
        return self._paths[mod]

    def call_module(self, m: Module, forward: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """A call of a module inside the root: a step, or what its forward does."""
        path = self.path_of_module(m)
        if self.is_leaf_module(m, path):
            return self.create_proxy("call_module", path, args, kwargs)
        return forward(*args, **kwargs)

    def _one(self, a: Any) -> Any:
        if isinstance(a, TensorBase):
            return self._tensor(a)
        return super()._one(a)

    def _tensor(self, a: Any) -> Node:
        """A tensor that is no input: a part of the root, which becomes one if it is not."""
        for path, found in (*self.root.named_parameters(), *self.root.named_buffers()):
            if found is a:
                return self.create_node("get_attr", path, (), {}, path.replace(".", "_"))
        name, n = "_tensor_constant0", 0
        while hasattr(self.root, name):
            if getattr(self.root, name) is a:
                break
            n += 1
            name = f"_tensor_constant{n}"
        setattr(self.root, name, a)
        return self.create_node("get_attr", name, (), {}, name)

    @contextmanager
    def _going_through(self) -> Any:
        """While this lasts, calls of modules are `call_module`'s."""
        kept = Module.__call__
        tracer = self

        def called(self: Module, *args: Any, **kwargs: Any) -> Any:
            return tracer.call_module(self, lambda *a, **k: kept(self, *a, **k), args, kwargs)

        Module.__call__ = called  # type: ignore[method-assign, assignment]
        try:
            yield
        finally:
            Module.__call__ = kept  # type: ignore[method-assign]


def symbolic_trace(root: Any, concrete_args: dict[str, Any] | None = None) -> GraphModule:
    """A module that does what a module or function does, as a graph, run once with a `Proxy` for each input."""
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    return GraphModule(tracer.root, graph, type(root).__name__ if isinstance(root, Module) else root.__name__)


__all__ = ["Proxy", "Tracer", "symbolic_trace"]
