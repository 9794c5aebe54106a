"""What both faces read alike: axes, the dtype in which values meet, dtypes of a library, numbers beside arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from gradwright import backends
from gradwright.backends.devices import native
from gradwright.base import dtypes
from gradwright.base.errors import kind
from gradwright.engine.apply import apply
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.levels import below
from gradwright.engine.mode import now
from gradwright.engine.numbers import is_whole
from gradwright.ops.declare import table

NUMBER = (bool, int, float, complex, np.generic)
_cast = table["astype"]
_cut = _cast.variant(_cast.node)
_cut.rules = {}


def axis_reader(name: str, outside: str, least: int) -> Callable[..., int]:
    """The function of (function, axis, ndim) that reads an axis as a number from 0 to ndim - 1.

    ``name`` is what the argument is called, ``outside`` the message of the IndexError for an axis out of range, and
    ``least`` the number of dims that a 0-d tensor counts as having. What is no int is a TypeError.
    """

    def one(function: str, axis: Any, ndim: int, argument: str = name) -> int:
        n = ndim or least
        if axis.__class__ is int and 0 <= axis < n:
            return axis
        if not is_whole(axis):
            raise TypeError(f"{function}(): argument '{argument}' must be int, not {kind(axis)}")
        index: int = axis.__index__()
        if not -n <= index < n:
            raise IndexError(outside.format(function=function, argument=argument, index=index, n=n, last=n - 1))
        return index % n

    return one


def common_dtype(values: Iterable[Any], *, weak: bool, floating: bool = False) -> dtypes.dtype:
    """The dtype in which tensors, dtypes and numbers meet, one of ``floating`` point at least if so asked.

    Numbers, and before them 0-d tensors where these are ``weak``, only raise the category (bool, int, float, complex).
    """
    tiers: list[dtypes.dtype | None] = [None, None, None]
    for v in values:
        if isinstance(v, TensorBase):
            tier, d = (1 if weak and not v.array.shape else 0), dtypes.of(v.array.dtype)
        elif isinstance(v, dtypes.dtype):
            tier, d = 0, v
        else:
            tier, d = 2, _of_number(v)
        have = tiers[tier]
        tiers[tier] = d if have is None else dtypes.promote_types(have, d)
    met = _raised(_raised(tiers[0], tiers[1]), tiers[2])
    return dtypes.default() if met is None or (floating and met.category < dtypes.FLOAT) else met


def _of_number(number: Any) -> dtypes.dtype:
    if isinstance(number, (bool, np.bool_)):
        return dtypes.boolean
    if isinstance(number, (int, np.integer)):
        return dtypes.int64
    if isinstance(number, (float, np.floating)):
        return dtypes.default()
    if isinstance(number, np.ndarray):
        return dtypes.of(number.dtype)
    return dtypes.complex_partner(dtypes.default())


def _raised(high: dtypes.dtype | None, low: dtypes.dtype | None) -> dtypes.dtype | None:
    if high is None or low is None:
        return high or low
    if high.category >= low.category:
        return high
    return dtypes.complex_partner(high) if high.is_floating_point else dtypes.promote_types(high, low)


def taken(array: Any) -> Any:
    """An array of the user's as an operand: a copy while operations are recorded, as a graph may outlive its values."""
    return array.copy() if now().records else array


def beside(array: Any, number: Any, dtype: Any) -> Any:
    """A Python number as a tensor of ``dtype`` in the library and on the device of ``array``."""
    array = below(array)
    space = backends.namespace(array)
    return wrap(space.asarray(number, dtype=native(space, dtype), device=array.device))


def cast(x: Any, dtype: Any) -> Any:
    """``x`` converted, recorded; nothing flows back through whole numbers and booleans."""
    target, source = dtypes.of(dtype), dtypes.of(x.array.dtype)
    native(backends.namespace(x.array), target)
    op = _cast if target.category >= dtypes.FLOAT <= source.category else _cut
    return apply(op, (x,), {"dtype": target.name, "source": source.name})


def as_dtype(x: Any, dtype: Any) -> Any:
    """`cast` where the dtype is another."""
    return x if dtypes.of(x.array.dtype) is dtypes.of(dtype) else cast(x, dtype)


def named(out: Any, dtype: Any) -> Any:
    """A result in the dtype that was named, if one was: libraries add up whole numbers in wider ones."""
    return out if dtype is None else as_dtype(out, dtype)
