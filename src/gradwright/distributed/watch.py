"""No process waits for ever: what ends a program whose other processes are gone, or do not come."""

from __future__ import annotations

import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from types import FrameType, TracebackType
from typing import Any

_STATUS = 1
_PERIOD = 1.0
"""Seconds between two looks at the others, or fewer."""
_ENDED, _ALIVE = "gradwright/ended/", "gradwright/alive/"
_WAITS = ("/jax/", "/jaxlib/", "/gradwright/backends/")
"""Where a process is that waits for others: in files of these."""


class _Watch:
    """Attributes: what ends the watch; since when the coordinator may be gone; its thread; the hook that was there."""

    over, parting = threading.Event(), threading.Event()
    thread: Any = None
    before: Any = None


def begin(rank: int, size: int, beat: float, limit: float) -> None:
    """Watch the other processes from now on, and let them watch this one.

    What ends this process: an exception, at once, which is told to the others; one of them that has ended so, or
    has not been heard of for ``beat`` seconds; a wait of the main thread for them that is longer than ``limit``.
    """
    if size < 2:
        return
    _Watch.over, _Watch.parting, _Watch.before = threading.Event(), threading.Event(), sys.excepthook
    sys.excepthook = _ending(rank, size, beat, sys.excepthook)
    watch = _watching(rank, size, beat, limit, threading.main_thread().ident or 0, _Watch.over, _Watch.parting)
    _Watch.thread = threading.Thread(target=watch, daemon=True, name="gradwright.distributed.watch")
    _Watch.thread.start()


def part() -> None:
    """From now on the coordinator may end: this process waits for the others to have come to their end, too."""
    _Watch.parting.set()


def end() -> None:
    """End the watch. A thread that calls JAX while the interpreter ends would abort the process."""
    if _Watch.before is not None:
        _Watch.over.set()
        _Watch.thread.join(10)
        sys.excepthook, _Watch.before = _Watch.before, None


def _ending(rank: int, size: int, beat: float, hook: Callable[..., Any]) -> Callable[..., Any]:
    """``hook``, after which the process ends at once: at a usual end it would wait for the others, and they for it."""

    def report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        hook(kind, error, trace)
        if _is_of_others(error):
            _Watch.over.wait(beat + 5)  # until the watch knows whose end it was, which ends this one
        with suppress(RuntimeError, ValueError):
            why = f"{kind.__name__}: {str(error).partition(chr(10))[0][:200]}"
            _client().key_value_set(f"{_ENDED}{rank}", why, allow_overwrite=True)
        _leave(f"process {rank} of {size} ends with this error")

    return report


def _is_of_others(error: BaseException | None) -> bool:
    """Whether an error, or what it comes from, is JAX's of what runs in several processes: one of them may be gone."""
    while error is not None:
        if type(error).__name__ == "JaxRuntimeError" or "Gloo" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def _client() -> Any:
    return import_module("gradwright.backends.jax_processes").client()


def _leave(text: str) -> None:
    sys.stdout.flush()
    sys.stderr.write(f"gradwright.distributed: {text}\n")
    sys.stderr.flush()
    os._exit(_STATUS)


def _watching(rank: int, size: int, beat: float, limit: float, thread: int, over: threading.Event,
              parting: threading.Event) -> Any:  # fmt: skip
    """What the thread that watches does."""
    client = _client()
    own, period = f"process {rank}", min(_PERIOD, beat / 5, limit / 5)

    def watch() -> None:
        heard = {f"{_ALIVE}{k}": ("", time.monotonic()) for k in range(size)}
        stuck: tuple[Any, float] = None, time.monotonic()
        count = silent = 0
        while not over.wait(period):
            count, now = count + 1, time.monotonic()
            try:
                client.key_value_set(f"{_ALIVE}{rank}", str(count), allow_overwrite=True)
                alive, ended = client.key_value_dir_get(_ALIVE), client.key_value_dir_get(_ENDED)
                silent = 0
            except (RuntimeError, ValueError) as e:
                if parting.is_set():
                    return
                silent += 1
                if silent > 1:
                    text = " ".join(str(e).split())[:200]
                    _leave(f"process 0 of {size}, the coordinator, does not answer: it has ended, and {own} ends, too "
                           f"({text})")  # fmt: skip
                continue
            for key, why in ended:
                _leave(f"process {key.removeprefix(_ENDED)} of {size} has ended with {why}; {own} ends, too")
            heard |= {key: (value, now) for key, value in alive if heard[key][0] != value}
            for key, (_, last) in heard.items():
                if now - last > beat:
                    _leave(f"process {key.removeprefix(_ALIVE)} of {size} has not been heard of for {beat:.0f} s: "
                           f"it has ended, and {own} ends, too")  # fmt: skip
            frame = sys._current_frames().get(thread)
            at = (id(frame), frame.f_lasti) if frame is not None and _is_waiting(frame) else None
            if at is None or at != stuck[0]:
                stuck = at, now
            elif now - stuck[1] > limit:
                sys.stderr.write("".join(traceback.format_stack(frame)))
                _leave(f"{own} of {size} has waited for more than {limit:.0f} s for the others, at the line above, and "
                       "ends. Every process has to make the same calls in the same order")  # fmt: skip

    return watch


def _is_waiting(frame: FrameType) -> bool:
    file = frame.f_code.co_filename.replace(os.sep, "/")
    return any(part in file for part in _WAITS)
