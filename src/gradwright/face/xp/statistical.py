"""Reductions, running sums and products, differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwright.base import dtypes
from gradwright.engine.apply import apply_one
from gradwright.face.reading.common import named
from gradwright.face.reading.standard import as_dtype, axes, floats, one_axis, tensor
from gradwright.face.xp.creation import ones_like, zeros_like
from gradwright.face.xp.manipulation import concat
from gradwright.ops.declare import table

if TYPE_CHECKING:
    from gradwright.face.typing import Dims, DType, Tensor

__all__ = [
    "all", "any", "cumulative_prod", "cumulative_sum", "diff", "max", "mean", "min", "prod", "std", "sum", "var",
]  # fmt: skip


def _reduced(name: str, x: Any, axis: Any, keepdims: bool, **static: Any) -> Any:
    axis = axes(name, axis, tensor(name, x).array.ndim)
    return apply_one(table[name], x, {"axis": axis, "keepdims": keepdims, **static})


def _widened(name: str, x: Any, dtype: Any) -> Any:
    """``x`` in the dtype it is summed in: the one named, for whole numbers int64 or uint64, else its own."""
    kind = tensor(name, x).array.dtype
    if dtype is not None:
        return as_dtype(x, dtype)
    d = dtypes.of(kind)
    if d.category >= dtypes.FLOAT:
        return x
    return as_dtype(x, dtypes.uint64 if d.dtype.kind == "u" else dtypes.int64)


def sum(x: Tensor, /, *, axis: Dims = None, dtype: DType = None, keepdims: bool = False) -> Tensor:
    """Sum over ``axis``; whole numbers are summed in 64 bits."""
    return named(_reduced("sum", _widened("sum", x, dtype), axis, keepdims), dtype)


def prod(x: Tensor, /, *, axis: Dims = None, dtype: DType = None, keepdims: bool = False) -> Tensor:
    """Product over ``axis``; whole numbers are multiplied in 64 bits."""
    return named(_reduced("prod", _widened("prod", x, dtype), axis, keepdims), dtype)


def mean(x: Tensor, /, *, axis: Dims = None, keepdims: bool = False) -> Tensor:
    """Mean over ``axis``."""
    return _reduced("mean", floats("mean", x), axis, keepdims)


def var(x: Tensor, /, *, axis: Dims = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Variance over ``axis``: sum (x - mean)**2 / (n - correction)."""
    return _reduced("var", floats("var", x), axis, keepdims, correction=correction)


def std(x: Tensor, /, *, axis: Dims = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Standard deviation over ``axis``, the square root of the variance."""
    return _reduced("std", floats("std", x), axis, keepdims, correction=correction)


def max(x: Tensor, /, *, axis: Dims = None, keepdims: bool = False) -> Tensor:
    """Largest entry over ``axis``; tied entries share the cotangent."""
    return _reduced("max", x, axis, keepdims)


def min(x: Tensor, /, *, axis: Dims = None, keepdims: bool = False) -> Tensor:
    """Smallest entry over ``axis``; tied entries share the cotangent."""
    return _reduced("min", x, axis, keepdims)


def all(x: Tensor, /, *, axis: Dims = None, keepdims: bool = False) -> Tensor:
    """Whether every entry over ``axis`` is nonzero."""
    return _reduced("all", x, axis, keepdims)


def any(x: Tensor, /, *, axis: Dims = None, keepdims: bool = False) -> Tensor:
    """Whether any entry over ``axis`` is nonzero."""
    return _reduced("any", x, axis, keepdims)


def _running(name: str, x: Any, axis: Any, dtype: Any, include_initial: bool, first: Any) -> Any:
    x = _widened(name, x, dtype)
    shape = x.array.shape
    if axis is None and len(shape) != 1:
        raise ValueError(f"{name}(): axis must be named for an array of {len(shape)} dimensions")
    axis = one_axis(name, axis or 0, len(shape))
    out = named(apply_one(table[name], x, {"axis": axis}), dtype)
    if not include_initial:
        return out
    return concat([first(x, shape=tuple(1 if i == axis else n for i, n in enumerate(shape))), out], axis=axis)


def cumulative_sum(x: Tensor, /, *, axis: int | None = None, dtype: DType = None,
                   include_initial: bool = False) -> Tensor:  # fmt: skip
    """Running sum along ``axis``, beginning with 0 if ``include_initial``."""
    return _running("cumulative_sum", x, axis, dtype, include_initial, zeros_like)


def cumulative_prod(x: Tensor, /, *, axis: int | None = None, dtype: DType = None,
                    include_initial: bool = False) -> Tensor:  # fmt: skip
    """Running product along ``axis``, beginning with 1 if ``include_initial``."""
    return _running("cumulative_prod", x, axis, dtype, include_initial, ones_like)


def diff(x: Tensor, /, *, axis: int = -1, n: int = 1, prepend: Tensor | None = None,
         append: Tensor | None = None) -> Tensor:  # fmt: skip
    """Differences of neighbours along ``axis``, ``n`` times over, of the array with others put before and after it."""
    axis = one_axis("diff", axis, tensor("diff", x).array.ndim)
    parts = [p for p in (prepend, x, append) if p is not None]
    x = concat(parts, axis=axis) if len(parts) > 1 else x
    lead = (slice(None),) * axis
    for _ in range(n):
        later, earlier = x[(*lead, slice(1, None), ...)], x[(*lead, slice(None, -1), ...)]
        x = later != earlier if x.array.dtype == bool else later - earlier
    return x
