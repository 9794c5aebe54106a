"""`once_differentiable`: a backward that cannot itself be differentiated."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.mode import now, recording, switch
from gradwright.engine.node import Node, ticket


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Declare a backward that cannot itself be differentiated (it computes outside gradwright, say).

    A second derivative through it raises RuntimeError instead of being silently zero, whether or not the gradient that
    comes in requires grad.
    """

    @functools.wraps(fn)
    def backward(ctx: Any, *grads: Any) -> Any:
        before = now()
        try:
            recording(False)  # and with nobody listening: it may let go of gradients
            result = fn(ctx, *grads)
        finally:
            switch(before)
        if not before.records:
            return result
        many = result if isinstance(result, tuple) else (result,)
        stop = _Once(ctx, grads)
        many = tuple(wrap(r.array, stop) if isinstance(r, TensorBase) else r for r in many)
        return many if isinstance(result, tuple) else many[0]

    backward.once = True  # type: ignore[attr-defined]
    return backward


class _Once(Node):
    """Stands where a second derivative would have to pass through a once_differentiable backward."""

    __slots__ = ("_mask", "_who")

    def __init__(self, ctx: Any, grads: Sequence[Any]) -> None:
        cotangents = [g._node for g in grads if g is not None and g._node is not None]
        self._seq = ticket()
        self._next, self._mask = (*ctx._next, *cotangents), (*ctx._mask, *[True] * len(cotangents))
        self._hooks, self._saved = None, ()
        self._who = type(ctx).__name__

    def _run(self, xp: Any, g: Any) -> Any:
        raise RuntimeError(
            f"trying to differentiate twice a function that was marked with @once_differentiable: {self._who}"
        )
