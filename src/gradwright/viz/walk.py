"""From tensors to a `Graph`: every node below them, last made first, as records."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gradwright.base.errors import kind
from gradwright.base.source_line import Place as Line
from gradwright.debug.why_none import why_none
from gradwright.engine.base import TensorBase
from gradwright.engine.node import AccumulateGrad, Node, NotDifferentiable, Output
from gradwright.engine.nodes_of_ops import OpNode
from gradwright.engine.recorded_passes import order
from gradwright.engine.view import is_severed, refresh
from gradwright.face.tensor import Tensor
from gradwright.function.contract.containers import flatten, paths
from gradwright.function.ctx import BackwardNode
from gradwright.function.watched.in_backward import Cut
from gradwright.viz.records import Edge, Gradient, Graph, GraphNode, Kind, Params, Place
from gradwright.viz.saved import Memories
from gradwright.viz.shapes import UNKNOWN, Shapes, meta
from gradwright.viz.sizes import magnitude
from gradwright.viz.trace import Note, Stop, lost, notes

_NOTHING = Note(None, None)
_ENDS = (Cut, NotDifferentiable)
"""Nodes that lead on, but let no gradient through."""


def graph(tensors: Tensor | Sequence[Tensor], params: Params = None, saved: bool = True) -> Graph:
    """The graph of tensors as records: see `Graph`, which draws it, too.

    Args:
        tensors: a tensor, or several in containers; the keys of a dictionary name them.
        params: names for tensors: a dictionary, pairs, or a module, whose parameters are named.
        saved: whether to tell what nodes keep for backward.

    The operations are told without being run, and nothing is changed. Under `trace` more is known of them: lines,
    modules, all shapes, and where gradients stop.

        >>> from gradwright import viz
        >>> x = gw.tensor([1.0, 2.0], requires_grad=True)
        >>> print(viz.graph((x * x).sum(), params={"x": x}))
        Output          float32 []
        │ SumBackward0  float32 []
        │ MulBackward0  float32 [2]  saves 8 B
        └ x             float32 [2]
        4 nodes, depth 4, 8 B saved

    Raises:
        TypeError: there is no tensor among ``tensors``, or something else among ``params``.
        RuntimeError: a view can no longer be told how it came about, since its base was written in place.
    """
    return walked(tensors, params, saved)[0]


def walked(tensors: Any, params: Params = None, saved: bool = True) -> tuple[Graph, dict[Node, int], list[Any]]:
    """The graph of tensors as `graph` has it, the ids of their nodes, and the tensors, one for each of its roots."""
    names = {t._node: name for name, t in named(params, "graph") if t._node is not None}
    roots = _roots(tensors)
    walk = _Walk(roots, names, saved)
    return walk.graph(), walk.ids, [t for _, t in roots]


def _roots(tensors: Any) -> list[tuple[str | None, Any]]:
    """The tensors, each once, with the names that the keys of a dictionary give them."""
    found: dict[int, tuple[str | None, Any]] = {}
    parts = tensors.items() if isinstance(tensors, Mapping) else [(None, tensors)]
    for key, value in parts:
        leaves: list[Any] = []
        rest = flatten(value, leaves)
        labels = paths(rest, str(key)) if key is not None else [None] * len(leaves)
        found |= {id(t): (label, t) for label, t in zip(labels, leaves, strict=True)}
    if not found:
        mend = ": give what it returns" if callable(tensors) else ""
        raise TypeError(f"graph: expected a Tensor, or several in a container, but got {kind(tensors)}{mend}")
    for _, t in found.values():
        if t._view is not None:
            refresh(t, always=True)
    return list(found.values())


def named(params: Any, caller: str) -> Iterator[tuple[str, Any]]:
    """The tensors that ``params`` names, with their names. TypeError, by ``caller``, for something else."""
    if params is None:
        return
    if hasattr(params, "named_parameters"):
        params = params.named_parameters()
    elif isinstance(params, Mapping):
        params = params.items()
    pairs = list(params) if isinstance(params, Iterable) and not isinstance(params, TensorBase) else [None]
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"{caller}: params must be a dictionary of tensors, pairs of a name and a tensor, or a "
                            f"module, but got {kind(params if pair is None else pair)}")  # fmt: skip
        name, t = pair
        if not isinstance(t, TensorBase):
            raise TypeError(f"{caller}: params names tensors, but {name!r} is {kind(t)}")
        yield str(name), t


class _Walk:
    """One walk: what is known of the nodes, and their records."""

    def __init__(self, roots: list[tuple[str | None, Any]], names: dict[Node, str], saved: bool) -> None:
        self.roots, self.names = roots, names
        self.memories = Memories() if saved else None
        self.found = _below([t._node for _, t in roots if t._node is not None])
        inner = [t for _, t in roots if type(t._node) is not AccumulateGrad]
        self.ids = {node: k for k, node in enumerate(self.found, len(inner))}
        self.notes = {node: note for node in self.found if (note := notes.get(node))} if notes else {}
        self.titles = _titles(self.notes.values())
        self.places: dict[Any, Place] = {}
        self.classes: dict[type, tuple[str, Kind, str | None, str | None]] = {}
        self.nodes: list[GraphNode] = []
        self.edges: list[Edge] = []

    def graph(self) -> Graph:
        """The records."""
        ids = self.ids
        roots = []
        for label, t in self.roots:
            if type(t._node) is AccumulateGrad:
                roots.append(ids[t._node])
            else:
                roots.append(len(self.nodes))
                self._output(label or self.names.get(t._node), t)
        collecting = gc.isenabled()
        gc.disable()  # there are as many new objects as old ones, and no garbage
        try:
            shapes = Shapes(self.found, self._known())
            for node, k in ids.items():
                self._node(k, node, shapes.get(node, UNKNOWN))
                if not isinstance(node, _ENDS):
                    self._edges(k, node)
        finally:
            if collecting:
                gc.enable()
        self._stops()
        return Graph(tuple(self.nodes), tuple(self.edges), tuple(roots))

    def _output(self, label: str | None, t: Any) -> None:
        node, k = t._node, len(self.nodes)
        reason = place = None
        if node is None or is_severed(node):
            reason, place = absent(t)
        else:
            target, output = node._edge()
            self.edges.append(Edge(k, self.ids[target], output, 0))
        at = None if place is None else self._place(place)
        self.nodes.append(GraphNode(k, "Output", "output", *meta(t.array), label=label, reason=reason, place=at))

    def _known(self) -> dict[Node, Any]:
        """The shapes and dtypes that need not be found out."""
        known: dict[Node, Any] = {node: (note.shape, note.dtype) for node, note in self.notes.items()}
        for _, t in self.roots:
            if t._node is not None and t._node._edge()[0] is t._node:
                known[t._node] = meta(t.array)
        return {node: m for node, m in known.items() if m != UNKNOWN}

    def _node(self, k: int, node: Any, meta: Any) -> None:
        name, kind, formula, reason = self.classes.get(type(node)) or self._class(node)
        if kind == "stop" or kind == "accumulate":
            name, kind, reason = _end(node)
        note = self.notes.get(node, _NOTHING)
        place = note.place
        if place is None and node._hooks is not None:  # anomaly mode's
            place = node._hooks.place
        saved = self.memories.of(node) if self.memories else ()
        gradient = None if note.gradient is None and kind != "accumulate" else _gradient(node, note)
        self.nodes.append(GraphNode(
            k, name, kind, meta[0], meta[1], saved, self.names.get(node), self._module(note),
            place and self._place(place), order(node), reason, formula, _is_freed(node), gradient,
        ))  # fmt: skip

    def _module(self, note: Note) -> str | None:
        title = self.titles.get(note.outer)
        return note.module if title is None or note.module is None else title + note.module[len(_head(note)) :]

    def _edges(self, k: int, node: Any) -> None:
        targets, mask = node._next, node._edge_mask
        inputs = range(1) if len(mask) == 1 else [i for i, m in enumerate(mask) if m]
        for i, target in zip(inputs, targets, strict=False):
            if type(target) is Output:
                self.edges.append(Edge(k, self.ids[target._next[0]], target.index, i))
            else:
                self.edges.append(Edge(k, self.ids[target], 0, i))

    def _stops(self) -> None:
        """Nodes for where gradients stop, each once, behind all others."""
        leaves = {id(n._array) for n in self.found if type(n) is AccumulateGrad}
        numbers: dict[Stop, int] = {}
        for node, note in self.notes.items():
            for i, stop in note.stops:
                if not stop.sources or any(id(ref()) in leaves for ref in stop.sources):
                    if stop not in numbers:
                        k = numbers[stop] = len(self.nodes)
                        place = None if stop.place is None else self._place(stop.place)
                        self.nodes.append(GraphNode(k, stop.how, "stop", reason=stop.reason, place=place))
                    self.edges.append(Edge(self.ids[node], numbers[stop], 0, i))
        if numbers:
            self.edges.sort(key=lambda e: (e.source, e.input))

    def _class(self, node: Any) -> tuple[str, Kind, str | None, str | None]:
        """Name, kind, formula and declared reason, which all nodes of a class share."""
        cls = type(node)
        surrogate = getattr(cls, "surrogate", None)
        reason = surrogate if isinstance(surrogate, str) else None
        found = self.classes[cls] = (cls.__name__, _kind(node, reason), _formula(node), reason)
        return found

    def _place(self, place: Any) -> Place:
        found = self.places.get(place)
        if found is None:
            line = Line(*place)
            code = line.code
            found = self.places[place] = Place(code.co_filename, line.line, code.co_qualname, line.source)
        return found


def _titles(notes: Iterable[Note]) -> dict[int, str]:
    """Names of outermost modules with one of their class before them: by class and number."""
    heads = {note.outer: _head(note) for note in notes if note.module}
    seen: Counter[str] = Counter()
    found = {}
    for outer, head in sorted(heads.items()):
        seen[head] += 1
        if seen[head] > 1:
            found[outer] = f"{head}-{seen[head]}"
    return found


def _head(note: Note) -> str:
    return (note.module or "").partition(".")[0]


def _below(roots: Iterable[Node]) -> list[Node]:
    """The nodes whose gradients depend on those of ``roots``, last made first."""
    seen = {root._edge()[0] for root in roots}
    stack = list(seen)
    while stack:
        node = stack.pop()
        if not isinstance(node, _ENDS):
            for target in node._next:
                owner = target._next[0] if type(target) is Output else target
                if owner not in seen:
                    seen.add(owner)
                    stack.append(owner)
    return sorted(seen, key=lambda node: node._seq, reverse=True)


def _kind(node: Any, reason: str | None) -> Kind:
    if type(node) is AccumulateGrad:
        return "accumulate"
    if isinstance(node, _ENDS):
        return "stop"
    if reason is not None:
        return "surrogate"
    maker = node._function if isinstance(node, BackwardNode) else node._op.forward if isinstance(node, OpNode) else node
    return "op" if str(getattr(maker, "__module__", "")).partition(".")[0] == "gradwright" else "custom"


def _formula(node: Any) -> str | None:
    """The first line of what the docstring of an operation says."""
    if isinstance(node, OpNode):
        doc = node._op.__doc__
    elif isinstance(node, BackwardNode):
        doc = getattr(node._function, "_user", node._function).__doc__
    else:
        doc = None
    return next((line.strip() for line in (doc or "").splitlines() if line.strip()), None)


def _is_freed(node: Any) -> bool:
    if isinstance(node, OpNode):
        return bool(node._packed) and node._saved is None
    return isinstance(node, BackwardNode) and node._saved is None


def absent(t: Any) -> tuple[str, Line | None]:
    """Why a tensor has no history, and the line where it lost it, as far as that is known."""
    stop = lost(t)
    if stop is not None:
        return f"no history: {stop.how}, {stop.reason}", stop.place
    return f"no history: {why_none(t).sentence.partition(':')[0]}", None


def alone(tensors: Sequence[Any]) -> str | None:
    """Why there is no graph to be seen, and what to do about it; None if an operation made one of the tensors."""
    t = tensors[0]
    if any(one.grad_fn is not None for one in tensors):
        return None
    if t.requires_grad:
        return "There is no graph: a leaf was given, which no operation made. Give what was computed from it."
    reason, place = absent(t)
    where = f", at {Line(*place)}" if place else ""
    return f"There is no graph: what was given has {reason}{where or f'; {why_none(t).mend}'}."


def _gradient(node: Any, note: Note) -> Gradient | None:
    found = note.gradient
    leaf = node._leaf() if type(node) is AccumulateGrad else None
    if leaf is not None and getattr(leaf, "_grad", None) is not None:
        found = magnitude([leaf._grad])
    return None if found is None else Gradient(*found)


def _end(node: Any) -> tuple[str, Kind, str | None]:
    """What to call a node at which gradients end, what it is, and why."""
    if isinstance(node, Cut):
        return type(node).__name__, "stop", node._message.partition("\n")[0]
    if isinstance(node, NotDifferentiable):
        return type(node).__name__, "stop", f"{node.operation} has no derivative"
    if is_severed(node):
        return "no history", "stop", "a view of what has no history"
    return type(node).__name__, "accumulate", None
