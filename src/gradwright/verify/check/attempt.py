"""Running what others wrote: whatever it raises is a result."""

from __future__ import annotations

import traceback
from types import TracebackType
from typing import Any

from gradwright.face.reading.keywords import nearest_attribute


class Attempt:
    """A context manager that keeps what its block raises, `SystemExit` too, in ``error``. Ctrl-C passes through."""

    error: Any = None

    def __enter__(self) -> Attempt:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> bool:
        self.error = error
        return error is not None and not isinstance(error, (KeyboardInterrupt, GeneratorExit))

    def said(self, file: str = "") -> str:
        """What it raised: ``ZeroDivisionError: division by zero``; with ``file``, also at which line of that.

        Of an attribute that something of gradwright's has not, the nearest one.
        """
        if isinstance(self.error, SystemExit):
            return f"exits the interpreter (SystemExit: {self.error.code})"
        first, *rest = (str(self.error) + nearest_attribute(self.error)).strip().splitlines() or [""]
        where = f" at line {lines[0]}" if file and (lines := self.line(file)) else ""
        return "\n".join([f"{type(self.error).__name__}: {first}".removesuffix(": ") + where, *rest])

    def was_raised_in(self, file: str | None) -> bool:
        """Whether it was this file that raised it, and nothing that was called from there."""
        return traceback.extract_tb(self.error.__traceback__)[-1].filename == file

    def line(self, file: str) -> tuple[int, ...]:
        """The innermost line of ``file`` that the error passed through; none if it did not."""
        lines = [f.lineno for f in traceback.extract_tb(self.error.__traceback__) if f.filename == file and f.lineno]
        return tuple(lines[-1:])
