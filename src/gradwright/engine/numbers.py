"""Where a number is expected, a tensor of one element may stand, unless it requires grad."""

from __future__ import annotations

from inspect import CO_VARARGS
from typing import Any

import numpy as np

from gradwright.base.cpython.frames import ASKING, file_of, frame
from gradwright.base.errors import kind, size
from gradwright.base.source_line import is_own
from gradwright.engine.base import TensorBase


def number(function: str, argument: str, value: Any) -> Any:
    """``value``, or the number in it if it is a tensor.

    Raises TypeError, with the names of function and argument, for a tensor of several elements and for one that
    requires grad: none would flow back to it.
    """
    if not isinstance(value, TensorBase):
        return value
    who = f"{asked(value) or f'{function}(): argument {argument!r}'} must be a number"
    if value.requires_grad:
        raise TypeError(f"{who}, but got a tensor that requires grad, to which no gradient would flow back: give its "
                        "value with item() if it stays constant, or write the formula with operators")  # fmt: skip
    if value.array.size != 1:
        raise TypeError(f"{who}, but got a tensor of size {size(value.array.shape)}")
    return value.item()


def is_whole(value: Any) -> bool:
    """Whether a value counts something: an int, or what stands for one. A bool is meant as something else."""
    return hasattr(value, "__index__") and not isinstance(value, bool)


def flag(function: str, argument: str, value: Any) -> bool:
    """An argument that is True or False; TypeError for others, as for the second dim in ``sum(0, 1)``."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{function}(): argument {argument!r} must be bool, not {kind(value)}")
    return bool(value)


def whole(function: str, argument: str, value: Any) -> int:
    """`number` of an argument that counts: TypeError for what is no int, such as 2.7, which would be cut."""
    found = value if value.__class__ is int else number(function, argument, value)
    if not is_whole(found):
        raise TypeError(f"{function}(): argument {argument!r} must be int, not {kind(found)}"
                        + (f": write int({found!r})" if isinstance(found, float) else ""))  # fmt: skip
    return found.__index__()


def asked(value: TensorBase) -> str:
    """The function a user gave ``value``, or its source, and the argument; "" if that is not seen."""
    nodes = [] if value._node is None else [value._node]
    for node in nodes:  # which grow: a few steps back are enough
        nodes += node._edge()[0]._next if len(nodes) < 20 else ()

    def is_it(given: Any) -> bool:
        if isinstance(given, (tuple, list)):
            return any(map(is_it, given))
        return given is value or (isinstance(given, TensorBase) and given._node in nodes)

    found, at = "", frame(2)
    while at is not None and is_own(file_of(at)):
        code, local = at.f_code, at.f_locals
        function = local.get("name") if code.co_name == "call" else code.co_name  # `call` is what builders call theirs
        if not code.co_name.startswith("_") and code.co_filename != ASKING:
            who, n = f"{function}()" if function else "", code.co_argcount + code.co_kwonlyargcount
            if code.co_flags & CO_VARARGS and is_it(local.get(code.co_varnames[n])):
                found = f"{who}: an argument" if who else found
            given = (a for a in code.co_varnames[:n] if is_it(local.get(a)))
            found = next((f"{who}{': ' if who else ''}argument {a!r}" for a in given), found)
        at = at.f_back
    return found
