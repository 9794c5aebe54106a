"""Looking at what runs: which line of whose code called, so that messages and warnings name the user's.

Asked of the interpreter: `sys._getframe`. Else no place is named, and whoever calls counts as the user.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def _none(depth: int = 0) -> Any:
    return None


frame: Callable[..., Any] = getattr(sys, "_getframe", _none)
"""The frame so many calls up, 0 for the caller's own; None if the interpreter shows none."""


def file_of(frame: Any) -> str:
    """The file of the code that runs in a frame."""
    return "" if frame is None else str(frame.f_code.co_filename)
