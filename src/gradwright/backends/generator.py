"""The source of random numbers: NumPy's generator PCG64, one for the whole program and those that users make."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from gradwright.base.cpython.forks import in_child

_FIELDS = 5
_BYTES = 16


class Source:
    """A stream of random numbers, and the seed that it started from: ``seed``, or one that nobody chose."""

    __slots__ = ("__weakref__", "_generator", "_seed")

    def __init__(self, seed: int | None = None) -> None:
        self._generator: Any = None
        self._seed: Any = seed
        _sources.add(self)

    def generator(self) -> Any:
        """NumPy's generator, made when first asked for: loading it takes a while."""
        if self._generator is None:
            self.seed() if self._seed is None else self.manual_seed(self._seed)
        return self._generator

    @property
    def is_on(self) -> bool:
        """Whether it has been asked for."""
        return self._generator is not None

    def manual_seed(self, seed: int) -> None:
        """Start anew from ``seed``; RuntimeError if that does not fit 64 bits, signed or unsigned."""
        if not -(2**63) <= int(seed) < 2**64:
            raise RuntimeError(f"manual_seed(): argument 'seed' must fit 64 bits, but got {seed}")
        self._seed, self._generator = int(seed), np.random.default_rng(int(seed) % 2**64)

    def seed(self) -> int:
        """Start the random numbers anew from a seed that nobody chose, and return it.

        >>> gw.seed() == gw.initial_seed()
        True
        """
        self.manual_seed(int(np.random.SeedSequence().generate_state(1, np.uint64)[0]))
        return self._seed

    def initial_seed(self) -> int:
        """The seed that the random numbers started from.

        >>> _ = gw.manual_seed(7)
        >>> gw.initial_seed()
        7
        """
        self.generator()
        return self._seed

    def get_state(self) -> bytes:
        """All that decides the random numbers to come, and the seed they started from."""
        state = self.generator().bit_generator.state
        numbers = (state["state"]["state"], state["state"]["inc"], state["has_uint32"], state["uinteger"], self._seed)
        return b"".join([(n % 256**_BYTES).to_bytes(_BYTES, "little") for n in numbers])

    def set_state(self, state: bytes) -> None:
        """Go back to what `get_state` returned. RuntimeError if ``state`` is not of that size."""
        if len(state) != _FIELDS * _BYTES:
            raise RuntimeError(f"Expected a state of size {_FIELDS * _BYTES}, as get_rng_state() returns, but found "
                               f"the input RNG state size to be {len(state)}")  # fmt: skip
        parts = [int.from_bytes(state[i : i + _BYTES], "little") for i in range(0, len(state), _BYTES)]
        self.generator().bit_generator.state = {
            "bit_generator": "PCG64", "state": {"state": parts[0], "inc": parts[1]},
            "has_uint32": parts[2], "uinteger": parts[3],
        }  # fmt: skip
        self._seed = parts[4] if parts[4] < 2**64 else parts[4] - 256**_BYTES


_sources: weakref.WeakSet[Source] = weakref.WeakSet()


@in_child
def _unlocked() -> None:
    """Go on with generators of the child's own: those there are may be held by threads that it does not have."""
    for source in list(_sources):
        if source.is_on:
            state = source.get_state()
            source._generator = np.random.default_rng(0)
            source.set_state(state)


shared = Source()
"""What is drawn from where no other is named."""

generator, seed, initial_seed = shared.generator, shared.seed, shared.initial_seed
