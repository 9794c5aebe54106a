"""Reading and writing by index, for NumPy: its own functions are slow on several axes, and quick on flat memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwright.backends import generic


def at(x: Any, *, key: Any) -> Any:
    """``x[key]`` for a key with index arrays or masks, in row-major order."""
    first = key[0]
    if len(key) == 1 and first.dtype == bool and first.shape == x.shape:
        return x.reshape(-1).take(np.flatnonzero(first))
    arrays = [(axis, k) for axis, k in enumerate(key) if isinstance(k, np.ndarray)]
    if len(arrays) == 1 and arrays[0][1].dtype != bool and all(k == slice(None) for k in key if type(k) is slice):
        if all(type(k) in (slice, np.ndarray) for k in key):
            return x.take(arrays[0][1], axis=arrays[0][0])
    return np.asarray(x[key], order="C")


def put(x: Any, value: Any, *, key: Any, accumulate: bool = False) -> Any:
    """A copy of ``x`` in which ``x[key]`` is ``value``, or has ``value`` added (repeated indices add up)."""
    out = np.array(x, order="C")
    if not accumulate:
        out[key] = value
    elif not any(isinstance(k, np.ndarray) and k.dtype != bool for k in key):
        out[key] += value
    elif 8 * value.size < out.size:
        np.add.at(out, key, value)
    else:
        where = np.arange(out.size).reshape(out.shape)[key]
        np.add.at(out.reshape(-1), where.reshape(-1), np.broadcast_to(value, where.shape).reshape(-1))
    return out


def _flat(shape: tuple[int, ...], index: Any, axis: int) -> Any:
    """The places in row-major order of the entries ``index`` names along ``axis``."""
    step = [int(np.prod(shape[k + 1 :])) for k in range(len(shape))]
    others = [np.arange(n) * s for n, s in zip(index.shape, step, strict=True)]
    others[axis] = np.zeros(1, np.int64)
    where = index if step[axis] == 1 else index * step[axis]
    return where + sum(np.ix_(*others)) if len(shape) > 1 else where


def take_along_axis(x: Any, index: Any, *, axis: int) -> Any:
    """y[i, j] = x[i, index[i, j]] along ``axis``; the index may be shorter than ``x`` along the others."""
    return x.reshape(-1).take(_flat(x.shape, index, axis))


def scatter(x: Any, index: Any, src: Any, *, axis: int) -> Any:
    """A copy of ``x`` with ``src`` written at ``index`` along ``axis``; of those written to one place the last stays."""
    out = np.array(x, order="C")
    out.reshape(-1)[_flat(x.shape, index, axis)] = src
    return out


def scatter_add(x: Any, index: Any, src: Any, *, axis: int) -> Any:
    """A copy of ``x`` with ``src`` added at ``index`` along ``axis``."""
    return _accumulated(np.add, x, index, src, axis)


def scatter_max(x: Any, index: Any, src: Any, *, axis: int) -> Any:
    """A copy of ``x`` in which each place is the largest of its value and those of ``src`` that ``index`` sends to it."""
    return _accumulated(np.maximum, x, index, src, axis)


def _accumulated(ufunc: Any, x: Any, index: Any, src: Any, axis: int) -> Any:
    out = np.array(x, order="C")
    ufunc.at(out.reshape(-1), _flat(x.shape, index, axis).reshape(-1), src.reshape(-1))
    return out


def restride(x: Any, *, source: Any, target: Any) -> Any:
    """Memory that ``x`` lays out as ``source``, read as ``target``: a view where ``x`` really lies so."""
    shape, strides, start = target
    size = x.itemsize
    if all(n == 1 or s * size == have for n, s, have in zip(x.shape, source[1], x.strides, strict=True)):
        owner = x if x.base is None else x.base
        if isinstance(owner, np.ndarray) and (owner.flags.c_contiguous or owner.flags.f_contiguous):
            first = x.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
            first += (start - source[2]) * size
            return np.ndarray(shape, x.dtype, owner, first, tuple(s * size for s in strides))
    return generic.restride(np, x, source=source, target=target, write=put)
