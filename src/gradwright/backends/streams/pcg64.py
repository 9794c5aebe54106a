"""Random numbers by NumPy's generator PCG64."""

from __future__ import annotations

from typing import Any

import numpy as np

_FIELDS = 5
_BYTES = 16


class PCG64(np.random.Generator):
    """NumPy's generator of that name, from ``seed``, which draws for any floating-point dtype."""

    size = _FIELDS * _BYTES
    """Of a state."""

    def __init__(self, seed: int) -> None:
        super().__init__(np.random.PCG64(seed % 2**64))
        self.seed = seed

    def random(self, size: Any = None, dtype: Any = np.float64) -> Any:  # type: ignore[override]
        """Uniform numbers from [0, 1): float32 ones for that dtype, else float64."""
        return super().random(size, np.float32 if dtype == np.float32 else np.float64)

    def standard_normal(self, size: Any = None, dtype: Any = np.float64) -> Any:  # type: ignore[override]
        """Normal numbers of mean 0 and variance 1: float32 ones for that dtype, else float64."""
        return super().standard_normal(size, np.float32 if dtype == np.float32 else np.float64)

    def bernoulli(self, p: float, size: Any, dtype: Any = np.float64) -> Any:
        """Whether each of so many tries, each with probability ``p``, succeeds; ``dtype`` says how finely it is met."""
        return self.random(size, dtype) < p

    def log_gamma(self, concentrations: Any) -> Any:
        """Logarithms of gamma numbers, by G(a) = G(a + 1) U**(1/a)."""
        a = np.asarray(concentrations, np.float64)
        return np.log(self.standard_gamma(a + 1)) + np.log1p(-self.random(a.shape)) / a

    def get_state(self) -> bytes:
        """All that decides the numbers to come, and the seed they started from."""
        state: Any = self.bit_generator.state
        numbers = (state["state"]["state"], state["state"]["inc"], state["has_uint32"], state["uinteger"], self.seed)
        return b"".join([(n % 256**_BYTES).to_bytes(_BYTES, "little") for n in numbers])

    def set_state(self, state: bytes) -> None:
        """Go back to what `get_state` returned."""
        parts = [int.from_bytes(state[i : i + _BYTES], "little") for i in range(0, len(state), _BYTES)]
        self.bit_generator.state = {
            "bit_generator": "PCG64", "state": {"state": parts[0], "inc": parts[1]},
            "has_uint32": parts[2], "uinteger": parts[3],
        }  # fmt: skip
        self.seed = parts[4]
