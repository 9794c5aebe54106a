"""Parts and windows of a tensor under PyTorch's names, what is written into them, and views as copies."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwright.backends import common
from gradwright.base import dtypes
from gradwright.base.errors import size as _text
from gradwright.engine.apply import apply
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.levels import LevelArray
from gradwright.engine.memory import layout, leave, share, writable
from gradwright.engine.mode import inside, is_grad_enabled, is_inference_mode_enabled, recording, resumed
from gradwright.engine.node import AccumulateGrad, NotDifferentiable
from gradwright.engine.numbers import whole
from gradwright.engine.version import bump
from gradwright.engine.view import alias_of, check_history, check_tracked, show
from gradwright.face.functions.diagonal import diagonal
from gradwright.face.functions.join import copied, split, split_with_sizes, unbind
from gradwright.face.functions.memory_format import contiguous_format, lies_in, order_of, preserve_format, suggested
from gradwright.face.functions.shape import clone, expand, permute, rearranging, squeeze, t, transpose, unsqueeze, view
from gradwright.face.reading.torch import numpy_names, one_dim, sizes, tensor_arg
from gradwright.function.ctx_attributes import replaced
from gradwright.function.watched.in_backward import aside
from gradwright.native import early
from gradwright.ops import index as _index
from gradwright.ops import shape as _shape

if TYPE_CHECKING:
    from gradwright.face.methods.storage import UntypedStorage
    from gradwright.face.typing import MemoryFormat, Tensor

__all__ = [
    "alias_copy", "as_strided", "as_strided_", "as_strided_copy", "as_strided_scatter", "detach", "detach_copy",
    "diagonal_copy", "diagonal_scatter", "expand_copy", "narrow", "narrow_copy", "permute_copy", "resize_as_",
    "select", "select_copy", "select_scatter", "slice_copy", "slice_scatter", "split_copy", "split_with_sizes_copy",
    "squeeze_copy", "t_copy", "transpose_copy", "unbind_copy", "unfold_copy", "unsqueeze_copy", "view_copy",
]  # fmt: skip

_slice = _index.index
_select = _slice.variant("SelectBackward0")
_windows = _index.restride.variant("UnfoldBackward0")
_strided = _index.restride


def _integer(function: str, name: str, value: Any) -> int:
    """An int, also from a 0-d tensor of integers."""
    if isinstance(value, TensorBase) and (value.array.ndim or dtypes.kind(value.array.dtype) not in "iu"):
        raise RuntimeError(f"{name} must be an 0-dim integral Tensor.")
    return int(value.array) if isinstance(value, TensorBase) else whole(function, name, value)


@numpy_names
def narrow(input: Tensor, dim: int, start: Tensor | int, length: int) -> Tensor:
    """A view of ``length`` entries from ``start`` along ``dim``."""
    x = tensor_arg("narrow", input)
    if not x.array.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    axis, start = one_dim("narrow", dim, x.array.ndim), _integer("narrow", "start", start)
    n, length = x.array.shape[axis], whole("narrow", "length", length)
    first = start + n if start < 0 else start
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if not -n <= start <= n:
        raise IndexError(f"start out of range (expected to be in range of [{-n}, {n}], but got {start})")
    if first + length > n:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return apply(_slice, (x,), {"key": (slice(None),) * axis + (slice(first, first + length), ...)})


@numpy_names
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """A view of the slice at ``index`` along ``dim``, which is dropped."""
    x = tensor_arg("select", input)
    if x.array.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    axis, k = one_dim("select", dim, x.array.ndim), _integer("select", "index", index)
    n = x.array.shape[axis]
    if not -n <= k < n:
        where = f"tensor of size {_text(x.array.shape)} at dimension {axis}"
        raise IndexError(f"select(): index {k} out of range for {where}")
    return apply(_select, (x,), {"key": (slice(None),) * axis + (k, ...)})


def slice_view(input: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor:
    """A view of every ``step``-th slice along ``dim``, from ``start`` to below ``end``."""
    x = tensor_arg("slice", input)
    if not x.array.ndim:
        raise RuntimeError("slice() cannot be applied to a 0-dim tensor.")
    if step < 1:
        raise RuntimeError("slice step must be positive")
    axis = one_dim("slice", dim, x.array.ndim)
    return apply(_slice, (x,), {"key": (slice(None),) * axis + (slice(start, end, step), ...)})


def strides(array: Any) -> tuple[int, ...]:
    """How many elements apart neighbours along each dim of an array lie."""
    dense, size = row_major(array.shape), array.itemsize
    if not array.size and not any(array.strides):  # NumPy makes empty ones so
        return dense
    return tuple(s // size if s or n > 1 else d for s, n, d in zip(array.strides, array.shape, dense, strict=True))


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of an array of this shape that lies in row-major order without gaps."""
    return tuple(math.prod(max(n, 1) for n in shape[k + 1 :]) for k in range(len(shape)))


def _layout(x: Any) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """How a tensor lies in its memory: shape, stride of each dim, and where it starts, all in elements."""
    writable(x)
    array, start = layout(x), 0
    if array.base is not None:
        start = array.__array_interface__["data"][0] - _owner(array).__array_interface__["data"][0]
    return array.shape, tuple(s // array.itemsize for s in array.strides), start // array.itemsize


def _owner(array: Any) -> Any:
    while hasattr(array.base, "__array_interface__"):
        array = array.base
    return array


def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """A view of windows of ``size`` entries, ``step`` apart, along ``dimension``; the window is the last dim."""
    x = tensor_arg("unfold", self)
    axis = one_dim("unfold", dimension, x.array.ndim, "dimension")
    n = x.array.shape[axis] if x.array.ndim else 1
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > n:
        raise RuntimeError(f"maximum size for tensor at dimension {axis} is {n} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    if not x.array.ndim:
        return x[None][:size]
    shape, strides, start = _layout(x)
    lead, tail = (slice(axis), slice(axis + 1, None))
    target = (
        (*shape[lead], (n - size) // step + 1, *shape[tail], size),
        (*strides[lead], strides[axis] * step, *strides[tail], strides[axis]),
        start,
    )
    return apply(_windows, (x,), {"source": (shape, strides, start), "target": target})


def as_strided(input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Tensor:
    """A view of the memory behind ``input``: one step along dim k moves ``stride[k]`` elements on.

    Gradients flow to the entries of ``input``, not to those of its memory that it does not show.
    Raises RuntimeError where it would leave the memory.
    """
    x = tensor_arg("as_strided", input)
    shape, steps = sizes("as_strided", (size,)), sizes("as_strided", (stride,))
    source = _layout(x)
    start = source[2] if storage_offset is None else storage_offset
    if len(shape) != len(steps):
        raise RuntimeError(f"mismatch in length of strides and shape: {_text(shape)} and {_text(steps)}")
    if min((*shape, *steps, start), default=0) < 0:
        raise RuntimeError(
            f"as_strided: Negative sizes, strides and offsets are not supported, got size {_text(shape)}, stride "
            f"{_text(steps)}, storage_offset {start}"
        )
    array = layout(x)
    room = _owner(array).nbytes // array.itemsize
    last = start + sum((n - 1) * s for n, s in zip(shape, steps, strict=True))
    if math.prod(shape) and last >= room:
        raise RuntimeError(
            f"setStorage: sizes {_text(shape)}, strides {_text(steps)}, storage offset {start} requiring a storage of "
            f"{last + 1} elements are out of bounds for storage of {room}"
        )
    if storage_offset is not None and isinstance(x.array, LevelArray) and _begins_within(x.array):
        raise RuntimeError(
            f"as_strided: storage_offset {start} counts from where the memory begins; the tensor begins further on. "
            "A transform knows of memory what the tensor shows: leave storage_offset out, or clone() first"
        )
    target = (shape, steps, start)
    out = apply(_strided, (x,), {"source": source, "target": target})
    if out._view is not None and x._view is not None:  # x may not show all of the memory that a write would change
        out._view.steps = ((), (_strided, {"source": _layout(out._view.base), "target": target}))
    return out


def _begins_within(array: LevelArray) -> bool:
    """Whether a tensor in forward mode begins elsewhere than its memory; each example of a batch has its own."""
    plain = array.plain
    return plain.ndim == array.ndim and isinstance(plain, np.ndarray) and _layout(wrap(plain))[2] > 0


def _scatter(read: Callable[..., Any], name: str) -> Callable[..., Tensor]:
    """The function (x, src, *where): a copy of x in which the view that ``read(x, *where)`` takes is ``src``."""
    node = "".join(w.title() for w in name.split("_"))
    op = _index.write_view.variant(f"{node}Backward0")

    def call(input: Tensor, src: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        x, src = tensor_arg(name, input), tensor_arg(name, src, "src", 2)
        whole = share(wrap(x.array, None, [0]), x)  # the steps of a view of a tensor that is none
        shown = inside(partial(recording, False), resumed, read, whole, *args, **kwargs)
        shape = shown.array.shape
        if src.array.shape != shape:
            raise RuntimeError(
                f"expected src to have a size equal to the {read.__name__} of self. "
                f"src size = {_text(src.array.shape)}, {read.__name__} size = {_text(shape)}"
            )
        if src.array.dtype != x.array.dtype:
            src = src.to(x.array.dtype)

        return apply(op, (x, src), {"steps": shown._view.steps})

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"A copy of ``input`` in which its `{read.__name__}` is ``src``."
    return call


select_scatter, slice_scatter = _scatter(select, "select_scatter"), _scatter(slice_view, "slice_scatter")
diagonal_scatter = _scatter(diagonal, "diagonal_scatter")
as_strided_scatter = _scatter(as_strided, "as_strided_scatter")


def alias(input: Tensor) -> Tensor:
    """The same memory under another name, with history."""
    return apply(_shape.alias, (tensor_arg("alias", input),), {})


@early("detach")
def detach(input: Tensor) -> Tensor:
    """The same memory without history."""
    return aside(input, alias_of(tensor_arg("detach", input)), "detach()")


detach_copy = copied(detach, "detach_copy")
as_strided_ = rearranging(as_strided)
alias_copy, as_strided_copy, diagonal_copy, expand_copy, narrow_copy, permute_copy = (
    copied(f, f"{f.__name__}_copy") for f in (alias, as_strided, diagonal, expand, narrow, permute)
)
select_copy, slice_copy, split_copy, split_with_sizes_copy, squeeze_copy, t_copy = (
    copied(f, f"{f.__name__.removesuffix('_view')}_copy")
    for f in (select, slice_view, split, split_with_sizes, squeeze, t)
)
transpose_copy, unbind_copy, unfold_copy, unsqueeze_copy, view_copy = (
    copied(f, f"{f.__name__}_copy") for f in (transpose, unbind, unfold, unsqueeze, view)
)


def contiguous(self: Tensor, *, memory_format: MemoryFormat = contiguous_format) -> Tensor:
    """Itself if its elements lie in the order of the format (row-major) without gaps, else a copy in which they do.

    RuntimeError for a format of another number of dims.
    """
    if lies_in("contiguous", self, memory_format):
        return self
    order_of("contiguous", memory_format, self.array.ndim)
    return clone(self, memory_format=memory_format)


def storage_offset(self: Tensor) -> int:
    """How many elements from the start of its memory its first element lies."""
    return _layout(self)[2]


def set_(self: Tensor, source: Tensor | UntypedStorage | None = None, storage_offset: int = 0,
         size: Sequence[int] | None = None, stride: Sequence[int] | None = None) -> Tensor:  # fmt: skip
    """Let this tensor show the memory of ``source``, which from then on they share without sharing versions.

    Of a storage, or with a size, it shows entries of that from ``storage_offset`` on (of a tensor, after its first), of
    the size and strides named, by default all of them, row by row. RuntimeError for a leaf that requires grad, for an
    inference tensor outside inference mode, for another dtype, and for more entries than there are. There is no
    derivative: what was recorded of either cannot be gone back through.
    """
    x = tensor_arg("set_", self)
    other = x.new_empty(0) if source is None else _shown(x, source, storage_offset, size, stride)
    common("set_", (x.array, other.array))
    if other.array.dtype != x.array.dtype:
        raise RuntimeError(
            f"Could not set tensor of type {dtypes.of(other.array.dtype)} to a tensor of type "
            f"{dtypes.of(x.array.dtype)}"
        )
    check_tracked(x)
    check_history(x)
    show(x, other)
    times = replaced(x._counter) + 1
    bump(x._counter)
    x._counter[2:] = (times,)
    if type(x._node) is AccumulateGrad and is_inference_mode_enabled():
        x._node._array = x.array
    elif type(x._node) is AccumulateGrad:  # earlier results lead to the leaf that it was
        hooks, x._node = x._node._hooks, None
        x._node = AccumulateGrad(x)
        x._node._hooks = hooks
    elif is_grad_enabled():
        recorded = next((t for t in (x, other) if t.requires_grad), None)
        if recorded is not None:
            x._node = NotDifferentiable(recorded._node, "set_")
    return x


def _shown(x: Any, source: Any, start: int, size: Any, stride: Any) -> Any:
    """What ``x`` is to show of the memory of a tensor, or of a storage, whose bytes have no dtype."""
    owner = getattr(source, "_owner", None)
    if owner is None and not start and size is None:
        return tensor_arg("set_", source, "source", 2)
    array = writable(tensor_arg("set_", source if owner is None else owner, "source", 2))
    if array.__class__ is not np.ndarray:
        raise RuntimeError("set_(): expected memory on the CPU where a storage, an offset or a size is given; take a "
                           "view, as by as_strided(), and set_() that")  # fmt: skip
    memory = _owner(array).reshape(-1, order="A").view(np.uint8)
    dtype = array.dtype if owner is None else x.array.dtype
    start += _layout(source)[2] if owner is None else 0
    each = dtype.itemsize
    flat = memory[: memory.size // each * each].view(dtype)
    shape = (max(flat.size - start, 0),) if size is None else sizes("set_", (size,))
    steps = row_major(shape) if stride is None else sizes("set_", (stride,))
    last = start + sum((n - 1) * s for n, s in zip(shape, steps, strict=False))
    beyond = len(shape) != len(steps) or (0 not in shape and last >= flat.size)
    if beyond or min((start, *shape, *steps)) < 0:
        raise RuntimeError(f"set_(): size {_text(shape)} with stride {_text(steps)} from storage_offset {start} does "
                           f"not fit the {flat.size} entries of the memory: see Tensor.resize_")  # fmt: skip
    return wrap(np.lib.stride_tricks.as_strided(flat[min(start, flat.size) :], shape, [s * each for s in steps]))


def resize_(self: Tensor, *size: int | Sequence[int], memory_format: MemoryFormat | None = None) -> Tensor:
    """Give this tensor, which must need no gradient, another size in the order of the format, row-major by default.

    What its memory holds stays. If that is too small, the tensor gets its own, in which new entries are 0.
    """
    shape = sizes("resize_", size, "size")
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    if min(shape, default=0) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(shape)}: {_text(shape)}")
    if shape == self.array.shape and memory_format is None:
        return self
    order = order_of("resize_", memory_format or contiguous_format, len(shape)) or tuple(range(len(shape)))
    n, (_, _, start) = math.prod(shape), _layout(self)
    array = layout(self)
    if start + n <= _owner(array).nbytes // array.itemsize:
        inner = row_major(tuple(shape[k] for k in order))
        return as_strided_(self, shape, tuple(inner[order.index(k)] for k in range(len(shape))), start)
    check_tracked(self)
    flat = _shape.reshape(self.array, shape=(-1,))
    leave(self)
    self.array = _shape.reshape(_shape.constant_pad_nd(flat, pad=((0, n - flat.size),), value=0), shape=shape)
    self._view = None
    bump(self._counter)
    return self if memory_format is None else resize_(self, shape, memory_format=memory_format)


def resize_as_(self: Tensor, the_template: Tensor, *, memory_format: MemoryFormat | None = None) -> Tensor:
    """`resize_` to the size of another tensor; ``preserve_format`` is the format of that."""
    template = tensor_arg("resize_as_", the_template, "the_template", 2)
    wanted = suggested(template) if memory_format is preserve_format else memory_format
    return resize_(self, template.array.shape, memory_format=wanted)
