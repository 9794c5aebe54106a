"""Tensors as sets and tables, under PyTorch's names: distinct entries, look-ups, counts, combinations."""

from __future__ import annotations

import itertools
from math import prod
from typing import TYPE_CHECKING, Any

from gradwright import backends
from gradwright.base import dtypes
from gradwright.base.errors import kind
from gradwright.base.errors import size as _text
from gradwright.engine.apply import apply
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.levels import below
from gradwright.face.functions.join import meshgrid, stack
from gradwright.face.functions.returns import opaque
from gradwright.face.functions.scatter import index_select
from gradwright.face.functions.shape import flatten, movedim, reshape
from gradwright.face.reading.common import beside
from gradwright.face.reading.require import within
from gradwright.face.reading.torch import NUMBER, numpy_names, one_dim, operands, tensor_arg, tensor_list, to_dtype
from gradwright.ops import scatter as _scatter
from gradwright.ops import sets as _sets

if TYPE_CHECKING:
    from gradwright.face.typing import Number, Tensor

__all__ = [
    "bincount", "bucketize", "cartesian_prod", "combinations", "isin", "searchsorted", "unique", "unique_consecutive",
]  # fmt: skip


def _asked(values: Any, *others: tuple[bool, Any]) -> Any:
    found = (values, *(other for asked, other in others if asked))
    return found if len(found) > 1 else values


@numpy_names
def unique(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
           dim: int | None = None) -> Tensor | tuple[Tensor, ...]:  # fmt: skip
    """The distinct entries in order (or slices along ``dim``); where each went, and how often, if asked for."""
    x = tensor_arg("unique", input)
    if dim is not None and one_dim("unique", dim, x.array.ndim) < x.array.ndim:
        lines = movedim(x, dim, 0)
        order = apply(_sets.sorted_lines, (reshape(lines, (lines.array.shape[0], prod(lines.array.shape[1:]))),), {})
        first, inverse, counts = apply(_sets.runs, (lines.detach()[order],), {})
        values = movedim(lines.detach()[order[first]], 0, dim)
        inverse = apply(_scatter.scatter, (order, order, inverse), {"axis": 0})
    else:
        values, inverse, counts = apply(_sets.unique, (x,), {"inverse": return_inverse, "counts": return_counts})
    values = opaque("unique", "Unique2Backward0" if dim is None else "UniqueDimBackward0", x, values)
    return _asked(values, (return_inverse, inverse), (return_counts, counts))


@numpy_names
def unique_consecutive(input: Tensor, return_inverse: bool = False, return_counts: bool = False,
                       dim: int | None = None) -> Tensor | tuple[Tensor, ...]:  # fmt: skip
    """The entries (or slices along ``dim``) without those that repeat the one before."""
    x = tensor_arg("unique_consecutive", input)
    axis = 0 if dim is None else one_dim("unique_consecutive", dim, x.array.ndim)
    lines = flatten(x.detach()) if dim is None or not x.array.ndim else movedim(x.detach(), axis, 0)
    first, inverse, counts = apply(_sets.runs, (lines,), {})
    return _asked(
        opaque("unique_consecutive", "UniqueConsecutiveBackward0", x, movedim(lines[first], 0, axis)),
        (return_inverse, inverse if dim is not None else reshape(inverse, x.array.shape)),
        (return_counts, counts),
    )


def isin(elements: Tensor | Number, test_elements: Tensor | Number, *, assume_unique: bool = False,
         invert: bool = False) -> Tensor:  # fmt: skip
    """For each entry of ``elements`` whether it is among ``test_elements``; one of the two may be a number."""
    if not any(isinstance(v, TensorBase) for v in (elements, test_elements)):
        raise TypeError(f"isin(): one of the two must be a Tensor, but got {kind(elements)} and {kind(test_elements)}")
    given = operands(_sets.isin, (elements, test_elements)) or ()
    return apply(_sets.isin, given, {"assume_unique": assume_unique, "invert": invert})


def searchsorted(sorted_sequence: Tensor, input: Tensor | Number, *, out_int32: bool = False, right: bool = False,
                 side: str | None = None, sorter: Tensor | None = None) -> Tensor:  # fmt: skip
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
        if dtypes.of(sorter.array.dtype) is not dtypes.int64:
            raise RuntimeError(f"searchsorted(): sorter must be of dtype long, got {dtypes.of(sorter.array.dtype)}")
        within(sorter.array, 0, edges.array.shape[-1] - 1, lambda _: "searchsorted(): sorter index out of range")
        edges = apply(_scatter.take_along_axis, (edges.detach(), sorter), {"axis": edges.array.ndim - 1})
    return _found("searchsorted", edges, input, out_int32, right or side == "right")


def bucketize(input: Tensor | Number, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    """The number of the bucket between 1-d ``boundaries`` that each entry of ``input`` falls into."""
    edges = tensor_arg("bucketize", boundaries, "boundaries", 2)
    if edges.array.ndim != 1:
        raise RuntimeError(f"bucketize(): boundaries tensor must be 1 dimension, but got dim({edges.array.ndim})")
    return _found("bucketize", edges, input, out_int32, right)


def _found(function: str, sequence: Any, values: Any, small: bool, right: bool) -> Any:
    edges = sequence.array.shape
    if not isinstance(values, (TensorBase, *NUMBER)):
        raise TypeError(f"{function}(): argument 'input' must be Tensor or number, not {kind(values)}")
    shape = values.array.shape if isinstance(values, TensorBase) else ()
    if not edges or (len(edges) > 1 and (len(edges) != len(shape) or edges[:-1] != shape[:-1])):
        raise RuntimeError(
            f"{function}(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor "
            f"and input value tensor must match, but we got boundaries tensor {_text(edges)} and input value "
            f"tensor {_text(shape)}"
        )
    if small and edges[-1] >= 2**31:
        raise RuntimeError(f"{function}(): the size of boundaries' last dimension should be less than 2**31")
    given = operands(_sets.searchsorted, (sequence, values)) or ()
    out = apply(_sets.searchsorted, given, {"side": "right" if right else "left"})
    return to_dtype(out, dtypes.int32) if small else out


def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each of 0, 1, 2, ... occurs in a 1-d tensor of them, or the sum of the ``weights`` of its places."""
    x = tensor_arg("bincount", input)
    shape = x.array.shape
    if dtypes.kind(x.array.dtype) not in "iu":
        raise NotImplementedError(f"bincount(): not implemented for {dtypes.of(x.array.dtype)}; expected whole numbers")
    if len(shape) != 1:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    within(x.array, 0, 1 << 62, lambda _: "bincount only supports 1-d non-negative integral inputs.")
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    most = wrap(below(x.array)).max() if x.array.size else -1
    length = minlength if most < minlength else int(x.max()) + 1
    if weights is None:
        return apply(_sets.bincount, (x,), {"length": length})
    w = tensor_arg("bincount", weights, "weights", 2)
    if w.array.shape != shape:
        raise RuntimeError(
            f"weights should be 1-d and have the same length as input, {shape[0]}, got {_text(w.array.shape)}"
        )
    single = dtypes.of(w.array.dtype) is dtypes.float32
    sums = apply(_sets.bincount, (x, to_dtype(w.detach(), dtypes.float64)), {"length": length})
    return opaque("bincount", "NotImplemented", weights, to_dtype(sums, dtypes.float32) if single else sums)


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All choices of ``r`` entries of a 1-d tensor, one a row, in order."""
    x = tensor_arg("combinations", input)
    if x.array.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {_text(x.array.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return x[:0]
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = [place for row in choose(range(x.array.size), r) for place in row]
    return index_select(x, 0, beside(x.array, rows, dtypes.int64)).reshape(-1, r)


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All choices of one entry of each 1-d tensor, one a row, in order; of one tensor, itself."""
    xs = tensor_list("cartesian_prod", tensors)
    for x in xs:
        if x.array.ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {_text(x.array.shape)}")
        if backends.differ("cartesian_prod", x.array, xs[0].array):
            raise RuntimeError(f"cartesian_prod() expects all tensors to have the same dtype, got {x.dtype}")
    if len(xs) == 1:
        return xs[0]
    return stack([flatten(grid) for grid in meshgrid(*xs, indexing="ij")], 1)
