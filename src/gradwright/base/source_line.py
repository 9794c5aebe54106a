"""Where in the user's program something happened: the innermost line that is not gradwright's own."""

from __future__ import annotations

import copy
import linecache
import os
import warnings
from types import CodeType
from typing import NamedTuple

from gradwright.base.cpython.frames import file_of, frame

HOME = os.path.dirname(os.path.dirname(__file__)) + os.sep
"""The folder of the package."""
_OWN: dict[str, bool] = {}


class Place(NamedTuple):
    """A point of a program: code and an offset in it, which is all that is kept; a frame would keep its variables."""

    code: CodeType
    offset: int

    @property
    def line(self) -> int:
        """The number of the source line."""
        found = self.code.co_firstlineno
        for start, end, line in self.code.co_lines():
            if start <= self.offset < end and line is not None:
                found = line
        return found

    @property
    def source(self) -> str:
        """The text of the line, as far as it can be found."""
        return linecache.getline(self.code.co_filename, self.line).strip()

    def __str__(self) -> str:
        return f"{self.code.co_filename}:{self.line}{f': {self.source}' if self.source else ''}"


def here(depth: int = 1) -> tuple[CodeType, int] | None:
    """The line of the user's program that runs now, as `Place` takes it; None if there is none.

    The search begins ``depth`` frames up, since each frame that is looked at costs.
    """
    place = frame(depth)
    while place is not None:
        code = place.f_code
        name = code.co_filename
        if not (_OWN[name] if name in _OWN else is_own(name)):
            return code, place.f_lasti
        place = place.f_back
    return None


def warn(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn of that line. Python shows it once for each line, unless told otherwise."""
    place, at = here(2), frame(1)
    while at is not None and (place is None or at.f_code is not place[0]):
        at = at.f_back
    if at is None:
        warnings.warn(message, category, stacklevel=2)
        return
    names = at.f_globals
    registry = names.setdefault("__warningregistry__", {})
    warnings.warn_explicit(message, category, file_of(at), at.f_lineno, names.get("__name__", "<unknown>"), registry)


def is_own(filename: str) -> bool:
    """Whether a file is gradwright's own."""
    own = _OWN[filename] = filename.startswith((HOME, "<gradwright", copy.__file__))  # of `deepcopy` we are a part
    return own
