"""Reading an index: what a key means, which arrays are in it, whether they fit, which entries are written last."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from gradwright import backends
from gradwright.backends.generic import HERE
from gradwright.base import dtypes
from gradwright.base.errors import kind
from gradwright.base.errors import size as _text
from gradwright.engine.apply import apply
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.levels import LevelArray, below, followed
from gradwright.engine.mode import PLAIN, now
from gradwright.face.reading.require import require, within
from gradwright.face.reading.torch import to_dtype
from gradwright.ops import index as _index
from gradwright.ops import piecewise as _piecewise
from gradwright.ops import scatter as _scatter

_PLAIN = (int, slice, type(None), type(...))


def key_of(key: Any, x: Any) -> tuple[tuple[Any, ...], list[Any]]:
    """An index of ``x`` as operations take it: ints, slices, None, `...` and `HERE`, and the arrays that stand there.

    Without arrays it gives a view. Raw arrays and sequences are copied, as their owner may change them.
    Raises IndexError for what is no index, ValueError for a slice with step 0.
    """
    if key.__class__ is int:
        return (key, ...), []
    places: list[Any] = []
    out = []
    if key.__class__ is list and any(isinstance(k, (TensorBase, list, tuple, slice, *_PLAIN[2:])) for k in key):
        warnings.warn(
            "Using a non-tuple sequence for multidimensional indexing is deprecated; use x[tuple(seq)] instead of "
            "x[seq], or x[torch.tensor(seq)] if that is meant.",
            stacklevel=4,
        )
        key = tuple(key)
    for k in key if isinstance(key, tuple) else (key,):
        cls = k.__class__
        if cls not in _PLAIN:
            k = _part(k, x)
            if k.__class__ is not int:
                places.append(k)
                k = HERE
        elif cls is slice and k.step == 0:
            raise ValueError("slice step cannot be zero")
        out.append(k)
    if not places and ... not in out:
        out.append(...)  # keeps a single element a view
    return tuple(out), places


def _part(k: Any, x: Any) -> Any:
    """A number as an int; a tensor, array, sequence or bool as an index tensor."""
    if isinstance(k, TensorBase):
        d = dtypes.of(k.array.dtype)
        one = not k.array.shape and d.category == dtypes.INT and d is not dtypes.uint8
        if one and not (isinstance(k.array, LevelArray) and k.array.level.alive):
            return operator.index(k)  # type: ignore[arg-type]
    else:
        if hasattr(k, "__index__") and not isinstance(k, (bool, np.bool_)) and getattr(k, "shape", ()) == ():
            return k.__index__()
        if not isinstance(k, (bool, np.ndarray, np.generic, list, tuple, range)):
            raise IndexError(
                "only integers, slices (`:`), ellipsis (`...`), None and tensors of integers or booleans are valid "
                f"indices, but got {kind(k)}"
            )
        array = np.array(k)
        if array.size == 0 and isinstance(k, (list, tuple, range)):
            array = array.astype(np.int64)
        k = wrap(backends.namespace(x.array).asarray(array, device=x.array.device))
        d = dtypes.of(array.dtype)
    if d.category > dtypes.INT:
        raise IndexError(f"tensors used as indices must be long, int, byte or bool tensors, but got {d.name}")
    if d is dtypes.uint8:
        return to_dtype(k, dtypes.boolean)  # PyTorch takes bytes for a mask
    if now() is PLAIN and isinstance(k.array, np.ndarray):  # a graph may keep it, and its memory may be the user's
        return wrap(k.array.copy(), None, [0])
    return k


def located(x: Any, key: Any) -> tuple[Any, tuple[Any, ...], list[Any]]:
    """A view of ``x``, the index that remains to be taken of it, and the arrays in that.

    Beside index tensors, ints are taken first, as PyTorch does; NumPy would count them among the tensors.
    """
    parts, places = key_of(key, x)
    if places:
        backends.common("index", [x.array, *(p.array for p in places)])
        in_range(x, parts, places)
        if any(type(k) is int for k in parts):
            x, parts = _after_ints(x, parts, places)
    return x, parts, places


def in_range(x: Any, parts: tuple[Any, ...], places: Sequence[Any]) -> None:
    """Raise IndexError unless each index array fits ``x``. NumPy looks by itself."""
    if isinstance(x.array, np.ndarray):
        return
    xp, shape = backends.namespace(x.array), x.array.shape
    taken = [_dims_of(p) for p in places]
    if (count := sum(taken) + sum(type(k) in (int, slice) for k in parts)) > len(shape):
        raise IndexError(f"too many indices for array: array is {len(shape)}-dimensional, but {count} were indexed")
    arrays, counts = iter(places), iter(taken)
    dim = 0
    for k in parts:
        if k is ...:
            dim = len(shape) - (sum(taken) + sum(type(n) in (int, slice) for n in parts) - dim)
        elif k is not HERE:
            dim += k is not None
        else:
            place, dims = next(arrays).array, next(counts)
            sizes = shape[dim : dim + dims]
            if dims != 1 or xp.isdtype(place.dtype, "bool"):
                require(place.shape == sizes, f"The shape of the mask {_text(place.shape)} at dimension {dim} does not "
                        f"match the shape {_text(shape)} of the indexed tensor", IndexError)  # fmt: skip
            else:
                n = shape[dim]
                outside = "index {2} is out of bounds for dimension {0} with size {1}".format
                within(place, -n, n - 1, partial(outside, dim, n), IndexError)
            dim += dims


def _after_ints(x: Any, parts: tuple[Any, ...], places: Sequence[Any]) -> tuple[Any, tuple[Any, ...]]:
    first: list[Any] = []
    rest: list[Any] = []
    arrays = iter(places)
    for k in parts:
        if k is HERE:
            first += [slice(None)] * _dims_of(next(arrays))
            rest.append(k)
        else:
            first.append(k)
            rest += [] if type(k) is int else [k if k is ... else slice(None)]
    if ... not in first:
        first.append(...)
    return apply(_index.index, (x,), {"key": tuple(first)}), tuple(rest)


def _dims_of(place: Any) -> int:
    """How many dims of what is indexed an index array stands for."""
    return place.array.ndim if dtypes.of(place.array.dtype) is dtypes.boolean else 1


def shape_at(function: str, x: Any, key: Any, places: Sequence[Any]) -> tuple[int, ...]:
    """The shape of ``x[key]``."""
    held = [x.array, *(p.array for p in places)]
    xp = backends.namespace(next((a for a in held if isinstance(a, LevelArray)), x.array))
    small = xp.broadcast_to(xp.zeros_like(x.array, shape=(), dtype=xp.bool), x.array.shape)
    try:
        return xp.at(small, *[p.array for p in places], key=key).shape if places else small[key].shape
    except IndexError as e:
        raise IndexError(f"{function}(): {e}") from None


def own_mask(key: Any, places: Sequence[Any]) -> Any:
    """The mask that is the whole of an index, if it is another one in each example under `vmap`; else None."""
    if len(places) != 1 or key[0] is not HERE or any(k is not ... for k in key[1:]):
        return None
    mask = places[0].array
    return places[0] if isinstance(mask, LevelArray) and dtypes.of(mask.dtype) is dtypes.boolean else None


def winning(value: Any, x: Any, key: Any, places: Sequence[Any]) -> Any:
    """``value`` without the history of the entries that others overwrite: of those written to one place the last stays.

    PyTorch hands each of them the gradient, as if all had stayed.
    """
    if not followed(value) or not places:
        return value
    return lasting(value, apply(_scatter.last_at, places, {"key": key, "shape": tuple(x.array.shape)}))


def lasting(value: Any, stays: Any) -> Any:
    """``value`` without the history of the entries that do not stay."""
    if wrap(below(stays.array)).all():
        return value
    return apply(_piecewise.where, (stays, value, value.detach()), {})
