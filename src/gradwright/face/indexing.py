"""Reading and writing by index under PyTorch's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwright.autograd.apply import apply
from gradwright.autograd.base import TensorBase, wrap
from gradwright.autograd.grad_mode import recording
from gradwright.autograd.view import assign
from gradwright.errors import kind
from gradwright.errors import size as _text
from gradwright.face.arguments import NUMBER, one_dim, tensor_arg, to_dtype
from gradwright.ops import index as _index
from gradwright.ops import piecewise as _piecewise
from gradwright.ops import shape as _shape

__all__ = [
    "gather", "index_select", "nonzero", "scatter_add",
]  # fmt: skip

_copied = _shape.copy.variant("CopyBackwards")
_picked, _selected = (_index.index.variant(name) for name in ("IndexBackward0", "SelectBackward0"))
_PLAIN = (int, slice, type(None), type(...))


def key_of(key: Any) -> tuple[tuple[Any, ...], bool]:
    """An index as NumPy takes it, and whether it is basic (ints, slices, None, ...), so that it gives a view.

    Raises IndexError for what is no index, ValueError for a slice with step 0.
    """
    basic = True
    out = []
    for k in key if isinstance(key, tuple) else (key,):
        cls = k.__class__
        if cls not in _PLAIN:
            k = _part(k)
            basic = basic and k.__class__ is int
        elif cls is slice and k.step == 0:
            raise ValueError("slice step cannot be zero")
        out.append(k)
    if basic and ... not in out:
        out.append(...)  # keeps a single element a view
    return tuple(out), basic


def _part(k: Any) -> Any:
    """A number as an int; a tensor, array, list or bool as an index array."""
    array = k.array if isinstance(k, TensorBase) else k
    boolean = isinstance(array, (bool, np.bool_)) or getattr(array, "dtype", None) == np.bool_
    if hasattr(k, "__index__") and not boolean and getattr(array, "shape", ()) == ():
        return k.__index__()
    if not isinstance(array, (bool, np.ndarray, np.generic, list)):
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and tensors of integers or booleans are valid "
            f"indices, but got {kind(k)}"
        )
    array = np.array(array) if recording.get() else np.asarray(array)  # a graph keeps it, and its owner may change it
    if array.size == 0 and isinstance(k, list):
        array = array.astype(np.int64)
    if array.dtype.kind not in "bui":
        raise IndexError(f"tensors used as indices must be long, int, byte or bool tensors, but got {array.dtype}")
    return array.astype(bool) if array.dtype == np.uint8 else array  # PyTorch takes bytes for a mask


def _located(x: Any, key: Any) -> tuple[Any, tuple[Any, ...], bool]:
    """A view of ``x``, the index that remains to be taken of it, and whether it is basic.

    Beside index tensors, ints are taken first, as PyTorch does; NumPy would count them among the tensors.
    """
    parts, basic = key_of(key)
    if basic or int not in map(type, parts):
        return x, parts, basic
    first: list[Any] = []
    rest: list[Any] = []
    for k in parts:
        if isinstance(k, np.ndarray):
            first += [slice(None)] * (k.ndim if k.dtype == bool else 1)
            rest.append(k)
        else:
            first.append(k)
            rest += [] if type(k) is int else [k if k is ... else slice(None)]
    return apply(_index.index, (x,), {"key": key_of(tuple(first))[0]}), tuple(rest), False


def getitem(self: Any, key: Any) -> Any:
    """``self[key]``: a view for ints, slices, None and ``...``; a copy for index tensors and masks."""
    x, parts, basic = _located(self, key)
    op = _picked if not basic else _selected if isinstance(parts[0], int) else _index.index
    return apply(op, (x,), {"key": parts})


def setitem(self: Any, key: Any, value: Any) -> None:
    """``self[key] = value``, in place, with history; ``value`` broadcasts to the shape of ``self[key]``."""
    x, parts, basic = _located(self, key)
    region = apply(_index.index, (x,), {"key": parts})
    value = _fitted("__setitem__", value, region)
    if basic:
        assign(region, value)
    else:
        if value._node is not None:
            value = _winning(value, np.arange(x.array.size).reshape(x.array.shape)[parts])
        assign(x, apply(_index.put, (x, value), {"key": parts}))


def _winning(value: Any, positions: Any) -> Any:
    """``value`` without the history of the entries that others overwrite: of those written to one place the last stays.

    PyTorch hands each of them the gradient, as if all had stayed.
    """
    _, last = np.unique(positions.ravel()[::-1], return_index=True)
    if last.size == positions.size:
        return value
    stays = np.zeros(positions.size, bool)
    stays[positions.size - 1 - last] = True
    return apply(_piecewise.where, (wrap(stays.reshape(positions.shape)), value, wrap(value.array)), {})


def _fitted(function: str, value: Any, like: Any) -> Any:
    """A value to be copied into ``like``: of its dtype, broadcast to its shape, with a node of its own."""
    if not isinstance(value, TensorBase):
        if not isinstance(value, (*NUMBER, np.ndarray)):
            raise TypeError(f"{function}: can't assign a {kind(value)} to a tensor")
        value = wrap(np.array(value).astype(like.array.dtype))
    shape, target = value.array.shape, like.array.shape
    while len(shape) > len(target) and shape[0] == 1:
        value, shape = value.squeeze(0), shape[1:]
    try:
        fits = np.broadcast_shapes(shape, target) == target
    except ValueError:
        fits = False
    if not fits:
        raise RuntimeError(f"shape mismatch: value tensor of shape {_text(shape)} cannot be broadcast to indexing "
                           f"result of shape {_text(target)}")  # fmt: skip
    value = to_dtype(value, like.array.dtype)
    return apply(_copied, (value.expand(target),), {})


def copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    """Copy ``src``, broadcast and converted, into this tensor; gradients flow to ``src``."""
    return assign(self, _fitted("copy_", tensor_arg("copy_", src, "other", 2), self))


def fill_(self: Any, value: Any) -> Any:
    """Set every entry to ``value``, a number or a 0-d tensor."""
    if isinstance(value, TensorBase) and value.array.ndim:
        raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value.array.ndim} dims")
    return assign(self, _fitted("fill_", value, self))


def zero_(self: Any) -> Any:
    """Set every entry to 0."""
    return fill_(self, 0)


def _same_but(function: str, x: Any, index: Any, axis: int) -> Any:
    """``x`` cut to the shape of ``index`` in every dim but ``axis``."""
    if x.array.ndim != index.array.ndim:
        raise RuntimeError(
            f"{function}(): Index tensor must have the same number of dimensions as input tensor "
            f"({index.array.ndim} and {x.array.ndim})"
        )
    if index.array.dtype.kind not in "iu":
        raise RuntimeError(f"{function}(): Expected dtype int64 for index, but got {index.array.dtype}")
    if any(n > m for k, (n, m) in enumerate(zip(index.array.shape, x.array.shape, strict=True)) if k != axis):
        raise RuntimeError(
            f"{function}(): Size does not match: index {_text(index.array.shape)} must be no larger than "
            f"{_text(x.array.shape)} apart from dimension {axis}"
        )
    n = x.array.shape[axis]
    if index.array.size and not (index.array.min() >= 0 and index.array.max() < n):
        raise RuntimeError(f"{function}(): index out of bounds for dimension {axis} with size {n}")
    key = tuple(slice(None) if k == axis else slice(m) for k, m in enumerate(index.array.shape))
    return x if x.array[key].shape == x.array.shape else apply(_index.index, (x,), {"key": key})


def gather(input: Any, dim: int, index: Any) -> Any:
    """out[i][j] = input[i][index[i][j]] for dim 1; ``index`` may be smaller than ``input`` in the other dims."""
    x, index = tensor_arg("gather", input), tensor_arg("gather", index, "index", 3)
    axis = one_dim("gather", dim, x.array.ndim)
    if x.array.ndim == 0:
        return gather(x.reshape(1), 0, index.reshape(1)).reshape(())
    return apply(_index.take_along_axis, (_same_but("gather", x, index, axis), index), {"axis": axis})


def scatter_add(input: Any, dim: int, index: Any, src: Any) -> Any:
    """A copy of ``input`` with ``src`` added: out[i][index[i][j]] += src[i][j] for dim 1; repeated indices add up."""
    x, index = tensor_arg("scatter_add", input), tensor_arg("scatter_add", index, "index", 3)
    src = tensor_arg("scatter_add", src, "src", 4)
    axis = one_dim("scatter_add", dim, x.array.ndim)
    if src.array.dtype != x.array.dtype:
        raise RuntimeError(f"scatter_add(): Expected self.dtype to equal src.dtype, got {x.dtype} and {src.dtype}")
    region = _same_but("scatter_add", x, index, axis)
    if src.array.ndim != index.array.ndim or any(
        n > m for n, m in zip(index.array.shape, src.array.shape, strict=True)
    ):
        raise RuntimeError(
            f"scatter_add(): Expected index {_text(index.array.shape)} to be no larger than "
            f"src {_text(src.array.shape)}"
        )
    key = tuple(slice(n) for n in index.array.shape)
    part = apply(_index.index, (src,), {"key": key})
    added = apply(_index.scatter_add, (region, index, part), {"axis": axis})
    if region is x:
        return added
    within = tuple(slice(None) if k == axis else slice(m) for k, m in enumerate(index.array.shape))
    return apply(_index.put, (x, added), {"key": within})


def index_select(input: Any, dim: int, index: Any) -> Any:
    """The slices of ``input`` at the 1-d tensor ``index`` along ``dim``."""
    x, index = tensor_arg("index_select", input), tensor_arg("index_select", index, "index", 3)
    axis = one_dim("index_select", dim, x.array.ndim)
    if index.array.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index.array.dtype.kind not in "iu":
        raise RuntimeError(f"index_select(): Expected dtype int32 or int64 for index, but got {index.array.dtype}")
    n = x.array.shape[axis] if x.array.ndim else 1
    if index.array.size and not (index.array.min() >= 0 and index.array.max() < n):
        raise IndexError(f"index_select(): index out of range in self: dimension {axis} has size {n}")
    if x.array.ndim == 0:
        return x.clone()
    return apply(_index.take, (x, index.reshape(-1)), {"axis": axis})


def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """The indices of the nonzero entries: a row for each, or a tuple with one tensor for each dim."""
    found = np.nonzero(np.atleast_1d(tensor_arg("nonzero", input).array))
    if as_tuple:
        return tuple(wrap(i) for i in found)
    return wrap(np.stack(found[: input.array.ndim], axis=1) if input.array.ndim else np.zeros((len(found[0]), 0), int))
