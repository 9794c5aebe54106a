"""A copy of the process as it is now, that waits until it is asked.

It is a grandchild by `os.fork`, so that no `os.wait` of the program's sees it. It has the program's memory, whose pages
are copied when either writes; its files are all the null device, so that it keeps no pipe open and moves in no file.
Nobody is told of it but a socket of the process that will ask. That is done after the program's end, one by one.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from gradwright.verify.check.attempt import Attempt

_HIGH = 512
"""The socket's number is above those that the program knows."""
_PATIENCE = 5.0
"""Seconds in which a copy must have said that it is there."""
_IDLE = 2.0
_OPENMP = ("libgomp", "libomp", "libiomp")


class Snapshots:
    """The copies of this process, and of those forked from it."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.folder = Path(tempfile.mkdtemp(prefix="gradwright-doors-"))
        self.server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.server.bind(str(self.folder / "s"))
        self.server.listen(4096)
        self.made = 0

    def take(self, about: dict[str, Any], answer: Callable[[float], Any]) -> None:
        """Copy the process; the copy will answer with ``answer(seconds)``, plain data, when it is asked."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of threads in a child, which this one does without
            child = os.fork()
        if child:
            os.waitpid(child, 0)
            self.made += os.getpid() == self.process
            return
        try:
            with Attempt():
                if not os.fork():
                    self._wait(about, answer)
        finally:
            os._exit(0)

    def _wait(self, about: dict[str, Any], answer: Callable[[float], Any]) -> None:
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
            signal.signal(number, signal.SIG_DFL)
        null = os.open(os.devnull, os.O_RDWR)
        for name in os.listdir("/dev/fd" if os.path.isdir("/dev/fd") else "/proc/self/fd"):
            if int(name) != null:
                with Attempt():
                    os.fstat(int(name))
                    os.dup2(null, int(name))
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - for as long as the copy lives
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        line = socket.socket(fileno=os.dup2(made.fileno(), _HIGH + made.fileno()))
        made.close()
        line.connect(str(self.folder / "s"))
        line.sendall((json.dumps(about | {"pid": os.getpid()}) + "\n").encode())
        line.settimeout(_IDLE)
        while True:
            try:
                asked = line.recv(64)
                break
            except TimeoutError:
                os.kill(self.process, 0)  # raises if nobody will ask any more
        if asked:
            one_thread()
            line.settimeout(None)
            with Attempt() as attempt:
                found = answer(float(asked))
            said = {"found": found} if attempt.error is None else {"error": attempt.said()}
            line.sendall((json.dumps(said) + "\n").encode())

    def waiting(self) -> Iterator[Copy]:
        """The copies there are, in the order in which they were made."""
        found: list[Copy] = []
        until = time.monotonic() + _PATIENCE
        ours = 0
        while True:
            left = until - time.monotonic() if ours < self.made else 0.05
            self.server.settimeout(max(left, 1e-3))
            try:
                line, _ = self.server.accept()
            except TimeoutError:
                break
            with Attempt():
                copy = Copy(line)
                found.append(copy)
                ours += copy.about.get("process") == self.process
        yield from sorted(found, key=lambda c: c.about["at"])

    def close(self) -> None:
        """Let those that wait end."""
        if os.getpid() == self.process:
            self.server.close()
            shutil.rmtree(self.folder, ignore_errors=True)


class Copy:
    """The line to a copy of the process.

    Attributes:
        about: what it was said to be.
    """

    def __init__(self, line: socket.socket) -> None:
        self.line = line
        line.settimeout(_PATIENCE)
        self.file = line.makefile("rb")
        self.about = json.loads(self.file.readline())

    def ask(self, seconds: float, limit: float) -> Any:
        """What it answers, given so many seconds; ``{"error": ...}`` if it does not within the limit."""
        self.line.settimeout(limit)
        try:
            self.line.sendall(str(seconds).encode())
            answer = self.file.readline()
        except TimeoutError:
            os.kill(self.about["pid"], signal.SIGKILL)
            return {"error": f"called again it does not return within {limit:.0f} s"}
        except OSError:
            answer = b""
        return json.loads(answer) if answer else {"error": "called again it ends the interpreter"}

    def close(self) -> None:
        """Let it end."""
        self.file.close()
        self.line.close()


def one_thread() -> None:
    """Have OpenMP's libraries start no threads, which a copy would wait for for ever: it has none of the pool's."""
    maps = Path("/proc/self/maps")
    text = maps.read_text() if maps.exists() else ""
    for path in {p for p in text.split() if p.startswith("/") and any(k in p for k in _OPENMP)}:
        with Attempt():
            ctypes.CDLL(path).omp_set_num_threads(1)
