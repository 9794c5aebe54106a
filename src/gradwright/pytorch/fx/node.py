"""Nodes of graphs: each is one step, which names a function, a method or a module and what it is called with."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from typing import Any

from gradwright.face.tensor import Tensor
from gradwright.pytorch.seldom import _assert, _assert_async

_CHECKS = (_assert, _assert_async)
_WRITES = [getattr(operator, name) for name in dir(operator) if name.startswith("__i")
           and hasattr(operator, f"__{name[3:]}")] + [operator.setitem, operator.delitem]  # fmt: skip
OPS = ("placeholder", "get_attr", "call_function", "call_method", "call_module", "output")


def map_aggregate(a: Any, fn: Callable[[Any], Any]) -> Any:
    """``a`` with ``fn`` of each thing in it, inside tuples, lists, dictionaries and slices."""
    if isinstance(a, tuple):
        parts = [map_aggregate(x, fn) for x in a]
        return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
    if isinstance(a, list):
        return [map_aggregate(x, fn) for x in a]
    if isinstance(a, dict):
        return {k: map_aggregate(v, fn) for k, v in a.items()}
    if isinstance(a, slice):
        return slice(*(map_aggregate(x, fn) for x in (a.start, a.stop, a.step)))
    return fn(a)


def map_arg(a: Any, fn: Callable[[Any], Any]) -> Any:
    """``a`` with ``fn`` of each node in it."""
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


class Node:
    """A step of a graph: an ``op``, one of `OPS`, its ``target``, ``args`` and ``kwargs``, among which may be nodes.

    ``users`` are the nodes that have it among theirs, ``meta`` is a dictionary for whatever one notes of it.
    """

    def __init__(self, graph: Any, name: str, op: str, target: Any, args: Any, kwargs: Any, type: Any = None) -> None:
        if op not in OPS:
            raise ValueError(f"Node: expected an op among {', '.join(OPS)}, but got {op!r}")
        self.graph, self.name, self.op, self.target, self.type = graph, name, op, target, type
        self.users: dict[Node, None] = {}
        self.meta: dict[str, Any] = {}
        self._args: Any = ()
        self._kwargs: Any = {}
        self._erased = False
        self._next = self._prev = self
        self._use(args, kwargs)

    def _use(self, args: Any, kwargs: Any) -> None:
        for x in self.all_input_nodes:
            x.users.pop(self, None)
        self._args, self._kwargs = map_aggregate(args, lambda x: x), map_aggregate(kwargs, lambda x: x)
        for x in self.all_input_nodes:
            x.users[self] = None

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among its arguments, each once."""
        found: dict[Node, None] = {}
        map_arg((self._args, self._kwargs), lambda x: found.setdefault(x))
        return list(found)

    @property
    def args(self) -> Any:
        """What it is called with; may be set."""
        return self._args

    @args.setter
    def args(self, args: Any) -> None:
        self._use(args, self._kwargs)

    @property
    def kwargs(self) -> Any:
        """What it is called with by name; may be set."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, kwargs: Any) -> None:
        self._use(self._args, kwargs)

    next = property(lambda self: self._next)
    prev = property(lambda self: self._prev)

    def prepend(self, x: Node) -> None:
        """Move ``x`` to right before this node; RuntimeError if it is of another graph."""
        if x.graph is not self.graph:
            raise RuntimeError(f"Attempting to move a Node into a different Graph: {x} next to {self}: "
                               "graph.node_copy() makes one there")  # fmt: skip
        if x is self:
            return
        x._unlink()
        x._prev, x._next = self._prev, self
        self._prev._next = self._prev = x

    def append(self, x: Node) -> None:
        """Move ``x`` to right behind this node; RuntimeError if it is of another graph."""
        if x is not self:
            self._next.prepend(x)

    def _unlink(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev

    def update_arg(self, idx: int, arg: Any) -> None:
        """Set one of its arguments."""
        self.args = (*self._args[:idx], arg, *self._args[idx + 1 :])

    def update_kwarg(self, key: str, arg: Any) -> None:
        """Set an argument by its name."""
        self.kwargs = {**self._kwargs, key: arg}

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Take ``new_input`` wherever ``old_input`` is among its arguments."""
        swap = lambda x: new_input if x is old_input else x
        self._use(map_arg(self._args, swap), map_arg(self._kwargs, swap))

    def replace_all_uses_with(self, replace_with: Node, delete_user_cb: Callable[[Node], bool] = lambda user: True,
                              *, propagate_meta: bool = False) -> list[Node]:  # fmt: skip
        """Let its users, those of which ``delete_user_cb`` is true, use another node; returns them."""
        if propagate_meta:
            replace_with.meta.update(self.meta)
        users = [user for user in self.users if delete_user_cb(user)]
        for user in users:
            user.replace_input_with(self, replace_with)
        return users

    def is_impure(self, impure_random: bool = True) -> bool:
        """Whether it does more than give a value: inputs, the output, assertions, what writes in place or draws.

        Draws do not count without ``impure_random``. Modules count if they have a true ``_is_impure``.
        """
        if self.op == "call_module":
            owner = self.graph.owning_module
            return owner is not None and bool(getattr(owner.get_submodule(self.target), "_is_impure", False))
        if self.op not in ("call_function", "call_method"):
            return self.op != "get_attr"
        function = getattr(Tensor, self.target, None) if self.op == "call_method" else self.target
        module, name = getattr(function, "__module__", None) or "", _called(self.target)
        writes = name.endswith("_") and not name.endswith("__") and module != "_operator"
        drawing = inspect.unwrap(function) if callable(function) else function  # whichever module of torch's has it
        home = getattr(drawing, "__module__", None) or ""
        draws = impure_random and home.startswith("gradwright.face.random")
        given = self._kwargs.get("out") is not None or bool(self._kwargs.get("inplace"))
        return writes or draws or given or function in _CHECKS or function in _WRITES

    def format_node(self) -> str:
        """A line that describes it."""
        what = f"{self.op}[target={_called(self.target)}](args = {self._args}, kwargs = {self._kwargs})"
        return f"%{self.name} : [num_users={len(self.users)}] = {what}"

    def __repr__(self) -> str:
        return self.name


def _called(target: Any) -> str:
    return target if isinstance(target, str) else str(getattr(target, "__name__", target))
