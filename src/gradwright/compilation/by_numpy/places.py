"""Where results go that are not in a program's own memory: to inputs that they replace, or to new memory."""

from __future__ import annotations

from gradwright.compilation.by_numpy.layout import CALL, UFUNC, VIEW, Layout
from gradwright.compilation.by_numpy.schedule import Step, cut
from gradwright.compilation.node import HOST, Node, Program
from gradwright.compilation.rewriting import elementwise

_CERTAIN = frozenset({
    "sum", "max", "min", "prod", "any", "all", "matmul", "where", "permute_dims", "reshape", "broadcast_to", "getitem",
    "concat", "stack", "sort", "argsort", "argmax", "argmin", "zeros_like", "ones_like", "tril", "triu", "flip",
    "cumulative_sum", "cumulative_prod", "squeeze", "expand_dims", "windows", "fold_windows", "times_windows",
    "weigh_windows", "spread_windows", "pick",
})  # fmt: skip
_DIVISIONS = frozenset({"floor_divide", "remainder", "fmod", "power"})
"""Of whole numbers these may raise."""


def escaping(program: Program, layout: Layout) -> set[Node]:
    """The nodes whose values somebody else may keep: they are made anew each time."""
    found = {x for k, x in enumerate(program.outputs) if program.writes[k] is None}
    for node in program.nodes:
        if node.op == HOST:
            found.update(owner for x in node.nodes() for owner in layout.owners[x])
    for x in [*found]:
        if layout.way[x] == VIEW:
            found |= layout.owners[x]
    return found


def written_in_place(program: Program, layout: Layout, order: list[Step]) -> dict[Node, Node]:
    """For each node that is computed into the memory of an input, as the last that may need it, that input."""
    outputs, writes = program.outputs, program.writes
    found: dict[Node, Node] = {}
    at = {node: k for k, step in enumerate(order) for node in step.nodes}
    readers: dict[Node, list[Node]] = {}
    for node in at:
        for owner in {owner for x in layout.reads(node) for owner in layout.owners[x]}:
            readers.setdefault(owner, []).append(node)
    last_raise = max([k for k, step in enumerate(order) if not _sure(step, layout)], default=-1)
    for k, node in enumerate(outputs):
        w = writes[k]
        if w is None or outputs.count(node) > 1 or writes.count(w) > 1 or layout.way[node] != UFUNC:
            continue
        place = program.inputs[w]
        kept = layout.shown.get(place)
        if kept is None or place.shape != node.shape or place.dtype != node.dtype or at[node] < last_raise:
            continue
        if any(place in layout.owners[x] for x in outputs):
            continue
        if layout.exact(node) and layout.shown[node].strides != kept.strides:
            continue
        if _read_before(place, readers.get(place, []), node, at[node], at, layout, order[at[node]]):
            found[node] = place
    return found


def _read_before(place: Node, readers: list[Node], node: Node, now: int, at: dict[Node, int], layout: Layout,
                 step: Step) -> bool:  # fmt: skip
    """Whether nothing reads the memory of an input once a node has been computed, which may read it itself."""
    for other in readers:
        if at[other] > now:
            return False
        if at[other] < now or step.shape is None:
            continue
        late = step.nodes.index(other) > step.nodes.index(node)
        elsewhere = any(x is not place and place in layout.owners[x] for x in layout.reads(other))
        if late or elsewhere or not cut(place, step):
            return False
    return step.shape is None or not step.flat or layout.row(place)


def inside(program: Program, layout: Layout, order: list[Step]) -> set[Node]:
    """The nodes of loops that nothing else needs."""
    found: set[Node] = set()
    outputs = set(program.outputs)
    elsewhere = {x for step in order for node in step.nodes for x in layout.reads(node)
                 if step.shape is None or x not in step.nodes}  # fmt: skip
    for step in order:
        if step.shape is not None:
            found.update(n for n in step.nodes if n not in outputs and n not in elsewhere)
    return found


def _sure(step: Step, layout: Layout) -> bool:
    """Whether a step cannot raise."""
    return all(layout.way[n] != CALL or _certain(n) for n in step.nodes)


def _certain(node: Node) -> bool:
    """Whether a function cannot raise for other values of its arguments."""
    if node.op in _DIVISIONS:
        return node.dtype is not None and node.dtype.kind in "fc"
    return node.op in _CERTAIN or elementwise(node.op)
