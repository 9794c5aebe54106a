"""Random numbers of NumPy and Python that the user's code may draw: forward draws the same when it is run again."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradwright.backends.generator import shared


class Stream:
    """Random numbers, with the methods of `gradwright.backends.generator.Source`.

    Attributes:
        source: a Generator or RandomState of NumPy's, or a Random of Python's.
    """

    is_on = True

    def __init__(self, source: Any) -> None:
        self.source = source

    def get_state(self) -> Any:
        """All that decides the random numbers to come."""
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
    return [Stream(source) for source in found.values()]


@contextmanager
def drawn_again(states: dict[Any, Any]) -> Iterator[None]:
    """Draw, inside, the numbers that followed these states of sources; go on afterwards as if none had been drawn."""
    present = {source: source.get_state() for source in {*states, shared} if source.is_on}
    try:
        for source, state in states.items():
            source.set_state(state)
        yield
    finally:
        for source, state in present.items():
            source.set_state(state)
