"""How much is tried: a part of it at a desk, all of it with CI=1, and far more random programs with `make soak`."""

import os
from collections.abc import Iterable
from typing import Any

WHOLE = bool(os.environ.get("CI"))
PROGRAMS = int(os.environ.get("SOAK", "2000" if WHOLE else "500"))
"""How many random programs; interrupts, forks and steps are parts of that."""


def some(cases: Iterable[Any], every: int, start: int = 0) -> list[Any]:
    """All of the cases with CI=1, and at a desk one in ``every`` of them, from that which ``start`` turns to."""
    found = list(cases)
    return found if WHOLE else found[start % max(1, min(every, len(found))) :: every]
