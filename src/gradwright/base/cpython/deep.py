"""Calls in calls beyond Python's limit of recursion: every so many levels go on in a thread, on a stack of its own.

The thread has the context variables of the caller, who waits for it. So it is for nested backward passes in PyTorch.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar, copy_context
from threading import Thread, get_ident
from typing import Any

_LEVELS = 16
"""After how many a new stack is begun: with some 20 calls each, they leave two thirds of the usual 1000 to users."""

_level: ContextVar[int] = ContextVar("how many calls are nested", default=0)
_waiting: ContextVar[int] = ContextVar("the thread that waits for this one", default=0)


def deepened(f: Callable[..., Any], *args: Any) -> Any:
    """What ``f`` returns, or raises; now and then in a thread of its own."""
    level = _level.get()
    _level.set(level + 1)
    try:
        return _aside(f, args) if level % _LEVELS == _LEVELS - 1 else f(*args)
    finally:
        _level.set(level)


def thread() -> int:
    """The number of the thread that runs; of one that another waits for here, that of the other."""
    return _waiting.get() or get_ident()


def _aside(f: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    found: list[Any] = []
    failed: list[Any] = []

    def run() -> None:
        with suppress(BaseException):  # it is raised again
            try:
                found.append(f(*args))
            finally:
                failed.append(sys.exc_info()[1])

    context = copy_context()
    context.run(_waiting.set, thread())
    stack = Thread(target=context.run, args=(run,))
    stack.start()
    try:
        stack.join()
    finally:
        stack.join()  # an interrupt waits for the pass, too
    if failed[0] is not None:
        raise failed[0]
    return found[0]
