"""Reading arguments as the array API has them: tensors and numbers, axes, dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwright import backends, dtypes
from gradwright.engine.apply import apply
from gradwright.engine.base import TensorBase, wrap
from gradwright.errors import kind
from gradwright.op import Op, table

_NUMBERS = (bool, int, float, complex, np.generic)
_cast = table["astype"]
_cut = _cast.variant(_cast.node)
_cut.rules = {}


def tensor(function: str, x: Any) -> Any:
    """``x``, if it is a tensor; TypeError if not."""
    if isinstance(x, TensorBase):
        return x
    raise TypeError(f"{function}(): expected a Tensor, but got {kind(x)}")


def one_axis(function: str, axis: Any, ndim: int) -> int:
    """An axis as a number from 0 to ndim - 1; IndexError if it is out of range, TypeError if it is no int."""
    try:
        index = axis.__index__()
    except AttributeError:
        raise TypeError(f"{function}(): argument 'axis' must be int, not {kind(axis)}") from None
    if not -ndim <= index < ndim:
        raise IndexError(f"{function}(): axis {index} is out of range for an array of {ndim} dimensions")
    return index % ndim


def axes(function: str, axis: Any, ndim: int) -> tuple[int, ...] | None:
    """One axis or several as a tuple, None for all; ValueError if one is named twice."""
    if axis is None:
        return None
    if axis.__class__ is not tuple:
        axis = tuple(axis) if isinstance(axis, list) else (axis,)
    many = tuple([one_axis(function, a, ndim) for a in axis])
    if len(set(many)) < len(many):
        raise ValueError(f"{function}(): an axis is named twice in {axis}")
    return many


def native(space: Any, dtype: Any) -> Any:
    """A dtype as the array library ``space`` has it."""
    d = dtypes.of(dtype)
    return d.dtype if space is backends.namespace(np.bool_(0)) else getattr(space, d.name)


def cast(x: Any, dtype: Any) -> Any:
    """``x`` converted; nothing flows back through whole numbers and booleans."""
    target, source = dtypes.of(dtype), dtypes.of(x.array.dtype)
    op = _cast if target.category >= dtypes.FLOAT <= source.category else _cut
    return apply(op, (x,), {"dtype": target.name, "source": source.name})


def as_dtype(x: Any, dtype: Any) -> Any:
    """`cast` where the dtype is another."""
    return x if dtypes.of(x.array.dtype) is dtypes.of(dtype) else cast(x, dtype)


def _with_number(d: dtypes.dtype | None, number: Any) -> dtypes.dtype:
    """The dtype of an array of dtype ``d`` (None for no array) with a Python number beside it."""
    if isinstance(number, (bool, np.bool_)):
        own = dtypes.boolean
    elif isinstance(number, (int, np.integer)):
        own = dtypes.int64
    elif isinstance(number, (float, np.floating)):
        own = dtypes.default()
    else:
        own = dtypes.complex_partner(d if d is not None and d.is_floating_point else dtypes.default())
    return own if d is None or own.category > d.category else d


def common_dtype(function: str, *values: Any) -> dtypes.dtype:
    """The dtype in which tensors, dtypes and Python numbers meet; numbers only raise the kind.

    Raises TypeError for anything else.
    """
    found: dtypes.dtype | None = None
    numbers = []
    for v in values:
        if isinstance(v, _NUMBERS):
            numbers.append(v)
        else:
            d = v if isinstance(v, dtypes.dtype) else dtypes.of(tensor(function, v).array.dtype)
            found = d if found is None else dtypes.promote_types(found, d)
    for v in numbers:
        found = _with_number(found, v)
    if found is None:
        raise TypeError(f"{function}(): expected at least one Tensor or dtype")
    return found


def alike(function: str, *values: Any, floating: bool = False) -> list[Any]:
    """Tensors and Python numbers as tensors of one dtype and library, a ``floating`` one if so asked.

    Raises TypeError unless one at least is a tensor.
    """
    first = next((v for v in values if isinstance(v, TensorBase)), None)
    if first is None:
        raise TypeError(f"{function}(): expected at least one Tensor, but got {', '.join(map(kind, values))}")
    d = common_dtype(function, *values)
    if floating and d.category < dtypes.FLOAT:
        d = dtypes.default()
    space = backends.namespace(first.array)
    return [
        as_dtype(v, d) if isinstance(v, TensorBase) else wrap(space.asarray(v, dtype=native(space, d))) for v in values
    ]


def floats(function: str, x: Any) -> Any:
    """``x`` in floating point: whole numbers become the default dtype."""
    small = dtypes.of(tensor(function, x).array.dtype).category < dtypes.FLOAT
    return cast(x, dtypes.default()) if small else x


def bound(op: Op) -> Any:
    """An operation as a function of tensors; static arguments may follow by position."""

    def call(*args: Any, **static: Any) -> Any:
        n = len(args) if op.variadic else len(op.inputs)
        static = op.defaults | dict(zip(op.static, args[n:], strict=False)) | static
        if op.kind == "reduction" and "axis" in static:
            static["axis"] = axes(op.name, static["axis"], args[0].array.ndim)
        return apply(op, args[:n], static)

    call.__name__ = call.__qualname__ = op.name
    call.__doc__ = op.__doc__
    return call


def outside(function: str, *xs: Any) -> tuple[Any, ...]:
    """For a function without derivative: the array library of tensors, and their arrays."""
    arrays = [tensor(function, x).array for x in xs]
    return (backends.namespace(arrays[0]), *arrays)
