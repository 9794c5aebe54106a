"""The sources of random numbers: one for the whole program and those that users make, and which stream they are of."""

from __future__ import annotations

import weakref
from importlib import import_module
from typing import Any

import numpy as np

from gradwright.base.cpython.forks import in_child

STREAMS = {"numpy": "gradwright.backends.streams.pcg64:PCG64", "torch": "gradwright.backends.streams.mersenne:Mersenne"}
"""The streams that there are, and the class of each, which is loaded when it is first drawn from."""


def use(stream: str) -> None:
    """Draw by this stream from now on: "numpy", NumPy's PCG64, or "torch", PyTorch's numbers on the CPU.

    With "torch" a seed gives the numbers that PyTorch 2.13 draws: uniform and whole numbers, orders, tries and dropout
    to the bit, normal numbers to some units in the last place; ``gradwright run`` draws so. The default generator
    starts anew from its seed, or from one that nobody chose; a `Generator` made before goes on as it was.

    Raises ValueError for another name.

    >>> gw.random.use("torch")
    >>> _ = gw.manual_seed(0)
    >>> gw.rand(3)
    tensor([0.4963, 0.7682, 0.0885])
    >>> gw.random.use("numpy")
    """
    if stream not in STREAMS:
        raise ValueError(f"random.use(): expected one of {', '.join(map(repr, STREAMS))}, but got {stream!r}: the "
                         "numbers of PyTorch are those of version 2.13")  # fmt: skip
    if _Used.stream != stream:
        _Used.stream = shared.stream = stream
        shared.restart()


class _Used:
    stream = "numpy"


class Source:
    """A stream of random numbers, and the seed that it started from: ``seed``, or one that nobody chose."""

    __slots__ = ("__weakref__", "_generator", "_seed", "stream")

    def __init__(self, seed: int | None = None) -> None:
        self._generator: Any = None
        self._seed = seed
        self.stream = _Used.stream
        _sources.add(self)

    def generator(self) -> Any:
        """What draws, made when first asked for: loading it takes a while."""
        if self._generator is None:
            self.seed() if self._seed is None else self.manual_seed(self._seed)
        return self._generator

    @property
    def is_on(self) -> bool:
        """Whether it has been asked for."""
        return self._generator is not None

    def _made(self, seed: int) -> Any:
        module, _, name = STREAMS[self.stream].partition(":")
        return getattr(import_module(module), name)(seed)

    def restart(self) -> None:
        """Begin again from the seed that was chosen, if one was, when next asked."""
        self._generator = None

    def manual_seed(self, seed: int) -> None:
        """Start anew from ``seed``; RuntimeError if that does not fit 64 bits, signed or unsigned."""
        if not -(2**63) <= int(seed) < 2**64:
            raise RuntimeError(f"manual_seed(): argument 'seed' must fit 64 bits, but got {seed}")
        self._seed = int(seed) % 2**64
        self._generator = self._made(self._seed)

    def seed(self) -> int:
        """Start the random numbers anew from a seed that nobody chose, and return it.

        >>> gw.seed() == gw.initial_seed()
        True
        """
        self.manual_seed(int(np.random.SeedSequence().generate_state(1, np.uint64)[0]))
        return self.initial_seed()

    def initial_seed(self) -> int:
        """The seed that the random numbers started from.

        >>> _ = gw.manual_seed(7)
        >>> gw.initial_seed()
        7
        """
        return int(self.generator().seed)

    def get_state(self) -> bytes:
        """All that decides the random numbers to come, and the seed they started from."""
        return bytes(self.generator().get_state())

    def set_state(self, state: bytes) -> None:
        """Go back to what `get_state` returned. RuntimeError if ``state`` is not of that size."""
        own = self.generator()
        if len(state) != own.size:
            raise RuntimeError(f"Expected a state of size {own.size}, as get_rng_state() returns, but found the input "
                               f"RNG state size to be {len(state)}")  # fmt: skip
        own.set_state(state)
        self._seed = own.seed


_sources: weakref.WeakSet[Source] = weakref.WeakSet()


@in_child
def _unlocked() -> None:
    """Go on with generators of the child's own: those there are may be held by threads that it does not have."""
    for source in list(_sources):
        if source.is_on:
            state = source.get_state()
            source._generator = source._made(0)
            source.set_state(state)


shared = Source()
"""What is drawn from where no other is named."""

generator, seed, initial_seed = shared.generator, shared.seed, shared.initial_seed
