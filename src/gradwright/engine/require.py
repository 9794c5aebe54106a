"""Checks of values: class labels, indices, probabilities. One door, so that a mode can defer them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwright import backends


def require(condition: Any, message: str | Callable[[], str], error: type[Exception] = RuntimeError) -> None:
    """Raise ``error`` with ``message`` unless ``condition``, an array of booleans or one boolean, holds everywhere.

    A message that takes work to say is given as a function, which is called only if the check fails.
    """
    if condition is True:
        return
    holds = condition if isinstance(condition, bool) else bool(backends.namespace(condition).all(condition))
    if not holds:
        raise error(message if isinstance(message, str) else message())
