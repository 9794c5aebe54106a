"""Arrays of the same numbers that lie in memory in other ways.

Whoever takes one to be contiguous reads other numbers, but never beyond the memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def mirrored(array: Any) -> Any:
    """With negative strides."""
    room = _room((2, *array.shape), array)
    room[0] = np.flip(array)
    return np.flip(room[0])


def transposed(array: Any) -> Any:
    """In Fortran's order."""
    return np.array(array, order="F")


def strided(array: Any) -> Any:
    """Every other entry of a larger array."""
    room = _room((*array.shape, 2), array)
    room[..., 0] = array
    return room[..., 0]


def expanded(array: Any) -> Any:
    """Its first entry at every place, with strides of 0; it is read-only."""
    room = _room((array.size,), array)
    room[0] = array.reshape(-1)[0]
    return np.broadcast_to(room[:1].reshape(()), array.shape)


def _room(shape: tuple[int, ...], like: Any) -> Any:
    return np.full(shape, 7, like.dtype)


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "negative-stride": mirrored, "strided": strided, "transposed": transposed, "read-only": np.array,
}  # fmt: skip
"""Those with the numbers of the array itself, by name."""
