"""PyTorch's functions of dense tensors, where an argument is sparse: ``torch.cat``, ``torch.mm`` and such."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from gradwright.base.errors import kind
from gradwright.face.functions.join import cat as dense_cat

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add, "sub": operator.sub, "subtract": operator.sub, "mul": operator.mul,
    "multiply": operator.mul, "div": operator.truediv, "divide": operator.truediv, "true_divide": operator.truediv,
    "mm": operator.matmul, "matmul": operator.matmul, "mv": operator.matmul,
}  # fmt: skip


def cat(tensors: Sequence[Any], dim: int = 0, *, axis: int | None = None) -> Any:
    """Sparse tensors joined end to end along an indexed dim; their other dims must agree.

    TypeError unless all are sparse, RuntimeError if they do not go together.
    """
    first, dim = tensors[0], dim if axis is None else axis
    for i, x in enumerate(tensors):
        if not isinstance(x, type(first)):
            raise TypeError(f"cat(): expected all tensors sparse, or all dense, but element {i} is a {kind(x)} and "
                            f"element 0 a {kind(first)}: to_dense() and to_sparse() make one of the other")  # fmt: skip
    if not -first.ndim <= dim < first.ndim:
        raise IndexError(f"cat(): dim {dim} of tensors with {first.ndim} dims")
    dim, k = dim % first.ndim, first.sparse_dim()
    if dim >= k:
        raise RuntimeError(f"cat(): dim {dim} is not one of the {k} that are indexed: take to_dense()")
    for x in tensors:
        others = [tuple(s for d, s in enumerate(t.shape) if d != dim) for t in (first, x)]
        if others[0] != others[1] or x.sparse_dim() != k:
            raise RuntimeError(f"cat(): sizes of sparse tensors must match except in dimension {dim}: got "
                               f"{tuple(first.shape)} and {tuple(x.shape)}")  # fmt: skip
    rows, start = [], 0
    for x in tensors:
        moved = x._indices().clone()
        moved[dim] += start
        rows.append(moved)
        start += x.shape[dim]
    shape = [*first.shape[:dim], start, *first.shape[dim + 1 :]]
    sorted_ = dim == 0 and all(x.is_coalesced() for x in tensors)
    return type(first)(dense_cat(rows, 1), dense_cat([x._values() for x in tensors]), shape, sorted_)


def sparse_mask(x: Any, mask: Any) -> Any:
    """The entries of ``x`` where ``mask``, a sparse tensor of the same size, has some, as a sparse tensor."""
    if tuple(x.shape) != tuple(mask.shape):
        raise RuntimeError(f"sparse_mask(): expected a mask of size {tuple(x.shape)}, but got {tuple(mask.shape)}")
    where = mask.coalesce()
    return where._with(x[tuple(where.indices())])


def call(cls: type, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``func`` of arguments of which one is of the sparse ``cls``; TypeError if it takes dense tensors alone."""
    name = func.__name__
    if name in ("cat", "concat", "concatenate"):
        return cat(*args, **kwargs)
    if name in _OPERATORS and len(args) == 2 and not kwargs:
        return _OPERATORS[name](*args)
    if name == "sparse_mask":
        return sparse_mask(*args, **kwargs)
    if name in ("neg", "negative"):
        return -args[0]
    method = None if hasattr(object, name) else getattr(cls, name, None)
    if callable(method) and args and isinstance(args[0], cls):
        return method(*args, **kwargs)
    raise TypeError(f"{name}() takes dense tensors here, but got a sparse one: take to_dense(), or coalesce().values()")
