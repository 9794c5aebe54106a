"""The command line: `gradwright run`, `audit`, `check`, `graph`, `launch` and `demo`, each a module of that name.

Such a module has ``add(commands)``, which adds the command's parser, and ``run(arguments)``, which returns the exit
status. It is loaded when its command is named, and all of them for the help.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

import gradwright
from gradwright import native

COMMANDS = ("run", "check", "audit", "graph", "launch", "demo")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that ``argv`` (by default the process's arguments) names; returns the exit status."""
    given = list(sys.argv[1:] if argv is None else argv)
    named = [name for name in given[:1] if name in COMMANDS]
    modules = {name: import_module(f"{__name__}.{name}") for name in named or COMMANDS}
    if given[:2] == ["run", "-m"] and len(given) > 2:  # argparse would keep a "--" for itself
        status: int = modules["run"].run_program(given[2], given[3:], module=True)
        return status
    parser = argparse.ArgumentParser(prog="gradwright", description="Write your own derivatives and trust them.")
    version = f"gradwright {gradwright.__version__}, core: {native.state()}"
    parser.add_argument("--version", action="version", version=version)
    commands = parser.add_subparsers(dest="command", title="commands", metavar="COMMAND")
    for module in modules.values():
        module.add(commands)
    arguments = parser.parse_args(given)
    if arguments.command is None:
        parser.print_help()
        return 2
    if arguments.command == "run" and not arguments.names:  # what it raises is the program's own
        status = modules["run"].run(arguments)
        return status
    try:
        status = modules[arguments.command].run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads has enough, as `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is flushed at the end
        return 1
    return status
