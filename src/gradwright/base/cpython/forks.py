"""The lock of short bookkeeping, of which a child of `os.fork` finds itself the only holder or none.

A child has the thread that forked, and no other: a lock that another held would be held for ever. So `os.fork` waits
until nobody else holds this one, and what it guards is whole in the child, too. There is one for all: of several, two
threads could wait for each other.

Python's own locks of modules are none of these: what another thread is importing, a child could never import. So a fork
waits for that, too, if it is a module of ours: most are imported when they are first asked for.
"""

from __future__ import annotations

import _imp
import os
import sys
from collections.abc import Callable
from threading import RLock
from time import monotonic, sleep
from typing import Any

lock = RLock()
"""Held for a moment; not while code of the user's runs that may wait for another thread. (A finalizer may run anywhere,
and a backward pass in it: so it is reentrant.)"""

_LONGEST = 10.0  # seconds that a fork waits for imports: they may wait for what the forking thread holds


def _importing() -> bool:
    """Whether a module of ours is being imported, by another thread then: none forks while it is imported."""
    ours = [module for name, module in [*sys.modules.items()] if name.partition(".")[0] == "gradwright"]
    return any(getattr(getattr(module, "__spec__", None), "_initializing", False) for module in ours)


def _before() -> None:
    end = monotonic() + _LONGEST
    while True:
        lock.acquire()
        _imp.acquire_lock()  # so that no further import begins, as `os.fork` itself does
        if not _importing() or monotonic() > end:
            return
        _after()
        sleep(1e-3)


def _after() -> None:
    if _imp.lock_held():
        _imp.release_lock()
    lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)


def in_child(f: Callable[[], Any]) -> Callable[[], Any]:
    """Have ``f`` called in every child: to make a lock anew that is held for long, or by others."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=f)
    return f


if sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property:
        """`functools.cached_property`, which has a lock here, as it is from Python 3.12 on."""

        def __init__(self, f: Callable[[Any], Any]) -> None:
            self.f, self.__doc__ = f, f.__doc__

        def __set_name__(self, owner: Any, name: str) -> None:
            self.name = name

        def __get__(self, x: Any, owner: Any = None) -> Any:
            if x is None:
                return self
            value = vars(x)[self.name] = self.f(x)
            return value
