"""Random numbers of NumPy and Python that the user's code may draw: forward draws the same when it is run again."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from functools import cache, lru_cache, partial
from itertools import pairwise
from typing import Any

import numpy as np

from gradwright.base.cpython.raw import raw


class Stream:
    """Random numbers, with the methods of `gradwright.backends.generator.Source`.

    Attributes:
        source: a Generator or RandomState of NumPy's, or a Random of Python's.
    """

    is_on = True

    def __init__(self, source: Any) -> None:
        self.source = source
        self._last: tuple[Any, Any] = None, None

    def get_state(self) -> Any:
        """All that decides the random numbers to come: the same object as the last time, if that is known to hold."""
        look, (before, state) = _look(self.source), self._last
        if look is None or look != before:
            state = self._state()
            self._last = (look, state) if look == _look(self.source) else (None, None)  # another thread may draw
        return state

    def _state(self) -> Any:
        source = self.source
        if isinstance(source, random.Random):
            return source.getstate()
        return source.bit_generator.state if hasattr(source, "bit_generator") else source.get_state(legacy=False)

    def set_state(self, state: Any) -> None:
        """Go back to what `get_state` returned."""
        source = self.source
        if isinstance(source, random.Random):
            source.setstate(state)
        elif hasattr(source, "bit_generator"):
            source.bit_generator.state = state
        else:
            source.set_state(state)


_stream = lru_cache(maxsize=8)(Stream)


def _is_twister(source: Any) -> bool:
    """Whether its state is one of 2,500 bytes, which is slow to get."""
    bits = getattr(source, "_bit_generator", None)
    return type(source) is random.Random or (
        bits is not None and type(source) is np.random.RandomState and type(bits) is np.random.MT19937
    )


def _look(source: Any) -> Any:
    """What is another one once numbers have been drawn; None if only the state tells, or tells as quickly."""
    return _fields(source) if _is_twister(source) and _shows(source.__class__) else None


def _fields(source: Any) -> Any:
    if isinstance(source, random.Random):
        return raw(source, random.Random.__mro__[1]), vars(source)["gauss_next"]
    return raw(source, type(source)), raw(source._bit_generator, type(source._bit_generator))


@cache
def _shows(cls: Callable[[int], Any]) -> bool:
    """Whether `_fields` shows each draw: tried, not guessed."""
    source = cls(0)
    draws = [source.random, partial(source.gauss if cls is random.Random else source.normal, 0, 1)] * 3
    looks = [(_fields(source), draw())[0] for draw in draws]
    return all(a != b for a, b in pairwise(looks))


def streams(values: list[Any], names: set[str]) -> list[Stream]:
    """Those that code can draw from which uses these values, and reads these names of them."""
    loaded: Any = np.random if any(v is np for v in values) and "random" in names else sys.modules.get("numpy.random")
    kinds = (random.Random, *((loaded.Generator, loaded.RandomState) if loaded else ()))
    found: dict[int, Any] = {}
    for value in values:
        owner = value
        if value is random or (loaded and value is loaded) or (value is np and "random" in names):
            module: Any = random if value is random else loaded
            owner = (module.getstate if module is random else module.get_state).__self__
        elif not isinstance(value, kinds):
            owner = getattr(value, "__self__", None)  # of one of its methods
        if isinstance(owner, kinds):
            found[id(owner)] = owner
    return [(_stream if _is_twister(source) else Stream)(source) for source in found.values()]
