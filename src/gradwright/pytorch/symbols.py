"""Numbers that PyTorch's compiler does not know yet, ``SymInt`` and its kin: there are none, and sizes are numbers."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn, TypeVar

from gradwright.base.errors import kind
from gradwright.engine.base import TensorBase
from gradwright.face.reference import attach

__all__ = [
    "SymBool", "SymFloat", "SymInt", "cond", "sym_float", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not",
    "sym_sqrt", "sym_sum", "while_loop",
]  # fmt: skip

R = TypeVar("R")


class SymInt:
    """A whole number that is not known yet: a type to ask for, which no value has. TypeError if one is made."""

    def __init__(self, *_: Any) -> None:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise TypeError(f"{type(self).__name__}: gradwright's sizes are numbers, and none is unknown")


class SymFloat(SymInt):
    """A number that is not known yet: a type to ask for, which no value has."""


class SymBool(SymInt):
    """A truth that is not known yet: a type to ask for, which no value has."""


sym_float, sym_int, sym_max, sym_min = float, int, builtins.max, builtins.min


def sym_not(a: object) -> bool:
    """Not a."""
    return not a


def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """``t`` if b, else ``f``."""
    return t if b else f


def sym_sqrt(a: float) -> float:
    """The square root of a number."""
    return math.sqrt(a)


def sym_sum(args: Iterable[Any]) -> Any:
    """The sum of numbers."""
    return builtins.sum(args)


def cond(pred: bool | TensorBase, true_fn: Callable[..., R], false_fn: Callable[..., R],
         operands: Sequence[Any] = ()) -> R:  # fmt: skip
    """``true_fn(*operands)`` if ``pred``, a bool or a tensor of one, else ``false_fn(*operands)``."""
    return (true_fn if bool(pred) else false_fn)(*operands)


def while_loop(cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: Sequence[Any]) -> Any:
    """``carried = body_fn(*carried)`` as long as ``cond_fn(*carried)``; what is carried is a tuple or a list."""
    if not isinstance(carried_inputs, (tuple, list)):
        raise RuntimeError(f"while_loop: carried_inputs must be a tuple or list, got {kind(carried_inputs)}")
    carried: Any = carried_inputs
    while bool(cond_fn(*carried)):
        carried = body_fn(*carried)
        carried = carried if isinstance(carried, (tuple, list)) else (carried,)
        if len(carried) != len(carried_inputs):
            raise RuntimeError(f"while_loop: body_fn must return as many values as it gets, {len(carried_inputs)}, but "
                               f"returned {len(carried)}")  # fmt: skip
    return tuple(carried)


attach(globals(), "pytorch")
