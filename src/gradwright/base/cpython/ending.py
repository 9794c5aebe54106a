"""Waiting for a program's threads, as the interpreter does when the program has ended.

Threads of a pool that was left open wait for work, and end when `threading` tells their pool that there will be none:
before it joins them. What is told so is a list of its own (`threading._threading_atexits`, Python 3.9 on), which
`concurrent.futures` and loky enter themselves in.
"""

from __future__ import annotations

import threading
from typing import Any


def wait_for_threads() -> None:
    """Tell pools that there will be no more work, each once, and wait for all threads that are no daemons.

    From then on a pool takes no more work. Raises what a pool raises that is told.
    """
    told: Any = getattr(threading, "_threading_atexits", [])
    while told:
        told.pop()()
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
