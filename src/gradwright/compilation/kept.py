"""Inputs of a program that are arrays of a library that writes none: read, used up, and exchanged, as text.

A tensor's memory is then a matter of which tensors show it (`gradwright.engine.memory`). What is written is exchanged:
the program gives new arrays. It may use up the old ones, if nobody else holds them, which counting references tells.
What is not known to be the program's own making, or is held by somebody else, is copied first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sys import getrefcount
from typing import Any

import numpy as np

from gradwright.backends.numpy import NUMPY
from gradwright.compilation.trace.record import Input, Record
from gradwright.engine.view import refresh


def _count() -> int:
    array = object()
    return getrefcount(array)


ALONE = _count()
"""How many references `getrefcount` tells of what one variable holds."""

NAMES: dict[str, Any] = {"count": getrefcount, "is_current": refresh}
"""What the text needs."""


def reading(source: Input, array: str, t: str, last: str, name: Callable[[Any], str], written: bool) -> list[str]:
    """The lines that read an input into ``array`` from the tensor ``t``; None is returned where it does not fit."""
    _, shape, dtype, lies, *_ = source.look
    shown = f"{t}.array"
    lines = []
    if written or source.whole:
        lines.append(f"p{array} = getattr({t}, '_part', None)")
    if source.whole:
        lines.append(f"if p{array} is None or p{array}.steps != {name(source.steps)}: return None")
        shown, (shape, dtype) = f"p{array}.memory.array", source.of_whole
    return [
        *lines,
        f"{array} = {shown}",
        f"if {array} is not {last} or {t}._view is not None:",
        f"    if {t}._view is not None: is_current({t})",
        f"    if getattr({array}, 'sharding', None) != {name(lies)} or {array}.shape != {tuple(shape)!r}: return None",
        f"    if {array}.dtype != {name(dtype)}: return None",
        "    moved = True",
    ]


def looking(state: tuple[Any, ...], t: str, array: str, owner: str | None, steps: Any,
            name: Callable[[Any], str]) -> list[str]:  # fmt: skip
    """The lines that look at another tensor over memory that has been read, or at one of which nothing was read."""
    _, shape, dtype, lies, *_ = state
    lines = [f"{array} = {t}.array", f"if getattr({array}, 'sharding', None) != {name(lies)}: return None",
             f"if {array}.shape != {shape!r} or {array}.dtype != {name(dtype)}: return None"]  # fmt: skip
    if owner is not None:
        lines += [f"part = getattr({t}, '_part', None)",
                  f"if part is None or part.memory is not {owner}.memory or part.steps != {name(steps)}: return None"]
    return [*lines, f"{array} = None"]  # which would count as holding it


def using_up(array: str, t: str, last: str) -> list[str]:
    """The lines that copy an array unless the program has made it, and nobody else holds it."""
    own = f"{ALONE + 2} + (p{array} is not None) + ({t}._node is not None and {t}._node._array is {array})"
    return [f"if {array} is not {last} or count({array}) != {own}: {array} = {array}.copy()"]


def exchanging(t: str, array: str, whole: bool) -> list[str]:
    """The lines that let a tensor hold a new array: `rebind`, whose shortest way they take without a call."""
    return [
        f"t = {t}",
        f"if getattr(t, '_part', None) is not None: rebind(t, {array}, {whole})",
        "else:",
        f"    t.array = {array}",
        f"    if t._node is not None and t._node._array is not None: t._node._array = {array}",
    ]


def apart(record: Record) -> Callable[[Sequence[Any]], bool]:
    """From the tensors of all inputs to whether none shows memory that is written through another one."""
    kept = [k for k, s in enumerate(record.sources) if s.look is not None and s.library is not NUMPY]
    written = set(record.written)

    def check(tensors: Sequence[Any]) -> bool:
        seen: dict[int, bool] = {}
        for k in kept:
            part = getattr(tensors[k], "_part", None)
            if part is not None:
                at = id(part.memory)
                if at in seen and (seen[at] or k in written):
                    return False
                seen[at] = k in written
        return True

    return check


def numbers(value: float, source: Input) -> Callable[[float], Any]:
    """From a number to an array of it on the device where it is used; the last one is kept."""
    held = [value, source.library.brought(np.array(value), None, source.place)]

    def array(number: float) -> Any:
        if held[0] != number:
            held[:] = number, source.library.brought(np.array(number), None, source.place)
        return held[1]

    return array
