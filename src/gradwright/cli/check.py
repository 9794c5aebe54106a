"""`gradwright check TARGET...`: every hand-written derivative in files and modules, through the whole battery."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import gradwright
from gradwright.cli.numbers import count, seconds
from gradwright.cli.reports import refused, tell
from gradwright.verify.check import Report, check
from gradwright.verify.check.attempt import Attempt
from gradwright.verify.check.discover import load
from gradwright.verify.check.isolate import LIMIT
from gradwright.verify.check.pairs import compared
from gradwright.verify.check.table import Bar

ABOUT = "check every hand-written derivative in files and modules"
LONG = f"""{ABOUT.capitalize()}: gradwright's Functions, custom_ops and Ops, and PyTorch's Functions
where PyTorch is installed; where it is not, `import torch` is gradwright. Of a folder, the files that write derivatives
are imported, one by one. Each derivative is called with the tuples of arguments that its static method `samples`
returns, or the decorator @gradwright.check.samples(...) was given; without them some are made up from its signature.
Functions of arrays whose derivatives are called by their names (f and f_prime or df, fun and jac of a class, hess,
hessp) are compared with differences, at the module's x0 or at made-up points; --jac, --hess
and --hessp give others.

exit status: 0 if all is right, 1 if something is wrong or cannot be told, 2 if something could not be checked."""


def add(commands: Any) -> None:
    """Add the command to the command line."""
    command = commands.add_parser(
        "check", help=ABOUT, description=LONG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    command.add_argument("targets", metavar="TARGET", nargs="+",
                         help="a file, a folder, a module, or a file or module with :Name")  # fmt: skip
    for name, what in (("jac", "gradient or Jacobian"), ("hess", "Hessian"), ("hessp", "Hessian times a vector")):
        command.add_argument(f"--{name}", metavar="NAME", help=f"the {what} of the one function that is the target, "
                             "FILE:NAME: a name of that file or another's")  # fmt: skip
    command.add_argument("--at", metavar="X", help="where to compare these: a .npy file, or numbers with commas")
    command.add_argument("--bounds", metavar="LOW,HIGH", help="bounds of x that no call goes beyond: two numbers, or a "
                         ".npy file with a row for each entry")  # fmt: skip
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
    if arguments.jac or arguments.hess or arguments.hessp:
        return _given(arguments)
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


def _given(arguments: argparse.Namespace) -> int:
    """Compare the derivatives that were given by name with the one function that is the target."""
    where, _, name = arguments.targets[0].partition(":")
    if len(arguments.targets) > 1 or not name:
        return refused("check", "--jac, --hess and --hessp go with one function: gradwright check FILE:NAME --jac NAME")
    with Attempt() as attempt:
        modules: dict[str, Any] = {}
        f = _named(arguments.targets[0], where, modules)
        given = {k: getattr(arguments, k) for k in ("jac", "hess", "hessp")}
        derivatives = {k: _named(text, where, modules) for k, text in given.items() if text}
        at, bounds = _numbers(arguments.at), _numbers(arguments.bounds)
    if attempt.error is not None:
        return refused("check", f"{type(attempt.error).__name__}: {attempt.error}")
    ends = [*map(tuple, bounds.tolist())] if np.ndim(bounds) == 2 else bounds
    checked = compared(name, f, derivatives, at, ends)
    report = Report((arguments.targets[0],), (checked,), (), checked.seconds, gradwright.__version__)
    return tell("check", report, arguments)


def _named(text: str, home: str, modules: dict[str, Any]) -> Any:
    """What ``FILE:NAME``, or ``NAME`` of the target's file, is; a dotted one is an attribute."""
    where, _, name = text.rpartition(":")
    where = where or home
    if where not in modules:
        modules[where] = load(where)[0]
    value = modules[where]
    for part in name.split("."):
        value = getattr(value, part)
    return value


def _numbers(text: str | None) -> Any:
    """The array in a file of NumPy's, or numbers with commas between them."""
    if text is None:
        return None
    return np.load(text) if text.endswith(".npy") else np.array([float(part) for part in text.split(",")])
