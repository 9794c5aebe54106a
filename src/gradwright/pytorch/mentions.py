"""Whether a name is asked for by code that would not do without it.

``torch.X`` and ``from torch import X`` outside of ``try`` only mention it, for now: what is done with it comes after.
``hasattr(torch, "X")``, ``getattr(torch, "X", None)`` and whatever stands in a ``try`` is a question whether it is
there. Which of both it is stands in the bytecode of who asks. Where no frames are shown, all are questions.
"""

from __future__ import annotations

import dis
from typing import Any

from gradwright.base.cpython.frames import frame

_ASKS = ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM", "IMPORT_NAME")


def mentioned() -> bool:
    """Whether the code that has come here through the import hook mentions a name."""
    place: Any = frame(1)
    while place is not None and _is_machinery(place):
        place = place.f_back
    if place is None:
        return False
    code, at = place.f_code, place.f_lasti
    return dis.opname[code.co_code[at]] in _ASKS and not _is_tried(code, at)


def _is_machinery(place: Any) -> bool:
    name = str(place.f_code.co_filename)
    return name.startswith("<frozen importlib") or place.f_globals.get("__name__") == "gradwright.pytorch.hook"


def _is_tried(code: Any, at: int) -> bool:
    """Whether what is raised there may be handled in the same code."""
    return any(entry.start <= at < entry.end for entry in dis.Bytecode(code).exception_entries)  # type: ignore[attr-defined]
