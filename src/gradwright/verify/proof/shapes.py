"""Making and moving ball arrays, their sums and products. What is certain is NumPy's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from gradwright.backends.numpy import namespace as numpy_namespace
from gradwright.base.errors import NotProvedError
from gradwright.verify.proof import series
from gradwright.verify.proof.balls import Balls, Truths, balls, chosen, spread


def uncertain(value: Any) -> bool:
    """Whether there are balls, or open truth values, in an argument."""
    if isinstance(value, (list, tuple)):
        return any(uncertain(v) for v in value)
    return isinstance(value, (Balls, Truths))


def _dtype(value: Any) -> Any:
    return value.dtype if hasattr(value, "dtype") else value


def asarray(x: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Any:
    """Numbers as balls; whole numbers and truth values as NumPy has them."""
    if uncertain(x):
        return astype(x, dtype) if dtype is not None else x
    array = np.asarray(x, dtype)
    return balls(array, array.dtype) if array.dtype.kind in "fc" else array


def astype(x: Any, dtype: Any, *, copy: bool = True, device: Any = None) -> Any:
    """The same values under another dtype; a ball is not rounded to it."""
    wanted = np.dtype(dtype)
    if isinstance(x, Truths) and wanted.kind in "biu":
        return x if wanted.kind == "b" else balls(x)
    if isinstance(x, Balls) and wanted.kind == "b":
        return x != 0
    if wanted.kind in "fc":
        return balls(x, wanted)
    return x.astype(wanted)


def _filled(shape: Any, value: Any, dtype: Any) -> Any:
    shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    kind = np.dtype(dtype)
    if kind.kind in "fc":
        return Balls(spread(series.constant(value), shape), None, kind)
    return np.full(shape, value, kind)


def zeros(shape: Any, *, dtype: Any = np.float64, device: Any = None) -> Any:
    """Zeros."""
    return _filled(shape, 0, np.float64 if dtype is None else dtype)


def ones(shape: Any, *, dtype: Any = np.float64, device: Any = None) -> Any:
    """Ones."""
    return _filled(shape, 1, np.float64 if dtype is None else dtype)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """One value everywhere."""
    if isinstance(fill_value, Balls):
        return broadcast_to(fill_value, tuple(shape))
    return _filled(shape, fill_value, np.asarray(fill_value).dtype if dtype is None else dtype)


def eye(rows: int, columns: int | None = None, *, k: int = 0, dtype: Any = np.float64, device: Any = None) -> Any:
    """Ones on a diagonal."""
    return asarray(np.eye(rows, columns, k=k, dtype=np.float64 if dtype is None else dtype))


def arange(*args: Any, dtype: Any = None, device: Any = None) -> Any:
    """Numbers in steps."""
    return asarray(np.arange(*args, dtype=dtype))


def linspace(*args: Any, dtype: Any = None, device: Any = None, **kwargs: Any) -> Any:
    """Numbers in equal steps, as NumPy rounds them."""
    return asarray(np.linspace(*args, dtype=dtype, **kwargs))


# Where entries stand.


def _placed(name: str) -> Callable[..., Any]:
    """A function of NumPy's namespace that moves entries."""
    f = getattr(numpy_namespace, name)

    def call(x: Any, *args: Any, **kwargs: Any) -> Any:
        return x.moved(lambda a: f(a, *args, **kwargs)) if uncertain(x) else f(x, *args, **kwargs)

    return call


reshape, permute_dims, matrix_transpose, squeeze, expand_dims, flip, roll, moveaxis, repeat, tile = map(_placed, (
    "reshape", "permute_dims", "matrix_transpose", "squeeze", "expand_dims", "flip", "roll", "moveaxis", "repeat",
    "tile",
))  # fmt: skip
take, take_along_axis = map(_placed, ("take", "take_along_axis"))


def broadcast_to(x: Any, shape: Any) -> Any:
    """The same entries, repeated to this shape."""
    return x.moved(lambda a: np.broadcast_to(a, shape)) if uncertain(x) else np.broadcast_to(x, shape)


def broadcast_arrays(*arrays: Any) -> list[Any]:
    """All in the shape to which they broadcast together."""
    shape = np.broadcast_shapes(*[a.shape for a in arrays])
    return [broadcast_to(a, shape) for a in arrays]


def unstack(x: Any, *, axis: int = 0) -> Any:
    """The parts along an axis."""
    front = (slice(None),) * (axis % x.ndim)
    return tuple(x[(*front, k)] for k in range(x.shape[axis]))


def _together(name: str) -> Callable[..., Any]:
    f = getattr(numpy_namespace, name)

    def call(arrays: Sequence[Any], *, axis: Any = 0) -> Any:
        if not uncertain(list(arrays)):
            return f(arrays, axis=axis)
        if any(isinstance(a, Truths) for a in arrays):
            raise NotProvedError("not proved: truth values that the balls leave open, joined with others")
        each_ = [balls(a) for a in arrays]
        none = all(a.slope is None for a in each_)
        slope = None if none else f([a.slopes() for a in each_], axis=axis)
        return Balls(f([a.value for a in each_], axis=axis), slope, reduce(np.result_type, [a.dtype for a in each_]))

    return call


def _triangle(name: str) -> Callable[..., Any]:
    f = getattr(np, name)

    def call(x: Any, *, k: int = 0) -> Any:
        return chosen(f(np.ones(x.shape[-2:], bool), k=k), x, 0) if uncertain(x) else f(x, k=k)

    return call


concat, stack = map(_together, ("concat", "stack"))
tril, triu = map(_triangle, ("tril", "triu"))

# Sums and products.


def _axes(x: Any, axis: Any) -> tuple[int, ...]:
    axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, (int, np.integer)) else axis
    return tuple(a % x.ndim for a in axes)


def total(x: Any, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """The sum over axes."""
    if not uncertain(x):
        return asarray(np.sum(x, axis=axis, dtype=dtype, keepdims=keepdims))
    x = balls(x)
    axes = _axes(x, axis)
    zero = series.constant(0)
    if not axes:
        return x
    return x.moved(lambda a: np.sum(a, axis=axes, keepdims=keepdims, initial=zero))


def folded(step: Callable[[Any, Any], Any], x: Any, axis: Any, keepdims: bool, empty: Any = None) -> Any:
    """All lines over ``axis`` folded by a function of two arrays."""
    axes = _axes(x, axis)
    rest = [k for k in range(x.ndim) if k not in axes]
    lines = x.moved(lambda a: np.transpose(a, (*axes, *rest)).reshape(-1, *[a.shape[k] for k in rest]))
    if not lines.shape[0]:
        if empty is None:
            raise ValueError("an extremum of no entries")
        out = ones(lines.shape[1:], dtype=x.dtype) * empty
    else:
        out = reduce(step, [lines[k] for k in range(lines.shape[0])])
    kept = tuple(1 if k in axes else n for k, n in enumerate(x.shape))
    return reshape(out, kept) if keepdims else out


def prod(x: Any, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """The product over axes."""
    if not uncertain(x):
        return asarray(np.prod(x, axis=axis, dtype=dtype, keepdims=keepdims))
    return folded(lambda a, b: a * b, x, axis, keepdims, 1.0)


def mean(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The mean over axes."""
    out = total(x, axis=axis, keepdims=keepdims)
    return out / (x.size // max(out.size, 1))


def _scanned(step: Callable[[Any, Any], Any], start: int) -> Callable[..., Any]:
    def call(x: Any, *, axis: int = 0, dtype: Any = None, include_initial: bool = False) -> Any:
        x = balls(x)
        parts = list(unstack(x, axis=axis))
        if include_initial:
            parts.insert(0, zeros(x.shape[:axis] + x.shape[axis % x.ndim + 1:], dtype=x.dtype) + start)
        for k in range(1, len(parts)):
            parts[k] = step(parts[k - 1], parts[k])
        return stack(parts, axis=axis) if parts else x

    return call


cumulative_sum = _scanned(lambda a, b: a + b, 0)
cumulative_prod = _scanned(lambda a, b: a * b, 1)


