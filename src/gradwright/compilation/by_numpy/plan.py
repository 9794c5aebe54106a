"""Programs run by NumPy, into memory that is laid out before."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from gradwright.backends.quiet import during_pass
from gradwright.compilation.by_numpy.layout import Layout
from gradwright.compilation.by_numpy.text import Text
from gradwright.compilation.node import Program, Runner
from gradwright.compilation.passes import simplified

_number = count(1)


class Plan(Runner):
    """A program as a function of NumPy's calls, written for it.

    Each result has its place: memory that was made before, which a value that is no longer needed may have had; the
    array that it replaces; or new memory, if it is the caller's to keep. Operations on long arrays go over them piece
    by piece together.

    Args:
        program: with the values of its inputs in the traced run, or else the first call shows how they lie in memory.
        exact: whether every result has the bits that it has call by call.

    Attributes:
        source: the function's text.
        loops: for each of its steps a record: ``kind`` ("NumPy" or "host"), ``name``, ``nodes``, ``entries``, and
            ``seconds``, the time spent in it while ``timed``.
        timed: whether calls measure how long each step takes; they are slower then.

    Inputs that are written share no memory with others; the caller sees to that.
    """

    def __init__(self, program: Program, exact: bool = False) -> None:
        super().__init__(program)
        self.exact = exact
        self.source = ""
        self.loops: list[dict[str, Any]] = []
        self._run: Callable[..., Any] | None = None
        self._timed = False
        if all(node.value is not None for node in program.inputs):
            self._write([node.value for node in program.inputs])

    @property
    def timed(self) -> bool:
        """Whether calls measure how long each step takes."""
        return self._timed

    @timed.setter
    def timed(self, value: bool) -> None:
        if value != self._timed:
            self._timed, self._run = value, None  # it is written anew

    def _write(self, arrays: Sequence[Any]) -> Callable[..., Any]:
        program = simplified(self.program, self.exact)
        layout = Layout(program, self.exact, dict(zip(program.inputs, arrays, strict=True)))
        text = Text(program, layout, self._timed)
        self.source, self.loops = text.source, text.records
        file = f"<plan {next(_number)}>"
        linecache.cache[file] = (len(text.source), None, text.source.splitlines(keepends=True), file)
        scope: dict[str, Any] = {}
        exec(compile(text.source, file, "exec"), scope)  # noqa: S102 - the text is written here
        self._file, self._lines = file, text.lines
        run: Callable[..., Any] = scope["bound"](**text.names)
        self._run = run
        return run

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        run = self._run or self._write(arrays)
        done = False
        try:
            found: list[Any] = during_pass(run, arrays)
            done = True
        finally:
            if not done:
                self._note(sys.exc_info()[1])
        return found

    def _note(self, error: BaseException | None) -> None:
        """Name the user's line in an error that is on its way."""
        trace = None if error is None else error.__traceback__
        while error is not None and trace is not None:
            if trace.tb_frame.f_code.co_filename == self._file and trace.tb_lineno in self._lines:
                node = self._lines[trace.tb_lineno]
                what = f"{node.name} ({node.op})" if node.name else node.op
                error.add_note(f"in {what} of a compiled program, {node.line or 'of no line of yours'}")
                return
            trace = trace.tb_next
