"""Counting references: whether anybody else holds an object, which may be taken over or written if not.

So a gradient becomes ``.grad`` without a copy, and what nobody has saved is written without a note of where. Asked of
the interpreter: a holder more is one more, a holder less one less. Without that everything counts as held.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

_MANY = sys.maxsize


def _many(value: Any) -> int:
    return _MANY


count: Callable[[Any], int] = getattr(sys, "getrefcount", _many)
"""How many references an object has, that of the caller among them."""


def _counts() -> bool:
    thing: list[Any] = []
    before = count(thing)
    holder = [thing, thing]
    during = count(thing)
    del holder
    return before < _MANY and during == before + 2 and count(thing) == before


if not _counts():
    count = _many


def alone(measure: Callable[[], int]) -> int:
    """How many references an object has that nobody else holds: what ``measure`` counts on one; 0 if nothing counts."""
    found = measure()
    return found if found < _MANY else 0
