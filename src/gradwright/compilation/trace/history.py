"""Results of a compiled function that have a history: one node, whose backward is a program as well.

The backward pass of a traced run is traced with it. What of the run it needs becomes results of the first program,
which the node saves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradwright.backends import library
from gradwright.compilation.node import CONSTANT, INPUT, Interpreted, Program
from gradwright.compilation.node import Node as Call
from gradwright.compilation.trace.trace import Trace
from gradwright.compilation.trace.traced import Untraceable
from gradwright.compilation.trace.units import hooks_of, place
from gradwright.engine import backward as engine
from gradwright.engine.base import TensorBase, ticket
from gradwright.engine.grad_mode import enable_grad
from gradwright.engine.node import AccumulateGrad, Bundle, Node, Output
from gradwright.engine.nodes_of_ops import freed, modified
from gradwright.engine.version import at_version


class Spent(Node):
    """The history of a result whose graph the function itself has run backward through: nothing is left of it."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._seq, self._hooks, self._saved, self._name = ticket(), None, None, name
        self._next = (self,)  # it is no leaf

    def name(self) -> str:
        """The name of the node in its place."""
        return self._name

    def _run(self, xp: Any, g: Any) -> Sequence[Any]:
        raise freed(self)


class Saved:
    """Where one of the values is that a backward program takes: an input of the first program, or an output of it."""

    def __init__(self, at: int, is_input: bool) -> None:
        self.at, self.is_input = at, is_input


class Part:
    """The backward pass from one of several results: its program, which of what is saved it takes, and its ends."""

    def __init__(self, program: Program, uses: list[int], ends: list[int]) -> None:
        self.program, self.uses, self.ends = program, uses, ends


class History:
    """What is known of the backward pass of a record.

    Attributes:
        tensors: for each end of the graph, the tensor outside whose node it is.
        program: from the cotangents of ``outputs`` and what is saved to a cotangent for each end.
        saved: what is saved: first what ``program`` takes, ``own`` of them.
        parts: where there are several outputs, the pass from each alone: a cotangent of zeros in place of none would
            make NaN of what is infinite.
        outputs: which of the tensors made have this history, and their shapes and dtypes.
        inside: for each of these, which others it is computed from, by their places here.
        places: where each of these is: "result" and its place among the leaves of what the function returns, "base" and
            the place of a view of it there, "grad" and a tensor whose ``.grad`` it is; None if it is to be reached no
            more.
        spec: the tree of what the function returns.
        function: of the leaves of arguments, for passes that are recorded.
        sources: of the inputs of the first program.
        pure: whether it may be run once more.
        unchanged: whether all that Python code has read is as it was.
    """

    tensors: list[Any]
    program: Program
    runner: Callable[..., Any]
    saved: list[Saved]
    own: int
    parts: list[Part]
    unchanged: Callable[[], bool]
    outputs: list[tuple[int, tuple[int, ...], Any]]
    inside: list[list[int]]
    places: list[tuple[str, Any]]
    spec: Any
    function: Any
    sources: Sequence[Any]
    pure: bool

    def read(self, arrays: Sequence[Any], leaves: Sequence[Any]) -> list[tuple[Any, int, Any]]:
        """The tensors that a call has read, with their versions and arrays."""
        return [((t := source.holder(leaves)), at_version(t), arrays[k])
                for k, source in enumerate(self.sources) if source.look is not None]  # fmt: skip

    def attach(self, made: Sequence[Any], outputs: Sequence[Any], arrays: Sequence[Any], leaves: Sequence[Any]) -> None:
        """Give tensors that were made their history."""
        node = CompiledBackward(self, outputs, arrays, leaves)
        if len(self.outputs) == 1:
            made[self.outputs[0][0]]._node = node
            return
        node._metas = [(shape, dtype) for _, shape, dtype in self.outputs]
        for k in sorted(range(len(self.outputs)), key=lambda k: len(self.inside[k])):  # those that others are made of
            made[self.outputs[k][0]]._node = Output(node, k, [made[self.outputs[j][0]]._node for j in self.inside[k]])


def standing(place: tuple[str, Any], results: Sequence[Any]) -> Any:
    """The tensor at one of `History.places`; None if there is none."""
    kind, at = place
    if kind == "grad":
        return getattr(at, "_grad", None)
    return results[at]._view.base if kind == "base" else results[at]


class CompiledBackward(Node):
    """The node of a compiled function."""

    __slots__ = ("_args", "_history", "_metas", "_read")
    _metas: list[tuple[tuple[int, ...], Any]]

    def __init__(self, history: History, outputs: Sequence[Any], arrays: Sequence[Any], leaves: Sequence[Any]) -> None:
        self._seq, self._hooks, self._history = ticket(), None, history
        args = [leaves[t] if isinstance(t, int) else t for t in history.tensors]
        self._next = tuple([t._node for t in args])
        self._args, self._read = leaves, history.read(arrays, leaves) if history.pure else []
        saved: list[Any] = []
        for one in history.saved:
            if one.is_input:
                t = history.sources[one.at].holder(leaves)
                saved.append((arrays[one.at], t._counter, at_version(t), t._node))
            else:
                saved.append((outputs[one.at], None, 0, None))
        self._saved = tuple(saved)

    @property
    def _edge_mask(self) -> Sequence[bool]:  # type: ignore[override]
        return (True,) * len(self._next)

    @property
    def _several(self) -> int | None:  # type: ignore[override]
        return len(self._history.outputs) if len(self._history.outputs) > 1 else None

    def _run(self, xp: Any, g: Any) -> Sequence[Any]:
        history = self._history
        if self._saved is None:
            raise freed(self)
        given = g if isinstance(g, Bundle) else {0: g}
        values = []
        for array, counter, version, node in self._saved:
            if counter is not None and counter[0] != version:
                raise modified(self, "input", (array, counter, version, node))
            values.append(array)
        made = history.program.inputs
        if any(isinstance(c, TensorBase) or library(c) is not made[k].library for k, c in given.items()):
            return self._again(given)
        if len(given) < len(history.outputs):
            return self._parts(given, values)
        return list(history.runner([*(_array(given[k]) for k in range(len(given))), *values[: history.own]]))

    def _parts(self, given: Any, values: list[Any]) -> Sequence[Any]:
        """A pass from some of the results."""
        total: list[Any] = [None] * len(self._next)
        for j, g in given.items():
            part = self._history.parts[j]
            found = Interpreted(part.program)([_array(g), *(values[k] for k in part.uses)])
            for k, x in zip(part.ends, found, strict=True):
                total[k] = x if total[k] is None else total[k] + x
        return total

    def _again(self, given: Any) -> Sequence[Any]:
        """A pass that is recorded, or in a transform: through the graph of another run, which is eager."""
        history = self._history
        if not history.pure:
            raise NotImplementedError(
                "the backward pass of a compiled function is to be differentiated, but the function writes to tensors "
                "or draws random numbers, so it cannot be run again for that. Compile the whole step, with its passes, "
                "or call the function itself"
            )
        moved = any(t._counter[0] != version or place(t.array) != place(array) for t, version, array in self._read)
        if moved or not history.unchanged():
            raise RuntimeError(
                "the backward pass of a compiled function is to be differentiated, for which the function is run "
                f"again, but {'a tensor' if moved else 'something'} that it reads has changed since it was called. "
                "Change it later, or compile the whole step, with its passes, or call the function itself"
            )
        with enable_grad():
            results = history.spec.flatten_up_to(history.function(self._args))
        roots = [(standing(place, results)._node, given[j]) for j, place in enumerate(history.places) if j in given]
        found = engine.run(roots, keep_graph=True, create_graph=True, targets=self._next, accumulate=False)
        return [found.get(node) for node in self._next]


def _array(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, np.generic) else value


def trace_backward(trace: Trace, made: Sequence[Any], arguments: dict[int, int]) -> tuple[list[Any], list[History]]:
    """Trace the backward pass of the results of a run.

    Args:
        made: the tensors that the run has made and returned.
        arguments: the places of the tensors among the arguments, by id.

    Returns:
        A `Spent` for each of ``made`` of whose graph nothing is left, else None; and the `History` of the others, one
        for those whose graphs have nodes in common, whose ``saved`` are nodes still.
    """
    start = trace.before.start
    below = [[] if t._node is None or type(t._node) is AccumulateGrad else _below(t._node, start) for t in made]
    kept = {t._node for t in made if type(t._node) is AccumulateGrad}
    if any(not kept.isdisjoint(n._next) for nodes in below for n in nodes if n._seq >= start):
        raise Untraceable("it makes a leaf, and keeps it and what depends on it")
    spent = [Spent(t._node.name()) if any(_is_spent(n, start) for n in nodes) else None
             for t, nodes in zip(made, below, strict=True)]  # fmt: skip
    if any(hooks_of(n) for nodes, gone in zip(below, spent, strict=True) if not gone for n in nodes if n._seq >= start):
        raise Untraceable("its result has a history with hooks, or with a gradient that is retained, which would be "
                          "forgotten: let backward run in the function, or put them on what it returns")  # fmt: skip
    groups: list[tuple[list[int], set[Any]]] = []
    for k in range(len(made)):
        if below[k] and spent[k] is None:
            inner = {n for n in below[k] if n._seq >= start}
            mine = [group for group in groups if not inner.isdisjoint(group[1])]
            groups = [group for group in groups if group not in mine]
            groups.append(([*(j for js, _ in mine for j in js), k], inner.union(*(nodes for _, nodes in mine))))
    return spent, [_history(trace, made, arguments, sorted(roots), below) for roots, _ in groups]


def _history(trace: Trace, made: Sequence[Any], arguments: dict[int, int], roots: list[int], below: Any) -> History:
    out, start = History(), trace.before.start
    ends = list(dict.fromkeys(n for k in roots for n in below[k] if n._seq < start))
    states = trace.states.values()
    holders = {id(state.node): state.tensor for state in states if state.node is not None}
    holders |= {id(state.node): state.tensor for state in states if id(state.tensor) in arguments}
    if any(id(n) not in holders for n in ends):
        raise Untraceable("its result has a history that goes on into a graph made outside of the function")
    tensors = [holders[id(n)] for n in ends]
    out.tensors = [arguments.get(id(t), t) for t in tensors]
    out.outputs = [(k, made[k].array.shape, made[k].array.dtype) for k in roots]
    heads = [made[k]._node for k in roots]
    out.inside = [[j for j, n in enumerate(heads) if n is not head and n in below[k]]
                  for k, head in zip(roots, heads, strict=True)]  # fmt: skip
    nodes, out.program = _pass(trace, made, roots, ends)
    out.own, out.parts = len(nodes), []
    for k in roots if len(roots) > 1 else ():
        mine = [j for j, n in enumerate(ends) if n in below[k]]
        used, program = _pass(trace, made, [k], [ends[j] for j in mine])
        nodes += [node for node in used if node not in nodes]
        out.parts.append(Part(program, [nodes.index(node) for node in used], mine))
    out.saved = nodes
    return out


def _pass(trace: Trace, made: Sequence[Any], roots: list[int], ends: list[Any]) -> tuple[list[Any], Program]:
    """Trace a backward pass from some results to some ends: what it takes, and its program."""
    mark = len(trace.notes.nodes)
    given = [trace.notes.input(made[k].array.by.xp.ones_like(made[k].array.plain)) for k in roots]
    found = arriving([(made[k]._node, g) for k, g in zip(roots, given, strict=True)], ends)
    grads = [found.get(n) for n in ends]
    if any(g is None for g in grads):
        raise Untraceable("a gradient of its result is None")
    nodes = [trace.notes.noted(np.asarray(g) if isinstance(g, np.generic) else g) for g in grads]
    later, trace.notes.nodes = trace.notes.nodes[mark:], trace.notes.nodes[:mark]
    return _backward_program(later, [g.node for g in given], nodes)


def arriving(roots: Sequence[tuple[Any, Any]], ends: Sequence[Any]) -> Any:
    """The cotangents that come to the ends of a graph, by node; what hooks there make of them is not part of it."""
    hooks = [n._hooks for n in ends]
    for n in ends:
        n._hooks = None
    try:
        return engine.run(roots, keep_graph=True, create_graph=False, targets=ends, accumulate=False)
    finally:
        for n, hook in zip(ends, hooks, strict=True):
            n._hooks = hook


def _below(root: Any, start: int) -> list[Any]:
    """The nodes of a run below one, and those outside that they lead to."""
    found, seen = [root], {root}
    for node in found:  # which grows
        if node._seq >= start:
            fresh = [n for n in dict.fromkeys(node._next) if n not in seen]
            seen.update(fresh)
            found += fresh
    return [n for n in found if n._seq < start or type(n) is not AccumulateGrad]


def _backward_program(later: list[Call], given: list[Call], results: list[Call]) -> tuple[list[Any], Program]:
    """The nodes of a backward pass as a program, and those before it that it takes as its further inputs."""
    own = set(map(id, later))
    saved: dict[int, tuple[Call, Call]] = {}
    copies: list[Call] = []
    new: dict[int, Call] = {}

    def taken(node: Call) -> Call:
        if id(node) in own:
            return new.get(id(node), node)
        if node.op == CONSTANT:
            if id(node) not in new:
                new[id(node)] = node.like(CONSTANT, node.args, value=node.args[0])
                copies.append(new[id(node)])
            return new[id(node)]
        if id(node) not in saved:
            made = node.like(INPUT, (), value=node.value)
            saved[id(node)] = node, made
            copies.append(made)
        return saved[id(node)][1]

    for node in later:
        node.args, node.kwargs = node.with_args(taken)
    outputs = [taken(node) for node in results]
    inputs = [*given, *(made for _, made in saved.values())]
    return [node for node, _ in saved.values()], Program([*copies, *later], inputs, outputs, [None] * len(outputs))


def _is_spent(node: Any, start: int) -> bool:
    """Whether a pass of the run has freed what a node of it had saved; those that save nothing may not say so."""
    return node._seq >= start and getattr(node, "_saved", ()) is None
