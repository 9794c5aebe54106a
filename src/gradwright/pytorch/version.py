"""``torch.__version__``, which is a text and is compared as a version."""

from __future__ import annotations

import re
from typing import Any

_PARTS = re.compile(r"v?(\d+(?:\.\d+)*)(?:[._-]?(a|b|rc|dev|post)[._-]?(\d*))?")
_BEFORE = {"dev": -4, "a": -3, "b": -2, "rc": -1, None: 0, "post": 1}


class TorchVersion(str):
    """A version as a text. Compared with a text, a tuple or a list that says a version, it is one.

    What follows a plus sign makes a version the later of two that are otherwise the same. With a text that says no
    version it is compared as texts are.

    >>> TorchVersion("2.13.0+cpu") >= "2.9", TorchVersion("2.13.0") < (2, 14), TorchVersion("2.13.0") == "2.13"
    (True, True, True)
    """

    __slots__ = ()

    def _compared(self, other: Any, how: str) -> Any:
        mine, theirs = _read(str(self)), _read(other if isinstance(other, str) else _joined(other))
        if mine is None or theirs is None:
            return getattr(str, how)(self, other)
        return getattr(tuple, how)(mine, theirs)

    def __lt__(self, other: Any) -> bool:
        return bool(self._compared(other, "__lt__"))

    def __le__(self, other: Any) -> bool:
        return bool(self._compared(other, "__le__"))

    def __gt__(self, other: Any) -> bool:
        return bool(self._compared(other, "__gt__"))

    def __ge__(self, other: Any) -> bool:
        return bool(self._compared(other, "__ge__"))

    def __eq__(self, other: object) -> bool:
        return self._compared(other, "__eq__") is True

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


def _joined(other: Any) -> str:
    return ".".join(map(str, other)) if isinstance(other, (tuple, list)) else ""


def _read(text: str) -> tuple[Any, ...] | None:
    """What orders a version: its numbers without zeros at the end, what it is before or after them, what is local."""
    public, _, local = text.strip().lower().partition("+")
    found = _PARTS.fullmatch(public)
    if found is None:
        return None
    numbers = [int(n) for n in found[1].split(".")]
    while numbers and not numbers[-1]:
        del numbers[-1]
    parts = [(1, int(p), "") if p.isdecimal() else (0, 0, p) for p in re.split(r"[._-]", local)] if local else []
    return numbers, _BEFORE[found[2]], int(found[3] or 0), parts
