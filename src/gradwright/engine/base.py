"""What a tensor is to the engine: an array, the node that made it, a version counter, and what it is a view of."""

from __future__ import annotations

from itertools import count
from typing import Any

from gradwright.base.errors import size
from gradwright.base.upward import slots
from gradwright.engine.mode import now
from gradwright.engine.strict import warn
from gradwright.engine.version import UNTRACKED

ticket = count(1).__next__
"""Sequence numbers: a node's inputs always have smaller ones than the node, so running largest first is safe.
Transforms have one, too: what was made before them has smaller ones."""


class Fixed(list[Any]):
    """The version counter of a number that stands beside tensors: nobody has it, and it is never written."""

    __slots__ = ("saved",)  # by nodes that save the number alone: the core makes it once


class TensorBase:
    """The state of a tensor, without operators (`gradwright.Tensor` adds them).

    Attributes:
        array: the values: a NumPy array, or a NumPy scalar for a 0-d result.
        _node: the graph node whose cotangent is this tensor's gradient: the operation that made it, an
            `AccumulateGrad` for a leaf that requires grad, None where nothing is recorded.
        _counter: a list shared by all tensors over the same memory: how often it was written in place, and, once it
            was, where last (see `gradwright.engine.version`).
        _view: None, or a `View` saying how this tensor is read from its base.
        _part: what it shows of memory that is shared with others, where the library writes no arrays (see
            `gradwright.engine.memory`); else unset.
        _grad: the accumulated gradient, or None; unset on results until somebody asks.
    """

    __slots__ = ("__dict__", "__weakref__", "_counter", "_grad", "_node", "_part", "_view", "array")

    to: Any
    item: Any
    requires_grad: Any
    is_leaf: Any
    """Defined by Tensor, as are the operators."""

    array: Any
    _node: Any
    _counter: list[Any]
    _view: Any
    _part: Any
    _grad: Any


def warn_of_lost_history(t: Any, how: str) -> None:
    """Warn of a result that is ``how``, such as saved, without its history."""
    warn(
        f"a tensor of shape {size(t.array.shape)} with a history ({t.grad_fn.name()}) is {how}: its values are kept, "
        "but not its history, so nothing made of it later has a gradient with respect to what came before. Write "
        "detach() if that is meant."
    )


slots.tensor = TensorBase
_new = object.__new__


def wrap(array: Any, node: Any = None, counter: list[Any] | None = None) -> Any:
    """A tensor over ``array`` with this history; a fresh version counter unless it shares another's memory."""
    t = _new(slots.tensor)
    t.array = array
    t._node = node
    t._counter = counter if counter is not None else [UNTRACKED if now().inference else 0]
    t._view = None
    return t


def unpickled(cls: type[TensorBase], array: Any, requires_grad: bool, grad: Any = None) -> Any:
    """A leaf of this class."""
    t, plain = _new(cls), wrap(array)
    t.array, t._node, t._counter, t._view, t._grad = array, None, plain._counter, None, grad
    t.requires_grad = requires_grad
    return t


_unpickled = unpickled  # in older pickles
