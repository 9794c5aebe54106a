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


_FIELDS = 5
_BYTES = 16


def get_state() -> bytes:
    """All that decides the random numbers to come, and the seed they started from."""
    state = generator().bit_generator.state
    numbers = (state["state"]["state"], state["state"]["inc"], state["has_uint32"], state["uinteger"], _State.seed)
    return b"".join([(n % 256**_BYTES).to_bytes(_BYTES, "little") for n in numbers])


def set_state(state: bytes) -> None:
    """Go back to what `get_state` returned. RuntimeError if ``state`` is not of that size."""
    if len(state) != _FIELDS * _BYTES:
        raise RuntimeError(f"Expected a state of size {_FIELDS * _BYTES}, as get_rng_state() returns, but found the "
                           f"input RNG state size to be {len(state)}")  # fmt: skip
    parts = [int.from_bytes(state[i : i + _BYTES], "little") for i in range(0, len(state), _BYTES)]
    generator().bit_generator.state = {
        "bit_generator": "PCG64", "state": {"state": parts[0], "inc": parts[1]},
        "has_uint32": parts[2], "uinteger": parts[3],
    }  # fmt: skip
    _State.seed = parts[4] if parts[4] < 2**64 else parts[4] - 256**_BYTES


def initial_seed() -> int:
    """The seed that the random numbers started from."""
    generator()
    return _State.seed
