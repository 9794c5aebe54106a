"""`gradwright run SCRIPT [ARGS]...`: a program that says `import torch`, on gradwright, unmodified.

`gradwright run -m MODULE [ARGS]...` runs a module as `python -m` does: `-m pytest tests/` runs a package's own tests.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from gradwright.cli import program
from gradwright.pytorch import hook
from gradwright.pytorch.count import report

ABOUT = "run a program that says `import torch` on gradwright"
USAGE = "gradwright run SCRIPT [ARGS]...\n       gradwright run -m MODULE [ARGS]...\n       gradwright run --names"


def add(commands: Any) -> None:
    """Add the command to the command line."""
    command = commands.add_parser("run", help=ABOUT, description=f"{ABOUT.capitalize()}, unmodified.", usage=USAGE)
    command.add_argument("-m", dest="module", metavar="MODULE",
                         help="run a module or package as python -m does; what follows is its own")  # fmt: skip
    command.add_argument("--names", action="store_true", help="print how many of PyTorch's names there are, by module")
    command.add_argument("script", metavar="SCRIPT", nargs="?", help="the program, a Python file")
    rest = command.add_argument("args", metavar="ARGS", nargs=argparse.REMAINDER, help="the program's own arguments")
    rest.required = False


def run(arguments: argparse.Namespace) -> int:
    """Do what the command line asks for; the exit status."""
    if arguments.names:
        print(report())
        return 0
    if arguments.script is not None:
        return run_program(arguments.script, arguments.args)
    print(f"gradwright run: nothing to run: {USAGE}", file=sys.stderr)
    return 2


def run_program(name: str, args: Sequence[str] = (), module: bool = False) -> int:
    """Run a file as ``python NAME ARGS...`` would, or a module as ``python -m NAME``, with gradwright for ``torch``.

    What the program raises passes through, `SystemExit` included; a traceback starts with the program's own line.

    Returns:
        The exit status: 0 when the program has ended, 2 if it could not be read or PyTorch is already imported.
    """
    try:
        if module:
            hook.serve()  # the packages above the module are imported now
            made = program.module(name, args)
        else:
            made = program.script(name, args)
            hook.serve()
    except (OSError, RuntimeError, program.NoProgramError) as e:
        reason = f"cannot read {name}: {e.strerror}" if isinstance(e, OSError) else str(e)
        print(f"gradwright run: {reason}", file=sys.stderr)
        return 2
    made.enter()
    made.run()
    return 0
