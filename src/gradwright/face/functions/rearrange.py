"""Entries in another order, repeated or padded, under PyTorch's names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from gradwright.backends.generic import HERE
from gradwright.base import dtypes
from gradwright.base.errors import size as _text
from gradwright.engine.apply import apply
from gradwright.engine.base import TensorBase
from gradwright.engine.numbers import whole
from gradwright.face.functions.shape import expand, flatten, reshape, transpose, unsqueeze
from gradwright.face.reading.require import within
from gradwright.face.reading.torch import numpy_names, one_dim, tensor_arg
from gradwright.face.reading.usual import listed
from gradwright.ops import index as _index
from gradwright.ops import sets as _sets
from gradwright.ops import shape as _shape

if TYPE_CHECKING:
    from gradwright.face.typing import Dims, Ints, Number, Tensor, Unary

__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "constant_pad_nd", "flip", "fliplr", "flipud", "repeat_interleave",
    "roll", "rot90", "tile",
]  # fmt: skip

_selected = _index.at.variant("IndexSelectBackward0")


@listed("dims")
def flip(input: Tensor, dims: Sequence[int]) -> Tensor:
    """A copy with its entries in reverse order along each of ``dims``."""
    axes = tuple(one_dim("flip", d, input.array.ndim, "dims") for d in dims)
    if len(set(axes)) < len(axes):
        raise RuntimeError(f"dim {axes[0]} appears multiple times in the list of dims")
    return apply(_shape.flip, (input,), {"axis": axes if input.array.ndim else ()})


def fliplr(input: Tensor) -> Tensor:
    """Columns in reverse order: `flip` along dim 1."""
    if tensor_arg("fliplr", input).array.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return flip(input, 1)


def flipud(input: Tensor) -> Tensor:
    """Rows in reverse order: `flip` along dim 0."""
    if tensor_arg("flipud", input).array.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return flip(input, 0)


def rot90(input: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """Turned by ``k`` quarter turns in the plane of two dims, from the first towards the second."""
    x = tensor_arg("rot90", input)
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if x.array.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {x.array.ndim}")
    if dims[0] == dims[1] or abs(dims[0] - dims[1]) == x.array.ndim:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    a, b = (one_dim("rot90", d, x.array.ndim, "dims") for d in dims)
    turns = whole("rot90", "k", k) % 4
    if turns == 1:
        return transpose(flip(x, b), a, b)
    if turns == 3:
        return flip(transpose(x, a, b), b)
    return flip(x, a, b) if turns else x.clone()


def roll(input: Tensor, shifts: Ints, dims: Dims = None) -> Tensor:
    """Entries moved on by ``shifts`` along ``dims`` (through all entries in order if None), wrapping round."""
    x = tensor_arg("roll", input)
    many = () if dims is None else (dims,) if hasattr(dims, "__index__") else tuple(dims)
    by = tuple([whole("roll", "shifts", s) for s in ((shifts,) if hasattr(shifts, "__index__") else shifts)])
    if not by:
        raise RuntimeError("`shifts` required (roll(): argument 'shifts' is empty)")
    if not many and len(by) == 1:
        return reshape(roll(flatten(x), shifts, 0), x.array.shape)
    if len(many) != len(by):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(by)}, dims:{len(many)} (roll(): give "
                           "arguments 'shifts' and 'dims' the same length)")  # fmt: skip
    if not x.array.ndim:
        raise IndexError(f"roll(): Dimension specified as {many[0]} but tensor has no dimensions")
    axes = tuple(one_dim("roll", d, x.array.ndim, "dims") for d in many)
    return apply(_shape.roll, (x,), {"shift": by, "axis": axes})


@listed("repeats")
def repeat(self: Tensor, repeats: tuple[int, ...]) -> Tensor:
    """A copy laid side by side, so many times along each dim; more repeats than dims put new dims in front."""
    if len(repeats) < self.array.ndim:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    if min(repeats, default=0) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(repeats)}: {_text(repeats)}")
    return apply(_shape.tile, (self,), {"reps": repeats})


@listed("dims")
def tile(input: Tensor, dims: Sequence[int]) -> Tensor:
    """`repeat`, with 1 for the dims in front that are not named."""
    return repeat(input, (1,) * (input.array.ndim - len(dims)) + dims)


@numpy_names
def repeat_interleave(input: Tensor, repeats: Tensor | int | None = None, dim: int | None = None, *,
                      output_size: int | None = None) -> Tensor:  # fmt: skip
    """Each slice along ``dim`` (each entry of the flattened tensor if None) repeated: all alike, or each its number.

    Of one tensor alone: the indices 0, 1, 2, ... each repeated so many times.
    """
    x = tensor_arg("repeat_interleave", input, "repeats" if repeats is None else "input")
    if repeats is None:
        return _repeated(_counts(x), x.array.size)
    axis = one_dim("repeat_interleave", dim or 0, x.array.ndim)
    if dim is None or not x.array.ndim:
        x, axis = flatten(x), 0
    n = x.array.shape[axis]
    if not isinstance(repeats, TensorBase):
        repeats = whole("repeat_interleave", "repeats", repeats)
        if repeats < 0:
            raise RuntimeError("Repeats must be non-negative")
        _sized(output_size, n * repeats)
        return apply(_shape.repeat, (x,), {"repeats": repeats, "axis": axis})
    counts = _counts(repeats)
    if counts.array.size not in (1, n):
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{counts.array.size} and input.size({axis}) = {n}"
        )
    where = _repeated(counts, n)
    _sized(output_size, where.array.size)
    return apply(_selected, (x, where), {"key": (slice(None),) * axis + (HERE,)})


def _counts(repeats: Any) -> Any:
    if repeats.array.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if dtypes.of(repeats.array.dtype) not in (dtypes.int32, dtypes.int64):
        raise RuntimeError("repeats has to be Long or Int tensor")
    within(repeats.array, 0, 1 << 62, lambda _: "repeats can not be negative")
    return reshape(repeats, -1)


def _repeated(counts: Any, n: int) -> Any:
    """0, 1, ... n - 1, each so many times."""
    return apply(_sets.repeated, (expand(counts, n),), {})


def _sized(output_size: int | None, n: int) -> None:
    if output_size not in (None, n):
        raise RuntimeError(f"repeat_interleave: Invalid output_size, expected {n} but got {output_size}")


def constant_pad_nd(input: Tensor, pad: Sequence[int], value: Number = 0) -> Tensor:
    """``value`` put around: ``pad`` is (before, after) for the last dim, then for the one before it; negative cuts."""
    x = tensor_arg("constant_pad_nd", input)
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    missing = x.array.ndim - len(pad) // 2
    if missing < 0:
        raise RuntimeError(
            "Length of pad should be no more than twice the number of dimensions of the input. Pad length is "
            f"{len(pad)} while the input has {x.array.ndim} dimensions."
        )
    pairs = ((0, 0),) * missing + tuple(zip(pad[-2::-2], pad[::-2], strict=True))
    for axis, ((a, b), n) in enumerate(zip(pairs, x.array.shape, strict=True)):
        if a + n + b < 0:
            raise RuntimeError(
                f"The input size {n}, plus negative padding {a} and {b} resulted in a negative output size, which is "
                f"invalid. Check dimension {axis} of your input."
            )
    return apply(_shape.constant_pad_nd, (x,), {"pad": pairs, "value": value})


def _atleast(ndim: int, widen: Callable[[Any], Any]) -> Unary:
    def call(*tensors: Tensor | Sequence[Tensor]) -> Any:
        if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
            return tuple(call(x) for x in tensors[0])
        if len(tensors) != 1:
            return tuple(call(x) for x in tensors)
        x = tensor_arg(call.__name__, tensors[0], "tensors")
        return x if x.array.ndim >= ndim else widen(x)

    call.__name__ = call.__qualname__ = f"atleast_{ndim}d"
    call.__doc__ = f"Each tensor as it is if it has {ndim} dims or more, else with dims of length 1 put in."
    return cast("Unary", call)


atleast_1d = _atleast(1, lambda x: reshape(x, 1))
atleast_2d = _atleast(2, lambda x: unsqueeze(atleast_1d(x), 0))
atleast_3d = _atleast(3, lambda x: unsqueeze(atleast_2d(x), -1))
