"""Where, in a program that is run, the way from one tensor to the outputs is cut off."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from gradwright.backends import namespace
from gradwright.base.dtypes import FLOAT, of
from gradwright.base.source_line import Place, here
from gradwright.engine.backward import leading_to, run
from gradwright.engine.base import TensorBase
from gradwright.engine.mode import now, switch
from gradwright.engine.node import Node, Output
from gradwright.engine.watch import Watch
from gradwright.function.contract.containers import flatten, parts
from gradwright.function.watched.in_backward import Cut, Guard


class Event:
    """One operation that was computed: its name, line and arrays, and the operations inside it, of a Function."""

    def __init__(self, name: str, place: Any, inputs: list[Any], outputs: list[Any], inside: list[Event]) -> None:
        self.name, self.place, self.inputs, self.outputs, self.inside = name, place, inputs, outputs, inside
        self.recorded = False


class Trace(Watch):
    """Follows a program: what was computed, and what was cut off.

    Attributes:
        events: the operations, in order.
        lines: for each node the line that recorded it.
        cuts: for each `Cut` how, where and of which nodes; also of values that left for NumPy and came back.
        gone: how, where and of which node values left for NumPy or Python.
    """

    holds = True

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.lines: dict[Node, Any] = {}
        self.guard = _Guard()

    def of(self, program: Callable[[], Any]) -> list[Any]:
        """The tensors that a program returns, traced."""
        switch(now().but(listener=self.guard))
        try:
            with self:
                result = program()
        finally:
            switch(now().but(listener=None))
        found: list[Any] = []
        flatten(result, found)
        return found

    def compute(self, name: str, inputs: Sequence[Any], call: Callable[[], Any]) -> Any:
        before = len(self.events)
        given = list(_arrays(inputs))
        place = here()
        result = call()
        inside = self.events[before:]
        del self.events[before:]
        self.events.append(Event(name, place, given, list(_arrays(result)), inside))
        return result

    def recorded(self, node: Any) -> None:
        if self.events:
            self.events[-1].recorded = True
            self.lines[node] = self.events[-1].place

    def cut_between(self, outputs: Sequence[Any], target: Node) -> list[tuple[str, Any]]:
        """How and where the way from the outputs to ``target`` is cut off, if it is."""
        found = []
        for cut in reversed([n for n in _below(outputs, ()) if type(n) is Cut]):
            how = next(((h, p) for h, p, nodes in self.guard.cuts[cut] if target in _reached(nodes)), None)
            if how is not None and how not in found:
                found.append(how)
        return found

    def lost(self, outputs: Sequence[Any], t: Any) -> tuple[Event, Event | None] | None:
        """The first operation on the way of the values from ``t`` to the outputs that was not recorded.

        If it is a Function that has used values without being given them: it, and the operation inside it.
        """
        maker = {id(a): e for e in self.events for a in e.outputs}
        seen: set[int] = set()
        stack: list[tuple[Any, tuple[tuple[Event, Event | None], ...]]] = [(o.array, ()) for o in outputs]
        while stack:
            array, way = stack.pop()
            if array is t.array:
                return next(((e, inner) for e, inner in way if inner is not None or not e.recorded), None)
            event = maker.get(id(array))
            if event is None or id(event) in seen:
                continue
            seen.add(id(event))
            stack += [(a, ((event, None), *way)) for a in event.inputs]
            known = {id(a) for a in event.inputs}
            stack += [(a, ((event, e), *way)) for e in event.inside for a in e.inputs if id(a) not in known]
        return None

    def whole(self, t: Any) -> Event | None:
        """The first operation that made whole numbers or booleans of what was computed from ``t``."""
        made = {id(t.array)}
        for event in self.events:
            if any(id(a) in made for a in event.inputs):
                if event.outputs and all(map(is_whole, event.outputs)):
                    return event
                made.update(map(id, event.outputs))
        return None

    def left(self, target: Node) -> tuple[str, Any] | None:
        """How and where values that depend on ``target`` left for NumPy or Python."""
        return next(((how, place) for how, place, node in self.guard.gone if target in _reached([node])), None)


class _Guard(Guard):
    """A guard of a whole program, and not of one backward; it keeps what is cut off."""

    def __init__(self) -> None:
        super().__init__("", ())
        self.cuts: dict[Node, list[tuple[str, Any, Sequence[Node]]]] = {}
        self.gone: list[tuple[str, Any, Node]] = []

    def note(self, how: str, t: Any) -> None:
        self.left.append((how, here(2)))
        self.gone.append((how, here(2), t._node))

    def cut(self, nodes: Sequence[Node], how: str, place: Any) -> Cut:
        made = super().cut(nodes, how, place)
        from_numpy = nodes is self.inputs  # values that came back: they may be any that left
        self.cuts[made] = [(h, p, [n]) for h, p, n in self.gone] if from_numpy else [(how, place, nodes)]
        made._next = tuple(n for _, _, many in self.cuts[made] for n in many)
        made._edge_mask = (True,) * len(made._next)
        return made


def reaches(outputs: Sequence[Any], target: Node) -> bool:
    """Whether the graph of the outputs leads to ``target``, by no way that is cut off."""
    return target in _below(outputs, (Cut,))


def dropped(outputs: Sequence[Any], target: Node) -> list[tuple[Node, int]] | None:
    """Run backward without accumulating: None if a gradient arrives; else who returned None, for which input."""
    watch = _Dropped(leading_to({target}, [o._node for o in outputs]) | {target})
    roots = [(o._node, namespace(o.array).ones_like(o.array)) for o in outputs]
    with watch, retained_grads_restored(_below(outputs, ())):
        found = run(roots, keep_graph=True, create_graph=False, targets=[target], accumulate=False)
    return None if found.get(target) is not None else watch.found


@contextmanager
def retained_grads_restored(nodes: Iterable[Node]) -> Iterator[None]:
    """Leaves the gradients that tensors keep by `retain_grad`, whatever pass is run over these nodes, as they were."""
    refs = [ref for n in nodes if n._hooks for ref in n._hooks.retained]
    retained = [(t, getattr(t, "_grad", None)) for ref in refs if (t := ref()) is not None]
    try:
        yield
    finally:
        for t, g in retained:
            t._grad = g


class _Dropped(Watch):
    """Sees which nodes on a route make None."""

    def __init__(self, route: set[Node]) -> None:
        self.route = route
        self.found: list[tuple[Node, int]] = []

    def run(self, node: Any, g: Any, call: Callable[[], Any]) -> Any:
        results = call()
        for (i, target), r in zip(edges(node), results, strict=False):
            if r is None and target in self.route:
                self.found.append((node, i))
        return results


def edges(node: Any) -> list[tuple[int, Node]]:
    """What a node leads to, with the number of the input."""
    inputs = [i for i, needed in enumerate(getattr(node, "_needs", node._edge_mask)) if needed]
    return list(zip(inputs, node._next, strict=False))


def _below(outputs: Sequence[Any], but: tuple[type, ...]) -> list[Node]:
    """Every node of the graph of the outputs, last made first; not what lies below nodes of the classes ``but``."""
    return sorted(_reached([o._node for o in outputs if o._node is not None], but), key=lambda n: -n._seq)


def _reached(nodes: Sequence[Node], but: tuple[type, ...] = (Cut,)) -> set[Node]:
    seen = set(nodes)
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if not isinstance(node, but):
            fresh = [n for n in node._next if n not in seen]
            seen.update(fresh)
            stack += fresh
    return seen


def name_of(node: Node) -> str:
    """The name of a node: that of one output by its operation."""
    return type(node._next[0] if type(node) is Output else node).__name__


def is_whole(array: Any) -> bool:
    """Whether an array holds whole numbers or booleans, which have no gradient."""
    return of(array.dtype).category < FLOAT


def line(place: Any) -> str | None:
    """A line of the program, as text."""
    return None if place is None else str(Place(*place))


def _arrays(value: Any) -> Iterator[Any]:
    if isinstance(value, TensorBase):
        yield value.array
    elif hasattr(value, "dtype") and hasattr(value, "shape"):
        yield value
    else:
        for part in parts(value):
            yield from _arrays(part)
