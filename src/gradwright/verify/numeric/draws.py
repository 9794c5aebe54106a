"""Random numbers to weight entries with, none near 0."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np


def draw(array: Any, seed: int) -> Any:
    """Random numbers like an array, none near 0: of either sign, or of any direction."""
    drawn = _cached if array.size < _SMALL else _cached.__wrapped__
    return drawn(array.shape, array.dtype.kind == "c", seed).copy()


def drawn(generator: np.random.Generator, like: Any) -> Any:
    """Numbers of the shape and dtype of an array, from 0.5 to 1.5 and of both signs."""
    like = np.asarray(like)
    values = generator.uniform(0.5, 1.5, like.shape) * generator.choice([-1.0, 1.0], like.shape)
    if like.dtype.kind == "c":
        values = values + 1j * generator.uniform(0.5, 1.5, like.shape)
    return np.asarray(values).astype(like.dtype)


_SMALL = 1000


@functools.lru_cache(256)
def _cached(shape: tuple[int, ...], is_complex: bool, seed: int) -> Any:
    random = np.random.default_rng(seed)
    lengths = random.uniform(0.5, 1.5, shape)
    if is_complex:
        return lengths * np.exp(2j * np.pi * random.uniform(0, 1, shape))
    return lengths * random.choice((-1.0, 1.0), shape)
