"""``torch.multiprocessing``: Python's own `multiprocessing`, by which tensors are copied, and `spawn`."""

from __future__ import annotations

import multiprocessing
import signal
import time
import traceback
from collections.abc import Callable, Sequence
from multiprocessing import *  # noqa: F403 - its names, and those below
from multiprocessing import connection
from typing import Any

__all__ = [  # noqa: PLE0604 - all are strings
    *multiprocessing.__all__, "ProcessContext", "ProcessException", "ProcessExitedException", "ProcessRaisedException",
    "SpawnContext", "get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy", "spawn",
    "start_processes",
]  # fmt: skip


class ProcessException(Exception):  # noqa: N818 - PyTorch's name
    """A process that `spawn` started has failed: which, and its id."""

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, error_pid

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """A process that `spawn` started has raised: the text ends with its traceback."""


class ProcessExitedException(ProcessException):
    """A process that `spawn` started has ended by itself, or was killed, with another status than 0."""

    def __init__(self, msg: str, error_index: int, error_pid: int, exit_code: int,
                 signal_name: str | None = None) -> None:  # fmt: skip
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.pid, self.exit_code, self.signal_name)


class _Telling:
    """What is raised inside is told to the process that waits, and not printed."""

    def __init__(self, errors: Any) -> None:
        self.errors = errors

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is not None and not isinstance(error, KeyboardInterrupt):
            self.errors.send("".join(traceback.format_exception(error)))
            raise SystemExit(1) from None


def _run(fn: Callable[..., Any], i: int, args: Sequence[Any], errors: Any) -> None:
    with _Telling(errors):
        fn(i, *args)


class ProcessContext:
    """Processes that run, and what they have to say: `join` waits for them.

    Attributes: ``processes``.
    """

    def __init__(self, processes: Sequence[Any], errors: Sequence[Any]) -> None:
        self.processes, self._errors = list(processes), list(errors)

    def pids(self) -> list[int | None]:
        """The id of each process."""
        return [process.pid for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until all have ended; whether they have, after ``timeout`` seconds.

        When one fails the others are stopped, by force ``grace_period`` seconds (30) after they were asked to.

        Raises ProcessRaisedException for one that has raised, ProcessExitedException for one that has ended otherwise
        than with status 0.
        """
        running = {process.sentinel: process for process in self.processes if process.exitcode is None}
        for ended in connection.wait(list(running), timeout) if running else ():
            running[ended].join()
        failed = next((i for i, process in enumerate(self.processes) if process.exitcode), None)
        if failed is None:
            return all(process.exitcode is not None for process in self.processes)
        self._stop(30 if grace_period is None else grace_period)
        process = self.processes[failed]
        try:
            said = self._errors[failed].recv()
        except EOFError:  # it said nothing
            said = None
        if said is not None:
            text = f"\n\n-- Process {failed} terminated with the following error:\n{said}"
            raise ProcessRaisedException(text, failed, process.pid)
        code = process.exitcode
        if code < 0:
            name = signal.Signals(-code).name
            raise ProcessExitedException(f"process {failed} terminated with signal {name}", failed, process.pid, code,
                                         name)  # fmt: skip
        raise ProcessExitedException(f"process {failed} terminated with exit code {code}", failed, process.pid, code)

    def _stop(self, grace: float) -> None:
        for process in self.processes:
            process.terminate()
        end = time.monotonic() + grace
        for process in self.processes:
            process.join(max(0, end - time.monotonic()))
            if process.is_alive():
                process.kill()
                process.join()


SpawnContext = ProcessContext


def start_processes(fn: Callable[..., Any], args: Sequence[Any] = (), nprocs: int = 1, join: bool = True,
                    daemon: bool = False, start_method: str = "spawn") -> ProcessContext | None:  # fmt: skip
    """Run ``fn(i, *args)`` in ``nprocs`` processes, i from 0 on.

    Returns:
        None when all have ended; with ``join=False`` at once, what they can be waited for by.

    Raises what `ProcessContext.join` raises. ``fn`` must be found by name in its module, as all that is sent to a
    process that is spawned.
    """
    context: Any = multiprocessing.get_context(start_method)
    processes, errors = [], []
    for i in range(nprocs):
        heard, told = context.Pipe(duplex=False)
        process = context.Process(target=_run, args=(fn, i, args, told), daemon=daemon)
        process.start()
        told.close()
        processes.append(process)
        errors.append(heard)
    running = ProcessContext(processes, errors)
    if not join:
        return running
    while not running.join():
        continue
    return None


def spawn(fn: Callable[..., Any], args: Sequence[Any] = (), nprocs: int = 1, join: bool = True, daemon: bool = False,
          start_method: str = "spawn") -> ProcessContext | None:  # fmt: skip
    """`start_processes`, by "spawn"."""
    return start_processes(fn, args, nprocs, join, daemon, start_method)


def set_sharing_strategy(new_strategy: str) -> None:
    """Nothing: tensors are copied between processes."""


def get_sharing_strategy() -> str:
    """How tensors reach other processes: copied, as if by a file."""
    return "file_system"


def get_all_sharing_strategies() -> set[str]:
    """The one way there is."""
    return {"file_system"}
