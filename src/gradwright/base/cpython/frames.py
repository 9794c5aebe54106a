"""Looking at what runs: which line of whose code called, so that messages and warnings name the user's.

Asked of the interpreter: `sys._getframe`. Else no place is named, and whoever calls counts as the user.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from typing import Any


def _none(depth: int = 0) -> Any:
    return None


frame: Callable[..., Any] = getattr(sys, "_getframe", _none)
"""The frame so many calls up, 0 for the caller's own; None if the interpreter shows none."""


_WAIT = inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR
_DRIVERS = (os.sep + "contextlib.py", f"{os.sep}_pytest{os.sep}fixtures.py")
"""Whoever makes a context of a generator: what holds at its ``yield`` is meant to hold outside."""


def waits(place: Any) -> bool:
    """Whether a frame is that of a generator over which somebody iterates."""
    if place is None or not place.f_code.co_flags & _WAIT:
        return False
    by = place.f_back
    while by is not None and by.f_code.co_flags & _WAIT:
        by = by.f_back
    return not file_of(by).endswith(_DRIVERS)


def is_suspended(place: Any) -> bool:
    """Whether a generator, whose frame this is, is waiting to be resumed."""
    return place.f_back is None


ASKING = "<gradwright asking>"
"""The file of code that stands before a function and asks for classes derived from Tensor."""


def past_asking(place: Any) -> Any:
    """A frame, or the first of those that called it that does not only ask."""
    while place is not None and place.f_code.co_filename == ASKING:
        place = place.f_back
    return place


def file_of(frame: Any) -> str:
    """The file of the code that runs in a frame."""
    return "" if frame is None else str(frame.f_code.co_filename)
