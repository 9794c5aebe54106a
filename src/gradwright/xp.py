"""Tensor's array namespace: the operations under their array-API names, as the derivatives use them when recorded.

What a derivative calls on `xp` is here, made from the one table of operations; so recording a backward pass needs no
second set of formulas.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gradwright import backends, dtypes
from gradwright.autograd.apply import apply
from gradwright.autograd.base import TensorBase, wrap
from gradwright.backends import numpy as numpy_backend
from gradwright.op import Op, table
from gradwright.ops import linalg as _linalg
from gradwright.ops import shape as _shape

_plain = numpy_backend.namespace
bool = dtypes.boolean
for _d in (dtypes.float32, dtypes.float64, dtypes.float16, dtypes.int64, dtypes.int32, dtypes.uint8, dtypes.complex64,
           dtypes.complex128):  # fmt: skip
    globals()[_d.name] = _d


def _bound(op: Op) -> Any:
    """The operation as a function of tensors; static arguments may follow by position, as the standard has them."""

    def call(*args: Any, **static: Any) -> Any:
        n = len(args) if op.variadic else len(op.inputs)
        static = op.defaults | dict(zip(op.static, args[n:], strict=False)) | static
        if op.kind == "reduction" and static["axis"] is not None:
            axis = static["axis"]
            static["axis"] = tuple(a % args[0].array.ndim for a in (axis if isinstance(axis, tuple) else (axis,)))
        return apply(op, args[:n], static)

    call.__name__ = call.__qualname__ = op.name
    call.__doc__ = op.__doc__
    return call


for _op in table.values():
    globals()[_op.name] = _bound(_op)


def concat(arrays: Any, *, axis: int = 0) -> Any:
    """Arrays joined end to end along ``axis``."""
    return apply(_shape.concat, tuple(arrays), {"axis": axis})


def stack(arrays: Any, *, axis: int = 0) -> Any:
    """Arrays joined along a new axis."""
    return apply(_shape.stack, tuple(arrays), {"axis": axis})


def einsum(*arrays: Any, equation: str) -> Any:
    """The sum of products that ``equation`` names."""
    return apply(_linalg.einsum, arrays, {"equation": equation})


def asarray(obj: Any, *, dtype: Any = None, copy: Any = None) -> Any:
    """``obj`` as a Tensor; a copy of a Tensor keeps its history."""
    if isinstance(obj, TensorBase):
        return apply(_shape.copy, (obj,), {}) if copy else obj if dtype is None else astype(obj, dtype)
    return wrap(np.asarray(obj, dtype=None if dtype is None else dtypes.numpy_dtype(dtype)))


def astype(x: Any, dtype: Any, *, copy: Any = True) -> Any:
    """``x`` converted to ``dtype``; nothing flows back through whole numbers and booleans."""
    target, source = dtypes.of(dtype), dtypes.of(x.array.dtype)
    op = _shape.astype if target.category >= dtypes.FLOAT else _cut
    return apply(op, (x,), {"dtype": target.name, "source": source.name})


_cut = replace(_shape.astype, rules={}, records={})


def zeros(shape: Any, *, dtype: Any = None) -> Any:
    """Zeros of a shape."""
    return wrap(_plain.zeros(shape, dtype=dtypes.numpy_dtype(dtype or dtypes.default())))


def ones(shape: Any, *, dtype: Any = None) -> Any:
    """Ones of a shape."""
    return wrap(_plain.ones(shape, dtype=dtypes.numpy_dtype(dtype or dtypes.default())))


def zeros_like(x: Any, *, shape: Any = None) -> Any:
    """Zeros of the dtype and library of ``x``, of its shape unless another is named."""
    return wrap(backends.namespace(x.array).zeros_like(x.array, shape=shape))


def ones_like(x: Any, *, shape: Any = None) -> Any:
    """Ones of the dtype and library of ``x``, of its shape unless another is named."""
    return wrap(backends.namespace(x.array).ones_like(x.array, shape=shape))


def arange(n: int) -> Any:
    """0 to n - 1."""
    return wrap(_plain.arange(n))


class linalg:
    """The linear-algebra extension."""

    @staticmethod
    def diagonal(x: Any, *, offset: int = 0) -> Any:
        """The diagonal of each matrix."""
        return apply(table["diagonal"], (x,), {"offset": offset})
