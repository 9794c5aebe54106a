"""Checks of values: class labels, indices, probabilities. All here, so that a mode can defer them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradwright import backends
from gradwright.engine.levels import below
from gradwright.engine.mode import now

_largest = np.maximum.reduce


def require(condition: Any, message: str | Callable[[], str], error: type[Exception] = RuntimeError) -> None:
    """Raise ``error`` with ``message`` unless ``condition``, an array of booleans or one boolean, holds everywhere.

    A message that takes work to say is given as a function, which is called only if the check fails. An interpreter
    that has a ``require`` of its own gets all of this instead, and may look later.
    """
    if condition is True:
        return
    deferred = getattr(now().interpreter, "require", None)
    if deferred is not None:
        deferred(condition, message, error)
        return
    if not everywhere(condition):
        raise error(message if isinstance(message, str) else message())


def everywhere(condition: Any) -> bool:
    """Whether an array of booleans, or one boolean, holds everywhere, in each example of a batch."""
    if isinstance(condition, bool):
        return condition
    condition = below(condition)
    return bool(condition if condition.ndim == 0 else backends.namespace(condition).all(condition))


def _outside(array: Any, low: Any, high: Any) -> Any:
    """An entry that is not from ``low`` to ``high``."""
    least = array.min()
    return (array.max() if least >= low else least).item()


def within(array: Any, low: Any, high: Any, message: Callable[[Any], str], error: type[Exception] = RuntimeError
           ) -> None:  # fmt: skip
    """`require` all entries of an array to be from ``low`` to ``high``; ``message`` is told one that is not."""
    if not array.size or _at_once(array, low, high):
        return
    xp = backends.namespace(array)
    least, most = xp.min(array), xp.max(array)
    require((least >= low) & (most <= high),
            lambda: message(_outside(backends.to_host(below(array)), low, high)), error)  # fmt: skip


def known_within(array: Any, low: Any, high: Any) -> bool:
    """Whether it is known that all entries of an array, which has some, are from ``low`` to ``high``."""
    found = _at_once(array, low, high)
    if found is None:
        xp = backends.namespace(array)
        return not xp.may_hold((xp.min(array) < low) | (xp.max(array) > high))
    return found


def _at_once(array: Any, low: Any, high: Any) -> bool | None:
    """Whether all entries are from 0 to ``high``, asked in one pass over integers of NumPy; None of others."""
    if not isinstance(array, np.ndarray) or array.dtype.kind != "i" or low:
        return None
    if 0 in array.strides:  # along such an axis all entries are one
        array = array[tuple([slice(None) if step else slice(1) for step in array.strides])]
    return bool(_largest(array.view(f"u{array.itemsize}"), None) <= high)  # without its sign, a negative is large
