"""Gradients that are meant to be untrue: straight-through estimators, clipping, reversal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from gradwright.errors import kind

T = TypeVar("T")


def surrogate(reason: str) -> Callable[[T], T]:
    """Declare that a gradient is not the derivative of its forward, and why: a decorator.

    It goes on a Function class, on its backward or vjp, on a `custom_op` or on a derivative that this is given;
    ``surrogate = "reason"`` in the body of a class is the same. Nodes of it have the reason as ``node.surrogate``;
    checkers report it, and hold it to everything but the values: shapes, dtypes, the same result again.

    Raises TypeError for a reason that is no text, or where there is nothing that could have a gradient.

    >>> import gradwright as gw
    >>> @surrogate("straight-through")
    ... class Round(gw.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x.round()
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         return g
    >>> Round.apply(gw.tensor([0.3], requires_grad=True)).grad_fn.surrogate
    'straight-through'
    """
    if not isinstance(reason, str) or not reason.strip():
        raise TypeError(f"surrogate: expected the reason, in words, but got {kind(reason)}: write "
                        '@surrogate("straight-through"), with the reason, above what it is about')  # fmt: skip

    def declare(what: T) -> T:
        if isinstance(what, type) and hasattr(what, "_node_class"):
            what._node_class.surrogate = reason  # made before it was declared
        elif isinstance(what, type) or not callable(getattr(what, "__func__", what)):
            raise TypeError(f"surrogate: expected a Function, a backward or a custom_op, but got {kind(what)}")
        target: Any = getattr(what, "__func__", what)
        target.surrogate = reason
        return what

    return declare


def declared(cls: Any) -> dict[str, str]:
    """What a Function class declares of its gradient, as an attribute of its nodes."""
    for what in (cls, cls.backward, cls.vjp):
        if isinstance(reason := getattr(what, "surrogate", None), str):
            return {"surrogate": reason}
    return {}


def reasons(nodes: Any) -> dict[str, str]:
    """Those among nodes whose gradients are declared untrue, by name, with the reasons."""
    found = {node.name(): getattr(type(node), "surrogate", None) for node in nodes}
    return {name: reason for name, reason in found.items() if isinstance(reason, str)}
