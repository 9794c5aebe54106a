"""A program, a script or a module, run in this process as Python would run it."""

from __future__ import annotations

import builtins
import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import Any

from gradwright.face.reading.keywords import hint
from gradwright.pytorch import hook


class Program:
    """What ``python SCRIPT ARGS...`` or ``python -m MODULE ARGS...`` runs.

    Attributes:
        name: the script or module, as it was given. file: where it is.
    """

    def __init__(self, name: str, file: str, main: ModuleType, code: Callable[[], CodeType], argv: Sequence[str],
                 folder: str) -> None:  # fmt: skip
        self.name, self.file, self.main, self.code, self.argv, self.folder = name, file, main, code, argv, folder

    def enter(self) -> None:
        """Make it the program that this process runs; a traceback then starts with its own line."""
        sys.modules["__main__"] = self.main
        sys.argv[:] = self.argv
        if not sys.flags.safe_path:
            sys.path[0] = self.folder
        sys.excepthook = _reporting(self.file, sys.excepthook)

    def run(self) -> None:
        """Run it; what it raises passes through, `SystemExit` included."""
        exec(self.code(), vars(self.main))  # noqa: S102 - to run it is what was asked for


class NoProgramError(ImportError):
    """There is no module of that name that could be run."""


def script(path: str, args: Sequence[str]) -> Program:
    """The program in a file. Raises OSError if that cannot be read."""
    source = Path(path).read_bytes()
    file = str(Path(path).absolute())
    main = ModuleType("__main__")
    loader = SourceFileLoader("__main__", file)
    vars(main).update(__file__=file, __loader__=loader, __cached__=None, __builtins__=builtins)  # as Python does
    return Program(path, file, main, lambda: compile(source, file, "exec", dont_inherit=True), [path, *args],
                   str(Path(path).resolve().parent))  # fmt: skip


def module(name: str, args: Sequence[str]) -> Program:
    """The program that a module is, or the ``__main__`` of a package.

    Raises NoProgramError if there is none; and whatever the packages above it raise when they are imported.
    """
    folder = str(Path.cwd())
    if not sys.flags.safe_path and sys.path[0] != folder:
        sys.path[0] = folder
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = importlib.util.find_spec(f"{name}.__main__")
    if spec is None or spec.loader is None or spec.origin is None or not hasattr(spec.loader, "get_code"):
        raise NoProgramError(f"there is no module {name} that could be run")
    loader: Any = spec.loader
    main = ModuleType("__main__")
    vars(main).update(__file__=spec.origin, __loader__=loader, __cached__=spec.cached, __builtins__=builtins,
                      __spec__=spec, __package__=spec.parent)  # fmt: skip
    found = spec.name
    return Program(name, spec.origin, main, lambda: loader.get_code(found), [spec.origin, *args], folder)


def _reporting(file: str, hook: Callable[..., Any]) -> Callable[..., Any]:
    """``hook``, shown only the part of a traceback that is about the program in ``file``."""

    def report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        while trace is not None and trace.tb_frame.f_code.co_filename != file:
            trace = trace.tb_next  # if none is left, the file did not compile
        error.__traceback__ = trace
        for link in _chain(error):
            _cut_import_hook(link.__traceback__)
        hint(error)
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
        if name == hook.__file__ and asked is not None:
            asked.tb_next = None
            return
        if not name.startswith("<frozen importlib"):
            asked = trace
        trace = trace.tb_next
