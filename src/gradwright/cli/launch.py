"""`gradwright launch -n N SCRIPT [ARGS]...`: a program as several processes on this computer."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from typing import IO, Any

_GRACE = 5.0  # seconds between SIGTERM and SIGKILL


def add(commands: Any) -> None:
    """Add the command to a parser."""
    about = "run a program as several processes on this computer"
    command = commands.add_parser(
        "launch", help=about, usage="gradwright launch [-n N] [--port PORT] [--heartbeat S] SCRIPT [ARGS]...",
        description=f"{about.capitalize()}. gradwright.distributed.init() in the program makes them one. Each line "
        "that they print begins with the number of the process. When one ends with an error, so do the others.",
    )  # fmt: skip
    command.add_argument("-n", type=_count, default=2, metavar="N", help="how many processes (2)")
    command.add_argument("--port", type=int, default=0, help="where process 0 listens (one that is free)")
    command.add_argument("--heartbeat", type=_count, default=20, metavar="S",
                         help="after how many seconds of silence a process counts as gone (20)")  # fmt: skip
    command.add_argument("script", metavar="SCRIPT", help="the program, a Python file")
    rest = command.add_argument("args", metavar="ARGS", nargs=argparse.REMAINDER, help="the program's own arguments")
    rest.required = False


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 on, but got {text!r}")
    return int(text)


def environment(rank: int, size: int, port: int, heartbeat: int) -> dict[str, str]:
    """The variables by which a process knows which one it is: PyTorch's names."""
    return {"RANK": str(rank), "WORLD_SIZE": str(size), "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(size),
            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "GRADWRIGHT_HEARTBEAT": str(heartbeat),
            "PYTHONUNBUFFERED": "1"}  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Start the processes and wait for them.

    Returns:
        0 when all have ended well; else the exit status of the first that has not (128 and the signal's number, if a
        signal ended it); 2 if the program cannot be read; 130 when interrupted.
    """
    if not os.path.isfile(arguments.script):
        print(f"gradwright launch: cannot read {arguments.script}: no such file", file=sys.stderr)
        return 2
    port = arguments.port or _free_port()
    command = [sys.executable, arguments.script, *arguments.args]
    lock = threading.Lock()
    processes, threads = [], []
    for rank in range(arguments.n):
        variables = {**os.environ, **environment(rank, arguments.n, port, arguments.heartbeat)}
        process = subprocess.Popen(command, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)  # fmt: skip
        processes.append(process)
        for source, target in ((process.stdout, sys.stdout), (process.stderr, sys.stderr)):
            thread = threading.Thread(target=_pass_on, args=(source, target, rank, lock), daemon=True)
            thread.start()
            threads.append(thread)
    try:
        status = _supervised(processes)
    except KeyboardInterrupt:
        status = 130
    finally:
        _end(processes)
    for thread in threads:
        thread.join(_GRACE)  # a process's own children may hold its output open
    return status


def _free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port: int = s.getsockname()[1]
        return port


def _pass_on(source: IO[bytes] | None, target: Any, rank: int, lock: threading.Lock) -> None:
    """Print the lines of a process behind its rank."""
    assert source is not None
    for line in source:
        with lock:
            target.write(f"[{rank}] {line.decode(errors='replace').rstrip(chr(10))}\n")
            target.flush()


def _supervised(processes: list[Any]) -> int:
    """Wait until all have ended, or one has with an error; the exit status."""
    while True:
        ended = [(rank, process.poll()) for rank, process in enumerate(processes)]
        for rank, status in ended:
            if status:
                others = sum(other is None for _, other in ended)
                rest = f"; ending the other {others}" if others else ""
                print(f"gradwright launch: process {rank} of {len(processes)} (pid {processes[rank].pid}) "
                      f"{_cause(status)}{rest}", file=sys.stderr, flush=True)  # fmt: skip
                return 128 - status if status < 0 else int(status)
        if all(status == 0 for _, status in ended):
            return 0
        time.sleep(0.05)


def _cause(status: int) -> str:
    if status > 0:
        return f"has ended with status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return f"was ended by {name}"


def _end(processes: list[Any]) -> None:
    """End those that still run: a moment for their own last words, then at once."""
    running = [p for p in processes if p.poll() is None]
    deadline = time.monotonic() + _GRACE
    for p in running:
        p.terminate()
    for p in running:
        try:
            p.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            p.kill()
            p.wait()
