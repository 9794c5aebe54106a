"""The backward pass: run the nodes that a result depends on, last made first, adding up cotangents.

Sequence numbers order a graph topologically, so a heap of pending nodes is all the state there is: no recursion, no
first walk to count dependencies.

When something fails half-way (an operation, a user's backward, a hook), the exception reaches the caller of backward
with its own type, and this is left behind:

- Every ``.grad`` of a leaf is as it was: leaves are written last, after everything that can fail, their tensor hooks
  and the pre-hooks of their nodes included. What can still fail: a post-accumulate hook, or a post-hook on the node of
  a leaf; then ``.grad`` has been written of that leaf and of those before it, and of no other. And a declared
  derivative of a wrong shape, or a ``.grad`` in memory that cannot be added to; then it has been written of the leaves
  before the one that it reached. They come in the order in which their last cotangents did, as in PyTorch.
- Gradients kept by `retain_grad` have been written for the tensors whose turn had come.
- Nodes that had run are freed, unless the graph was to be retained. A second attempt says so.
- Grad mode, NumPy's error state and watches are as they were, and no lock is held. A hook that runs backward itself
  may do so: passes share no state.

So it is too after an interrupt (Ctrl-C), which may come anywhere, also between two leaves: each has its old ``.grad``
or the new one.

Threads may run passes over separate graphs, over a shared one (which then must be retained), and into shared leaves.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar
from heapq import heappop, heappush
from operator import attrgetter
from typing import Any

import numpy as np

from gradwright import backends
from gradwright.backends.loops import looped
from gradwright.backends.numpy import namespace as NUMPY
from gradwright.backends.quiet import during_pass
from gradwright.base.cpython.forks import lock
from gradwright.base.cpython.references import alone, count
from gradwright.engine import recorded_passes, watch
from gradwright.engine.hooks import finish
from gradwright.engine.mode import PLAIN, UNRECORDED, now, recording, resumed, switch
from gradwright.engine.node import AccumulateGrad, Node, routing, ticket
from gradwright.engine.unselected import look, unselected
from gradwright.native import core
from gradwright.ops.shape import sum_to

accumulating: ContextVar[bool] = ContextVar("whether the passes that run accumulate at all leaves", default=True)


class _Passes:
    mixed = False


if core is not None:
    core.passes(AccumulateGrad, NUMPY, looped(lambda xp, x, y: x + y), sum_to, lock)

passes = _Passes()
"""``passes.mixed``: whether a tensor has gone from one array library to another, so that the cotangents of one pass may
be of several."""


def run(
    roots: Iterable[tuple[Node, Any]],
    *,
    keep_graph: bool,
    create_graph: bool,
    targets: Iterable[Node] | None = None,
    accumulate: bool = True,
) -> dict[Node, Any]:
    """Run backward from ``roots``, pairs of a node and its cotangent.

    The cotangents are arrays, or Tensors if ``create_graph`` (then the pass itself is recorded). With ``targets``, only
    what leads to them is run, and the cotangents found there are returned. Gradients are accumulated at the leaves that
    are reached, unless ``accumulate`` is False.
    """
    pending: dict[Node, Any] = {}
    xp = None
    for node, g in roots:
        xp = backends.namespace(g)
        pending[node] = pending[node] + g if node in pending else g
    wanted: set[Node] = set() if targets is None else set(targets)
    route = leading_to(wanted, pending) if wanted else wanted
    heap: list[tuple[int, Node]] = []
    for node in pending:
        if not wanted or node in route or node in wanted:
            heappush(heap, (-node._seq, node))
    before = after = now()
    quick = core is not None and not create_graph and xp is NUMPY and not passes.mixed
    if quick and accumulate and targets is None and (before is PLAIN or before is UNRECORDED):
        core.steps(pending, heap, route, wanted, None, keep_graph, True)
        if not heap and not unselected.may_be:
            core.leaves(pending)
        if not pending:
            return {}
    if before.level is not None and before.level.records_outside:
        keep_graph = True  # which what is recorded outside goes through
    aim = (route, wanted) if wanted else None
    aimed = routing.get()
    silenced = targets is not None and accumulating.get()
    steers = silenced or aim is not aimed  # which the usual pass does not
    try:
        recording(create_graph)
        if steers:
            routing.set(aim)
            if silenced:
                accumulating.set(False)
        try:
            return during_pass(_run, xp, pending, heap, route, wanted, keep_graph, create_graph, accumulate, quick)
        finally:
            after = before if now() is before else resumed(before)
            if after is not before and any(w.keeps for w in after.watches):  # which packed what the pass saved
                after = after.but(watches=tuple([w for w in after.watches if w in before.watches or not w.keeps]))
    finally:
        try:
            switch(after)  # the first call here, as an interrupt may come after each
        finally:
            if steers:
                try:
                    routing.set(aimed)
                finally:
                    if silenced:
                        accumulating.set(True)


def _run(
    xp: Any,
    pending: dict[Node, Any],
    heap: list[tuple[int, Node]],
    route: set[Node],
    wanted: set[Node],
    keep_graph: bool,
    create_graph: bool,
    accumulate: bool,
    quick: bool,
) -> dict[Node, Any]:
    """`run`, in the right mode; ``quick``: what is usual may be left to the core."""
    found: dict[Node, Any] = {}
    waiting: dict[Any, Any] = {}
    watched = now().watches or passes.mixed
    quick = quick and now() is UNRECORDED
    first, ran = (ticket() if create_graph else 0), []
    following: Any = None
    result: Any = None
    try:
        while heap or following is not None:
            if following is None:
                if quick:
                    core.steps(pending, heap, route, wanted, found, keep_graph, False)
                    if not heap:
                        break
                node = heappop(heap)[1]
                g = pending.pop(node)
                if create_graph:
                    ran.append(node._seq)
            else:
                node, g, following, result = following, result, None, None  # nobody else may seem to hold it
            outgoing = node._next
            if not outgoing:  # a leaf: more may come for it
                pending[node] = g
                continue
            hooks = node._hooks
            if hooks is not None:
                g = hooks.before(node, g, waiting)
            if wanted:
                if node in wanted:
                    found[node] = g
                if node not in route:
                    continue
            if hooks is None:
                results: Any = watch.run(node, g) if watched else node._run(xp, g)
            else:
                g = hooks.ahead(node, g)
                results = ()
                if g is not None:
                    results = hooks.after(node, watch.run(node, g) if watched else node._run(xp, g), g)
            if not keep_graph:
                node._saved = None
            g = None
            for target, result in zip(outgoing, results):  # noqa: B905 - the check costs as much as the loop
                if result is None or (wanted and target not in route and target not in wanted):
                    continue
                if target in pending:
                    old = pending.pop(target)
                    pending[target] = watch.joined(old, result) if watched else _sum(old, result)
                    old = None
                elif not (create_graph or quick) and len(outgoing) == 1 and (not heap or heap[0][0] > -target._seq):
                    following = target  # made after all that wait: it need not
                else:
                    pending[target] = result
                    if target._next:
                        heappush(heap, (-target._seq, target))
            results = None
            if following is None:
                result = None
        g = result = None
        if quick and accumulate and not (wanted or unselected.may_be):
            core.leaves(pending)
        leaves = _complete(pending, wanted, found, accumulate, waiting)
        if waiting:
            finish(waiting)
        if unselected.may_be:
            look([*found.values(), *(g for _, g in leaves)])
        if leaves:
            _accumulate(xp, leaves, watched)
    finally:
        if create_graph:
            recorded_passes.ended(first, ran)
    return found


def _complete(pending: dict[Node, Any], wanted: set[Node], found: dict[Node, Any], accumulate: bool,
              waiting: dict[Any, Any]) -> list[tuple[Node, Any]]:  # fmt: skip
    """The leaves that have cotangents, which their hooks have seen, and add them to what is ``found``."""
    leaves = []
    for node in [*pending]:
        g = pending.pop(node)
        if wanted and node not in wanted:  # a root that leads nowhere
            continue
        hooks = node._hooks
        if hooks is not None:
            g = hooks.before(node, g, waiting)
        if wanted:
            found[node] = g
        if accumulate:
            leaves.append((node, g if hooks is None else hooks.ahead(node, g)))
    return leaves


_LARGE = 16384
"""From how many entries on memory is worth asking who holds it."""


def _sum(old: Any, new: Any) -> Any:
    """``old`` + ``new``, in the memory of ``old`` if nobody else holds it."""
    if (
        old.__class__ is np.ndarray and old.size >= _LARGE and count(old) <= _HELD and old.base is None
        and old.flags.carray and new.__class__ is np.ndarray and new.dtype is old.dtype and new.shape == old.shape
    ):  # fmt: skip
        old += new
        return old
    return old + new


def _references() -> int:
    """How many references an array has in `_sum` when nobody else holds it: taken, not guessed."""

    def measured(old: Any, new: Any) -> int:
        return count(old)

    pending = {0: object()}
    old = pending.pop(0)
    return measured(old, None)


_HELD = alone(_references)


def _accumulate(xp: Any, leaves: list[tuple[Any, Any]], watched: Any) -> None:
    leaves.reverse()
    while leaves:
        with lock:  # two threads that add into one .grad would lose gradients
            node, g = _written(xp, leaves, watched)
        if node is not None:  # hooks may wait for another thread's pass
            if node.variable._node is not None:
                node._hooks.accumulate(node, node.variable)
            node._hooks.after(node, (), g)


def _written(xp: Any, leaves: list[tuple[Any, Any]], watched: Any) -> tuple[Any, Any]:
    """Write leaves, up to one that has hooks for afterwards; returns that and its cotangent."""
    while leaves:
        node, g = leaves.pop()
        if g is None:
            continue
        if watched:
            watch.run(node, g)
        else:
            node._run(xp, g)
        hooks = node._hooks
        if hooks is not None and (hooks.accumulated or hooks.post):
            return node, g
    return None, None


def leading_to(wanted: set[Node], roots: Iterable[Node]) -> set[Node]:
    """The nodes below ``roots`` that must run for cotangents to reach ``wanted``."""
    leads = set(wanted)
    route: list[Node] = []
    for node in reversed(walk(roots)):
        if not leads.isdisjoint(node._next):
            leads.add(node)
            route.append(node)
    return set(route)


def reaches(roots: Iterable[Node], before: int) -> bool:
    """Whether a history that ends in these nodes began before a sequence number."""
    seen = set(roots)
    found = list(seen)
    for node in found:  # which grows
        if node._seq < before:
            return True
        for target in node._next:
            if target not in seen:
                seen.add(target)
                found.append(target)
    return False


def walk(roots: Iterable[Node]) -> list[Node]:
    """Every node of the graph below ``roots``, last made first."""
    seen = set(roots)
    found = list(seen)
    for node in found:  # which grows
        for target in node._next:
            if target not in seen:
                seen.add(target)
                found.append(target)
    found.sort(key=attrgetter("_seq"), reverse=True)
    return found
