"""`gradwright check TARGET...`: every hand-written derivative in files and modules, through the whole battery."""

from __future__ import annotations

import argparse
from typing import Any

from gradwright.cli.numbers import count, seconds
from gradwright.cli.reports import tell
from gradwright.verify.check import check
from gradwright.verify.check.isolate import LIMIT
from gradwright.verify.check.table import Bar

ABOUT = "check every hand-written derivative in files and modules"
LONG = f"""{ABOUT.capitalize()}: gradwright's Functions, custom_ops and Ops, and PyTorch's Functions
where PyTorch is installed; where it is not, `import torch` is gradwright. Of a folder, the files that write derivatives
are imported, one by one. Each derivative is called with the tuples of arguments that its static method `samples`
returns, or the decorator @gradwright.check.samples(...) was given; without them some are made up from its signature.

exit status: 0 if all is right, 1 if something is wrong or cannot be told, 2 if something could not be checked."""


def add(commands: Any) -> None:
    """Add the command to the command line."""
    command = commands.add_parser(
        "check", help=ABOUT, description=LONG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    command.add_argument("targets", metavar="TARGET", nargs="+",
                         help="a file, a folder, a module, or a file or module with :Name")  # fmt: skip
    command.add_argument("--html", metavar="FILE", help="write a report to be opened in a browser")
    command.add_argument("--json", metavar="FILE", help="write a report for programs; - for standard output")
    command.add_argument("--only", metavar="NAME", action="append", default=[], help="check this; may be given again")
    command.add_argument("--fast", action="store_true", help="check each with its first sample only")
    command.add_argument("--compiled", action="store_true", help="check the compiled form of each, too")
    command.add_argument(
        "--jobs", metavar="N", type=count, default=2, help="processes that work at a time (default: 2)"
    )
    command.add_argument(
        "--time-limit", metavar="SECONDS", type=seconds, default=LIMIT,
        help=f"for importing a target, and for each that is checked (default: {LIMIT:g})",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Check, report, and return the exit status."""
    bar = Bar()
    with bar.shown():
        report = check(
            arguments.targets,
            only=arguments.only,
            jobs=arguments.jobs,
            limit=arguments.time_limit,
            fast=arguments.fast,
            compiled=arguments.compiled,
            progress=bar.advance,
        )
    return tell("check", report, arguments)
