"""The short way of an in-place operation: where nobody looks on, and what is written has no history.

The numbers are overwritten where they stand, without memory for a result, as in an optimiser's step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradwright.backends.quiet import muted
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.mode import PLAIN, UNRECORDED, now
from gradwright.engine.node import AccumulateGrad
from gradwright.engine.version import DataVersion, bump, mark
from gradwright.engine.view import rebased, refresh
from gradwright.ops.index import index

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
_EXACT = 1 << 24
_COUNTS = (int, DataVersion)  # versions that nobody else is to look at


def _direct(operator: Callable[[Any, Any, Any], Any]) -> Callable[[Any, Any], bool]:
    """From a function that overwrites its first array, such as ``a op= b``, to it on a tensor and a tensor or number.

    That function counts the write in the line beside, see `gradwright.base.cpython.at_once`. The result returns whether
    it has written: it leaves alone whatever is not plain memory of one floating-point dtype.
    """
    write = muted(operator)

    def attempt(x: Any, other: Any) -> bool:
        if x._view is not None or x._counter[0].__class__ not in _COUNTS:
            return False
        mode = now()
        if mode is not UNRECORDED and (mode is not PLAIN or x._node is not None or _has_history(other)):
            return False
        a = x.array
        if a.__class__ is not np.ndarray or not a.flags.carray:
            return False
        d = a.dtype
        b = other
        if other.__class__ is not float:
            if not isinstance(other, TensorBase):
                return False
            b = other.array
            if b.dtype is not d or (b.__class__ is not np.ndarray and not isinstance(b, np.generic)):
                return False  # `a += b` of another library's array would be an array of that
        if d not in _FLOATS:
            return False
        counter = x._counter
        try:
            write(a, b, counter)
        except ValueError:  # the shapes do not fit: nothing has been written
            return False
        except FloatingPointError:
            # The user has set NumPy so, for code of their own. All has been written when it is raised.
            counter[0] += 1
        mark(counter)
        return True

    return attempt


def _has_history(other: Any) -> bool:
    """Whether ``other`` may have one; that of a view is not known before it has been read anew."""
    return isinstance(other, TensorBase) and (other._node is not None or other._view is not None)


def _add(a: Any, b: Any, counter: Any) -> None:
    a += b
    counter[0] += 1


def _subtract(a: Any, b: Any, counter: Any) -> None:
    a -= b
    counter[0] += 1


def _multiply(a: Any, b: Any, counter: Any) -> None:
    a *= b
    counter[0] += 1


def _divide(a: Any, b: Any, counter: Any) -> None:
    a /= b
    counter[0] += 1


def _copy(a: Any, b: Any, counter: Any) -> None:
    a[...] = b
    counter[0] += 1


def _limit(a: Any, b: Any, counter: Any) -> None:
    counter[0] += 1  # `clip` is a Python function inside
    a.clip(-b, b, a)


add, subtract, multiply, divide = map(_direct, (_add, _subtract, _multiply, _divide))
copy, limit = map(_direct, (_copy, _limit))  # what is copied has no more dims; a limit is a number


def part(x: Any, key: tuple[Any, ...], value: Any) -> bool:
    """Write ``x[key] = value``, for a key without arrays; returns whether it has.

    The value is a tensor of the region's shape and dtype without history, or a number of less than 2**24 in size.
    """
    mode, a, node = now(), x.array, x._node
    if a.__class__ is not np.ndarray or not a.flags.carray or x._view is not None or x._counter[0].__class__ is not int:
        return False
    if mode is PLAIN:
        if node is not None and (node._hooks is not None or type(node) is AccumulateGrad):
            return False
    elif mode is not UNRECORDED:
        return False
    try:
        region = a[key]
    except IndexError:
        return False
    if isinstance(value, TensorBase):
        if mode is PLAIN:
            if value._view is not None:
                refresh(value)
            if value._node is not None:
                return False
        b = value.array
        if b.dtype is not a.dtype or b.shape != region.shape or not isinstance(b, (np.ndarray, np.generic)):
            return False
    elif (value.__class__ is float or value.__class__ is int) and a.dtype in _FLOATS and -_EXACT < value < _EXACT:
        b = a.dtype.type(value)
    else:
        return False
    if mode is PLAIN and node is not None:
        node = rebased(x, ((), (index, {"key": key})), wrap(region))
    bump(x._counter, 3)
    region[...] = b
    x._node = node
    return True
