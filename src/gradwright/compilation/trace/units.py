"""What a traced run reads: memory and numbers, the inputs of a program."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwright import backends
from gradwright.backends.numpy import NUMPY
from gradwright.compilation.trace.traced import Traced
from gradwright.engine.base import TensorBase
from gradwright.engine.levels import LevelArray


class Unit:
    """Memory that a traced run has read or written: an input of the program.

    Attributes:
        array: the array; None of what was made in the run.
        tensor: the one through which it was met.
        start: what it held, traced.
        showing: the tensors over it, with the arrays that they held.
        parts: what these showed of memory, where the library keeps that, by id.
        whole: whether it is all of such memory, of which they show parts.
    """

    def __init__(self, array: Any, tensor: Any, start: Traced, whole: bool = False) -> None:
        self.array, self.tensor, self.start, self.whole = array, tensor, start, whole
        self.showing: list[tuple[Any, Any]] = []
        self.parts: dict[int, Any] = {}

    def now(self) -> Any:
        """What it holds now, traced."""
        first = self.showing[0][0]
        part = getattr(first, "_part", None)
        return first.array if part is None else part.memory.array


class Setting:
    """A number that a program reads anew at every call: an entry of a dictionary, or of a tuple in it."""

    def __init__(self, container: dict[str, Any], key: str, index: int | None, value: float, start: Traced) -> None:
        self.container, self.key, self.index, self.value, self.start = container, key, index, value, start

    def read(self) -> Any:
        """The number as it is; None if it is no number that may stand in its place."""
        value = self.container.get(self.key)
        if self.index is not None:
            value = value[self.index] if type(value) is tuple and len(value) > self.index else None
        return value if type(value) is float and value != 0 else None


def where_it_is_used(options: dict[str, Any], value: float) -> Any:
    """A number as an array of the library, and on the device, of the parameters beside it."""
    params = options.get("params")
    array = params[0].array if isinstance(params, list) and params and isinstance(params[0], TensorBase) else None
    plain = array.plain if isinstance(array, Traced) else array
    by = NUMPY if plain is None or isinstance(plain, LevelArray) else backends.library(plain)
    return np.array(value) if by is NUMPY else by.brought(np.array(value), None, by.place_of(plain))


def place(array: Any) -> tuple[Any, ...]:
    """Where and how an array lies in memory; of one that is never written, which it is."""
    if not isinstance(array, np.ndarray):
        return (id(array),)
    at = array.__array_interface__["data"][0] if array.size else id(array)
    return at, array.shape, array.strides, array.dtype


def of_one_memory(t: Any, other: Any) -> bool:
    """Whether a tensor is another one, or shows the same memory, while both hold traced arrays."""
    mine, its = getattr(t, "_part", None), getattr(other, "_part", None)
    return t is other or (mine is not None and its is not None and mine.memory is its.memory)
