"""Tracing: functions and modules run once with proxies, and what they do becomes a graph."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import contextmanager
from types import FunctionType
from typing import Any

from gradwright.engine.base import TensorBase
from gradwright.nn.module import Module
from gradwright.pytorch.fx.graph import Graph
from gradwright.pytorch.fx.graph_module import GraphModule
from gradwright.pytorch.fx.node import Node
from gradwright.pytorch.fx.proxy import Proxy, TraceError, TracerBase


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
        inputs = self._inputs(function, concrete_args or {})
        with self._going_through():
            result = _called(function, inputs)
        self.graph.output(self.create_arg(result))
        return self.graph

    def _inputs(self, function: Callable[..., Any], concrete: dict[str, Any]) -> list[tuple[inspect.Parameter, Any]]:
        """The parameters of a function, each with its proxy or value: one for all of ``*args``, and of ``**kwargs``."""
        found: list[tuple[inspect.Parameter, Any]] = []
        for name, p in inspect.signature(function).parameters.items():
            default = () if p.default is p.empty else (p.default,)
            target = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "") + name  # type: ignore[call-overload]
            made = concrete[name] if name in concrete else self.create_proxy("placeholder", target, default, {})
            found.append((p, made))
        return found

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


def _called(function: Callable[..., Any], inputs: list[tuple[inspect.Parameter, Any]]) -> Any:
    """The result for these values of its parameters, of which those with stars are one value each.

    For these its code runs as that of a function whose parameters have no stars. TraceError if it has none to run so.
    """
    values = {p.name: value for p, value in inputs}
    if not any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p, _ in inputs):
        by_name = {p.name: values.pop(p.name) for p, _ in inputs if p.kind is p.KEYWORD_ONLY}
        return function(*values.values(), **by_name)
    plain = getattr(function, "__func__", function)
    if not isinstance(plain, FunctionType) or hasattr(plain, "__wrapped__"):
        raise TraceError("symbolic tracing of *args and **kwargs takes a plain function or method, but got "
                         f"{function!r}: trace the function inside it, or one that names each argument")  # fmt: skip
    code = plain.__code__
    own = [] if plain is function else [function.__self__]  # type: ignore[attr-defined]
    names = code.co_varnames[: len(own) + len(inputs)]
    bare = code.replace(co_argcount=len(names), co_posonlyargcount=0, co_kwonlyargcount=0,
                        co_flags=code.co_flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS))  # fmt: skip
    call = FunctionType(bare, plain.__globals__, plain.__name__, None, plain.__closure__)
    return call(*own, *(values[name] for name in names[len(own) :]))


def symbolic_trace(root: Any, concrete_args: dict[str, Any] | None = None) -> GraphModule:
    """A module that does what a module or function does, as a graph, run once with a `Proxy` for each input."""
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else getattr(root, "__name__", "GraphModule")
    return GraphModule(tracer.root, graph, name)


__all__ = ["Proxy", "Tracer", "symbolic_trace"]
