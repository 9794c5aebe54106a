"""How a tensor was before a run, which is so again afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradwright.engine.node import AccumulateGrad


def look(t: Any) -> tuple[Any, ...]:
    """What of a tensor a program depends on, beside its values; of other libraries its device in place of strides."""
    array, node = t.array, t._node
    strides = array.strides if array.__class__ is np.ndarray else getattr(array, "sharding", ())
    history = "none" if node is None else "leaf" if type(node) is AccumulateGrad else "made"
    hooks = () if node is None else hooks_of(node)
    return type(t), array.shape, array.dtype, strides, history, getattr(t, "_grad", None) is None, hooks


def hooks_of(node: Any) -> tuple[Any, ...]:
    """The hooks of a node."""
    hooks = node._hooks
    if hooks is None:
        return ()
    kinds = hooks.tensor, hooks.pre, hooks.post, hooks.accumulated
    return tuple(f for kind in kinds for f in kind.values()) + tuple(map(id, hooks.retained))


def outside(leaf: tuple[str, Any], leaves: Sequence[Any]) -> Any:
    """The tensor from outside that a leaf of a record stands for: an argument, or always the same."""
    return leaves[leaf[1]] if leaf[0] == "argument" else leaf[1]


class State:
    """How a tensor was before a run."""

    __slots__ = ("array", "counter", "grad", "hooks", "look", "node", "tensor", "version", "view")

    def __init__(self, t: Any) -> None:
        hooks = None if t._node is None else t._node._hooks
        self.hooks: Any = hooks, hooks and [dict(getattr(hooks, kind)) for kind in _HOOKS], hooks and [*hooks.retained]
        self.tensor, self.array, self.node, self.counter = t, t.array, t._node, t._counter
        self.grad, self.view = getattr(t, "_grad", None), t._view
        self.version = t._counter[0]
        self.look = look(t)

    def restore(self) -> None:
        """Let it be so again."""
        t = self.tensor
        t.array, t._node, t._counter, t._view = self.array, self.node, self.counter, self.view
        if getattr(t, "_grad", None) is not self.grad:
            t._grad = self.grad
        t._counter[0] = self.version
        hooks, kinds, retained = self.hooks
        if hooks is not None:
            for kind, held in zip(_HOOKS, kinds, strict=True):
                registry = getattr(hooks, kind)  # which handles know
                registry.clear()
                registry.update(held)
            hooks.retained = retained
        if t._node is not None:
            t._node._hooks = hooks


_HOOKS = "tensor", "pre", "post", "accumulated"
