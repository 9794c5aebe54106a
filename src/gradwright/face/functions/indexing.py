"""Reading and writing by index and by mask under PyTorch's names."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from operator import index
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from gradwright import backends
from gradwright.backends.generic import HERE
from gradwright.base import dtypes
from gradwright.base.errors import kind
from gradwright.base.errors import size as _text
from gradwright.engine.apply import apply, direct
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.levels import LevelArray, followed
from gradwright.engine.view import assign, catch_up, unhooked
from gradwright.face.functions.forms import inplace
from gradwright.face.functions.join import stack
from gradwright.face.functions.keys import in_range, key_of, located, own_mask, shape_at, winning
from gradwright.face.functions.rearrange import constant_pad_nd
from gradwright.face.functions.shape import broadcast_shapes, broadcast_tensors, expand, flatten, reshape
from gradwright.face.reading import overwrite
from gradwright.face.reading.require import require, within
from gradwright.face.reading.torch import (
    NUMBER,
    counted,
    number_as,
    number_beside,
    numpy_names,
    one_dim,
    tensor_arg,
    to_dtype,
)
from gradwright.face.reading.usual import of_ints_and_slices
from gradwright.native import early
from gradwright.ops import index as _index
from gradwright.ops import piecewise as _piecewise
from gradwright.ops import scan as _scan
from gradwright.ops import scatter as _scatter
from gradwright.ops import sets as _sets
from gradwright.ops import shape as _shape

if TYPE_CHECKING:
    from gradwright.face.typing import Index, Number, Tensor, TensorLike

__all__ = [
    "_unsafe_masked_index", "_unsafe_masked_index_put_accumulate", "argwhere", "fill", "fill_", "index_put",
    "index_put_", "is_nonzero", "masked_scatter", "masked_select", "nonzero", "nonzero_static", "put", "take",
    "take_along_dim", "unravel_index", "zero_",
]  # fmt: skip

_copied = _shape.copy.variant("CopyBackwards")
_select, _slice = direct(_index.index.variant("SelectBackward0")), direct(_index.index)
_masked, _taken = (_index.at.variant(f"{name}Backward0") for name in ("MaskedSelect", "Take"))
_masked_scattered, _put, _filled = (_index.put.variant(f"{n}Backward0") for n in ("MaskedScatter", "Put", "Fill"))


@early("index", _select, _slice)
def getitem(self: Tensor, key: Index) -> Tensor:
    """``self[key]``: a view for ints, slices, None and ``...``; a copy for index tensors and masks."""
    if key.__class__ is int:
        return _select(self, {"key": (key, ...)})
    if key.__class__ is slice and key.step is None:
        return _slice(self, {"key": (key, ...)})
    if key.__class__ is tuple and of_ints_and_slices(key):
        return (_select if key[0].__class__ is int else _slice)(self, {"key": (*key, ...)})
    x, parts, places = located(self, key)
    if places:
        return apply(_index.at, (x, *places), {"key": parts})
    return (_select if isinstance(parts[0], int) else _slice)(x, {"key": parts})


def setitem(self: Tensor, key: Index, value: TensorLike) -> None:
    """``self[key] = value``, in place, with history; ``value`` broadcasts to the shape of ``self[key]``.

    Without index tensors and masks it is copied from whatever device, as by `copy_`.
    """
    x, parts, places = located(self, key)
    if places:
        assign(x, _put_at("__setitem__", unhooked(x), parts, places, value))
    elif not overwrite.part(x, parts, value):
        region = _slice(x, {"key": parts})
        region._counter = self._counter  # be it an inference tensor's
        if isinstance(value, TensorBase) and not value.array.__class__ is x.array.__class__ is np.ndarray:
            value = value.to(region.device)
        assign(region, _fitted("__setitem__", value, region, region.array.shape))


def _put_at(function: str, x: Any, key: Any, places: Sequence[Any], value: Any) -> Any:
    """A copy of ``x`` with a value, broadcast and converted, at an index of arrays."""
    mask = own_mask(key, places)
    if mask is not None and (isinstance(value, NUMBER) or getattr(value, "ndim", 1) == 0):
        mask = reshape(mask, (*mask.array.shape, *(1,) * (x.array.ndim - mask.array.ndim)))
        return apply(_piecewise.where, (mask, _fitted(function, value, x, ()), x), {})
    if isinstance(value, NUMBER):
        value = number_beside(function, value, x)
    else:
        value = _fitted(function, value, x, shape_at(function, x, key, places))
        value = winning(value, x, key, places)
    return apply(_index.put, (x, value, *places), {"key": key})


def _fitted(function: str, value: Any, like: Any, target: tuple[int, ...]) -> Any:
    """A value to be copied into ``like``: of its dtype, broadcast to shape ``target``, with a node of its own."""
    if isinstance(value, np.ndarray):
        value = wrap(value)
    elif not isinstance(value, TensorBase):
        if not isinstance(value, NUMBER):
            raise TypeError(f"{function}: can't assign a {kind(value)} to a tensor")
        value = number_beside(function, value, like)
    if value._view is not None:
        catch_up(value)
    shape = value.array.shape
    while len(shape) > len(target) and shape[0] == 1:
        value, shape = value.squeeze(0), shape[1:]
    if not _shape.broadcasts(shape, target):
        raise RuntimeError(f"shape mismatch: value tensor of shape {_text(shape)} cannot be broadcast to indexing "
                           f"result of shape {_text(target)}")  # fmt: skip
    value = to_dtype(value, like.array.dtype)
    if value.array.shape != target:
        value = expand(value, target)
    return apply(_copied, (value,), {}) if followed(value) else value


def copy_(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Copy ``src``, broadcast, converted and moved, into this tensor; gradients flow to ``src``."""
    shape, source = self.array.shape, tensor_arg("copy_", src, "other", 2)
    if source.array.ndim > len(shape):
        got = _text(source.array.shape)
        raise RuntimeError(f"output with shape {_text(shape)} doesn't match the broadcast shape {got}")
    if overwrite.copy(self, source):
        return self
    return assign(self, _fitted("copy_", source.to(self.device), self, shape))


def _spread(function: str, x: Any, value: Any) -> Any:
    """A number or 0-d tensor in the shape and dtype of ``x``."""
    if isinstance(value, TensorBase) and value.array.ndim:
        dims = value.array.ndim
        raise RuntimeError(f"{function} only supports 0-dimension value tensor but got tensor with {dims} dimensions.")
    return _fitted(function, value, x, x.array.shape)


def fill(input: Tensor, value: Tensor | Number) -> Tensor:
    """``value``, a number or a 0-d tensor, in the shape and dtype of ``input``, to which zeros flow back."""
    x = tensor_arg("fill", input)
    return apply(_filled, (x, _spread("fill", x, value)), {"key": (...,)})


def fill_(self: Tensor, value: Tensor | Number) -> Tensor:
    """Set every entry to ``value``, a number or a 0-d tensor."""
    return assign(self, _spread("fill_", self, value), uniform=True)


def zero_(self: Tensor) -> Tensor:
    """Set every entry to 0."""
    return fill_(self, 0)


def index_put(input: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False) -> Tensor:
    """A copy of ``input`` with ``input[indices] = values``; with ``accumulate`` they are added, repeated ones too.

    An index of None stands for all of its dim.
    """
    x, values = tensor_arg("index_put", input), tensor_arg("index_put", values, "values", 3)
    key, places = key_of(tuple(slice(None) if k is None else k for k in indices), x)
    in_range(x, key, places)
    if backends.differ("index_put", values.array, x.array):
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{dtypes.of(x.array.dtype)} for the destination and {dtypes.of(values.array.dtype)} for the source."
        )
    if not accumulate:
        return _put_at("index_put", x, key, places, values)
    values = _fitted("index_put", values, x, shape_at("index_put", x, key, places))
    return apply(_index.add_at, (x, values, *places), {"key": key})


index_put_ = inplace(index_put)


def fill_diagonal_(self: Tensor, fill_value: Number, wrap: bool = False) -> Tensor:
    """Set the entries whose indices are all equal; with ``wrap`` a tall matrix has another diagonal below each."""
    shape = self.array.shape
    if len(shape) < 2:
        raise RuntimeError("dimensions must larger than 1")
    if len(shape) > 2 and len(set(shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    step = sum(prod(shape[k + 1 :]) for k in range(len(shape)))
    stop = prod(shape) if wrap or len(shape) > 2 else min(prod(shape), shape[1] * shape[1])
    places = reshape(counted(self, prod(shape)), shape)
    number = number_as("fill_diagonal_", fill_value, self.array.dtype).item()
    setitem(self, ((places % step == 0) & (places < stop),), number)
    return self


def _mask(function: str, mask: Any) -> Any:
    tensor_arg(function, mask, "mask", 2)
    if dtypes.kind(mask.array.dtype) != "b":
        raise RuntimeError(f"{function}: expected BoolTensor for mask, but got {dtypes.of(mask.array.dtype)}")
    return mask


def _alike(x: Any, mask: Any) -> tuple[Any, ...]:
    """Both broadcast to their common shape."""
    return broadcast_tensors(x, mask) if x.array.shape != mask.array.shape else (x, mask)


def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The entries where the mask, broadcast together with ``input``, is True, in one dim."""
    x, where = _alike(tensor_arg("masked_select", input), _mask("masked_select", mask))
    return apply(_masked, (x, where), {"key": (HERE,)})


def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """A copy of ``input`` in which the entries where the mask is True are, in order, the first ones of ``source``."""
    x, where = _alike(tensor_arg("masked_scatter", input), _mask("masked_scatter", mask))
    source = tensor_arg("masked_scatter", source, "source", 3)
    if backends.differ("masked_scatter", source.array, x.array):
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes but got "
            f"{dtypes.of(x.array.dtype)} and {dtypes.of(source.array.dtype)}"
        )
    if isinstance(where.array, LevelArray):
        return _scattered(x, where, flatten(source))
    n = int(where.sum())
    if n > source.array.size:
        raise RuntimeError(
            f"masked_scatter: expected self and source to have enough elements: the mask has {n} ones, source "
            f"{source.array.size} elements"
        )
    return apply(_masked_scattered, (x, flatten(source)[:n], where), {"key": (HERE,)})


def _scattered(x: Any, where: Any, source: Any) -> Any:
    """`masked_scatter` by a mask that is another one in each example: each place knows how many come before it."""
    places = apply(_scan.cumulative_sum, (to_dtype(flatten(where), dtypes.int64),), {"axis": 0})
    size = source.array.shape[0]
    if places.array.shape[0]:
        require(places[-1].array <= size, "masked_scatter: expected self and source to have enough elements: a mask "
                f"has more ones than the {size} elements of source")  # fmt: skip
    if not size:
        return x.clone()
    taken = take(source, (places - 1) % size)
    return apply(_piecewise.where, (where, reshape(taken, x.array.shape), x), {})


def _places(function: str, x: Any, index: Any) -> Any:
    """An index into the flattened tensor, checked."""
    where = tensor_arg(function, index, "index", 2).array
    if dtypes.of(where.dtype) is not dtypes.int64:
        raise RuntimeError(f"{function}(): Expected a long tensor for index, but got {dtypes.of(where.dtype)}")
    n = x.array.size
    if where.size and not n:
        raise IndexError(f"{function}(): tried to take from an empty tensor")
    within(where, -n, n - 1, lambda _: (
        f"{function}(): out of range: tried to access an index beyond the {n} elements of the tensor"), IndexError
    )  # fmt: skip
    return index


def take(input: Tensor, index: Tensor) -> Tensor:
    """The entries of the flattened tensor at these places, in the shape of ``index``."""
    x = tensor_arg("take", input)
    return apply(_taken, (flatten(x), _places("take", x, index)), {"key": (HERE,)})


def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """A copy of ``input`` with ``source`` at these places of the flattened tensor, written or added."""
    x, source = tensor_arg("put", input), tensor_arg("put", source, "source", 3)
    where = _places("put_", x, index)
    if backends.differ("put", source.array, x.array):
        raise RuntimeError(
            f"put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{dtypes.of(x.array.dtype)} and source.dtype = {dtypes.of(source.array.dtype)}"
        )
    if source.array.size != where.array.size:
        raise IndexError(
            f"put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{source.array.size}, index.numel() = {where.array.size}"
        )
    flat, source, key = flatten(x), reshape(source, where.array.shape), (HERE,)
    if accumulate:
        out = apply(_index.add_at, (flat, source, where), {"key": key})
    else:
        out = apply(_put, (flat, winning(source, flat, key, [where]), where), {"key": key})
    return reshape(out, x.array.shape)


@numpy_names
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """Entries at ``indices`` along ``dim`` (of the flattened tensor if None); the other dims broadcast."""
    x, indices = tensor_arg("take_along_dim", input), tensor_arg("take_along_dim", indices, "indices", 2)
    if dtypes.of(indices.array.dtype) is not dtypes.int64:
        raise RuntimeError(
            f"torch.take_along_dim(): dtype of indices should be Long but got {dtypes.of(indices.array.dtype)}"
        )
    if dim is None:
        return take_along_dim(flatten(x), flatten(indices), 0)
    if x.array.ndim != indices.array.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{x.array.ndim} dimensions for input, and {indices.array.ndim} dimensions for indices"
        )
    axis = one_dim("take_along_dim", dim, x.array.ndim)
    a, b = (list(y.array.shape) for y in (x, indices))
    a[axis] = b[axis] = 1
    shape = list(broadcast_shapes(tuple(a), tuple(b)))
    sized = [[*shape[:axis], y.array.shape[axis], *shape[axis + 1 :]] for y in (x, indices)]
    x, where = expand(x, sized[0]), expand(indices, sized[1])
    n = x.array.shape[axis]
    within(where.array, -n, n - 1, lambda _: (
        f"take_along_dim(): index out of bounds for dimension {axis} with size {n}"))  # fmt: skip
    return apply(_scatter.take_along_axis, (x, where % max(n, 1)), {"axis": axis})


@overload
def nonzero(input: Tensor, *, as_tuple: Literal[False] = False) -> Tensor: ...
@overload
def nonzero(input: Tensor, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ...
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Tensor | tuple[Tensor, ...]:
    """The indices of the nonzero entries: a row for each, or a tuple with one tensor for each dim."""
    x = tensor_arg("nonzero", input)
    found = apply(_sets.nonzero, (reshape(x, 1) if not x.array.ndim else x,), {})
    if as_tuple:
        return tuple(found)
    return stack(found, 1) if x.array.ndim else reshape(found[0][:0], (int(found[0].array.shape[0]), 0))


def argwhere(input: Tensor) -> Tensor:
    """The indices of the nonzero entries, a row for each."""
    return nonzero(input)


def is_nonzero(input: Tensor) -> bool:
    """Whether the one entry of ``input`` is not 0; RuntimeError if it has none or several."""
    return bool(tensor_arg("is_nonzero", input))


def unravel_index(indices: Tensor, shape: Sequence[int]) -> tuple[Tensor, ...]:
    """For places in row-major order of a tensor of this shape: their indices, a tensor for each dim."""
    where = tensor_arg("unravel_index", indices, "indices").array
    if dtypes.kind(where.dtype) not in "iu":
        raise ValueError(f"expected 'indices' to be integer dtype, but got {dtypes.of(where.dtype)}")
    size = tuple(map(index, (shape,) if hasattr(shape, "__index__") else shape))
    return tuple(indices // prod(size[k + 1 :]) % n for k, n in enumerate(size))


def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """The first ``size`` rows of `nonzero`, filled up with ``fill_value``."""
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    found = nonzero(input)[:size]
    return constant_pad_nd(found, (0, 0, 0, size - found.array.shape[0]), fill_value)


def _unsafe_masked_index(x: Tensor, mask: Tensor, indices: list[Tensor | None] | tuple[Tensor | None, ...] | None,
                         fill: Number) -> Tensor:  # fmt: skip
    """``x[indices]`` where the mask holds, whose other indices may be out of range; ``fill`` elsewhere."""
    return getitem(x, _safe(x, mask, indices)).masked_fill(mask.logical_not(), fill)


def _unsafe_masked_index_put_accumulate(x: Tensor, mask: Tensor,
                                        indices: list[Tensor | None] | tuple[Tensor | None, ...] | None,
                                        values: Tensor) -> Tensor:  # fmt: skip
    """A copy of ``x`` with ``values`` added at the indices where the mask holds."""
    return index_put(x, _safe(x, mask, indices), values.masked_fill(mask.logical_not(), 0), accumulate=True)


def _safe(x: Any, mask: Any, indices: Any) -> tuple[Any, ...]:
    """Indices brought into range; what they then name outside the mask does not matter."""
    limits = zip(indices, x.array.shape, strict=False)
    return tuple(slice(None) if i is None else i.clamp(0, max(n - 1, 0)) for i, n in limits)
