"""Searching, sorting and sets. Positions carry no derivative; values that are picked by them do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwright.engine.apply import apply, apply_one
from gradwright.engine.base import TensorBase, wrap
from gradwright.face.reading.standard import alike, as_dtype, axes, one_axis, outside, tensor
from gradwright.face.xp.manipulation import reshape, take, take_along_axis
from gradwright.ops.declare import table

if TYPE_CHECKING:
    from gradwright.face.typing import Dims, Number, Tensor

__all__ = [
    "argmax", "argmin", "argsort", "count_nonzero", "isin", "nonzero", "searchsorted", "sort", "unique_all",
    "unique_counts", "unique_inverse", "unique_values", "where",
]  # fmt: skip


def where(condition: Tensor, x1: Tensor | Number, x2: Tensor | Number, /) -> Tensor:
    """x1 where the condition holds, x2 elsewhere."""
    condition = as_dtype(tensor("where", condition), "bool")
    if not (isinstance(x1, TensorBase) and isinstance(x2, TensorBase) and x1.array.dtype is x2.array.dtype):
        x1, x2 = alike("where", x1, x2)
    return apply(table["where"], (condition, x1, x2), {})


def _position(name: str, x: Any, axis: Any, keepdims: bool) -> Any:
    axis = None if axis is None else one_axis(name, axis, tensor(name, x).array.ndim)
    return apply_one(table[name], x, {"axis": axis, "keepdims": keepdims})


def argmax(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Index of the first largest entry along ``axis``, in the flattened array if None."""
    return _position("argmax", x, axis, keepdims)


def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Index of the first smallest entry along ``axis``, in the flattened array if None."""
    return _position("argmin", x, axis, keepdims)


def count_nonzero(x: Tensor, /, *, axis: Dims = None, keepdims: bool = False) -> Tensor:
    """How many entries over ``axis`` are not zero."""
    space, array = outside("count_nonzero", x)
    nonzero = space.astype(array, space.bool)
    return wrap(space.sum(space.astype(nonzero, space.int64), axis=axes("count_nonzero", axis, array.ndim),
                          keepdims=keepdims))  # fmt: skip


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """The indices of the entries that are not zero, one tensor per axis."""
    space, array = outside("nonzero", x)
    if not array.ndim:
        raise ValueError("nonzero(): an array without dimensions has no indices")
    return tuple(map(wrap, space.nonzero(array)))


def isin(x1: Tensor, x2: Tensor, /, *, invert: bool = False) -> Tensor:
    """Whether each entry of x1 is (not) among those of x2; NaN is equal to nothing."""
    x1, x2 = alike("isin", x1, x2)
    space, a, b = outside("isin", x1, x2)
    return wrap(space.asarray(np.isin(np.asarray(a), np.asarray(b), invert=invert)))


def searchsorted(x1: Tensor, x2: Tensor, /, *, side: str = "left", sorter: Tensor | None = None) -> Tensor:
    """Where in the ascending 1-d x1 (ordered by ``sorter``) each of x2 would go: before equal entries, or after."""
    if sorter is not None:
        x1 = take(x1, sorter)
    x1, x2 = alike("searchsorted", x1, x2)
    space, a, b = outside("searchsorted", x1, x2)
    return wrap(space.searchsorted(a, b, side=side))


def argsort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The indices that sort along ``axis``; equal entries keep their order."""
    space, array = outside("argsort", x)
    axis = one_axis("argsort", axis, array.ndim)
    if not descending:
        return wrap(space.argsort(array, axis=axis, stable=True))
    back = space.flip(space.argsort(space.flip(array, axis=axis), axis=axis, stable=True), axis=axis)
    return wrap(array.shape[axis] - 1 - back)


def sort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The entries in order along ``axis``."""
    return take_along_axis(x, argsort(x, axis=axis, descending=descending), axis=axis)


class unique_all_result(NamedTuple):
    """Distinct values, their first positions, where each entry's value stands among them, how often they occur."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class unique_counts_result(NamedTuple):
    """Distinct values, and how often they occur."""

    values: Tensor
    counts: Tensor


class unique_inverse_result(NamedTuple):
    """Distinct values, and where each entry's value stands among them."""

    values: Tensor
    inverse_indices: Tensor


def unique_all(x: Tensor, /) -> unique_all_result:
    """The distinct values in order, with `unique_all_result`'s positions; each NaN counts as distinct."""
    space, array = outside("unique_all", x)
    _, first, inverse, counts = space.unique_all(array)
    return unique_all_result(take(reshape(x, (-1,)), wrap(first)), wrap(first), wrap(inverse), wrap(counts))


def unique_counts(x: Tensor, /) -> unique_counts_result:
    """The distinct values in order, and how often they occur."""
    found = unique_all(x)
    return unique_counts_result(found.values, found.counts)


def unique_inverse(x: Tensor, /) -> unique_inverse_result:
    """The distinct values in order, and where each entry's value stands among them."""
    found = unique_all(x)
    return unique_inverse_result(found.values, found.inverse_indices)


def unique_values(x: Tensor, /) -> Tensor:
    """The distinct values in order."""
    return unique_all(x).values
