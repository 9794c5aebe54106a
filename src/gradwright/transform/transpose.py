"""A jvp from a vjp: the derivative of the derivative by its cotangent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from gradwright import backends
from gradwright.base import dtypes
from gradwright.engine.backward import reaches
from gradwright.engine.base import TensorBase, ticket, wrap
from gradwright.engine.calls import grad
from gradwright.engine.levels import LevelArray
from gradwright.engine.mode import inside, now, recording, resumed
from gradwright.engine.view import View


def zeros(t: Any) -> Any:
    """Zeros in the shape, dtype and library of a tensor."""
    return wrap(backends.namespace(t.array).zeros_like(t.array))


def gradients(outs: Sequence[Any], inputs: Iterable[Any], cotangents: Sequence[Any] | None = None,
              retain_graph: bool | None = None, create_graph: bool = False) -> tuple[Any, ...]:  # fmt: skip
    """The gradients of those outputs that have a history; None for an input on which none of them depends."""
    inputs = tuple(inputs)
    roots, seeds = [], []
    for t, c in zip(outs, cotangents or [None] * len(outs), strict=True):
        if isinstance(t, TensorBase) and t._node is not None:
            roots.append(t)
            seeds.append(c)
    return grad(roots, inputs, seeds, retain_graph, create_graph, allow_unused=True) if roots else (None,) * len(inputs)


def transposed(vjp: Callable[[Any], Sequence[Any]], out: Any, tangents: Sequence[Any],
               seed: Callable[[Any], Any] = zeros) -> Any:  # fmt: skip
    """The tangent of ``out``, from the function that makes cotangents of it into those of what moves by ``tangents``.

    A vjp is linear in its cotangent w: the gradient of <vjp(w), v> by w is the jvp of v, whatever w is. ``out`` may be
    a list; then ``vjp`` takes a list, and the tangents of the outputs are one. ``seed(out)`` makes the w.
    """
    several = isinstance(out, (list, tuple))
    outs = list(out) if several else [out]
    create_graph, start = now().records, ticket()

    def run() -> list[Any]:
        ws = [seed(o) for o in outs]
        wanted = [w.requires_grad_() for w in ws if dtypes.of(w.array.dtype).category >= dtypes.FLOAT]
        pairs = [(g, t) for g, t in zip(vjp(ws if several else ws[0]), tangents, strict=True)
                 if g is not None and g._node is not None]  # fmt: skip
        if not pairs or not wanted:
            return [zeros(w) for w in ws]
        found = grad([g for g, _ in pairs], wanted, [t for _, t in pairs], create_graph=create_graph,
                     allow_unused=True)  # fmt: skip
        each = iter([zeros(w) if t is None else _own(t, start) for w, t in zip(wanted, found, strict=True)])
        return [next(each) if w._node is not None else zeros(w) for w in ws]

    made = inside(partial(recording, True), resumed, run)
    return made if several else made[0]


def _own(t: Any, start: int) -> Any:
    """``t``, or if its history begins after ``start``, in the cotangents, a tensor without one, and no view."""
    plain = wrap(t.array, t._node, t._counter)
    made = pruned(plain, start, _own)
    return t if made is plain else made if t._view is None else made.clone()


def pruned(t: Any, start: int, part: Callable[[Any, int], Any] | None = None) -> Any:
    """A tensor without a history that begins after ``start``: that of inputs which were given one to be followed.

    ``part(t, start)`` does so for the tensors that an array of a level is made of.
    """
    array = t.array
    if isinstance(array, LevelArray):
        array = array.of(lambda each: (part or pruned)(each, start))
    node = t._node if t._node is not None and reaches((t._node,), start) else None
    if array is t.array and node is t._node:
        return t
    made = wrap(array, node, t._counter)
    made._view = t._view and View(t._view.base, (), "function")
    return made
