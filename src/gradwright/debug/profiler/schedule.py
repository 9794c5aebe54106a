"""Which steps of a loop are recorded, and where to: `schedule` and `tensorboard_trace_handler`."""

from __future__ import annotations

import enum
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradwright.debug.profiler.record import profile


class ProfilerAction(enum.Enum):
    """What a profile does in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3

    @property
    def records(self) -> bool:
        """Whether the step is recorded."""
        return self in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


def schedule(*, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0,
             skip_first_wait: int = 0) -> Callable[[int], ProfilerAction]:  # fmt: skip
    """What `profile` does in each step: nothing for ``wait`` of them and ``warmup`` more, then it records ``active``.

    That is a cycle, gone through ``repeat`` times (0: without end) after ``skip_first`` steps; ``skip_first_wait``
    leaves the first cycle's ``wait`` out. Nothing has to be warmed up here: those steps are not recorded.

    >>> plan = schedule(wait=1, warmup=1, active=2, repeat=1)
    >>> [plan(step).name for step in range(5)]
    ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']

    Raises AssertionError unless ``active`` is positive and the others are not negative.
    """
    if wait < 0 or warmup < 0 or active <= 0 or repeat < 0 or skip_first < 0:
        raise AssertionError("Invalid profiler schedule arguments")

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        step -= skip_first
        if step < 0:
            return ProfilerAction.NONE
        if skip_first_wait:
            step += wait
        cycle = wait + warmup + active
        place = step % cycle
        if place < wait or (repeat and step >= repeat * cycle):
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if place < cycle - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def tensorboard_trace_handler(dir_name: str | os.PathLike[str], worker_name: str | None = None,
                              use_gzip: bool = False) -> Callable[[profile], None]:  # fmt: skip
    """For ``on_trace_ready=``: write each trace to a folder, where TensorBoard, or a browser, finds it.

    Files are ``<worker_name>.<milliseconds>.pt.trace.json``; ``use_gzip`` makes no difference. Raises RuntimeError
    where the folder cannot be made.
    """

    def write(prof: profile) -> None:
        folder = Path(dir_name)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as e:
            raise RuntimeError(f"Can't create directory: {dir_name}: {e.strerror}") from e
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        prof.export_chrome_trace(folder / f"{worker}.{time.time_ns() // 10**6}.pt.trace.json")

    return write
