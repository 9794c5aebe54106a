"""The backward pass: run the nodes that a result depends on, last made first, adding up cotangents.

Sequence numbers order a graph topologically, so a heap of pending nodes is all the state there is: no recursion, no
first walk to count dependencies. Leaves are written last, after everything that can fail, so an exception half-way
leaves every ``.grad`` as it was.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush
from typing import Any

from gradwright import backends
from gradwright.autograd import watch
from gradwright.autograd.grad_mode import record, recording, watching
from gradwright.autograd.node import Node
from gradwright.backends.quiet import pass_begins, pass_ends


def run(
    roots: Iterable[tuple[Node, Any]],
    *,
    keep_graph: bool,
    create_graph: bool,
    targets: Iterable[Node] | None = None,
) -> dict[Node, Any]:
    """Run backward from ``roots``, pairs of a node and its cotangent.

    The cotangents are arrays, or Tensors if ``create_graph`` (then the pass itself is recorded). Without ``targets``,
    gradients are accumulated at the leaves. With them, only what leads to the targets is run, nothing is accumulated,
    and the cotangents found at the targets are returned.
    """
    pending: dict[Node, Any] = {}
    heap: list[tuple[int, Node]] = []
    xp = None
    for node, g in roots:
        xp = backends.namespace(g)
        if node in pending:
            pending[node] = pending[node] + g
        else:
            pending[node] = g
            heappush(heap, (-node._seq, node))
    wanted: set[Node] = set() if targets is None else set(targets)
    route = leading_to(wanted, pending) if wanted else wanted
    leaves: list[tuple[Node, Any]] = []
    found: dict[Node, Any] = {}
    before = record(create_graph)
    watched = watching.get()
    quiet = pass_begins()
    try:
        while heap:
            node = heappop(heap)[1]
            g = pending.pop(node)
            hooks = node._hooks
            if hooks is not None:
                g = hooks.before(g)
            if wanted:
                if node in wanted:
                    found[node] = g
                if node not in route:
                    continue
            outgoing = node._next
            if not outgoing:
                leaves.append((node, g))
                continue
            if hooks is None:
                results: Any = watch.run(node, xp, g) if watched else node._run(xp, g)
            else:
                g = hooks.ahead(g)
                results = hooks.after(watch.run(node, xp, g) if watched else node._run(xp, g), g)
            if not keep_graph:
                node._saved = None
            for target, result in zip(outgoing, results):  # noqa: B905 - the check costs as much as the loop
                if result is None or (wanted and target not in route and target not in wanted):
                    continue
                if target in pending:
                    pending[target] = pending[target] + result
                else:
                    pending[target] = result
                    heappush(heap, (-target._seq, target))
            g = results = result = None
        g = None
        if targets is None:
            _accumulate(xp, leaves)
    finally:
        pass_ends(quiet)
        recording.set(before)
    return found


def _accumulate(xp: Any, leaves: list[tuple[Node, Any]]) -> None:
    leaves.reverse()
    while leaves:
        node, g = leaves.pop()
        if node._hooks is None:
            node._run(xp, g)
        else:
            g = node._hooks.ahead(g)
            node._hooks.after(node._run(xp, g), g)


def leading_to(wanted: set[Node], roots: Iterable[Node]) -> set[Node]:
    """The nodes below ``roots`` that must run for cotangents to reach ``wanted``."""
    route: set[Node] = set()
    for node in reversed(walk(roots)):
        if any(target in route or target in wanted for target in node._next):
            route.add(node)
    return route


def walk(roots: Iterable[Node]) -> list[Node]:
    """Every node of the graph below ``roots``, last made first."""
    seen = set(roots)
    stack = list(seen)
    while stack:
        for node in stack.pop()._next:
            if node not in seen:
                seen.add(node)
                stack.append(node)
    return sorted(seen, key=lambda node: node._seq, reverse=True)
