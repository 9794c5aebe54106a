"""Quotients and remainders of NumPy arrays by C's fmod, several times as fast as NumPy's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwright.backends.select import where

_SMALL, _EXACT = 256, 2.0**29
_NOTHING = {c: np.full((), -0.0, c) for c in "fd"}
"""What leaves all that it is added to as it is, zeros of both signs too."""


def fmod(x: Any, y: Any) -> Any:
    """What is left of x after taking away y as often as it goes in, with the sign of x.

    ValueError for whole numbers by 0, of which NumPy makes 0.
    """
    _check(x, y)
    return _left(x, y)


def _left(x: Any, y: Any) -> Any:
    """C's fmod; in single precision by way of double, which is as exact for quotients below 2**29, and quicker."""
    if x.size > _SMALL and x.dtype.char == "f":
        a, b = x.astype(np.float64), y.astype(np.float64)
        times = a / b
        np.trunc(times, out=times)
        if times.min(initial=0) > -_EXACT and times.max(initial=0) < _EXACT:  # not so if there is a NaN
            times *= b
            a = a - times
            if np.isfinite(a).all():
                return np.copysign(a.astype(np.float32), x)  # a 0 too
    return np.fmod(x, y)


def remainder(x: Any, y: Any) -> Any:
    """`fmod` moved on by y where its sign is not that of y; a 0 has the sign of x, as PyTorch's."""
    _check(x, y)
    if not _many_floats(x):
        left = np.remainder(x, y)
        return left if x.dtype.kind != "f" or left.all() else np.where(left == 0, np.copysign(left, x), left)
    left = _left(x, y)
    left += where(_other_sign(left, y), y, _NOTHING[x.dtype.char])
    return left


def floor_divide(x: Any, y: Any) -> Any:
    """x / y rounded down: exact even where the quotient itself would be rounded up to a whole number."""
    _check(x, y)
    if not _many_floats(x):
        return np.floor_divide(x, y)
    left = _left(x, y)
    quotient = x - left
    quotient /= y
    quotient -= _other_sign(left, y)
    whole = np.rint(quotient)  # that is what it is, but for rounding
    zero = y == 0
    return np.where(zero, x / y, whole) if zero.any() else whole


def _other_sign(left: Any, y: Any) -> Any:
    return ((left < 0) != (y < 0)) & (left != 0)


def _many_floats(x: Any) -> bool:
    return x.size > _SMALL and x.dtype.char in _NOTHING


class WholeByZeroError(RuntimeError, ValueError):
    """A ValueError that operations explain, and a RuntimeError, as theirs are, where compiled programs raise it."""


class NoQuotientError(NotImplementedError, TypeError):
    """A TypeError that operations explain, and a NotImplementedError, as PyTorch's is."""


def _check(x: Any, y: Any) -> None:
    kind = x.dtype.kind
    if kind == "b":
        raise NoQuotientError("booleans have no quotient")
    if kind in "iu" and not np.all(y):
        raise WholeByZeroError("a whole number was divided by zero")
