"""Reading and writing by index, for NumPy: its own functions are slow on several axes, and quick on flat memory."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

import numpy as np

from gradwright.backends import generic
from gradwright.backends.generic import HERE

__all__ = [
    "at", "put", "restride", "scatter", "scatter_add", "scatter_max", "scatter_prod", "take_along_axis", "unindex",
    "unstride",
]  # fmt: skip

_ALL = slice(None)
_FEW, _MANY, _BLOCK = 4096, 32, 1 << 17


def _is_line(key: Any, places: Any) -> bool:
    """Whether an index is one array of numbers along an axis, and takes all of those before it."""
    *others, last = key
    return last is HERE and places[0].dtype != bool and all(type(k) is slice and k == _ALL for k in others)


def filled(key: Any, places: Any) -> tuple[Any, ...]:
    """A key with its arrays."""
    if len(key) == len(places):
        return places
    rest = iter(places)
    return tuple([next(rest) if k is HERE else k for k in key])


def at(x: Any, *places: Any, key: Any) -> Any:
    """``x[key]``, with ``places``, index arrays and masks, where the key says `HERE`; in row-major order."""
    first = places[0]
    if len(key) == 1 and first.dtype == bool and first.shape == x.shape:
        return x.reshape(-1).take(np.flatnonzero(first))
    if len(places) == 1 and _is_line(key, places) and x.ndim:
        return _taken(x, first, len(key) - 1)
    return np.asarray(x[filled(key, places)], order="C")


def _taken(x: Any, where: Any, axis: int) -> Any:
    """``x.take``, which first makes a copy of ``x`` if that is not contiguous, unless it is larger than the result."""
    if x.flags.c_contiguous or x.shape[axis] <= where.size:
        return x.take(where, axis=axis)
    return np.asarray(x[(_ALL,) * axis + (where,)], order="C")


def put(x: Any, value: Any, *places: Any, key: Any, accumulate: bool = False) -> Any:
    """A copy of ``x`` in which ``x[key]`` is ``value``, or has ``value`` added (repeated indices add up)."""
    out = np.array(x, order="C")
    if accumulate:
        _add(out, value, places, key)
    else:
        out[filled(key, places)] = value
    return out


def unindex(x: Any, *places: Any, shape: tuple[int, ...], key: Any) -> Any:
    """Zeros of ``shape`` with ``x`` added at ``key`` (repeated indices add up)."""
    out = np.zeros(shape, x.dtype)
    if all(p.dtype == bool for p in places):
        out[filled(key, places)] = x
    else:
        _add(out, x, places, key, zeros=True)
    return out


def _add(out: Any, value: Any, places: Any, key: Any, *, zeros: bool = False) -> None:
    """Add ``value`` at ``key`` of ``out``, which may be known to be all ``zeros``."""
    if len(key) > 1 and len(places) == 1 and np.size(value) > _FEW and _is_line(key, places) and places[0].ndim == 1:
        axis = len(key) - 1
        index = (places[0] % out.shape[axis]).reshape((-1,) + (1,) * (out.ndim - axis - 1))
        shape = (*out.shape[:axis], index.shape[0], *out.shape[axis + 1 :])
        _combine(np.add, out, np.broadcast_to(index, shape), np.broadcast_to(value, shape), axis)
        return
    key = filled(key, places)
    if all(p.dtype == bool for p in places):
        out[key] += value
        return
    few = np.size(value) < max(out.size // 8, _FEW)
    if len(key) == 1 and 16 * key[0].size <= np.size(value) and (zeros or not few):
        _add_rows(out, key[0].reshape(-1), np.broadcast_to(value, key[0].shape + out.shape[1:]), zeros=zeros)
    elif few:
        np.add.at(out, key, value)
    else:
        where = np.arange(out.size).reshape(out.shape)[key]
        np.add.at(out.reshape(-1), where.reshape(-1), np.broadcast_to(value, where.shape).reshape(-1))


def _add_rows(out: Any, index: Any, rows: Any, *, zeros: bool) -> None:
    """Add long rows at the places ``index``: one by one, but many to one place in sum."""
    rows = rows.reshape(-1, *out.shape[1:])
    index = index % out.shape[0]
    if zeros:  # one row to each place is written, and what is left is added
        out[index] = rows
        last, order = np.empty(out.shape[0], np.intp), np.arange(index.size)
        last[index] = order
        again = np.flatnonzero(last[index] != order)
        if not again.size:
            return
        del last, order  # their memory serves again
        index, rows = index[again], rows[again]
    if np.bincount(index).max() <= _MANY:
        _combine_rows(np.add, out, index, rows)
        return
    order = np.argsort(index, kind="stable")
    places = index[order]
    first = np.flatnonzero(np.diff(places, prepend=-1))
    out[places[first]] += np.add.reduceat(rows[order], first, axis=0)


def _mostly_once(index: Any) -> bool:
    """Whether few of the places ``index``, a vector, are named often, as far as its beginning tells."""
    counts = np.bincount(index[:2048])
    return bool(counts @ (counts + 1) <= 4 * min(index.size, 2048))


def _combine_rows(ufunc: Any, out: Any, index: Any, rows: Any) -> None:
    """Combine rows with those at the places ``index``, in the order in which these come."""
    out, rows = out.reshape(out.shape[0], -1), rows.reshape(index.size, -1)
    first, step = np.empty(out.shape[0], np.intp), max(_BLOCK // out.shape[1], 1)
    for k in range(0, index.size, step):  # so that the cache holds what is read until it is written
        places, part = index[k : k + step], rows[k : k + step]
        while places.size:
            order, back = np.arange(places.size), places[::-1]
            sums = out.take(back, axis=0)
            out[back] = ufunc(sums, part[::-1], out=sums)  # the last written stays: of several in one place the first
            first[back] = order[::-1]
            left = np.flatnonzero(first[places] != order)
            places, part = places[left], part[left]
            if left.size > order.size // 2:
                where = places[:, None] * out.shape[1] + np.arange(out.shape[1])
                ufunc.at(out.reshape(-1), where.reshape(-1), part.reshape(-1))
                break


def _of_rows(shape: tuple[int, ...], index: Any, axis: int) -> tuple[Any, tuple[int, ...]]:
    """An index that names whole rows, as it is the same all along the axes after ``axis``: for each row; their shape.

    Of any other index, itself and ().
    """
    tail = index.shape[axis + 1 :]
    if not tail or any(index.strides[axis + 1 :]) or tail != shape[axis + 1 :] or not index.size:
        return index, ()
    return index[(..., *(0,) * len(tail))], tail


def _flat(shape: tuple[int, ...], index: Any, axis: int) -> Any:
    """The places in row-major order of the entries ``index`` names along ``axis``."""
    if len(shape) == 1:
        return index
    where: Any = 0
    step = 1
    for k in reversed(range(len(shape))):
        if k == axis:
            index = index if step == 1 else index * step
        else:
            where = where + (np.arange(index.shape[k]) * step).reshape((-1,) + (1,) * (len(shape) - k - 1))
        step *= shape[k]
    return index + where


def take_along_axis(x: Any, index: Any, *, axis: int) -> Any:
    """y[i, j] = x[i, index[i, j]] along ``axis``; the index may be shorter than ``x`` along the others."""
    index, tail = _of_rows(x.shape, index, axis)
    return _taken(x.reshape(-1, *tail), _flat(x.shape[: index.ndim], index, axis), 0)


def scatter(x: Any, index: Any, src: Any, *, axis: int) -> Any:
    """A copy of ``x`` with ``src`` written at ``index`` along ``axis``; of several in one place the last stays."""
    out = np.array(x, order="C")
    index, tail = _of_rows(x.shape, index, axis)
    out.reshape(-1, *tail)[_flat(x.shape[: index.ndim], index, axis)] = src
    return out


def _accumulated(ufunc: Any, x: Any, index: Any, src: Any, *, axis: int) -> Any:
    """A copy of ``x`` in which each place is combined with what of ``src`` goes there along ``axis``."""
    out = np.array(x, order="C")
    _combine(ufunc, out, index, src, axis)
    return out


scatter_add, scatter_max, scatter_prod = (partial(_accumulated, f) for f in (np.add, np.maximum, np.multiply))


def _combine(ufunc: Any, out: Any, index: Any, src: Any, axis: int) -> None:
    if src.size > _FEW:
        rows, tail = _of_rows(out.shape, index, axis)
        if prod(tail) >= 32 and _mostly_once(where := _flat(out.shape[: rows.ndim], rows, axis).reshape(-1)):
            _combine_rows(ufunc, out.reshape(-1, *tail), where, src.reshape(-1, *tail))
            return
    where, src = _flat(out.shape, index, axis).reshape(-1), src.reshape(-1)
    if where.size > _FEW and np.count_nonzero(where[1:_FEW] != where[: _FEW - 1]) < _FEW // 4:
        first = np.append(0, np.flatnonzero(where[1:] != where[:-1]) + 1)  # long runs: combine the entries of each
        where, src = where[first], ufunc.reduceat(src, first)
    ufunc.at(out.reshape(-1), where, src)


def restride(x: Any, *, source: Any, target: Any) -> Any:
    """Memory that ``x`` lays out as ``source``, read as ``target``: a view where ``x`` really lies so."""
    shape, strides, start = target
    size = x.itemsize
    if all(n == 1 or s * size == have for n, s, have in zip(x.shape, source[1], x.strides, strict=True)):
        owner = x if x.base is None else x.base
        if isinstance(owner, np.ndarray) and (owner.flags.c_contiguous or owner.flags.f_contiguous):
            first = (start - source[2]) * size
            if owner is not x:
                first += x.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
            return np.ndarray(shape, x.dtype, owner, first, tuple(s * size for s in strides))
    return generic.restride(np, x, source=source, target=target, write=put)


def unstride(x: Any, *, source: Any, target: Any) -> Any:
    """Entries laid out as ``source`` added up in memory of zeros, and that read as ``target``."""
    return generic.unstride(np, x, source=source, target=target, write=put)
