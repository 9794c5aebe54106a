"""The source of random numbers: NumPy's generator PCG64, one for the whole program."""

from __future__ import annotations

from typing import Any

import numpy as np


class _State:
    generator: Any = None
    seed = 0


def generator() -> Any:
    """The generator, made when first asked for: loading NumPy's takes a while."""
    if _State.generator is None:
        seed()
    return _State.generator


def manual_seed(seed: int) -> None:
    """Start the random numbers anew from ``seed``. The stream is NumPy's PCG64, not PyTorch's.

    Raises RuntimeError if ``seed`` is no whole number that fits 64 bits, signed or unsigned.
    """
    if not -(2**63) <= int(seed) < 2**64:
        raise RuntimeError(f"manual_seed(): argument 'seed' must fit 64 bits, but got {seed}")
    _State.seed, _State.generator = int(seed), np.random.default_rng(int(seed) % 2**64)


def seed() -> int:
    """Start the random numbers anew from a seed that nobody chose, and return it."""
    manual_seed(int(np.random.SeedSequence().generate_state(1, np.uint64)[0]))
    return _State.seed


def initial_seed() -> int:
    """The seed that the random numbers started from."""
    generator()
    return _State.seed
