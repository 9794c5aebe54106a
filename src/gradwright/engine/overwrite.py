"""The short way of an in-place operation: where nothing is recorded and nobody looks on, as in an optimiser's step.

The numbers are overwritten where they stand, without memory for a result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradwright.backends.quiet import unheard
from gradwright.engine.base import TensorBase
from gradwright.engine.mode import PLAIN, UNRECORDED, now
from gradwright.engine.version import mark

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def _direct(operator: Callable[[Any, Any, Any], Any]) -> Callable[[Any, Any], bool]:
    """From a function that overwrites its first array, such as ``a op= b``, to it on a tensor and a tensor or number.

    That function counts the write in the line beside, see `gradwright.interpreter.at_once`. The result returns whether
    it has written: it leaves alone whatever is not plain memory of one floating-point dtype.
    """
    write = unheard(operator)

    def attempt(x: Any, other: Any) -> bool:
        mode = now()
        if mode is not UNRECORDED and (mode is not PLAIN or x._node is not None or _has_history(other)):
            return False
        if x._view is not None or x._counter[0].__class__ is not int:
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
            if b.dtype is not d:
                return False
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
