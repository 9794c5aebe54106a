"""A jvp from a vjp: the derivative of the derivative by its cotangent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from gradwright import backends, dtypes
from gradwright.engine.base import ticket, wrap
from gradwright.engine.calls import grad
from gradwright.engine.mode import inside, now, recording, resumed


def zeros(t: Any) -> Any:
    """Zeros in the shape, dtype and library of a tensor."""
    return wrap(backends.namespace(t.array).zeros_like(t.array))


def transposed(vjp: Callable[[Any], Sequence[Any]], out: Any, tangents: Sequence[Any]) -> Any:
    """The tangent of ``out``, from the function that makes cotangents of it into those of what moves by ``tangents``.

    A vjp is linear in its cotangent w: the gradient of <vjp(w), v> by w is the jvp of v, whatever w is. ``out`` may be
    a list; then ``vjp`` takes a list, and the tangents of the outputs are one.
    """
    several = isinstance(out, (list, tuple))
    outs = list(out) if several else [out]
    create_graph, start = now().records, ticket()

    def run() -> list[Any]:
        ws = [zeros(o) for o in outs]
        wanted = [w.requires_grad_() for w in ws if dtypes.of(w.array.dtype).category >= dtypes.FLOAT]
        pairs = [(g, t) for g, t in zip(vjp(ws if several else ws[0]), tangents, strict=True)
                 if g is not None and g._node is not None]  # fmt: skip
        if not pairs or not wanted:
            return [wrap(w.array) for w in ws]
        found = iter(grad([g for g, _ in pairs], wanted, [t for _, t in pairs], create_graph=create_graph,
                          allow_unused=True, materialize_grads=True))  # fmt: skip
        return [_without(next(found), start) if w._node is not None else w for w in ws]

    made = inside(partial(recording, True), resumed, run)
    return made if several else made[0]


def _without(t: Any, start: int) -> Any:
    """``t``, without a history if that has nothing made before ``start``: it leads to the cotangents alone."""
    stack, seen = [t._node], {t._node}
    while stack:
        node = stack.pop()
        if node is None:
            continue
        if node._seq < start:
            return t
        fresh = [n for n in node._next if n not in seen]
        seen.update(fresh)
        stack += fresh
    return t if t._node is None else wrap(t.array)
