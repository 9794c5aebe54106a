"""Joining and splitting under PyTorch's names: cat, stack, split, chunk, unbind and their relatives."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, TypeVar

from gradwright.backends import differ, to_host
from gradwright.base import dtypes
from gradwright.base.errors import kind
from gradwright.base.errors import size as _text
from gradwright.engine.apply import apply, joining
from gradwright.engine.base import TensorBase
from gradwright.engine.numbers import is_whole, whole
from gradwright.face.functions.memory_format import contiguous_format
from gradwright.face.functions.rearrange import atleast_1d, atleast_2d, atleast_3d, constant_pad_nd
from gradwright.face.functions.shape import expand, reshape
from gradwright.face.reading.torch import (
    FIRST,
    numpy_names,
    one_dim,
    one_name,
    result_type,
    tensor_arg,
    tensor_list,
    to_dtype,
)
from gradwright.face.reading.usual import shape_of
from gradwright.native import early
from gradwright.ops import shape as _shape

if TYPE_CHECKING:
    from gradwright.face.typing import Stacking, Tensor

__all__ = [
    "_chunk_cat", "block_diag", "cat", "chunk", "column_stack", "concat", "concatenate", "dsplit", "dstack", "hsplit",
    "hstack", "meshgrid", "row_stack", "split", "split_with_sizes", "stack", "tensor_split", "unbind", "unsafe_chunk",
    "unsafe_split", "unsafe_split_with_sizes", "vsplit", "vstack",
]  # fmt: skip

_joined, _stacked = joining(_shape.concat), joining(_shape.stack)
_split_with_sizes = _shape.split.variant("SplitWithSizesBackward0")


@early("cat", _joined)
def cat(tensors: Sequence[Tensor], dim: int = FIRST, *, axis: int | None = None) -> Tensor:
    """Tensors joined end to end along ``dim``; their other dims must agree. Empty vectors are passed over."""
    if axis is None and (shape := shape_of(tensors)):
        axis = 0 if dim is FIRST else one_dim("cat", dim, len(shape))
        n = shape[axis]
        return _joined([*tensors], {"axis": axis, "ends": tuple([n * (k + 1) for k in range(len(tensors))])})
    dim = one_name("cat", dim, axis)
    items = _fitting(tensor_list("cat", tensors, empty=ValueError), dim)
    axis = one_dim("cat", dim, items[0].array.ndim)
    return _joined(items, {"axis": axis, "ends": tuple(accumulate([x.array.shape[axis] for x in items]))})


def _fitting(items: list[Any], dim: int) -> list[Any]:
    """Tensors to be joined, converted to one dtype, without empty vectors; RuntimeError if they do not fit together."""
    items = _of_one_dtype(items)
    if () in (shapes := [x.array.shape for x in items]):
        raise RuntimeError(f"cat(): zero-dimensional tensor (at position {shapes.index(())}) cannot be concatenated")
    if (0,) in shapes and set(shapes) != {(0,)}:
        items = [x for x in items if x.array.shape != (0,)]
        shapes = [x.array.shape for x in items]
    first = shapes[0]
    axis = one_dim("cat", dim, len(first))
    for i, shape in enumerate(shapes):
        if shape == first:
            continue
        if len(shape) != len(first):
            raise RuntimeError(f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)}")
        if shape[:axis] != first[:axis] or shape[axis + 1 :] != first[axis + 1 :]:
            raise RuntimeError(
                f"cat(): Sizes of tensors must match except in dimension {axis}. "
                f"Expected {_text(first)} but got {_text(shape)} for tensor number {i} in the list."
            )
    return items


def _of_one_dtype(items: list[Any]) -> list[Any]:
    """The tensors converted to the dtype they promote to."""
    first = items[0].array.dtype
    for x in items:
        if x.array.dtype is not first:
            break
    else:
        return items
    common = result_type(*items)
    return [to_dtype(x, common) for x in items]


concat = concatenate = cat


@early("stack", _stacked)
def stack(tensors: Sequence[Tensor], dim: int = FIRST, *, axis: int | None = None) -> Tensor:
    """Tensors of one shape joined along a new dim."""
    if axis is None and (shape := shape_of(tensors)):
        return _stacked([*tensors], {"axis": 0 if dim is FIRST else one_dim("stack", dim, len(shape) + 1)})
    dim = one_name("stack", dim, axis)
    items = _of_one_dtype(tensor_list("stack", tensors))
    shape = items[0].array.shape
    for i, x in enumerate(items):
        if x.array.shape != shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {_text(shape)} at entry 0 and "
                f"{_text(x.array.shape)} at entry {i}"
            )
    return _stacked(items, {"axis": one_dim("stack", dim, len(shape) + 1)})


def _stacking(name: str, widen: Callable[[Any], Any], dim: int, doc: str) -> Stacking:
    def call(tensors: Sequence[Tensor]) -> Tensor:
        items = [widen(x) for x in tensor_list(name, tensors)]
        return cat(items, 0 if items[0].array.ndim == 1 else dim)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = doc
    return call


hstack = _stacking("hstack", atleast_1d, 1, "Tensors joined side by side: vectors along dim 0, others along dim 1.")
vstack = row_stack = _stacking("vstack", atleast_2d, 0, "Tensors, vectors as rows, joined one below the other.")
dstack = _stacking("dstack", atleast_3d, 2, "Tensors, of at least three dims, joined along the third.")
column_stack = _stacking(
    "column_stack", lambda x: reshape(x, -1, 1) if x.array.ndim < 2 else x, 1, "Tensors, vectors as columns, joined."
)


def split(tensor: Tensor, split_size_or_sections: int | Sequence[int] | None = None, dim: int = 0, *,
          split_size: int | None = None) -> tuple[Tensor, ...]:  # fmt: skip
    """Views of consecutive pieces along ``dim``: of one size (the last may be smaller), or of the sizes listed."""
    x = tensor_arg("split", tensor, "tensor")
    how: Any = split_size if split_size_or_sections is None else split_size_or_sections
    if isinstance(how, (tuple, list)):
        return split_with_sizes(x, how, dim)
    if not is_whole(how):
        raise TypeError(f"split(): argument 'split_size_or_sections' must be int or a list of ints, not {kind(how)}")
    axis, n = _divided("split", x, dim)
    step = how.__index__()
    if step < 0 or (step == 0 and n):
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={step}")
    parts = tuple([min(step, n - i) for i in range(0, n, step)]) if n else (0,)
    return tuple(apply(_shape.split, (x,), {"sizes": parts, "axis": axis}))


def _divided(function: str, x: Any, dim: int) -> tuple[int, int]:
    """The dim to be divided, and its size."""
    if x.array.ndim == 0:
        raise RuntimeError(f"{function} expects at least a 1-dimensional tensor")
    axis = one_dim(function, dim, x.array.ndim)
    return axis, x.array.shape[axis]


@numpy_names
def split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Views of consecutive pieces of these sizes along ``dim``."""
    x = tensor_arg("split_with_sizes", input)
    axis, n = _divided("split_with_sizes", x, dim)
    parts = tuple(split_sizes)
    if sum(parts) != n or min(parts, default=0) < 0:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {n} "
            f"(input tensor's size at dimension {axis}), but got split_sizes={list(parts)}"
        )
    return tuple(apply(_split_with_sizes, (x,), {"sizes": parts, "axis": axis}))


@numpy_names
def tensor_split(input: Tensor, indices_or_sections: int | Sequence[int] | Tensor | None = None, dim: int = 0, *,
                 indices: Sequence[int] | None = None, sections: int | None = None,
                 tensor_indices_or_sections: Tensor | None = None) -> tuple[Tensor, ...]:  # fmt: skip
    """Views of pieces along ``dim``: so many of nearly equal size, or cut at the indices listed."""
    x = tensor_arg("tensor_split", input)
    named = (indices_or_sections, indices, sections, tensor_indices_or_sections)
    how: Any = next((h for h in named if h is not None), None)
    if isinstance(how, TensorBase):
        if how.array.ndim > 1 or dtypes.of(how.array.dtype) is not dtypes.int64:
            raise RuntimeError(
                "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor "
                f"of dtype int64, but got {how.array.ndim} dims of {dtypes.of(how.array.dtype)}"
            )
        how = to_host(how.array).tolist()
    if x.array.ndim == 0:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    axis, n = _divided("tensor_split", x, dim)
    if isinstance(how, (tuple, list)):
        return _cut(x, [None, *how, None], axis)
    if not is_whole(how):
        raise TypeError(f"tensor_split(): argument 'indices_or_sections' must be int or list of ints, not {kind(how)}")
    pieces = how.__index__()
    if pieces < 1:
        raise RuntimeError(f"number of sections must be larger than 0, got {pieces}")
    small, more = divmod(n, pieces)
    return _cut(x, [k * small + min(k, more) for k in range(pieces + 1)], axis)


def _cut(x: Any, at: Any, axis: int) -> tuple[Any, ...]:
    """Slices along an axis, each of which may be written in place, as the views that `split` gives may not."""
    cuts = [slice(a, b).indices(x.array.shape[axis])[:2] for a, b in pairwise(at)]
    return tuple(x[(*(slice(None),) * axis, slice(a, max(a, b)))] for a, b in cuts)


def _splitting(name: str, least: int, dim: int) -> Callable[..., tuple[Tensor, ...]]:
    def call(input: Tensor, indices_or_sections: int | Sequence[int] | None = None, *,
             indices: Sequence[int] | None = None, sections: int | None = None) -> tuple[Tensor, ...]:  # fmt: skip
        x = tensor_arg(name, input)
        ndim = x.array.ndim
        if ndim < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension{'s' * (least > 1)}, but got a tensor "
                f"with {ndim} dimensions!"
            )
        axis = 0 if ndim == 1 else dim
        how: Any = next((h for h in (indices_or_sections, indices, sections) if h is not None), None)
        n = x.array.shape[axis]
        if hasattr(how, "__index__") and (how.__index__() < 1 or n % how.__index__()):
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {axis}, but the size of the dimension {n} is not "
                f"divisible by the split_size {how}!"
            )
        return tensor_split(x, how, axis)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"`tensor_split` along dim {dim}" + (" (0 of a vector)." if least == 1 else ".")
    return call


hsplit, vsplit, dsplit = _splitting("hsplit", 1, 1), _splitting("vsplit", 2, 0), _splitting("dsplit", 3, 2)


def chunk(input: Tensor, chunks: int, dim: int = FIRST, *, axis: int | None = None) -> tuple[Tensor, ...]:
    """At most ``chunks`` views of equal size along ``dim``; the last may be smaller."""
    dim = one_name("chunk", dim, axis)
    x = tensor_arg("chunk", input)
    if x.array.ndim == 0:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    chunks = whole("chunk", "chunks", chunks)
    if chunks < 1:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    axis, n = _divided("chunk", x, dim)
    return split(x, -(-n // chunks), axis) if n else split_with_sizes(x, [0] * chunks, axis)


def unbind(input: Tensor, dim: int = FIRST, *, axis: int | None = None) -> tuple[Tensor, ...]:
    """Views of the slices along ``dim``, which is dropped."""
    dim = one_name("unbind", dim, axis)
    x = tensor_arg("unbind", input)
    if x.array.ndim == 0:
        raise IndexError("unbind(): Dimension specified as 0 but tensor has no dimensions")
    return tuple(apply(_shape.unstack, (x,), {"axis": one_dim("unbind", dim, x.array.ndim)}))


F = TypeVar("F", bound=Callable[..., Any])


def copied(f: F, name: str) -> F:
    """A view function whose results have memory of their own."""

    def call(input: Any, *args: Any, **kwargs: Any) -> Any:
        out = f(input, *args, **kwargs)
        dense = {"memory_format": contiguous_format}
        return tuple(x.clone(**dense) for x in out) if isinstance(out, tuple) else out.clone(**dense)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"`{f.__name__}` as a copy: the same arguments and errors, but memory of its own."
    call.__wrapped__ = f  # type: ignore[attr-defined]  # whose signature it has
    return call  # type: ignore[return-value]


unsafe_split, unsafe_chunk = copied(split, "unsafe_split"), copied(chunk, "unsafe_chunk")
unsafe_split_with_sizes = copied(split_with_sizes, "unsafe_split_with_sizes")


def meshgrid(*tensors: Tensor | Sequence[Tensor], indexing: str | None = None) -> tuple[Tensor, ...]:
    """Vectors expanded to a grid: the k-th varies along dim k ("ij"), or the first two the other way round ("xy")."""
    many = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    items = tensor_list("meshgrid", list(many))
    if indexing is None:
        warnings.warn(
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.", stacklevel=2
        )
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    for x in items:
        if x.array.ndim > 1:
            raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {x.array.ndim}D")
        if differ("meshgrid", x.array, items[0].array):
            raise RuntimeError("torch.meshgrid expects all tensors to have the same dtype")
    swap = indexing == "xy" and len(items) > 1
    if swap:
        items[:2] = items[1::-1]
    shape = tuple(x.array.size for x in items)
    grid = [expand(reshape(x, (-1,) + (1,) * (len(items) - k - 1)), shape) for k, x in enumerate(items)]
    if swap:
        grid[:2] = grid[1::-1]
    return tuple(grid)


def block_diag(*tensors: Tensor) -> Tensor:
    """Matrices (vectors as rows) along the diagonal of a larger one, zeros elsewhere."""
    if not tensors:
        raise RuntimeError("block_diag(): expected at least one tensor")
    for k, x in enumerate(tensors):
        if tensor_arg("block_diag", x, "tensors", k + 1).array.ndim > 2:
            raise RuntimeError(
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. "
                f"Input {k} has {x.array.ndim} dimensions"
            )
    blocks = [atleast_2d(x) for x in tensors]
    ends = list(accumulate(x.array.shape[1] for x in blocks))
    common = result_type(*tensors)
    return cat([
        constant_pad_nd(to_dtype(x, common), (end - x.array.shape[1], ends[-1] - end))
        for x, end in zip(blocks, ends, strict=True)
    ])  # fmt: skip


def _chunk_cat(tensors: Sequence[Tensor], dim: int, num_chunks: int) -> Tensor:
    """Each tensor cut into ``num_chunks`` along ``dim``, padded with zeros, flattened from there; chunks joined."""
    items = tensor_list("_chunk_cat", tensors)
    if num_chunks < 1:
        raise RuntimeError(f"_chunk_cat expects positive num_chunks, got: {num_chunks}")
    rows = []
    for x in items:
        axis, n = _divided("_chunk_cat", x, dim)
        step = -(-n // num_chunks)
        after = (0, 0) * (x.array.ndim - axis - 1) + (0, step * num_chunks - n)
        rows.append(reshape(constant_pad_nd(x, after), (*x.array.shape[:axis], num_chunks, -1)))
    return cat(rows, axis + 1)
