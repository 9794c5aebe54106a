"""Several changes, of which an interrupt leaves all or none.

Ctrl-C, a handler of another signal, or another thread that raises an exception in this one: CPython lets these in where
a Python function begins, where a loop goes back, and after a call. Never inside a function written in C, nor between
lines without a call and a loop. So what must not be cut in two is prepared first, and then written in such lines, or by
`at_once`; and a mode is switched, and put back, by one call in C each, the first inside ``try``, the other as the first
thing in ``finally``.

An interpreter that lets them in elsewhere may leave some of the changes undone, in their order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from itertools import starmap
from operator import call, setitem
from typing import Any

Call = tuple[Any, ...]
"""A function in C, which runs no Python code, and its arguments."""


def at_once(calls: Iterable[Call]) -> None:
    """Make calls, one after another; ``calls`` is a list, or something else that runs no Python code."""
    deque(starmap(call, calls), maxlen=0)


def copying(target: Any, source: Any) -> Call:
    """The call that copies one array into another."""
    return setitem, target, ..., source


def having(variable: Any, value: Any, f: Callable[..., Any], *args: Any) -> Any:
    """What ``f`` returns while a context variable has a value; however it ends, that has its old one again."""
    before = variable.get()
    try:
        variable.set(value)
        return f(*args)
    finally:
        variable.set(before)
