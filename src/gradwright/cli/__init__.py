"""The command line: `gradwright run`, `audit`, `check`, `graph`, `launch` and `demo`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

import gradwright
from gradwright.cli import audit, check, graph, launch, run

_EXTRA = 'gradwright demo needs the package {}: pip install rich'


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that ``argv`` (by default the process's arguments) names; returns the exit status."""
    given = list(sys.argv[1:] if argv is None else argv)
    if given[:2] == ["run", "-m"] and len(given) > 2:  # argparse would keep a "--" for itself
        return run.run_module(given[2], given[3:])
    parser = _parser()
    arguments = parser.parse_args(given)
    if arguments.command == "run" and not arguments.names:  # what it raises is the program's own
        return run.command(arguments)
    try:
        status = _command(parser, arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads has enough, as `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is flushed at the end
        return 1
    return status


def _command(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> int:
    """Run a command of ours; the exit status."""
    if arguments.command == "run":
        return run.command(arguments)
    if arguments.command == "check":
        return check.run(arguments)
    if arguments.command == "audit":
        return audit.run(arguments)
    if arguments.command == "graph":
        return graph.run(arguments)
    if arguments.command == "launch":
        return launch.run(arguments)
    if arguments.command == "demo":
        try:
            from gradwright.cli import demo  # noqa: PLC0415 - rich is optional
        except ModuleNotFoundError as e:
            if e.name is None or e.name.partition(".")[0] != "rich":
                raise
            print(_EXTRA.format(e.name), file=sys.stderr)
            return 2
        return demo.demo()
    parser.print_help()
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="gradwright", description="Write your own derivatives and trust them.")
    parser.add_argument("--version", action="version", version=f"gradwright {gradwright.__version__}")
    commands = parser.add_subparsers(dest="command", title="commands", metavar="COMMAND")

    run.add(commands)
    check.add(commands)
    audit.add(commands)
    graph.add(commands)
    launch.add(commands)

    about = "check the examples' derivatives and run a fit"
    commands.add_parser("demo", help=about, description=f"{about.capitalize()} (from a checkout of the repository).")
    return parser
