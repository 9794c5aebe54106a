"""A report on the command line: written to the files that were asked for, and printed."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from gradwright.verify.check import Report, page
from gradwright.verify.check.table import show


def tell(command: str, report: Report, arguments: argparse.Namespace) -> int:
    """Write and print a report as ``--html`` and ``--json`` of a command say; the exit status."""
    said = json.dumps(report.as_dict(), indent=1) + "\n"
    try:
        if arguments.json and arguments.json != "-":
            Path(arguments.json).write_text(said, encoding="utf-8")
        if arguments.html:
            page.write(report, arguments.html)
    except OSError as e:
        return refused(command, f"cannot write {e.filename}: {e.strerror}")
    if arguments.json == "-":
        sys.stdout.write(said)
    else:
        show(report)
    return report.exit_code


def refused(command: str, reason: str) -> int:
    """Say why a command does nothing; the exit status."""
    print(f"gradwright {command}: {reason}", file=sys.stderr)
    return 2
