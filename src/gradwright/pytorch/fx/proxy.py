"""Proxies stand for the values of nodes: what is done with them becomes nodes."""

from __future__ import annotations

import dis
import functools
import operator
from collections.abc import Callable, Iterator
from typing import Any

from gradwright.base.cpython.frames import frame
from gradwright.engine.base import TensorBase
from gradwright.face.methods.subclasses import ask_from_now_on, methods_that_ask
from gradwright.pytorch.fx.graph import Graph
from gradwright.pytorch.fx.node import Node, map_aggregate


class TraceError(ValueError):
    """A value is asked for that only a run has."""


class TracerBase:
    """What turns calls into nodes of its ``graph``."""

    graph: Graph

    def create_node(self, kind: str, target: Any, args: Any, kwargs: Any, name: str | None = None,
                    type_expr: Any = None) -> Node:  # fmt: skip
        """A new node."""
        return self.graph.create_node(kind, target, args, kwargs, name, type_expr)

    def proxy(self, node: Node) -> Proxy:
        """What stands for a node."""
        return Proxy(node, self)

    def create_proxy(self, kind: str, target: Any, args: Any, kwargs: Any, name: str | None = None,
                     type_expr: Any = None, proxy_factory_fn: Callable[[Node], Any] | None = None) -> Any:  # fmt: skip
        """What stands for a new node, in whose arguments proxies may be."""
        node = self.create_node(kind, target, self.create_arg(args), self.create_arg(kwargs), name, type_expr)
        return (proxy_factory_fn or self.proxy)(node)

    def create_arg(self, a: Any) -> Any:
        """An argument as nodes have it: proxies are their nodes."""
        return map_aggregate(a, self._one)

    def _one(self, a: Any) -> Any:
        return a.node if isinstance(a, Proxy) else a

    def to_bool(self, obj: Proxy) -> bool:
        """TraceError: which way a program goes may not depend on a value."""
        raise TraceError(f"symbolically traced variables cannot be used as inputs to control flow: {obj}")

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """The parts of a value that is unpacked; TraceError elsewhere, as their number is not known."""
        asked: Any = frame(2)
        at = next((i for i in dis.get_instructions(asked.f_code) if i.offset == asked.f_lasti), None)
        if at is None or at.opname != "UNPACK_SEQUENCE":
            raise TraceError(f"Proxy object cannot be iterated: {obj}: how many parts it has is not known here")
        part: Any = obj
        return (part[k] for k in range(at.arg or 0))

    def keys(self, obj: Proxy) -> Any:
        """The keys of a value."""
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """A tracer that makes its nodes in a graph that is given."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph


@functools.cache
def _methods() -> frozenset[Any]:
    return frozenset(methods_that_ask().values())


class Proxy:
    """The value of a node. Its operators, attributes, methods, and PyTorch's functions of it, make nodes."""

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        ask_from_now_on()
        self.node, self.tracer = node, GraphAppendingTracer(node.graph) if tracer is None else tracer

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> Any:
        if k.startswith("__") or k in ("node", "tracer"):
            raise AttributeError(k)
        return Attribute(self, k)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Any]:
        return self.tracer.iter(self)

    def __bool__(self) -> bool:
        return self.tracer.to_bool(self)

    def __len__(self) -> int:
        raise TraceError(f"'len' is not supported in symbolic tracing: {self}: take shape[0]")

    def keys(self) -> Any:
        """The keys of the value."""
        return self.tracer.keys(self)

    @classmethod
    def __torch_function__(cls, orig_method: Any, types: Any, args: Any = None, kwargs: Any = None) -> Any:
        found: list[Proxy] = []
        map_aggregate((args, kwargs or {}), lambda x: found.append(x) if isinstance(x, Proxy) else None)
        tracer = found[0].tracer
        if isinstance(args[0], TensorBase) and orig_method in _methods():
            return tracer.create_proxy("call_method", orig_method.__name__, args, kwargs or {})
        return tracer.create_proxy("call_function", orig_method, args, kwargs or {})


class Attribute(Proxy):
    """What a value has under a name: a method, if it is called."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._found: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The node of `getattr`, made when it is asked for."""
        if self._found is None:
            self._found = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


def _operator(function: Callable[..., Any], reflected: bool = False) -> Callable[..., Any]:
    def method(self: Any, *others: Any) -> Any:
        args = (*others, self) if reflected else (self, *others)
        return self.tracer.create_proxy("call_function", function, args, {})

    return method


_TWO = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lshift", "rshift", "and", "or", "xor")
for _name in _TWO:
    _found = getattr(operator, _name, None) or getattr(operator, f"{_name}_")
    setattr(Proxy, f"__{_name}__", _operator(_found))
    setattr(Proxy, f"__r{_name}__", _operator(_found, reflected=True))
for _name in ("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert", "getitem"):
    setattr(Proxy, f"__{_name}__", _operator(getattr(operator, _name)))
setattr(Proxy, "__hash__", object.__hash__)  # noqa: B010 - which == takes away
