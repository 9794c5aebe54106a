"""Views as plain values: the chain of view operations that leads from an array to a view of it.

A chain is () for the array itself, else a pair: the chain of all operations but the last, and that one, as the
operation, its static arguments and, if it has several results, which of them.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np


def chain(*steps: tuple[Any, ...]) -> tuple[Any, ...]:
    """The chain of these steps: an operation and its static arguments each."""
    return (chain(*steps[:-1]), steps[-1]) if steps else ()


def in_order(steps: tuple[Any, ...]) -> list[Any]:
    """The steps of a chain, from the array on."""
    found = []
    while steps:
        steps, step = steps
        found.append(step)
    return found[::-1]


def read(array: Any, steps: tuple[Any, ...]) -> Any:
    """What the chain shows of ``array``, an array or a Tensor."""
    for op, static, *which in in_order(steps):
        array = op(array, **static)
        for k in which:
            array = array[k]
    return array


def places(shape: tuple[int, ...], complex_: bool, steps: tuple[Any, ...]) -> Any:
    """Where what the chain shows of an array lies in it, in row-major order; of complex numbers, where each part lies.

    That follows from shapes alone.
    """
    at = np.arange(prod(shape) * (1 + complex_), dtype=np.float64)
    at = read((at.view(np.complex128) if complex_ else at).reshape(shape), steps)
    at = np.array(at, order="C").reshape(-1)
    return at.view(np.float64).astype(np.int64)
