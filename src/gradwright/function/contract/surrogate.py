"""Gradients that are meant to be untrue: straight-through estimators, clipping, reversal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from gradwright.base.errors import kind

T = TypeVar("T")
_MARK = "__gradwright_surrogate__"
"""The attribute of the reason: one called ``surrogate`` may be the user's own."""


def surrogate(reason: str) -> Callable[[T], T]:
    """Declare that a gradient is not the derivative of its forward, and why: a decorator.

    It goes on a Function class (also on PyTorch's, for ``gradwright check``), on its backward or vjp, on a `custom_op`
    or on a derivative that this is given. Nodes of it have the reason as ``node.surrogate``; checkers report it, and
    hold it to everything but the values: shapes, dtypes, the same result again.

    Raises TypeError for a reason that is no text, or where there is nothing that could have a gradient.

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
        target: Any = getattr(what, "__gradwright_function__", getattr(what, "__func__", what))
        if not callable(target) or (isinstance(target, type) and not hasattr(target, "backward")):
            raise TypeError(f"surrogate: expected a Function, a backward or a custom_op, but got {kind(what)}")
        setattr(target, _MARK, reason)
        if hasattr(target, "_node_class"):
            target._node_class.surrogate = reason  # made before it was declared
        return what

    return declare


def reason_of(what: Any) -> str | None:
    """Why the gradient of a Function class (or one of its methods) is no derivative; None if that is not declared."""
    found = [getattr(part, _MARK, None) for part in (what, *(getattr(what, n, None) for n in ("backward", "vjp")))]
    return next((reason for reason in found if reason is not None), None)


def declared(cls: Any) -> dict[str, str]:
    """A Function class's declaration of its gradient, as an attribute of its nodes."""
    reason = reason_of(cls)
    return {} if reason is None else {"surrogate": reason}


def reasons(nodes: Any) -> dict[str, str]:
    """The nodes whose gradients are declared untrue, by name, with the reasons."""
    found = {node.name(): getattr(type(node), "surrogate", None) for node in nodes}
    return {name: reason for name, reason in found.items() if isinstance(reason, str)}
