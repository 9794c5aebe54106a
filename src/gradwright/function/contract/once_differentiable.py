"""`once_differentiable`: a backward that cannot itself be differentiated."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.levels import LevelArray
from gradwright.engine.mode import now, recording, switch
from gradwright.engine.node import Node


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Declare a backward that cannot itself be differentiated (it computes outside gradwright, say).

    A second derivative through it raises RuntimeError instead of being silently zero, whether or not the gradient that
    comes in requires grad.

    >>> class Square(gw.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...     @staticmethod
    ...     @gw.autograd.function.once_differentiable
    ...     def backward(ctx, g):
    ...         return 2 * g * ctx.saved_tensors[0]
    >>> x = gw.tensor(3.0, requires_grad=True)
    >>> Square.apply(x).backward()
    >>> x.grad
    tensor(6.)
    """

    @functools.wraps(fn)
    def backward(ctx: Any, *grads: Any) -> Any:
        before = now()
        try:
            recording(False)  # and with nobody listening: it may let go of gradients
            result = fn(ctx, *grads)
        finally:
            switch(before)
        if not before.records and before.level is None:
            return result
        many = result if isinstance(result, tuple) else (result,)
        ends = [*ctx._next, *[g._node for g in grads if g is not None and g._node is not None]]
        stop = partial(_stopped, who=type(ctx).__name__, ends=ends if before.records else [])
        many = tuple(stop(r) if isinstance(r, TensorBase) else r for r in many)
        return many if isinstance(result, tuple) else many[0]

    backward.once = True  # type: ignore[attr-defined]
    return backward


def _stopped(t: Any, who: str, ends: Sequence[Node]) -> Any:
    """``t`` with a history, at all levels, that leads to where its own does and to ``ends``, and cannot be passed."""
    array = t.array
    if isinstance(array, LevelArray):
        array = array.of(partial(_stopped, who=who, ends=ends))
    own = [*ends] if t._node is None else [*ends, t._node]
    return wrap(array, _Once(who, own) if own else None)


class _Once(Node):
    """Stands where a second derivative would have to pass through a once_differentiable backward."""

    __slots__ = ("_edge_mask", "_who")

    def __init__(self, who: str, ends: Sequence[Node]) -> None:
        super().__init__(ends)
        self._edge_mask, self._who = (True,) * len(ends), who

    def _run(self, xp: Any, g: Any) -> Any:
        raise RuntimeError(
            f"trying to differentiate twice a function that was marked with @once_differentiable: {self._who}"
        )
