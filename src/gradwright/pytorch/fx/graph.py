"""Graphs of functions: lists of nodes in the order in which they run."""

from __future__ import annotations

import builtins
import inspect
import keyword
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gradwright.pytorch.fx.node import Node, map_aggregate, map_arg

_RESERVED = frozenset((*dir(builtins), *keyword.kwlist))
_KEPT = ("placeholder", "output")


class _Nodes:
    """The nodes of a graph in order; while one walks through, they may be erased and others set in."""

    def __init__(self, root: Node) -> None:
        self._root = root

    def __iter__(self) -> Iterator[Node]:
        return self._walk("_next")

    def __reversed__(self) -> Iterator[Node]:
        return self._walk("_prev")

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _walk(self, way: str) -> Iterator[Node]:
        node = getattr(self._root, way)
        while node is not self._root:
            if not node._erased:
                yield node
            node = getattr(node, way)


class Graph:
    """A function as nodes: inputs are ``placeholder``s, the last node is the ``output``.

    Nodes are made where `inserting_before` or `inserting_after` says, by default at the end.
    """

    def __init__(self, owning_module: Any = None, tracer_cls: Any = None, tracer_extras: Any = None) -> None:
        self._root = Node(self, "", "output", "", (), {})
        self._before = self._root
        self._used: set[str] = set()
        self.owning_module, self._tracer_cls = owning_module, tracer_cls

    @property
    def nodes(self) -> _Nodes:
        """Its nodes, in order."""
        return _Nodes(self._root)

    def create_node(self, op: str, target: Any, args: Any = None, kwargs: Any = None, name: str | None = None,
                    type_expr: Any = None) -> Node:  # fmt: skip
        """A new node; the name is made different from all others."""
        called: str = name or (target if isinstance(target, str) else str(getattr(target, "__name__", "node")))
        node = Node(self, self._new_name(called), op, target, args or (), kwargs or {}, type_expr)
        self._before.prepend(node)
        return node

    def _new_name(self, wanted: str) -> str:
        base = re.sub(r"\W+", "_", wanted.strip("_") if wanted.startswith("__") else wanted)
        base = re.sub(r"_(\d+)$", "", base) if base in self._used else base
        base = f"_{base}" if not base or base[0].isdigit() else base
        name, n = base, 0
        while name in self._used or name in _RESERVED:
            n += 1
            name = f"{base}_{n}"
        self._used.add(name)
        return name

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = ...) -> Node:
        """A new input; ``...`` or `inspect.Signature.empty`: without a default."""
        args = () if default_value is ... or default_value is inspect.Signature.empty else (default_value,)
        return self.create_node("placeholder", name, args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """What the module has under a name, with dots for what lies deeper."""
        return self.create_node("get_attr", qualified_name, name=qualified_name.replace(".", "_"), type_expr=type_expr)

    def call_function(self, the_function: Callable[..., Any], args: Any = None, kwargs: Any = None,
                      type_expr: Any = None, name: str | None = None) -> Node:  # fmt: skip
        """The result of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def call_method(self, method_name: str, args: Any = None, kwargs: Any = None, type_expr: Any = None) -> Node:
        """The result of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_module(self, module_name: str, args: Any = None, kwargs: Any = None, type_expr: Any = None) -> Node:
        """The result of a module inside the module."""
        return self.create_node("call_module", module_name, args, kwargs, module_name.replace(".", "_"), type_expr)

    def output(self, result: Any, type_expr: Any = None) -> Node:
        """The end: what is returned."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def output_node(self) -> Node:
        """The last node; RuntimeError if it is no output."""
        last = self._root._prev
        if last is self._root or last.op != "output":
            raise RuntimeError("this graph has no output: call graph.output(...)")
        return last

    def find_nodes(self, *, op: str, target: Any = None, sort: bool = True) -> list[Node]:
        """The nodes of an op, and of a target if that is given."""
        return [n for n in self.nodes if n.op == op and (target is None or n.target == target)]

    @contextmanager
    def _inserting(self, before: Node) -> Iterator[None]:
        if before.graph is not self:
            raise RuntimeError("inserting_before(), inserting_after(): the node is of another graph")
        kept, self._before = self._before, before
        try:
            yield
        finally:
            self._before = kept

    def inserting_before(self, n: Node | None = None) -> Any:
        """Within this block new nodes come before ``n``, or before all."""
        return self._inserting(self._root._next if n is None else n)

    def inserting_after(self, n: Node | None = None) -> Any:
        """Within this block new nodes come behind ``n``, or behind all."""
        return self._inserting(self._root if n is None else n._next)

    def erase_node(self, to_erase: Node) -> None:
        """Take out a node; RuntimeError if others use it."""
        if to_erase.users:
            raise RuntimeError(f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the "
                               f"graph: {to_erase.users}!")  # fmt: skip
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if not to_erase._erased:
            to_erase._unlink()
            to_erase._erased = True
            to_erase._use((), {})

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Any] = lambda x: x) -> Node:
        """A node of another graph, here, with its arguments after ``arg_transform``."""
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        made = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        made.meta = dict(node.meta)
        return made

    def graph_copy(self, g: Graph, val_map: dict[Node, Node], return_output_node: bool = False) -> Any:
        """All nodes of ``g`` but the output, here, and what ``g`` returns; those in ``val_map`` stand for others."""
        for node in g.nodes:
            if node.op == "output":
                result = map_arg(node.args[0], val_map.__getitem__)
                return (result, node) if return_output_node else result
            if node not in val_map:
                val_map[node] = self.node_copy(node, val_map.__getitem__)
        return None

    def __deepcopy__(self, memo: Any = None) -> Graph:
        copy = Graph(tracer_cls=self._tracer_cls)
        found: dict[Node, Node] = {}
        for node in self.nodes:
            found[node] = copy.node_copy(node, found.__getitem__)
        return copy

    def __reduce__(self) -> Any:
        at = {node: k for k, node in enumerate(self.nodes)}
        place = lambda x: _Place(at[x])
        rows = [(n.op, n.target, map_arg(n.args, place), map_arg(n.kwargs, place), n.name, n.type) for n in at]
        return _rebuilt, (rows,)

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Take out what nothing uses, but for inputs, the output and what `Node.is_impure`; whether there was any.

        ``is_impure_node`` is asked instead of that, if given.
        """
        count = len(self.nodes)
        for node in reversed(self.nodes):
            kept = node.op in _KEPT or (is_impure_node or Node.is_impure)(node)
            if not kept and not node.users:
                self.erase_node(node)
        return len(self.nodes) < count

    def lint(self) -> None:
        """RuntimeError unless each node uses those before it of this graph, and no name is there twice."""
        seen: dict[Node, None] = {}
        names: set[str] = set()
        for node in self.nodes:
            for x in node.all_input_nodes:
                if x.graph is not self:
                    raise RuntimeError(f"Argument '{x}' of Node '{node}' does not belong to this Graph, "
                                       "but was used as an argument!")  # fmt: skip
                if x not in seen:
                    raise RuntimeError(f"Argument '{x}' of Node '{node}' was used before it has been defined!")
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            seen[node] = None
            names.add(node.name)

    def __str__(self) -> str:
        return "\n".join(["graph():", *(f"    {node.format_node()}" for node in self.nodes)])


class _Place:
    """The number of a node in its graph, where that is stored."""

    def __init__(self, number: int) -> None:
        self.number = number


def _rebuilt(rows: Any) -> Graph:
    graph = Graph()
    nodes: list[Node] = []
    back = lambda x: nodes[x.number] if isinstance(x, _Place) else x
    for op, target, args, kwargs, name, type_ in rows:
        nodes.append(graph.create_node(op, target, map_aggregate(args, back), map_aggregate(kwargs, back), name, type_))
    return graph
