"""Leaves that need a gradient, and that need none any more: ``requires_grad_()``."""

from __future__ import annotations

from typing import Any

from gradwright.engine.mode import is_inference_mode_enabled
from gradwright.engine.node import AccumulateGrad
from gradwright.engine.version import Untracked
from gradwright.engine.view import is_severed


def freeze(x: Any) -> None:
    """Make ``x`` a leaf that needs no gradient; `thaw` finds its hooks and its place in existing graphs again."""
    if type(x._node) is AccumulateGrad and not is_severed(x._node):
        x.__dict__["_frozen"] = x._node
    _hang(x, None)


def thaw(x: Any) -> None:
    """Make a leaf, which may have been frozen, need a gradient."""
    if x._node is not None and not is_severed(x._node):
        return
    if isinstance(x._counter[0], Untracked) and not is_inference_mode_enabled():
        raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
    node = x.__dict__.pop("_frozen", None) or AccumulateGrad(x)
    node._array, node._counter = x.array, x._counter
    _hang(x, node)


def _hang(x: Any, node: Any) -> None:
    x._node = node
    if x._view is not None and x._view.itself:
        x._view.base._node = node
