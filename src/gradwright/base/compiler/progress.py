"""What is told of a build that takes long."""

from __future__ import annotations

import sys
import threading
from time import monotonic
from types import TracebackType

PATIENCE = 2.0
"""For so many seconds nothing is told."""


class Progress:
    """While its block runs, tells on standard error what is being done, once that has taken a while.

    On a terminal that is one line, which counts the seconds and is removed at the end; elsewhere it is said once.

    Attributes:
        what: what is being done, which may change.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._tell, daemon=True)

    def __enter__(self) -> Progress:
        self._start = monotonic()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._done.set()
        self._thread.join()

    def _tell(self) -> None:
        if self._done.wait(PATIENCE):
            return
        stream = sys.stderr
        if stream is None:
            return
        if not stream.isatty():
            stream.write(f"gradwright: {self.what} ...\n")
            return
        while not self._done.wait(0.25):
            stream.write(f"\r\x1b[Kgradwright: {self.what} ... {monotonic() - self._start:.0f} s")
            stream.flush()
        stream.write("\r\x1b[K")
        stream.flush()
