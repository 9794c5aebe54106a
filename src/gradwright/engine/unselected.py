"""NaN that comes through the side that `where` has not selected.

Where an entry is not selected, that side gets the cotangent 0. If its slope there is infinite, 0 * inf is NaN, and
reaches the leaves, though the result is finite: ``where(x > 0, sqrt(x), 0)`` at 0. So after a pass through a node of
an operation that selects, gradients are looked at; after others they are not.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradwright import backends
from gradwright.base.errors import size
from gradwright.engine.base import TensorBase
from gradwright.engine.levels import LevelArray, below
from gradwright.engine.strict import warn


class _Unselected(threading.local):
    may_be = False
    found: Any = None


unselected = _Unselected()
"""``unselected.may_be``: whether a pass has gone through such a node; ``unselected.found``: a gradient that had NaN."""


def look(gradients: Iterable[Any]) -> None:
    """Look for NaN among the gradients of a pass."""
    unselected.may_be = False
    for g in gradients:
        array = getattr(g, "array", g)
        if array is not None and _has_nan(array):
            unselected.found = array
            return


def tell(outputs: Sequence[Any], roots: Sequence[tuple[Any, Any]]) -> None:
    """Warn of NaN that was found, if the ``outputs`` that the pass began at are finite, and so are their cotangents."""
    array, unselected.found = unselected.found, None
    values = [t.array for t in outputs if isinstance(t, TensorBase)] + [getattr(g, "array", g) for _, g in roots]
    for value in map(below, values):  # of a batch, all examples
        space = backends.namespace(value)
        if not space.all(space.isfinite(value)):
            return
    warn(
        f"a gradient of shape {size(array.shape)} has NaN, though the result is finite, and where() is on the way: its "
        "side that is not taken gets 0, and 0 * inf is NaN, if the slope is infinite there. Make that side's argument "
        "harmless first: where(x > 0, sqrt(where(x > 0, x, 1)), 0). detect_anomaly() names the operation and its line."
    )


def _has_nan(array: Any) -> bool:
    if isinstance(array, LevelArray):
        return _has_nan(array.tensor.array)
    if isinstance(array, np.ndarray):
        flat = array.reshape(-1)
        total = flat.dot(flat)  # the quickest look at all of them
        if total == total:  # NaN does not
            return False
    if backends.library(array).traces and not isinstance(array.plain, np.ndarray):
        array = array.plain  # a program that looked at it each time would wait for its gradients
    space = backends.namespace(array)
    return bool(space.any(space.isnan(array)))
