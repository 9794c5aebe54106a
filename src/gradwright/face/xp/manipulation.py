"""Views, rearrangements, joining and repeating."""

from __future__ import annotations

from functools import cache
from itertools import accumulate
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwright import backends
from gradwright.engine.apply import apply, apply_one
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.memory import same
from gradwright.face.reading import standard
from gradwright.face.reading.require import everywhere, within
from gradwright.face.reading.standard import axes, one_axis, tensor
from gradwright.ops.declare import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwright.face.typing import Dims, Ints, Tensor

__all__ = [
    "broadcast_arrays", "broadcast_shapes", "broadcast_to", "concat", "expand_dims", "flip", "moveaxis",
    "permute_dims", "repeat", "reshape", "roll", "squeeze", "stack", "take", "take_along_axis", "tile", "unstack",
]  # fmt: skip


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that arrays of these shapes broadcast to."""
    return np.broadcast_shapes(*shapes)


def broadcast_to(x: Tensor, /, shape: tuple[int, ...]) -> Tensor:
    """A view stretched to a larger shape."""
    return apply_one(table["broadcast_to"], tensor("broadcast_to", x), {"shape": tuple(shape)})


def broadcast_arrays(*arrays: Tensor) -> tuple[Tensor, ...]:
    """Views of one common shape."""
    shape = broadcast_shapes(*(tensor("broadcast_arrays", x).array.shape for x in arrays))
    return tuple(broadcast_to(x, shape) for x in arrays)


def _joined(name: str, arrays: Any, axis: int) -> Any:
    first = arrays[0].array.dtype
    if any(x.array.dtype is not first for x in arrays):
        arrays = standard.alike(name, *arrays)
    static: dict[str, Any] = {"axis": axis}
    if name == "concat":
        static["ends"] = tuple(accumulate([x.array.shape[axis] for x in arrays]))
    return apply(table[name], tuple(arrays), static)


def _sequence(name: str, arrays: Any) -> Any:
    if not isinstance(arrays, (tuple, list)) or not arrays:
        raise ValueError(f"{name}(): expected a non-empty tuple or list of Tensors")
    return [tensor(name, x) for x in arrays]


def concat(arrays: Sequence[Tensor], /, *, axis: int | None = 0) -> Tensor:
    """Arrays joined end to end along ``axis``; flattened first if it is None."""
    arrays = _sequence("concat", arrays)
    if axis is None:
        arrays, axis = [reshape(x, (-1,)) for x in arrays], 0
    return _joined("concat", arrays, one_axis("concat", axis, arrays[0].array.ndim))


def stack(arrays: Sequence[Tensor], /, *, axis: int = 0) -> Tensor:
    """Arrays of one shape joined along a new axis."""
    arrays = _sequence("stack", arrays)
    return _joined("stack", arrays, one_axis("stack", axis, arrays[0].array.ndim + 1))


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """Views of the slices along ``axis``, which is dropped."""
    return tuple(apply(table["unstack"], (x,), {"axis": one_axis("unstack", axis, tensor("unstack", x).array.ndim)}))


def expand_dims(x: Tensor, /, axis: int = 0) -> Tensor:
    """A view with an axis of length 1 put in at ``axis``."""
    ndim = tensor("expand_dims", x).array.ndim
    return apply_one(table["expand_dims"], x, {"axis": one_axis("expand_dims", axis, ndim + 1)})


def squeeze(x: Tensor, /, axis: Ints) -> Tensor:
    """A view without the axes ``axis``; ValueError if one is longer than 1."""
    shape = tensor("squeeze", x).array.shape
    gone = axes("squeeze", axis, len(shape)) or ()
    if any(shape[i] != 1 for i in gone):
        raise ValueError(f"squeeze(): axis {axis} of shape {tuple(shape)} has not length 1")
    return apply_one(table["squeeze"], x, {"axis": gone})


def flip(x: Tensor, /, *, axis: Dims = None) -> Tensor:
    """Entries in reverse order along ``axis``, along all axes if None."""
    ndim = tensor("flip", x).array.ndim
    many = axes("flip", axis, ndim)
    return apply_one(table["flip"], x, {"axis": tuple(range(ndim)) if many is None else many})


def permute_dims(x: Tensor, /, axes: tuple[int, ...]) -> Tensor:
    """A view with its axes in another order."""
    return apply_one(table["permute_dims"], x, {"axes": _order(tuple(axes), tensor("permute_dims", x).array.ndim)})


@cache
def _order(axes: tuple[int, ...], ndim: int) -> tuple[int, ...]:
    order = tuple([a if a >= 0 else one_axis("permute_dims", a, ndim) for a in axes])
    if sorted(order) != list(range(ndim)):
        raise ValueError(f"permute_dims(): axes {axes} must name each of the {ndim} axes once")
    return order


def moveaxis(x: Tensor, source: Ints, destination: Ints, /) -> Tensor:
    """A view with the axes ``source`` moved to ``destination``, the others keeping their order."""
    ndim = tensor("moveaxis", x).array.ndim
    come, go = axes("moveaxis", source, ndim) or (), axes("moveaxis", destination, ndim) or ()
    order = [i for i in range(ndim) if i not in come]
    for to, i in sorted(zip(go, come, strict=True)):
        order.insert(to, i)
    return permute_dims(x, tuple(order))


def reshape(x: Tensor, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Tensor:
    """The same entries in row-major order under another shape, in which one length may be -1.

    Raises ValueError if ``copy`` is False and there has to be one.
    """
    x = tensor("reshape", x)
    shape = tuple(shape)
    if -1 in shape:
        rest = prod(n for n in shape if n != -1)
        shape = tuple(x.array.size // (rest or 1) if n == -1 else n for n in shape)
    out = apply_one(table["reshape"], x, {"shape": shape})
    if copy is False and out.array.size and not same(out, x):
        raise ValueError("reshape(): this shape needs a copy, but copy=False")
    return apply_one(table["copy"], out, {}) if copy else out


def roll(x: Tensor, /, shift: Ints, *, axis: Dims = None) -> Tensor:
    """Entries moved on by ``shift`` along ``axis``, through all of them in row-major order if it is None."""
    shape = tensor("roll", x).array.shape
    if axis is None:
        return reshape(roll(reshape(x, (-1,)), shift, axis=0), shape)
    many = axis if isinstance(axis, tuple) else (axis,)
    by = shift if isinstance(shift, tuple) else (shift,) * len(many)
    if len(by) != len(many):
        raise ValueError(f"roll(): {len(by)} shifts do not fit {len(many)} axes")
    where = tuple(one_axis("roll", a, len(shape)) for a in many)
    return apply_one(table["roll"], x, {"shift": by, "axis": where})


def repeat(x: Tensor, repeats: int | Tensor, /, *, axis: int | None = None) -> Tensor:
    """Each entry ``repeats`` times (a number, or one per entry) along ``axis``, of the flattened array if None."""
    x = tensor("repeat", x)
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    axis = one_axis("repeat", axis, x.array.ndim)
    shape = x.array.shape
    if isinstance(repeats, TensorBase):
        times = np.broadcast_to(np.asarray(repeats.array), (shape[axis],))
        return take(x, wrap(np.repeat(np.arange(shape[axis]), times)), axis=axis)
    stretched = broadcast_to(expand_dims(x, axis + 1), (*shape[: axis + 1], repeats, *shape[axis + 1 :]))
    return reshape(stretched, (*shape[:axis], shape[axis] * repeats, *shape[axis + 1 :]))


def tile(x: Tensor, repetitions: tuple[int, ...], /) -> Tensor:
    """Copies of the array set side by side, ``repetitions`` of them along each axis."""
    shape = tensor("tile", x).array.shape
    n = max(len(shape), len(repetitions))
    times = (1,) * (n - len(repetitions)) + tuple(repetitions)
    shape = (1,) * (n - len(shape)) + tuple(shape)
    split = reshape(x, tuple(k for m in shape for k in (1, m)))
    split = broadcast_to(split, tuple(k for pair in zip(times, shape, strict=True) for k in pair))
    return reshape(split, tuple(t * m for t, m in zip(times, shape, strict=True)))


def _places(function: str, indices: Any, n: int) -> Any:
    """Indices with the negative ones counted from the end; IndexError if one is out of range for ``n`` entries."""
    at = tensor(function, indices).array
    if not at.size:
        return indices
    space = backends.namespace(at)
    within(at, -n, n - 1, lambda i: f"{function}(): index {i} is out of range for {n} entries", IndexError)
    return indices if everywhere(at >= 0) else wrap(space.where(at < 0, at + n, at))


def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """The slices at a 1-d array of indices along ``axis``, which may be left out if there is only one."""
    ndim = tensor("take", x).array.ndim
    if axis is None and ndim != 1:
        raise ValueError(f"take(): axis must be named for an array of {ndim} dimensions")
    axis = one_axis("take", axis or 0, ndim)
    return apply(table["take"], (x, _places("take", indices, x.array.shape[axis])), {"axis": axis})


def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """y[i, j] = x[i, indices[i, j]] along ``axis``; the other axes broadcast. Negative indices count from the end."""
    ndim = tensor("take_along_axis", x).array.ndim
    axis = one_axis("take_along_axis", axis, ndim)
    shape = x.array.shape
    indices = _places("take_along_axis", indices, shape[axis])
    where = indices.array.shape
    if shape[:axis] + shape[axis + 1 :] != where[:axis] + where[axis + 1 :]:
        rest = list(broadcast_shapes(shape[:axis] + shape[axis + 1 :], where[:axis] + where[axis + 1 :]))
        x, indices = (broadcast_to(a, (*rest[:axis], a.array.shape[axis], *rest[axis:])) for a in (x, indices))
    return apply(table["take_along_axis"], (x, indices), {"axis": axis})
