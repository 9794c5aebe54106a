"""Where random numbers stand: noted, and put back."""

from __future__ import annotations

import random
import sys
from typing import Any, NamedTuple

import numpy as np

from gradwright.backends.generator import shared


class Streams(NamedTuple):
    """Where the random numbers of Python, NumPy, gradwright and, if it is there, PyTorch stand."""

    python: Any
    numpy: Any
    ours: bytes
    torch: Any

    @classmethod
    def now(cls) -> Streams:
        """As they are."""
        torch = known_torch()
        theirs = None if torch is None else torch.default_generator.get_state()
        return cls(random.getstate(), np.random.get_state(), shared.get_state(), theirs)  # noqa: NPY002 - the user's

    def put_back(self) -> None:
        """Draw on as from there."""
        random.setstate(self.python)
        np.random.set_state(self.numpy)  # noqa: NPY002 - the user's
        shared.set_state(self.ours)
        torch = known_torch()
        if torch is not None and self.torch is not None:
            torch.default_generator.set_state(self.torch)


def known_torch() -> Any:
    """PyTorch itself, if the program has imported it; it is never imported for this."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and hasattr(torch, "_C") and hasattr(torch, "default_generator") else None
