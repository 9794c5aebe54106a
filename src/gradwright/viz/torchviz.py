"""`make_dot`, as the package torchviz has it: the same nodes, edges, labels and colours, without recursion.

A tensor is a node of its own where it was asked for (green), is the base of a view that was (dark green), is a leaf
(blue), or is saved (orange): by a user's Function, or by anything, if asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gradwright.base.errors import kind
from gradwright.base.pages.markup import printable
from gradwright.base.source_line import warn
from gradwright.debug.saved_values import is_packed, saved_values
from gradwright.engine.base import TensorBase
from gradwright.engine.node import AccumulateGrad, Node
from gradwright.engine.nodes_of_ops import OpNode
from gradwright.engine.saved_hooks import Entry
from gradwright.function.ctx import BackwardNode
from gradwright.ops.index import write_view
from gradwright.viz.saved import called
from gradwright.viz.walk import alone, named

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor
    from gradwright.viz.records import Params

_NODE = {"style": "filled", "shape": "box", "align": "left", "fontsize": "10", "ranksep": "0.1", "height": "0.2",
         "fontname": "monospace"}  # fmt: skip
_ROW = 0.15
"""The size of the picture, in inches, for each of its nodes and edges, if it is more than 12."""


def make_dot(var: Tensor | Sequence[Tensor], params: Params = None, show_attrs: bool = False, show_saved: bool = False,
             max_attr_chars: int = 50) -> Any:  # fmt: skip
    """The graph of tensors as torchviz 0.0.3 draws it.

    Args:
        var: a tensor, or several in a tuple or list.
        params: names of tensors: a dictionary, pairs, or a module.
        show_attrs: write beside an operation what it keeps that is no tensor.
        show_saved: draw the tensors that operations keep, too, and not only those that Functions do.
        max_attr_chars: so many characters of each such value.

    Returns:
        A ``graphviz.Digraph``: a notebook shows it, ``render("graph")`` writes a picture (with Graphviz), and its
        ``source`` is the text. What has been freed is not in it.

    Raises:
        ImportError: the package graphviz is not installed.
        TypeError: what is no tensor, among ``var`` or ``params``.

    A UserWarning says so where there is no graph to draw, and why.
    """
    try:
        from graphviz import Digraph  # noqa: PLC0415 - optional
    except ModuleNotFoundError as e:
        raise ModuleNotFoundError(
            'make_dot needs the package graphviz: pip install graphviz. Without it there is '
            "gradwright.viz.graph(...).dot()", name=e.name
        ) from None  # fmt: skip
    names = {_of(t).key: name for name, t in named(params, "make_dot")}
    dot = Digraph(node_attr=_NODE, graph_attr={"size": "12,12"})
    drawing = _Drawing(dot, names, show_attrs, show_saved, max(max_attr_chars, 3))
    tensors = var if isinstance(var, (tuple, list)) else (var,)
    for t in tensors:
        if not isinstance(t, TensorBase):
            raise TypeError(f"make_dot: expected a Tensor, or several in a tuple, but got {kind(t)}")
        drawing.tensor(t)
    why = alone(tensors) if tensors else None
    if why is not None:
        warn(f"make_dot: {why}")
    size = max(12, len(dot.body) * _ROW)
    dot.graph_attr.update(size=f"{size},{size}")
    return dot


class _Drawn(NamedTuple):
    """A tensor in the drawing: its shape, what tells it from others, and what is to live as long for that."""

    shape: Any
    key: Any
    kept: Any


def _of(t: Any) -> _Drawn:
    """A tensor: told by its history, or if it has none by its memory."""
    node = t._node
    return _Drawn(t.array.shape, ("array", id(t.array)) if node is None else ("node", node), t.array)


def _of_saved(entry: Any) -> _Drawn:
    """A packed tensor. What a node saved of its own results is a tensor of its own, as are numbers."""
    if isinstance(entry, Entry):  # of a hook: it is not unpacked
        entry = (entry, None, None, entry.node)
    array, _, _, node = entry
    shape = getattr(array, "shape", ())
    if isinstance(node, Node):
        return _Drawn(shape, ("node", node), array)
    own = isinstance(node, int) or shape == ()
    return _Drawn(shape, ("own", object()) if own else ("array", id(array)), array)


class _Drawing:
    """The calls that torchviz makes, in its order."""

    def __init__(self, dot: Any, names: dict[Any, str], attributes: bool, saved: bool, width: int) -> None:
        self.dot, self.names = dot, names
        self.attributes, self.saved, self.width = attributes, saved, width
        self.numbers: dict[Any, str] = {}
        self.seen: set[Any] = set()
        self.kept: list[Any] = []

    def tensor(self, t: Any, colour: str = "darkolivegreen1") -> None:
        """Draw a tensor that was asked for, its graph, and what it is a view of."""
        drawn = _of(t)
        if drawn.key in self.seen:
            return
        node = t.grad_fn
        self._tensor(drawn, colour)
        if node is not None:
            self._graph(node)
            self._edge(node, drawn.key)
        if t._is_view():
            self.tensor(t._base, "darkolivegreen3")  # which is no view
            self._edge(_of(t._base).key, drawn.key, style="dotted")

    def _graph(self, root: Any) -> None:
        """Draw all nodes below, and ``root``."""
        stack = [iter([root])]
        while stack:
            node = next(stack[-1], None)
            if node is None:
                stack.pop()
            elif node not in self.seen:
                self.seen.add(node)
                stack.append(self._node(node))

    def _node(self, node: Any) -> Iterator[Any]:
        """Draw a node; meanwhile, give those below it to be drawn."""
        custom = isinstance(node, BackwardNode)
        saved = list(_saved(node)) if custom or self.saved or self.attributes else []
        if self.saved and not custom:
            for name, value in saved:
                for k, one in enumerate(value if isinstance(value, list) else [value]):
                    if isinstance(one, _Drawn):
                        self._edge(node, one.key, dir="none")
                        self._tensor(one, "orange", f"{name}[{k}]" if isinstance(value, list) else name)
        if isinstance(node, AccumulateGrad):
            leaf = _Drawn(node._array.shape, ("node", node), node)
            self._tensor(leaf, "lightblue")
            self._edge(leaf.key, node)
        self.dot.node(self._number(node), self._title(node, saved))
        for target in _below(node):
            self._edge(target, node)
            yield target
        if custom:
            for _, one in saved:
                if isinstance(one, _Drawn):
                    self._edge(one.key, node, dir="none")
                    self._tensor(one, "orange")

    def _tensor(self, drawn: _Drawn, colour: str, name: str | None = None) -> None:
        self.seen.add(drawn.key)
        self.kept.append(drawn)
        name = printable(name or self.names.get(drawn.key, ""))
        label = f"{name}\n ({', '.join(map(str, drawn.shape))})"
        self.dot.node(self._number(drawn.key), escaped(label), fillcolor=colour)

    def _edge(self, tail: Any, head: Any, **attributes: str) -> None:
        self.dot.edge(self._number(tail), self._number(head), **attributes)

    def _number(self, key: Any) -> str:
        return self.numbers.setdefault(key, str(len(self.numbers)))

    def _title(self, node: Any, saved: list[tuple[str, Any]]) -> str:
        """The name of a node, with what it keeps if that is asked for."""
        name = type(node).__name__
        if not self.attributes or isinstance(node, BackwardNode) or not saved:
            return escaped(name)
        shown = [
            (key, "[saved tensors]" if isinstance(v, list) else "[saved tensor]" if isinstance(v, _Drawn) else str(v))
            for key, v in saved
        ]
        left = max(len(key) for key, _ in shown)
        right = min(max(len(value) for _, value in shown), self.width)
        cut = (value if len(value) <= right else f"{value[: right - 3]}..." for _, value in shown)
        rows = [f"{key:<{left}}: {value:>{right}}" for (key, _), value in zip(shown, cut, strict=True)]
        return escaped(printable("\n".join([name, "-" * max(left + right + 2, len(name)), *rows])))


def escaped(text: str) -> str:
    """A text as the package graphviz is to be given it, so that backslashes and entities in it are shown as such."""
    return text.replace("\\", "\\\\").replace("&", "&amp;")


def _saved(node: Any) -> Iterator[tuple[str, Any]]:
    """What a node has saved, in order of names: tensors as drawn, several in a list, anything else as it is."""
    if isinstance(node, BackwardNode):
        count = None if node._replay is None else node._replay.count
        saved = [value for _, value, tensors in saved_values(node) if tensors]
        yield from (("", _of_saved(value)) for value in saved[:count] if value is not None)
    elif isinstance(node, OpNode):
        yield from sorted((called(name), value) for name, value in _of_operation(node))


def _of_operation(node: Any) -> Iterator[tuple[str, Any]]:
    for name, value, tensors in saved_values(node):
        if tensors:
            several = not isinstance(value, Entry) and not is_packed(value)
            yield str(name), [_of_saved(v) for v in value] if several else _of_saved(value)
        elif not callable(value):
            yield str(name), value
    op = node._op
    named = {n for name in op.rules for n in op.saved_for(name) if n in op.inputs}
    yield from ((name, None) for name in named - set(node._names))  # PyTorch has these, too


def _below(node: Any) -> list[Any]:
    """The nodes that gradients go to.

    PyTorch's node of a write to a view holds the operation that was written; here it is a node before it, which is
    passed over.
    """
    targets = [target for target, _ in node.next_functions if target is not None]
    if getattr(node, "_op", None) is not write_view or len(targets) < 2:
        return targets
    base, inner = targets
    beside = [t for t, _ in inner.next_functions if t is not None]
    beside = [below for t in beside for below in (_below(t) if type(t).__name__ == "ExpandBackward0" else [t])]
    return [base, *(t for t in beside if not _is_view_of(t, base))]


def _is_view_of(node: Any, base: Any) -> bool:
    """Whether a node is that of a view of what ``base`` made."""
    while node is not base and isinstance(node, OpNode) and node._op.kind == "view":
        node = node.next_functions[0][0]
    return node is base
