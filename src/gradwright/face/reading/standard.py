"""Reading arguments as the array API has them: tensors and numbers, axes, dtypes."""

from __future__ import annotations

from typing import Any

from gradwright import backends
from gradwright.base import dtypes
from gradwright.base.errors import kind
from gradwright.engine.apply import apply
from gradwright.engine.base import TensorBase
from gradwright.face.reading import common
from gradwright.face.reading.common import NUMBER, as_dtype, axis_reader, beside, cast, native
from gradwright.ops.declare import Op

__all__ = [
    "alike", "as_dtype", "axes", "bound", "cast", "common_dtype", "floats", "native", "one_axis", "outside", "tensor",
]  # fmt: skip

one_axis = axis_reader("axis", "{function}(): axis {index} is out of range for an array of {n} dimensions", 0)


def tensor(function: str, x: Any) -> Any:
    """``x``, if it is a tensor; TypeError if not."""
    if isinstance(x, TensorBase):
        return x
    raise TypeError(f"{function}(): expected a Tensor, but got {kind(x)}")


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


def common_dtype(function: str, *values: Any, floating: bool = False) -> dtypes.dtype:
    """The dtype in which tensors, dtypes and Python numbers meet; numbers only raise the kind.

    Raises TypeError for anything else.
    """
    if not values:
        raise TypeError(f"{function}(): expected at least one Tensor or dtype")
    for v in values:
        if not isinstance(v, (*NUMBER, dtypes.dtype)):
            tensor(function, v)
    return common.common_dtype(values, weak=False, floating=floating)


def alike(function: str, *values: Any, floating: bool = False) -> list[Any]:
    """Tensors and Python numbers as tensors of one dtype and library, a ``floating`` one if so asked.

    Raises TypeError unless one at least is a tensor.
    """
    first = next((v for v in values if isinstance(v, TensorBase)), None)
    if first is None:
        raise TypeError(f"{function}(): expected at least one Tensor, but got {', '.join(map(kind, values))}")
    d = common_dtype(function, *values, floating=floating)
    return [as_dtype(v, d) if isinstance(v, TensorBase) else beside(first.array, v, d) for v in values]


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
