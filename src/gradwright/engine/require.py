"""Checks of values: class labels, indices, probabilities. One door, so that a mode can defer them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradwright import backends
from gradwright.engine.levels import below
from gradwright.engine.mode import now


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
    if not array.size:
        return
    quick = isinstance(array, np.ndarray) and array.dtype.kind == "i" and not low
    if quick and 0 in array.strides:  # along such an axis all entries are one
        array = array[tuple([slice(None) if step else slice(1) for step in array.strides])]
    if quick and array.view(f"u{array.itemsize}").max() <= high:  # in one pass: without its sign, a negative is large
        return
    xp = backends.namespace(array)
    least, most = xp.min(array), xp.max(array)
    require((least >= low) & (most <= high),
            lambda: message(_outside(backends.to_host(below(array)), low, high)), error)  # fmt: skip
