"""Interrupts for tests: at each moment that CPython delivers one, or at random ones; and what they must leave alone."""

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from traceback import walk_tb
from typing import Any

import numpy as np

from gradwright.backends import quiet
from gradwright.base.cpython.forks import lock
from gradwright.engine.backward import accumulating
from gradwright.engine.mode import PLAIN, now
from gradwright.engine.node import routing
from tests.thorough import PROGRAMS

COUNT = PROGRAMS // 10
"""How many interrupts of each kind, at each moment and at random ones: 50, or all 200; 5,000 in `make soak`."""
SIGNALS = hasattr(signal, "setitimer") and hasattr(os, "fork")

_raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
_raise_in.argtypes = [ctypes.c_ulong, ctypes.py_object]
_elsewhere = ThreadPoolExecutor(1)


def interrupted(program: Callable[[], Any], after: int) -> tuple[int, str]:
    """Run a program, in which a KeyboardInterrupt is due after so many bytecodes.

    Returns how many bytecodes it had, and the name of the function at whose beginning the interrupt came, if it did.

    As with Ctrl-C, it is raised at the next moment that the interpreter looks for one.
    """
    count, beginning = 0, ""
    me, before = threading.get_ident(), sys.gettrace()

    def trace(frame: Any, event: str, arg: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes = True
        if event == "opcode":
            count += 1
            if count == after:
                sys.settrace(None)  # or it would be raised in here, at the next bytecode
                for _ in map(_raise_in, [me], [KeyboardInterrupt]):  # no call in Python's sense: the same
                    return None
        return trace

    try:
        with _unraised():
            sys.settrace(trace)
            try:
                program()
            finally:
                sys.settrace(before)
    except KeyboardInterrupt as e:
        sys.settrace(before)
        *_, (frame, line) = walk_tb(e.__traceback__)
        beginning = frame.f_code.co_name if line == frame.f_code.co_firstlineno else ""
    return count, beginning


def alarmed(program: Callable[[], Any], seconds: float) -> bool:
    """Run a program, into which an interrupt comes after so many seconds; whether it came in time.

    It is a signal whose handler raises; in a thread that gets no signals, another thread raises it.
    """
    wakes = _signalled if threading.current_thread() is threading.main_thread() else _raised_by_another
    try:
        with _unraised(), wakes(seconds):
            program()
    except KeyboardInterrupt:
        return True
    return False


@contextmanager
def _signalled(seconds: float) -> Any:
    def handler(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _raised_by_another(seconds: float) -> Any:
    me, over, turn, before = threading.get_ident(), threading.Event(), threading.Lock(), sys.getswitchinterval()

    def ring() -> None:
        if not over.wait(seconds):
            with turn:
                if not over.is_set():
                    _raise_in(me, KeyboardInterrupt)

    thread = threading.Thread(target=ring)
    sys.setswitchinterval(1e-6)
    thread.start()
    try:
        yield
    finally:
        try:
            with turn:
                over.set()
        finally:
            sys.setswitchinterval(before)
            thread.join()


@contextmanager
def _unraised() -> Any:
    """What an interrupt raises in a finalizer nobody hears of."""
    before, sys.unraisablehook = sys.unraisablehook, lambda _: None
    try:
        yield
    finally:
        sys.unraisablehook = before


def left() -> dict[str, Any]:
    """What is on, or held, that should not be outside of any block."""
    free = _elsewhere.submit(lambda: lock.acquire(timeout=5) and not lock.release()).result()
    found = {
        "mode": now() is PLAIN, "lock": free, "routing": routing.get() is None, "accumulating": accumulating.get(),
        "NumPy's errors": np.geterr() == _ERRORS, "NumPy's errors in a pass": quiet._users.get() is None,
    }  # fmt: skip
    return {what: "left behind" for what, good in found.items() if not good}


_ERRORS = np.geterr()
