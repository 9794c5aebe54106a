"""`gradwright audit SCRIPT [ARGS]...`: run a program, and look at the derivatives that it uses, where it uses them."""

from __future__ import annotations

import argparse
import sys
from contextlib import nullcontext, redirect_stdout
from typing import Any

from gradwright.base.cpython.ending import wait_for_threads
from gradwright.cli import program
from gradwright.cli.numbers import count, seconds
from gradwright.cli.reports import refused, tell
from gradwright.pytorch import hook
from gradwright.verify.audit import Audit
from gradwright.verify.audit.session import BUDGET
from gradwright.verify.check.attempt import Attempt

ABOUT = "run a program and check the derivatives that it uses, with the inputs they get"
LONG = f"""{ABOUT.capitalize()}. Copies are kept of the first calls of every Function,
custom_op and Op, and of what is handed to SciPy and other libraries as a derivative (jac=, rmatvec, score); when the
program has ended they are made again, and their gradients compared with differences. `import torch` is gradwright, or
PyTorch with --torch: then its Functions and the operations of
torch.library are looked at. The program computes what it computes without this, to the bit.

exit status: 0 if all is right, 1 if something is wrong or cannot be told, 2 if something could not be looked at, the
program called nothing that could be looked at; of a program that raises or ends with another status, that status."""
USAGE = "gradwright audit [OPTIONS]... (SCRIPT | -m MODULE) [ARGS]..."


def add(commands: Any) -> None:
    """Add the command to the command line."""
    command = commands.add_parser("audit", help=ABOUT, description=LONG, usage=USAGE,
                                  formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    command.add_argument("script", metavar="SCRIPT", nargs="?", help="the program, a Python file")
    command.add_argument("args", metavar="ARGS", nargs=argparse.REMAINDER, help="the program's own arguments")
    command.add_argument("-m", dest="module", metavar="MODULE", nargs=argparse.REMAINDER,
                         help="run a module as python -m does; what follows is its own")  # fmt: skip
    command.add_argument("--torch", action="store_true", help="`import torch` is PyTorch, not gradwright")
    command.add_argument("--budget", metavar="SECONDS", type=seconds, default=BUDGET,
                         help=f"what looking at the calls may take (default: {BUDGET:g})")  # fmt: skip
    command.add_argument("--every", metavar="N", type=count, default=0, help="keep every N-th call of each, too")
    command.add_argument("--only", metavar="NAME", action="append", default=[], help="look at this; may be given again")
    command.add_argument("--skip", metavar="NAME", action="append", default=[], help="leave this out; likewise")
    command.add_argument("--html", metavar="FILE", help="write a report to be opened in a browser")
    command.add_argument("--json", metavar="FILE", help="write a report for programs; - for standard output, while "
                         "what the program prints goes to standard error")  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Run the program, report, and return the exit status."""
    if arguments.module == [] or (arguments.script is None and arguments.module is None):
        return refused("audit", f"nothing to run: {USAGE}")
    with Attempt() as attempt:
        if not arguments.torch:
            hook.serve()
        if arguments.module:
            made = program.module(arguments.module[0], arguments.module[1:])
        else:
            made = program.script(arguments.script, arguments.args)
    if attempt.error is not None:
        what = arguments.module[0] if arguments.module else arguments.script
        cannot_read = isinstance(attempt.error, OSError)
        return refused("audit", f"cannot read {what}: {attempt.error.strerror}" if cannot_read else attempt.said())
    made.enter()
    audit = Audit(arguments.budget, arguments.every, arguments.only, arguments.skip, shown=False, target=made.name)
    with redirect_stdout(sys.stderr) if arguments.json == "-" else nullcontext(), audit:
        status = _run(made, audit)
    if audit.report is None:  # a process that the program has forked ends here, too
        return 0
    found = tell("audit", audit.report, arguments)
    return status or found


def _run(made: program.Program, audit: Audit) -> int:
    """Run it, wait for its threads as Python does, and tell how it ended if that was not as it should; its status."""
    status = 0
    with Attempt() as attempt:
        made.run()
    error = attempt.error
    if isinstance(error, SystemExit):
        if error.code is not None and error.code != 0:
            if not isinstance(error.code, int):
                print(error.code, file=sys.stderr)
            status = error.code if isinstance(error.code, int) else 1
            audit.problem(made.name, f"it ended with exit status {status}: what is told is what was called before")
    elif error is not None:
        sys.excepthook(type(error), error, error.__traceback__)
        missing = isinstance(error, ModuleNotFoundError) and error.name == "torch"
        mend = ": leave out --torch to run it on gradwright" if missing else ": what is told is what was called before"
        said = attempt.said(made.file).partition("\n")[0]  # the rest is in the traceback
        audit.problem(made.name, f"it raises {said}{mend}")
        status = 1
    with Attempt() as ending:
        wait_for_threads()
    if ending.error is not None:
        audit.problem(made.name, f"at its end, a pool of threads or processes raises {ending.said()}")
    return status
