"""`gradwright run SCRIPT [ARGS]...`: a program that says `import torch`, on gradwright, unmodified."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

from gradwright.cli import torch_names


def run(script: str, args: Sequence[str] = ()) -> int:
    """Run a file as ``python SCRIPT ARGS...`` would, with gradwright for ``torch``.

    What the program raises passes through, `SystemExit` included; a traceback starts with the program's own line.

    Returns:
        The exit status: 0 when the program has ended, 2 if it could not be read or PyTorch is already imported.
    """
    path = Path(script)
    try:
        source = path.read_bytes()
        torch_names.install()
    except (OSError, RuntimeError) as e:
        reason = f"cannot read {script}: {e.strerror}" if isinstance(e, OSError) else str(e)
        print(f"gradwright run: {reason}", file=sys.stderr)
        return 2

    file = str(path.absolute())
    main = ModuleType("__main__")
    loader = SourceFileLoader("__main__", file)
    vars(main).update(__file__=file, __loader__=loader, __cached__=None, __builtins__=builtins)  # as Python does
    sys.modules["__main__"] = main
    sys.argv[:] = [script, *args]
    if not sys.flags.safe_path:
        sys.path[0] = str(path.resolve().parent)
    sys.excepthook = _reporting(file, sys.excepthook)
    exec(compile(source, file, "exec", dont_inherit=True), vars(main))  # noqa: S102 - to run it is what was asked for
    return 0


def _reporting(file: str, hook: Callable[..., Any]) -> Callable[..., Any]:
    """``hook``, shown only the part of a traceback that is about the program in ``file``."""

    def report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        while trace is not None and trace.tb_frame.f_code.co_filename != file:
            trace = trace.tb_next  # if none is left, the file did not compile
        error.__traceback__ = trace
        for link in _chain(error):
            _cut_import_hook(link.__traceback__)
        hook(kind, error, trace)

    return report


def _chain(error: BaseException) -> list[BaseException]:
    """An exception and those it was raised from or during."""
    links = [error]
    for link in links:
        links += [e for e in (link.__cause__, link.__context__) if e is not None and e not in links]
    return links


def _cut_import_hook(trace: TracebackType | None) -> None:
    """Where a traceback ends in our import hook, end it at the line that asked for what is not there."""
    asked = trace
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if name == torch_names.__file__ and asked is not None:
            asked.tb_next = None
            return
        if not name.startswith("<frozen importlib"):
            asked = trace
        trace = trace.tb_next
