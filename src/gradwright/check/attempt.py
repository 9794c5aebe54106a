"""Running what others wrote: whatever it raises is a result."""

from __future__ import annotations

import traceback
from types import TracebackType
from typing import Any


class Attempt:
    """A context manager that keeps what its block raises, `SystemExit` too, in ``error``. Ctrl-C passes through."""

    error: Any = None

    def __enter__(self) -> Attempt:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> bool:
        self.error = error
        return error is not None and not isinstance(error, (KeyboardInterrupt, GeneratorExit))

    def said(self) -> str:
        """What it raised, in a line: ``ZeroDivisionError: division by zero``."""
        if isinstance(self.error, SystemExit):
            return f"exits the interpreter (SystemExit: {self.error.code})"
        text = " ".join(str(self.error).split())
        return f"{type(self.error).__name__}: {text}" if text else type(self.error).__name__

    def line(self, file: str) -> tuple[int, ...]:
        """The innermost line of ``file`` that the error passed through; none if it did not."""
        lines = [f.lineno for f in traceback.extract_tb(self.error.__traceback__) if f.filename == file and f.lineno]
        return tuple(lines[-1:])
