"""A backward pass, recorded step by step: which node ran, and what flowed along its edges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradwright.backends import to_host
from gradwright.base.pages.numbers import cuts, numbers
from gradwright.debug.path_of_values import retained_grads_restored
from gradwright.engine.calls import backward, cotangent, grad
from gradwright.engine.node import AccumulateGrad, Bundle, Node
from gradwright.engine.watch import Watch
from gradwright.face.tensor import Tensor
from gradwright.viz.records import Graph, Params
from gradwright.viz.sizes import magnitude
from gradwright.viz.walk import walked

CELLS = 256
"""So many entries of a gradient are kept at most."""
SIDE = 16
"""A larger one is made a picture of at most so many rows and columns."""


@dataclass(frozen=True, slots=True)
class Values:
    """A gradient: its size, and its entries or a small picture of them.

    Attributes:
        shape, dtype: of it.
        norm, rms, minimum, maximum, mean: of its entries, or of their absolute values if they are complex; norm and rms
            are zero and the others None if there are none.
        cells: entries, row by row, of a complex one their absolute values; of a larger gradient for each tile of it the
            entry that is largest in absolute value. Those that are not finite are strings.
        rows, columns: of the cells. The last axis of the gradient lies along the columns.
        whole: whether ``cells`` are all entries.
    """

    shape: tuple[int, ...]
    dtype: str
    norm: float
    rms: float
    minimum: float | None
    maximum: float | None
    mean: float | None
    cells: tuple[float | str, ...]
    rows: int
    columns: int
    whole: bool


@dataclass(frozen=True, slots=True)
class Flow:
    """The gradient along an edge (its index in ``graph.edges``); None if the node gave no gradient there."""

    edge: int
    values: Values | None


@dataclass(frozen=True, slots=True)
class Step:
    """A node that ran.

    Attributes:
        node: its id.
        incoming: the gradient that reached it, by number of its output: the sum, if it came along several edges.
        flows: what it sent on.
        before: of a leaf, its ``.grad`` before the pass; None if it had none.
        after: of a leaf, its ``.grad`` after it, or what that would have been had the pass accumulated.
    """

    node: int
    incoming: tuple[tuple[int, Values], ...] = ()
    flows: tuple[Flow, ...] = ()
    before: Values | None = None
    after: Values | None = None


@dataclass(frozen=True, slots=True)
class Play:
    """A backward pass.

    Attributes:
        graph: what it went through.
        steps: the outputs, then the nodes in the order in which they ran, then the leaves.
        stopped: what was raised on the way, if the pass did not come to its end.
    """

    graph: Graph
    steps: tuple[Step, ...]
    stopped: str | None = None

    def __str__(self) -> str:
        lines = []
        for k, step in enumerate(self.steps):
            node = self.graph.nodes[step.node]
            sizes = ", ".join(f"{v.norm:.4g}" for _, v in step.incoming)
            lines.append(f"{k:4}  {node.label or node.name}" + (f"  |g| = {sizes}" if sizes else ""))
        return "\n".join([*lines, *([self.stopped] if self.stopped else [])])


def play(tensors: Tensor | Sequence[Tensor], grad_outputs: Tensor | Sequence[Tensor | None] | None = None, *,
         params: Params = None,
         accumulate: bool = False) -> Play:  # fmt: skip
    """Run a backward pass and record it.

    The graph is kept (``retain_graph=True``), and no ``.grad`` is changed unless ``accumulate``. The backwards of
    Functions and the hooks that are registered run as in any pass.

    Args:
        tensors: a tensor or several, as for `gradwright.viz.graph`.
        grad_outputs: their cotangents; ones, where there is none.
        params: names of leaves, as for `gradwright.viz.graph`.
        accumulate: add to the ``.grad`` of the leaves, as ``backward()`` does.

    Raises:
        TypeError, RuntimeError, ValueError: ``grad_outputs`` of another type, shape or number than the tensors. And
            whatever a node or a hook raises, unless it is a RuntimeError: that ends the record, which says so.

    >>> x = gw.tensor(3.0, requires_grad=True)
    >>> print(play(x * x, params={"x": x}))
       0  Output
       1  MulBackward0  |g| = 1
       2  x  |g| = 6
    >>> x.grad is None
    True
    """
    graph, ids, roots = walked(tensors, params)
    return record(graph, ids, roots, grad_outputs, accumulate=accumulate)


def record(
    graph: Graph,
    ids: dict[Node, int],
    roots: Sequence[Any],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    *,
    accumulate: bool = False,
    cells: int = CELLS,
) -> Play:
    """`play`, of what `gradwright.viz.walk.walked` returns."""
    given = list(grad_outputs) if isinstance(grad_outputs, (list, tuple)) else [grad_outputs]
    if len(given) > len(roots):
        raise ValueError(f"play: got {len(given)} grad_outputs for {len(roots)} tensors with a history")
    given += [None] * (len(roots) - len(given))
    recorded = [(id_, t, g) for id_, t, g in zip(graph.roots, roots, given, strict=True) if t.requires_grad]
    roots = [t for _, t, _ in recorded]
    seeds = [t.detach().new_ones(t.shape) if g is None else cotangent(k, t, g) for k, (_, t, g) in enumerate(recorded)]
    watch = _Recorder(graph, ids, cells)
    for (id_, _, _), seed in zip(recorded, seeds, strict=True):
        watch.steps.append(Step(id_, flows=watch.flows(id_, [(0, seed.array)])))
    leaves = sorted((n for n in ids if type(n) is AccumulateGrad), key=lambda n: -n._seq)
    held = [leaf.variable for leaf in leaves]
    before = [None if t.grad is None else values(t.grad.detach().array, cells) for t in held]
    stopped = None
    try:
        with watch, retained_grads_restored(() if accumulate else ids):
            if accumulate or not leaves:
                backward(roots, seeds, retain_graph=True)
                found = [t.grad for t in held]
            else:
                found = list(grad(roots, held, seeds, retain_graph=True, allow_unused=True))
    except RuntimeError as e:
        stopped = f"{type(e).__name__}: {e}"
        found = []
    for leaf, t, old, g in zip(leaves, held, before, found, strict=False):
        if g is not None:
            after = g if accumulate or t.grad is None else t.grad + g
            arrived = watch.arrived.get(ids[leaf], g.detach().array)
            watch.steps.append(Step(ids[leaf], ((0, values(arrived, cells)),), (), old,
                                    values(after.detach().array, cells)))  # fmt: skip
    return Play(graph, tuple(watch.steps), stopped)


class _Recorder(Watch):
    """Sees nodes run."""

    def __init__(self, graph: Graph, ids: dict[Node, int], cells: int) -> None:
        self.ids, self.cells = ids, cells
        self.edges = {(e.source, e.input): k for k, e in enumerate(graph.edges)}
        self.targets = [e.target for e in graph.edges]
        self.steps: list[Step] = []
        self.arrived: dict[int, Any] = {}
        self.sent: dict[int, tuple[Any, Values]] = {}  # by target: what was sent there last

    def run(self, node: Any, g: Any, call: Callable[[], Any]) -> Any:
        id_ = self.ids.get(node)
        if id_ is None:  # one of several outputs, which hands on
            return call()
        if type(node) is AccumulateGrad:
            self.arrived[id_] = g.copy()
            return call()
        known: Any = self.sent.pop(id_, (None, None))
        given = sorted(g.items()) if isinstance(g, Bundle) else [(0, g)]  # by output
        incoming = tuple((k, known[1] if v is known[0] else values(v, self.cells)) for k, v in given)
        sent: tuple[Flow, ...] = ()
        try:
            results = call()
            inputs = [i for i, needed in enumerate(getattr(node, "_needs", node._edge_mask)) if needed]
            sent = self.flows(id_, zip(inputs, results, strict=False))
        finally:
            self.steps.append(Step(id_, incoming, sent))
        return results

    def flows(self, id_: int, results: Any) -> tuple[Flow, ...]:
        """The gradients from a node, by input."""
        found = []
        for i, result in results:
            k = self.edges.get((id_, i))
            if k is None:
                continue
            record = None if result is None else values(result, self.cells)
            if record is not None:
                self.sent[self.targets[k]] = result, record
            found.append(Flow(k, record))
        return tuple(found)


def values(array: Any, cells: int = CELLS) -> Values:
    """The record of an array."""
    a: Any = to_host(array)
    shape, dtype = tuple(a.shape), a.dtype.name
    a = np.asarray(abs(a) if a.dtype.kind == "c" else a, np.float64)
    if not a.size:
        return Values(shape, dtype, 0.0, 0.0, None, None, None, (), 0, 0, True)
    with np.errstate(all="ignore"):
        summary = (*(magnitude([a]) or (0.0, 0.0)), float(a.min()), float(a.max()), float(a.sum()) / a.size)
    table = a.reshape(-1, shape[-1] if shape else 1) if a.ndim > 1 else a.reshape(1, -1)
    rows, columns = table.shape
    whole = a.size <= cells and max(rows, columns) <= 4 * SIDE
    if not whole:
        table = _tiles(table, min(SIDE, int(cells**0.5)))
        rows, columns = table.shape
    return Values(shape, dtype, *summary, tuple(numbers(table.ravel())), rows, columns, whole)


def _tiles(table: np.ndarray[Any, Any], side: int) -> np.ndarray[Any, Any]:
    """Of each tile of a table the entry that is largest in absolute value."""
    rows, columns = table.shape
    across, down = cuts(columns, 4 * side if rows == 1 else side)[:-1], cuts(rows, side)[:-1]
    high, low = (f.reduceat(f.reduceat(table, down, axis=0), across, axis=1) for f in (np.maximum, np.minimum))
    return np.where(high >= -low, high, low)
