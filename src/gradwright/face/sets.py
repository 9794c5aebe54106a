"""Tensors as sets and tables, under PyTorch's names: distinct entries, look-ups, counts, combinations."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from gradwright import dtypes
from gradwright.engine.base import TensorBase, wrap
from gradwright.errors import kind
from gradwright.errors import size as _text
from gradwright.face.join import stack
from gradwright.face.returns import opaque
from gradwright.face.scatter import index_select
from gradwright.reading.torch import NUMBER, numpy_names, one_dim, result_type, tensor_arg, tensor_list

__all__ = [
    "bincount", "bucketize", "cartesian_prod", "combinations", "isin", "searchsorted", "unique", "unique_consecutive",
]  # fmt: skip


def _asked(values: Any, inverse: Any, counts: Any) -> Any:
    found = (values, *(wrap(np.asarray(v)) for v in (inverse, counts) if v is not None))
    return found if len(found) > 1 else values


@numpy_names
def unique(input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
           dim: int | None = None) -> Any:  # fmt: skip
    """The distinct entries in order (or slices along ``dim``); where each went, and how often, if asked for."""
    x = tensor_arg("unique", input)
    axis = None if dim is None else one_dim("unique", dim, x.array.ndim)
    values, inverse, counts = np.unique(
        x.array, return_inverse=True, return_counts=True, axis=axis if x.array.ndim else None, equal_nan=False
    )
    values = opaque("unique", "Unique2Backward0" if dim is None else "UniqueDimBackward0", x, values)
    return _asked(values, inverse if return_inverse else None, counts if return_counts else None)


@numpy_names
def unique_consecutive(input: Any, return_inverse: bool = False, return_counts: bool = False,
                       dim: int | None = None) -> Any:  # fmt: skip
    """The entries (or slices along ``dim``) without those that repeat the one before."""
    x = tensor_arg("unique_consecutive", input)
    axis = 0 if dim is None else one_dim("unique_consecutive", dim, x.array.ndim)
    lines = x.array.reshape(-1) if dim is None or not x.array.ndim else np.moveaxis(x.array, axis, 0)
    n = lines.shape[0]
    rows = lines.reshape(n, -1) if lines.size else np.empty((n, 0))
    new = np.ones(n, bool)
    new[1:] = (rows[1:] != rows[:-1]).any(1)
    starts = np.flatnonzero(new)
    inverse = np.cumsum(new) - 1
    return _asked(
        opaque("unique_consecutive", "UniqueConsecutiveBackward0", x, np.moveaxis(lines[starts], 0, axis)),
        (inverse if dim is not None else inverse.reshape(x.array.shape)) if return_inverse else None,
        np.diff(starts, append=n) if return_counts else None,
    )


def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> Any:
    """For each entry of ``elements`` whether it is among ``test_elements``; one of the two may be a number."""
    if not any(isinstance(v, TensorBase) for v in (elements, test_elements)):
        raise TypeError(f"isin(): one of the two must be a Tensor, but got {kind(elements)} and {kind(test_elements)}")
    common = result_type(elements, test_elements).dtype
    a, b = (np.asarray(getattr(v, "array", v)).astype(common) for v in (elements, test_elements))
    return wrap(np.isin(a, b, assume_unique=assume_unique, invert=invert))


def searchsorted(sorted_sequence: Any, input: Any, *, out_int32: bool = False, right: bool = False,
                 side: str | None = None, sorter: Any = None) -> Any:  # fmt: skip
    """Where in the last dim of ``sorted_sequence`` each entry of ``input`` would go, to the left of equals or right.

    A 1-d sequence serves all entries; otherwise the other dims of the two must be the same.
    """
    edges = tensor_arg("searchsorted", sorted_sequence, "sorted_sequence")
    if side not in (None, "left", "right"):
        raise RuntimeError(f"searchsorted(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError("searchsorted(): side and right can't be set to opposites, got side of left while right")
    if sorter is not None:
        if sorter.array.shape != edges.array.shape:
            raise RuntimeError("searchsorted(): boundary and sorter must have the same size")
        if sorter.array.dtype != np.int64:
            raise RuntimeError(f"searchsorted(): sorter must be of dtype long, got {dtypes.of(sorter.array.dtype)}")
        if sorter.array.size and not 0 <= sorter.array.min() <= sorter.array.max() < edges.array.shape[-1]:
            raise RuntimeError("searchsorted(): sorter index out of range")
        edges = wrap(np.take_along_axis(edges.array, sorter.array, -1))
    return _found("searchsorted", edges, input, out_int32, right or side == "right")


def bucketize(input: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False) -> Any:
    """The number of the bucket between 1-d ``boundaries`` that each entry of ``input`` falls into."""
    edges = tensor_arg("bucketize", boundaries, "boundaries", 2)
    if edges.array.ndim != 1:
        raise RuntimeError(f"bucketize(): boundaries tensor must be 1 dimension, but got dim({edges.array.ndim})")
    return _found("bucketize", edges, input, out_int32, right)


def _found(function: str, sequence: Any, values: Any, small: bool, right: bool) -> Any:
    edges = sequence.array
    if not isinstance(values, (TensorBase, *NUMBER)):
        raise TypeError(f"{function}(): argument 'input' must be Tensor or number, not {kind(values)}")
    v = values.array if isinstance(values, TensorBase) else np.asarray(values)
    if not edges.ndim or (edges.ndim > 1 and (edges.ndim != v.ndim or edges.shape[:-1] != v.shape[:-1])):
        raise RuntimeError(
            f"{function}(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor "
            f"and input value tensor must match, but we got boundaries tensor {_text(edges.shape)} and input value "
            f"tensor {_text(v.shape)}"
        )
    if small and edges.shape[-1] >= 2**31:
        raise RuntimeError(f"{function}(): the size of boundaries' last dimension should be less than 2**31")
    if edges.ndim == 1:
        out = np.searchsorted(edges, v, "right" if right else "left")
    else:
        out = _bisected(edges, v, right)
    return wrap(np.asarray(out, np.int32 if small else np.int64))


def _bisected(edges: Any, values: Any, right: bool) -> Any:
    """`np.searchsorted` for every line of the last axis at once: log2 n halvings of the range of each value."""
    low, high = np.zeros(values.shape, np.int64), np.full(values.shape, edges.shape[-1])
    for _ in range(edges.shape[-1].bit_length()):
        middle = (low + high) // 2
        edge = np.take_along_axis(edges, np.minimum(middle, edges.shape[-1] - 1), -1)
        beyond = ~(edge > values if right else edge >= values) & (low < high)
        low, high = np.where(beyond, middle + 1, low), np.where(beyond, high, middle)
    return low


def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often each of 0, 1, 2, ... occurs in a 1-d tensor of them, or the sum of the ``weights`` of its places."""
    x = tensor_arg("bincount", input).array
    if dtypes.kind(x.dtype) not in "iu":
        raise NotImplementedError(f"bincount(): not implemented for {dtypes.of(x.dtype)}; expected whole numbers")
    if x.ndim != 1 or (x.size and x.min() < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if weights is None:
        return wrap(np.bincount(x, minlength=minlength))
    w = tensor_arg("bincount", weights, "weights", 2).array
    if w.shape != x.shape:
        raise RuntimeError(f"weights should be 1-d and have the same length as input, {len(x)}, got {_text(w.shape)}")
    sums = np.bincount(x, w, minlength).astype(np.float32 if w.dtype == np.float32 else np.float64)
    return opaque("bincount", "NotImplemented", weights, sums)


def combinations(input: Any, r: int = 2, with_replacement: bool = False) -> Any:
    """All choices of ``r`` entries of a 1-d tensor, one a row, in order."""
    x = tensor_arg("combinations", input)
    if x.array.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {_text(x.array.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return x[:0]
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = np.array(list(choose(range(x.array.size), r)), np.int64)
    return index_select(x, 0, wrap(rows.reshape(-1))).reshape(-1, r)


def cartesian_prod(*tensors: Any) -> Any:
    """All choices of one entry of each 1-d tensor, one a row, in order; of one tensor, itself."""
    xs = tensor_list("cartesian_prod", tensors)
    for x in xs:
        if x.array.ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {_text(x.array.shape)}")
        if x.array.dtype != xs[0].array.dtype:
            raise RuntimeError(f"cartesian_prod() expects all tensors to have the same dtype, got {x.dtype}")
    if len(xs) == 1:
        return xs[0]
    places = np.indices([x.array.size for x in xs]).reshape(len(xs), -1)
    return stack([index_select(x, 0, wrap(p)) for x, p in zip(xs, places, strict=True)], 1)
