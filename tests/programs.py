"""Programs run as Python would run them, in processes forked off one that has imported what they share.

So that is imported once, and not for each of them.
"""

import atexit
import functools
import json
import os
import runpy
import subprocess
import sys
import tempfile
import threading
from importlib import import_module
from pathlib import Path
from typing import NamedTuple


class Ended(NamedTuple):
    """The exit status of a program, and what it has printed."""

    returncode: int
    stdout: str
    stderr: str


def run(program: str | Path, *args: str | Path, cwd: str | Path = ".", imports: str = "gradwright") -> Ended:
    """Run ``python program *args``, or ``gradwright *args``, where the modules ``imports`` are there already."""
    server, folder = _server(imports)
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps([str(program), [*map(str, args)], str(cwd), folder]) + "\n")
    server.stdin.flush()
    status = server.stdout.readline()
    assert status, "the process that programs are forked off has ended"
    return Ended(int(status), *(Path(folder, name).read_text(encoding="utf-8") for name in ("1", "2")))


@functools.cache
def _server(imports: str) -> tuple[subprocess.Popen[str], str]:
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    command = [sys.executable, __file__, *imports.split()]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(server.communicate)  # which ends its input, and so it
    return server, folder.name


def _serve() -> None:
    for line in sys.stdin:
        program, args, cwd, folder = json.loads(line)
        pid = os.fork()
        if pid:
            sys.stdout.write(f"{os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}\n")
            sys.stdout.flush()
            continue
        for fd, name in enumerate((os.devnull, f"{folder}/1", f"{folder}/2")):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC), fd)
        os.chdir(cwd)
        status = _ended(program, args)
        threading._shutdown()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)  # at once: to take down all that was imported takes longer than many a program


def _ended(program: str, args: list[str]) -> int:
    """The exit status of a program."""
    try:
        if program == "gradwright":
            status: int = import_module("gradwright.cli").main(args)
            return status
        sys.argv, sys.path[0] = [program, *args], str(Path(program).resolve().parent)
        runpy.run_path(program, run_name="__main__")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException as error:  # noqa: BLE001 - as Python says it
        sys.excepthook(type(error), error, error.__traceback__)
        return 1
    return 0


if __name__ == "__main__":
    for module in sys.argv[1:]:
        import_module(module)
    _serve()
