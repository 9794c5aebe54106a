"""Shapes and the order of dims under PyTorch's names: reshape, squeeze, expand, permute. Views, where they can be."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gradwright.base import dtypes
from gradwright.base.errors import size as _text
from gradwright.engine.apply import apply_one, direct
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.levels import LevelArray, below
from gradwright.engine.memory import same, writable
from gradwright.engine.view import alias_of, rearrange
from gradwright.face.functions.complex import conj
from gradwright.face.functions.memory_format import order_like
from gradwright.face.reading.torch import numpy_names, one_dim, one_name, sizes, tensor_arg
from gradwright.face.reading.usual import listed, sizes_of
from gradwright.native import early
from gradwright.ops import shape as _shape

if TYPE_CHECKING:
    from gradwright.face.typing import Dims, Ints, MemoryFormat, Tensor

__all__ = [
    "adjoint", "broadcast_shapes", "broadcast_tensors", "broadcast_to",
    "clone", "flatten", "moveaxis", "movedim", "permute", "ravel", "reshape", "squeeze", "swapaxes", "swapdims", "t",
    "transpose", "unflatten", "unsqueeze",
]  # fmt: skip

_reshaped, _permuted, _unsqueezed, _copied = map(
    direct, (_shape.reshape, _shape.permute_dims, _shape.expand_dims, _shape.copy)
)
_expanded = direct(_shape.broadcast_to)
_squeezed = [direct(_shape.squeeze.variant(f"SqueezeBackward{n}")) for n in range(3)]
_t, _transposed = (direct(_shape.permute_dims.variant(f"{name}Backward0")) for name in ("T", "Transpose"))


def _inferred(function: str, x: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape with its -1, if it has one, worked out; RuntimeError if the number of elements does not fit."""
    n = x.array.size
    rest = math.prod(shape)
    if rest == n and (not shape or min(shape) >= 0):
        return shape
    if min(shape, default=0) < -1:
        raise RuntimeError(f"{function}(): invalid shape dimension in {_text(shape)}")
    if shape.count(-1) > 1:
        raise RuntimeError(f"{function}(): only one dimension can be inferred, but got shape {_text(shape)}")
    if -1 not in shape or rest == 0 or n % rest:
        raise RuntimeError(f"shape '{_text(shape)}' is invalid for input of size {n}")
    at = shape.index(-1)
    return (*shape[:at], n // -rest, *shape[at + 1 :])


def _early(in_full: F) -> F:
    @functools.wraps(in_full)
    def call(input: Any, *given: Any, **named: Any) -> Any:
        shape = None if named else sizes_of(input, given)
        return in_full(input, *given, **named) if shape is None else _reshaped(input, {"shape": shape})

    return call  # type: ignore[return-value]


@early("reshape", _reshaped)
@_early
@listed("shape")
def reshape(input: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The same entries under another shape (one size may be -1); a view where memory allows it, else a copy."""
    return _reshaped(input, {"shape": _inferred("reshape", input, shape)})


@early("reshape", _reshaped)
def view(self: Tensor, *shape: Any, **named: Any) -> Tensor:
    """The same memory under another shape; RuntimeError where only a copy could have it.

    A dtype instead of a shape reinterprets the bits; no gradient flows through that.
    """
    if not named and (read := sizes_of(self, shape)) is not None:
        out = _reshaped(self, {"shape": read})
    else:
        given = shape or tuple(named.values())
        if len(given) == 1 and isinstance(given[0], dtypes.dtype):
            return _reinterpreted(self, given[0])
        out = _view(self, *shape, **named)
    shared = out._view is not None or (out.is_inference() and same(out, self))
    if not shared and out.array.size and out.array.ndim and self.array.ndim:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return out


@listed("size")
def _view(x: Any, shape: Any) -> Any:
    return _reshaped(x, {"shape": _inferred("view", x, shape)})


def _reinterpreted(x: Any, d: dtypes.dtype) -> Any:
    have, array = dtypes.of(x.array.dtype), writable(x)
    change = f"to view {have} as {d} (different element sizes)"
    if have.itemsize != d.itemsize:
        if not array.ndim:
            raise RuntimeError(f"self.dim() cannot be 0 {change}")
        if array.shape[-1] * have.itemsize % d.itemsize:
            ratio = d.itemsize // have.itemsize
            raise RuntimeError(f"self.size(-1) must be divisible by {ratio} {change}, but got {array.shape[-1]}")
        if below(array).strides[-1] != have.itemsize:
            step = below(array).strides[-1] // have.itemsize
            raise RuntimeError(f"self.stride(-1) must be 1 {change}, but got {step}")
    return _as_bits(alias_of(x), d)


def _as_bits(x: Any, d: dtypes.dtype) -> Any:
    """``x``, which has no history, with its memory, or that of its batch, read as another dtype."""
    a = x.array
    if hasattr(a, "in_bits"):  # a trace, whose arrays share no memory
        out = wrap(a)
        out.array = a.in_bits(d.dtype, x._counter, out._counter)
        return out
    x.array = a.of(lambda part: _as_bits(alias_of(part), d)) if isinstance(a, LevelArray) else a.view(d.dtype)
    return x


def view_as(self: Tensor, other: Tensor) -> Tensor:
    """``self`` viewed in the shape of ``other``."""
    return view(self, tensor_arg("view_as", other, "other", 2).array.shape)


def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """``self`` reshaped to the shape of ``other``."""
    return reshape(self, tensor_arg("reshape_as", other, "other", 2).array.shape)


@early("permute", _permuted)
@listed("dims")
def permute(input: Tensor, dims: Sequence[int]) -> Tensor:
    """A view with its dims in the given order."""
    axes = tuple([one_dim("permute", d, input.array.ndim, "dims") for d in dims])
    if sorted(axes) != list(range(input.array.ndim)):
        raise RuntimeError(f"permute(): dims {list(dims)} must name each of the {input.array.ndim} dims of input once")
    return _permuted(input, {"axes": axes})


@early("transpose", _transposed)
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """A view with two dims swapped."""
    usual = dim0.__class__ is dim1.__class__ is int and -2 <= dim0 < 2 and -2 <= dim1 < 2
    if usual and isinstance(input, TensorBase) and input.array.ndim == 2:
        return _transposed(input, {"axes": (1, 0) if (dim0 - dim1) % 2 else (0, 1)})
    x = tensor_arg("transpose", input)
    axes = list(range(x.array.ndim))
    a, b = one_dim("transpose", dim0, len(axes), "dim0"), one_dim("transpose", dim1, len(axes), "dim1")
    if axes:
        axes[a], axes[b] = b, a
    return _transposed(x, {"axes": tuple(axes)})


def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """`transpose` under its NumPy name."""
    return transpose(input, axis0, axis1)


def swapdims(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """`transpose` under another name."""
    return transpose(input, dim0, dim1)


def _matrices(name: str, x: Any) -> Any:
    """Each matrix transposed; a 0-d tensor as it is."""
    if x.array.ndim == 1:
        raise RuntimeError(f"{name} is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return transpose(x, -2, -1) if x.array.ndim else x


def adjoint(input: Tensor) -> Tensor:
    """Each matrix transposed and conjugated."""
    return conj(_matrices("tensor.adjoint()", tensor_arg("adjoint", input)))


def mT(self: Tensor) -> Tensor:
    """Each matrix transposed, as a view."""
    return _matrices("tensor.mT", self)


def mH(self: Tensor) -> Tensor:
    """Each matrix transposed and conjugated."""
    return conj(_matrices("tensor.mH", self))


def H(self: Tensor) -> Tensor:
    """A matrix transposed and conjugated."""
    if self.array.ndim not in (0, 2):
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {self.array.ndim}-D tensor.")
    return conj(_matrices("tensor.H", self))


@early("t", _permuted)
def T(self: Tensor) -> Tensor:
    """Its dims in reverse order, as a view."""
    ndim = self.array.ndim
    return _permuted(self, {"axes": (1, 0) if ndim == 2 else tuple(range(ndim))[::-1]})


def movedim(input: Tensor, source: Ints, destination: Ints) -> Tensor:
    """A view with dims ``source`` moved to ``destination``, the others keeping their order."""
    x = tensor_arg("movedim", input)
    n = x.array.ndim
    ends = [d if isinstance(d, (tuple, list)) else (d,) for d in (source, destination)]
    src, dst = ([one_dim("movedim", d, n) for d in e] for e in ends)
    if len(src) != len(dst):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(ends[0])}) should contain the same number of "
            f"dims as destination ({list(ends[1])})"
        )
    for name, named, given in (("source", src, ends[0]), ("destination", dst, ends[1])):
        if len(set(named)) < len(named):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({list(given)})")
    if not n:
        return apply_one(_shape.alias, x, {})
    order = [d for d in range(n) if d not in src]
    for to, come in sorted(zip(dst, src, strict=True)):
        order.insert(to, come)
    return permute(x, order)


moveaxis = movedim


@early("t", _t)
def t(input: Tensor) -> Tensor:
    """A matrix transposed; tensors of fewer dims as they are. RuntimeError for more than two dims."""
    if isinstance(input, TensorBase) and input.array.ndim == 2:
        return _t(input, {"axes": (1, 0)})
    x = tensor_arg("t", input)
    if x.array.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {x.array.ndim}D")
    return _t(x, {"axes": (1, 0)[2 - x.array.ndim :]})


@early("expand", _expanded)
def expand(input: Tensor, *size: int | Sequence[int], implicit: bool = False, **named: Any) -> Tensor:
    """A view with dims of length 1 repeated to ``size`` (-1 keeps a dim); new dims come in front."""
    return _expand(input, *size, **named)


@listed("size")
def _expand(x: Any, wanted: Any) -> Any:
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
        if n < 0 and (i < lead or n < -1):
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) isn't allowed in a leading, non-existing dimension {i}"
            )
        n = old if n == -1 else n
        if old not in (1, n):
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) must match the existing size ({old}) at non-singleton "
                f"dimension {i}.  Target sizes: {_text(wanted)}.  Tensor sizes: {_text(have)}"
            )
        full.append(n)
    out = _expanded(x, {"shape": tuple(full)})
    if hasattr(x.array, "flags") and x.array.flags.writeable:
        out.array.flags.writeable = True  # NumPy locks whatever has been broadcast
    return out


def broadcast_to(input: Tensor, size: Sequence[int]) -> Tensor:
    """`expand` under its NumPy name."""
    return expand(input, size)


def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """``self`` expanded to the shape of ``other``."""
    return expand(self, tensor_arg("expand_as", other, "other", 2).array.shape)


def broadcast_shapes(*shapes: Ints) -> dtypes.Size:
    """The shape that tensors of these shapes broadcast to; an int stands for one dim. RuntimeError if there is none."""
    out: list[int] = []
    for k, given in enumerate(shapes):
        shape = sizes("broadcast_shapes", (given,))
        if any(n < 0 for n in shape):
            raise RuntimeError(f"Trying to create tensor with negative dimension ({min(shape)}): ({min(shape)})")
        out = [1] * (len(shape) - len(out)) + out
        for i in range(-1, -len(shape) - 1, -1):
            if shape[i] != 1 != out[i] and shape[i] != out[i]:
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {shape[i]} at {i}! Mismatching argument at index "
                    f"{k} had {shape}; but expected shape should be broadcastable to {out}"
                )
            out[i] = shape[i] if out[i] == 1 else out[i]
    return dtypes.Size(out)


def broadcast_tensors(*tensors: Tensor | Sequence[Tensor]) -> tuple[Tensor, ...]:
    """The tensors expanded to their common shape: views, but of those that have it themselves."""
    many: Any = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    shapes = [tensor_arg("broadcast_tensors", x, "tensors").array.shape for x in many]
    target = broadcast_shapes(*shapes)
    return tuple(x if shape == target else expand(x, target) for x, shape in zip(many, shapes, strict=True))


def sum_to_size(self: Tensor, *size: int | Sequence[int]) -> Tensor:
    """``self`` summed down to ``size``, from which it could have been broadcast."""
    wanted, have = sizes("sum_to_size", size), self.array.shape
    if not _shape.broadcasts(wanted, have):
        raise RuntimeError(f"size {{{_text(wanted)}}} is not expandable to size {{{_text(have)}}}.")
    x = self if wanted == have != () or dtypes.kind(self.array.dtype) not in "biu" else self.to(dtypes.int64)
    return _shape.sum_to(x.__array_namespace__(), x, wanted)


@early("squeeze", *_squeezed[:2])
def squeeze(input: Tensor, dim: Dims = None, *, axis: Dims = None) -> Tensor:
    """A view without the dims of length 1 (or without ``dim``, where it has length 1)."""
    x, dim = tensor_arg("squeeze", input), one_name("squeeze", dim, axis, None)
    shape = x.array.shape
    if dim is None:
        gone = tuple(i for i, n in enumerate(shape) if n == 1)
    else:
        named = [one_dim("squeeze", d, len(shape)) for d in (dim if isinstance(dim, (tuple, list)) else (dim,))]
        if len(set(named)) < len(named):
            raise RuntimeError(f"dim {named[0]} appears multiple times in the list of dims")
        gone = tuple(i for i in named if shape and shape[i] == 1)
    return _squeezed[0 if dim is None else 2 if isinstance(dim, (tuple, list)) else 1](x, {"axis": gone})


@early("unsqueeze", _unsqueezed)
def unsqueeze(input: Tensor, dim: int | None = None, *, axis: int | None = None) -> Tensor:
    """A view with a dim of length 1 put in at ``dim``."""
    x = tensor_arg("unsqueeze", input)
    dim = one_name("unsqueeze", dim, axis, None)
    return _unsqueezed(x, {"axis": one_dim("unsqueeze", dim, x.array.ndim + 1)})


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Dims ``start_dim`` to ``end_dim`` merged into one."""
    x = tensor_arg("flatten", input)
    shape = x.array.shape
    a = one_dim("flatten", start_dim, len(shape), "start_dim")
    b = one_dim("flatten", end_dim, len(shape), "end_dim")
    if a > b:
        raise RuntimeError(f"flatten() has invalid args: start_dim ({start_dim}) cannot come after end_dim ({end_dim})")
    if not shape:
        return reshape(x, 1)
    return x if a == b else reshape(x, (*shape[:a], math.prod(shape[a : b + 1]), *shape[b + 1 :]))


def ravel(input: Tensor) -> Tensor:
    """All entries in one dim."""
    return flatten(input)


@numpy_names
def unflatten(input: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """Dim ``dim`` split into several of the given sizes."""
    x = tensor_arg("unflatten", input)
    if not x.array.ndim:
        raise RuntimeError(f"unflatten(): Dimension specified as {dim} but tensor has no dimensions")
    d = one_dim("unflatten", dim, x.array.ndim)
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    n, rest = x.array.shape[d], math.prod(s for s in sizes if s != -1)
    if n % rest if -1 in sizes and rest else n != rest:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {d} ({n}) of the input"
        )
    sizes = [n // rest if s == -1 else s for s in sizes]
    return reshape(x, (*x.array.shape[:d], *sizes, *x.array.shape[d + 1 :]))


def clone(input: Tensor, *, memory_format: MemoryFormat | None = None) -> Tensor:
    """A copy with the history of the original. It lies in memory as that does, without gaps, unless a format is named.

    RuntimeError for a format of another number of dims.
    """
    x = tensor_arg("clone", input)
    if memory_format is None and x.array.__class__ is np.ndarray and x.array.flags.c_contiguous:
        return _copied(x, {})
    order = order_like("clone", memory_format, x)
    return _copied(x, {}) if order is None else apply_one(_shape.lay, x, {"order": order})


F = TypeVar("F", bound=Callable[..., Any])


def rearranging(f: F) -> F:
    """The in-place form of a view function: the tensor itself takes on the new shape; its memory stays as it is."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return rearrange(self, lambda before: f(before, *args, **kwargs))

    call.__name__ = call.__qualname__ = f"{f.__name__}_"
    call.__doc__ = f"In-place form of `{f.__name__}`."
    call.__wrapped__ = f  # type: ignore[attr-defined]  # whose signature it has
    return call  # type: ignore[return-value]
