"""Order and rounding of balls: what depends on which of two is larger is certain, or NotProvedError."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradwright.base.errors import NotProvedError
from gradwright.verify.proof import series
from gradwright.verify.proof.balls import Balls, chosen, compared, each, quotient
from gradwright.verify.proof.shapes import asarray, expand_dims, folded, reshape, take_along_axis, uncertain
from gradwright.verify.proof.truths import Truths


def maximum(x: Any, y: Any) -> Any:
    """The larger of two; the hull of both where that is open."""
    return chosen(compared("<", x, y), y, x) if uncertain([x, y]) else asarray(np.maximum(x, y))


def minimum(x: Any, y: Any) -> Any:
    """The smaller of two; the hull of both where that is open."""
    return chosen(compared("<", y, x), y, x) if uncertain([x, y]) else asarray(np.minimum(x, y))


def largest(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The largest over axes."""
    return folded(maximum, x, axis, keepdims) if uncertain(x) else np.max(x, axis=axis, keepdims=keepdims)


def smallest(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The smallest over axes."""
    return folded(minimum, x, axis, keepdims) if uncertain(x) else np.min(x, axis=axis, keepdims=keepdims)


def clip(x: Any, low: Any = None, high: Any = None) -> Any:
    """x between two bounds."""
    x = x if low is None else maximum(x, low)
    return x if high is None else minimum(x, high)


def argsort(x: Any, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """The order of each line, if the balls of no two entries meet."""
    if not uncertain(x):
        return np.argsort(-x if descending else x, axis=axis, kind="stable")
    middles = each(lambda e: float(series.start(e).mid()), x.value).astype(float)
    order = np.argsort(middles, axis=axis, kind="stable")
    lines = take_along_axis(x, order, axis=axis)
    n, front = x.shape[axis], (slice(None),) * (axis % x.ndim)
    rises = compared("<", lines[(*front, slice(0, n - 1))], lines[(*front, slice(1, n))])
    if isinstance(rises, Truths) or not rises.all():
        raise NotProvedError("not proved: an order (a sort, an argmax) of entries that are equal, or whose balls meet")
    return np.flip(order, axis) if descending else order


def sort(x: Any, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Each line in order, if the balls of no two entries meet."""
    return take_along_axis(x, argsort(x, axis=axis, descending=descending), axis=axis)


def _place(end: int) -> Callable[..., Any]:
    def call(x: Any, *, axis: int | None = None, keepdims: bool = False) -> Any:
        flat = reshape(x, (-1,)) if axis is None else x
        along = 0 if axis is None else axis % x.ndim
        order = argsort(flat, axis=along)
        out = np.take(order, [end], axis=along)
        return out if keepdims and axis is not None else np.squeeze(out, along)

    return call


argmin, argmax = _place(0), _place(-1)


def searchsorted(x: Any, y: Any, *, side: str = "left", sorter: Any = None) -> Any:
    """Where y would stand in x, which is in order, if that is certain."""
    before = compared("<" if side == "left" else "<=", expand_dims(x, axis=0), expand_dims(reshape(y, (-1,)), axis=-1))
    if isinstance(before, Truths):
        raise NotProvedError("not proved: a place among entries that are equal, or whose balls meet")
    return np.reshape(before.sum(axis=-1), y.shape)


# Rounding: whole numbers, if there is one in the ball and its neighbours are not.


def _whole(rounding: Callable[[Any], Any], jumps: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def call(x: Any) -> Any:
        if not uncertain(x):
            return rounding_of_numpy[call](x)

        def one(e: Any, moves: bool) -> Any:
            a = series.start(e)
            found = rounding(a).unique_fmpz() if a.is_finite() else None
            if found is None or (moves and jumps(a).contains_integer()):
                raise NotProvedError(f"not proved: rounding to a whole number at a jump, {a.str(5)}")
            return series.constant(int(found))

        return Balls(each(one, x.value, x.moves()), None, x.dtype)

    return call


def _to_even(a: Any) -> Any:
    up = (a + 0.5).floor()
    found = (a + 0.5).unique_fmpz()
    return up if found is None or not (a + 0.5).is_exact() or found % 2 == 0 else up - 1


floor = _whole(lambda a: a.floor(), lambda a: a)
ceil = _whole(lambda a: a.ceil(), lambda a: a)
round_ = _whole(_to_even, lambda a: a + 0.5)
trunc = _whole(lambda a: a.ceil() if a < 0 else a.floor(), lambda a: a)
rounding_of_numpy: dict[Any, Callable[..., Any]] = {floor: np.floor, ceil: np.ceil, round_: np.round, trunc: np.trunc}


def floor_divide(x: Any, y: Any) -> Any:
    """The quotient rounded down."""
    return floor(quotient(x, y)) if uncertain([x, y]) else np.floor_divide(x, y)


def remainder(x: Any, y: Any) -> Any:
    """What is left, with the sign of y."""
    return x - y * floor_divide(x, y) if uncertain([x, y]) else np.remainder(x, y)


def fmod(x: Any, y: Any) -> Any:
    """What is left, with the sign of x."""
    return x - y * trunc(quotient(x, y)) if uncertain([x, y]) else np.fmod(x, y)


