"""Views and rearrangements under PyTorch's names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gradwright.autograd.apply import apply
from gradwright.autograd.base import TensorBase
from gradwright.errors import kind
from gradwright.errors import size as _text
from gradwright.face.arguments import one_dim, result_type, sizes, tensor_arg, tensor_list, to_dtype
from gradwright.ops import index as _index
from gradwright.ops import shape as _shape

__all__ = [
    "broadcast_to", "cat", "chunk", "clone", "concat", "concatenate", "diag", "diagonal", "flatten", "flip",
    "movedim", "narrow", "permute", "ravel", "reshape", "roll", "select", "split", "squeeze", "stack", "swapaxes",
    "t", "transpose", "tril", "triu", "unbind", "unflatten", "unsqueeze",
]  # fmt: skip

_t = _shape.permute_dims.variant("TBackward0")
_transposed = _shape.permute_dims.variant("TransposeBackward0")
_select = _index.index.variant("SelectBackward0")
_slice = _index.index.variant("SliceBackward0")


def _inferred(function: str, x: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape with its -1, if it has one, worked out; RuntimeError if the number of elements does not fit."""
    n = math.prod(x.array.shape)
    if shape.count(-1) > 1:
        raise RuntimeError(f"{function}(): only one dimension can be inferred, but got shape {_text(shape)}")
    if any(s < -1 for s in shape):
        raise RuntimeError(f"{function}(): invalid shape dimension in {_text(shape)}")
    if -1 in shape:
        rest = math.prod(s for s in shape if s != -1)
        if rest == 0 or n % rest:
            raise RuntimeError(f"shape '{_text(shape)}' is invalid for input of size {n}")
        return tuple(n // rest if s == -1 else s for s in shape)
    if math.prod(shape) != n:
        raise RuntimeError(f"shape '{_text(shape)}' is invalid for input of size {n}")
    return shape


def reshape(input: Any, *shape: Any) -> Any:
    """The same entries under another shape (one size may be -1); a view where memory allows it, else a copy."""
    x = tensor_arg("reshape", input)
    return apply(_shape.reshape, (x,), {"shape": _inferred("reshape", x, sizes("reshape", shape))})


def view(self: Any, *shape: Any) -> Any:
    """The same memory under another shape; RuntimeError where only a copy could have it. A dtype reinterprets bits."""
    if len(shape) == 1 and not isinstance(shape[0], (int, tuple, list)) and not hasattr(shape[0], "__index__"):
        raise TypeError(f"view(): argument 'size' must be ints or a tuple of ints, but got {shape[0]!r}")
    out = apply(_shape.reshape, (self,), {"shape": _inferred("view", self, sizes("view", shape))})
    if out._view is None and out.array.size and out.array.ndim and self.array.ndim:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return out


def view_as(self: Any, other: Any) -> Any:
    """``self`` viewed in the shape of ``other``."""
    return view(self, tensor_arg("view_as", other, "other", 2).array.shape)


def reshape_as(self: Any, other: Any) -> Any:
    """``self`` reshaped to the shape of ``other``."""
    return reshape(self, tensor_arg("reshape_as", other, "other", 2).array.shape)


def permute(input: Any, *dims: Any) -> Any:
    """A view with its dims in the given order."""
    x = tensor_arg("permute", input)
    axes = tuple(one_dim("permute", d, x.array.ndim, "dims") for d in sizes("permute", dims))
    if sorted(axes) != list(range(x.array.ndim)):
        raise RuntimeError(f"permute(): dims {list(dims)} must name each of the {x.array.ndim} dims of input once")
    return apply(_shape.permute_dims, (x,), {"axes": axes})


def transpose(input: Any, dim0: int, dim1: int) -> Any:
    """A view with two dims swapped."""
    x = tensor_arg("transpose", input)
    axes = list(range(x.array.ndim))
    if axes:
        a = one_dim("transpose", dim0, x.array.ndim, "dim0")
        b = one_dim("transpose", dim1, x.array.ndim, "dim1")
        axes[a], axes[b] = b, a
    return apply(_transposed, (x,), {"axes": tuple(axes)})


swapaxes = swapdims = transpose


def movedim(input: Any, source: Any, destination: Any) -> Any:
    """A view with dims ``source`` moved to ``destination``, the others keeping their order."""
    x = tensor_arg("movedim", input)
    n = x.array.ndim
    ends = [d if isinstance(d, (tuple, list)) else (d,) for d in (source, destination)]
    src, dst = ([one_dim("movedim", d, n) for d in e] for e in ends)
    if len(src) != len(dst):
        raise RuntimeError(f"movedim(): source has {len(src)} dims, destination {len(dst)}")
    if len(set(src)) < len(src) or len(set(dst)) < len(dst):
        raise RuntimeError(f"movedim(): a dim appears twice in source {src} or destination {dst}")
    order = [d for d in range(n) if d not in src]
    for to, come in sorted(zip(dst, src, strict=True)):
        order.insert(to, come)
    return permute(x, order)


def t(input: Any) -> Any:
    """A matrix transposed; tensors of fewer dims as they are. RuntimeError for more than two dims."""
    x = tensor_arg("t", input)
    if x.array.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {x.array.ndim}D")
    return apply(_t, (x,), {"axes": tuple(reversed(range(x.array.ndim)))})


def expand(input: Any, *shape: Any) -> Any:
    """A view with dims of length 1 repeated to ``shape`` (-1 keeps a dim); new dims come in front."""
    x = tensor_arg("expand", input)
    wanted = sizes("expand", shape)
    have = x.array.shape
    lead = len(wanted) - len(have)
    if lead < 0:
        raise RuntimeError(
            f"expand({_text(wanted)}): the number of sizes provided ({len(wanted)}) must be greater or equal to the "
            f"number of dimensions in the tensor ({len(have)})"
        )
    full = []
    for i, n in enumerate(wanted):
        old = 1 if i < lead else have[i - lead]
        if n == -1 and i < lead:
            raise RuntimeError(f"expand(): -1 is not allowed in a leading, non-existing dimension {i}")
        n = old if n == -1 else n
        if old not in (1, n):
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) must match the existing size ({old}) at non-singleton "
                f"dimension {i}.  Target sizes: {_text(wanted)}.  Tensor sizes: {_text(have)}"
            )
        full.append(n)
    return apply(_shape.broadcast_to, (x,), {"shape": tuple(full)})


def broadcast_to(input: Any, size: Any) -> Any:
    """`expand` under its NumPy name."""
    return expand(input, size)


def expand_as(self: Any, other: Any) -> Any:
    """``self`` expanded to the shape of ``other``."""
    return expand(self, tensor_arg("expand_as", other, "other", 2).array.shape)


def sum_to_size(self: Any, *size: Any) -> Any:
    """``self`` summed down to ``size``, from which it could have been broadcast."""
    wanted = sizes("sum_to_size", size)
    have = self.array.shape
    lead = len(have) - len(wanted)
    if lead < 0 or any(n not in (1, m) for n, m in zip(wanted, have[lead:], strict=True)):
        raise RuntimeError(f"size {{{_text(wanted)}}} is not expandable to size {{{_text(have)}}}.")
    return _shape.sum_to(self.__array_namespace__(), self, wanted)


def squeeze(input: Any, dim: Any = None) -> Any:
    """A view without the dims of length 1 (or without ``dim``, where it has length 1)."""
    x = tensor_arg("squeeze", input)
    shape = x.array.shape
    if dim is None:
        gone = tuple(i for i, n in enumerate(shape) if n == 1)
    else:
        named = dim if isinstance(dim, (tuple, list)) else (dim,)
        gone = tuple(i for i in (one_dim("squeeze", d, len(shape)) for d in named) if shape and shape[i] == 1)
    op = _squeezed[0 if dim is None else 2 if isinstance(dim, (tuple, list)) else 1]
    return apply(op, (x,), {"axis": gone})


_squeezed = [_shape.squeeze.variant(f"SqueezeBackward{n}") for n in range(3)]


def unsqueeze(input: Any, dim: int) -> Any:
    """A view with a dim of length 1 put in at ``dim``."""
    x = tensor_arg("unsqueeze", input)
    return apply(_shape.expand_dims, (x,), {"axis": one_dim("unsqueeze", dim, x.array.ndim + 1)})


def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """Dims ``start_dim`` to ``end_dim`` merged into one."""
    x = tensor_arg("flatten", input)
    shape = x.array.shape
    if not shape:
        return reshape(x, 1)
    a = one_dim("flatten", start_dim, len(shape), "start_dim")
    b = one_dim("flatten", end_dim, len(shape), "end_dim")
    if a > b:
        raise RuntimeError(f"flatten() has invalid args: start_dim ({start_dim}) cannot come after end_dim ({end_dim})")
    return x if a == b else reshape(x, (*shape[:a], math.prod(shape[a : b + 1]), *shape[b + 1 :]))


def ravel(input: Any) -> Any:
    """All entries in one dim."""
    return flatten(input)


def unflatten(input: Any, dim: int, sizes: Sequence[int]) -> Any:
    """Dim ``dim`` split into several of the given sizes."""
    x = tensor_arg("unflatten", input)
    d = one_dim("unflatten", dim, x.array.ndim)
    return reshape(x, (*x.array.shape[:d], *sizes, *x.array.shape[d + 1 :]))


def cat(tensors: Any, dim: int = 0) -> Any:
    """Tensors joined end to end along ``dim``; their other dims must agree."""
    items = tensor_list("cat", tensors, empty=ValueError)
    items = [x for x in items if x.array.shape != (0,)] or items[:1]
    common = result_type(*items)
    ndim = items[0].array.ndim
    if ndim == 0:
        raise RuntimeError("cat(): zero-dimensional tensor (at position 0) cannot be concatenated")
    axis = one_dim("cat", dim, ndim)
    for i, x in enumerate(items):
        if x.array.ndim != ndim or any(
            a != b for k, (a, b) in enumerate(zip(x.array.shape, items[0].array.shape, strict=True)) if k != axis
        ):
            raise RuntimeError(
                f"cat(): Sizes of tensors must match except in dimension {axis}. "
                f"Expected {_text(items[0].array.shape)} but got {_text(x.array.shape)} for tensor number {i} in the "
                "list."
            )
    return apply(_shape.concat, [to_dtype(x, common) for x in items], {"axis": axis})


concat = concatenate = cat


def stack(tensors: Any, dim: int = 0) -> Any:
    """Tensors of one shape joined along a new dim."""
    items = tensor_list("stack", tensors)
    for i, x in enumerate(items):
        if x.array.shape != items[0].array.shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {_text(items[0].array.shape)} at entry 0 and "
                f"{_text(x.array.shape)} at entry {i}"
            )
    common = result_type(*items)
    axis = one_dim("stack", dim, items[0].array.ndim + 1)
    return apply(_shape.stack, [to_dtype(x, common) for x in items], {"axis": axis})


def split(tensor: Any, split_size_or_sections: Any, dim: int = 0) -> tuple[Any, ...]:
    """Views of consecutive pieces along ``dim``: of one size (the last may be smaller), or of the sizes listed."""
    x = tensor_arg("split", tensor, "tensor")
    if x.array.ndim == 0:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    axis = one_dim("split", dim, x.array.ndim)
    n = x.array.shape[axis]
    if isinstance(split_size_or_sections, int):
        step = split_size_or_sections
        if step < 0 or (step == 0 and n):
            raise RuntimeError(f"split expects split_size be non-negative, but got split_size={step}")
        parts = [min(step, n - i) for i in range(0, n, step)] if n else [0]
        op = _shape.split
    elif isinstance(split_size_or_sections, (tuple, list)):
        op = _split_with_sizes
        parts = list(split_size_or_sections)
        if sum(parts) != n or min(parts, default=0) < 0:
            raise RuntimeError(
                f"split_with_sizes expects split_sizes to sum exactly to {n} "
                f"(input tensor's size at dimension {axis}), but got split_sizes={parts}"
            )
    else:
        got = kind(split_size_or_sections)
        raise TypeError(f"split(): argument 'split_size_or_sections' must be int or a list of ints, not {got}")
    return tuple(apply(op, (x,), {"sizes": tuple(parts), "axis": axis}))


_split_with_sizes = _shape.split.variant("SplitWithSizesBackward0")


def chunk(input: Any, chunks: int, dim: int = 0) -> tuple[Any, ...]:
    """At most ``chunks`` views of equal size along ``dim``; the last may be smaller."""
    x = tensor_arg("chunk", input)
    if chunks < 1:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    n = x.array.shape[one_dim("chunk", dim, x.array.ndim)] if x.array.ndim else 1
    return split(x, max(-(-n // chunks), 1), dim)


def unbind(input: Any, dim: int = 0) -> tuple[Any, ...]:
    """Views of the slices along ``dim``, which is dropped."""
    x = tensor_arg("unbind", input)
    if x.array.ndim == 0:
        raise IndexError("unbind(): Dimension specified as 0 but tensor has no dimensions")
    return tuple(apply(_shape.unstack, (x,), {"axis": one_dim("unbind", dim, x.array.ndim)}))


def narrow(input: Any, dim: int, start: int, length: int) -> Any:
    """A view of ``length`` entries from ``start`` along ``dim``."""
    x = tensor_arg("narrow", input)
    axis = one_dim("narrow", dim, x.array.ndim)
    n = x.array.shape[axis] if x.array.ndim else 0
    start = int(start)
    first = start + n if start < 0 else start
    if length < 0:
        raise RuntimeError(f"narrow(): length must be non-negative, but got {length}")
    if not 0 <= first <= n:
        raise IndexError(f"narrow(): start ({start}) must lie within dimension size ({n})")
    if first + length > n:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return apply(_slice, (x,), {"key": (slice(None),) * axis + (slice(first, first + length), ...)})


def select(input: Any, dim: int, index: int) -> Any:
    """A view of the slice at ``index`` along ``dim``, which is dropped."""
    x = tensor_arg("select", input)
    if x.array.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    axis = one_dim("select", dim, x.array.ndim)
    n = x.array.shape[axis]
    if not -n <= index < n:
        where = f"tensor of size {_text(x.array.shape)} at dim {axis}"
        raise IndexError(f"select(): index {index} out of range for {where}")
    return apply(_select, (x,), {"key": (slice(None),) * axis + (int(index), ...)})


def flip(input: Any, *dims: Any) -> Any:
    """A copy with its entries in reverse order along each of ``dims``."""
    x = tensor_arg("flip", input)
    axes = tuple(one_dim("flip", d, x.array.ndim, "dims") for d in sizes("flip", dims))
    return apply(_shape.flip, (x,), {"axis": axes})


def roll(input: Any, shifts: Any, dims: Any = None) -> Any:
    """Entries moved on by ``shifts`` along ``dims`` (through all entries in order if None), wrapping round."""
    x = tensor_arg("roll", input)
    if dims is None or (isinstance(dims, (tuple, list)) and not dims):
        return reshape(roll(reshape(x, -1), shifts, 0), x.array.shape)
    many = (dims,) if isinstance(dims, int) else tuple(dims)
    by = (shifts,) if isinstance(shifts, int) else tuple(shifts)
    if len(many) != len(by):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(by)}, dims:{len(many)}")
    axes = tuple(one_dim("roll", d, x.array.ndim, "dims") for d in many)
    return apply(_shape.roll, (x,), {"shift": by, "axis": axes})


def _triangle(op: Any, name: str, input: Any, diagonal: int) -> Any:
    x = tensor_arg(name, input)
    if x.array.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
    return apply(op, (x,), {"k": diagonal})


def tril(input: Any, diagonal: int = 0) -> Any:
    """The lower triangle of each matrix; zeros above ``diagonal``."""
    return _triangle(_shape.tril, "tril", input, diagonal)


def triu(input: Any, diagonal: int = 0) -> Any:
    """The upper triangle of each matrix; zeros below ``diagonal``."""
    return _triangle(_shape.triu, "triu", input, diagonal)


def diag(input: Any, diagonal: int = 0) -> Any:
    """The diagonal of a matrix (a copy), or the square matrix with a vector on its diagonal."""
    x = tensor_arg("diag", input)
    if x.array.ndim == 1:
        n = x.array.shape[0] + abs(diagonal)
        return apply(_index.undiagonal, (x,), {"shape": (n, n), "offset": diagonal})
    if x.array.ndim != 2:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {x.array.ndim}D")
    return apply(_index.diagonal, (x,), {"offset": diagonal}).clone()


def diagonal(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """A view of the diagonal in dims ``dim1`` and ``dim2``, put last."""
    x = tensor_arg("diagonal", input)
    if one_dim("diagonal", dim1, x.array.ndim, "dim1") == one_dim("diagonal", dim2, x.array.ndim, "dim2"):
        raise RuntimeError(f"diagonal(): dims must differ, but dim1 is {dim1} and dim2 is {dim2}")
    return apply(_index.diagonal, (movedim(x, (dim1, dim2), (-2, -1)),), {"offset": offset})


def clone(input: Any) -> Any:
    """A copy with the history of the original."""
    return apply(_shape.copy, (tensor_arg("clone", input),), {})


def atleast_1d(input: Any) -> Any:
    """``input``, a 0-d tensor as one of one dim."""
    return reshape(input, 1) if isinstance(input, TensorBase) and not input.array.ndim else input
