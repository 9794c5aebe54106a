"""In IPython and its notebooks: ``%load_ext gradwright``, and then ``%%audit`` above a cell.

The cell runs as it does without; below what it shows stands the report on the derivatives that it has used.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from gradwright.verify.audit.session import BUDGET, audit
from gradwright.verify.check.records import Report


def load_ipython_extension(shell: Any) -> None:
    """Add the magic ``%%audit [SECONDS]``; what IPython calls for ``%load_ext gradwright``.

    >>> gw.load_ipython_extension(get_ipython())  # doctest: +SKIP
    """
    shell.register_magic_function(partial(_audited, shell), "cell", "audit")


def _audited(shell: Any, line: str, cell: str) -> Report | None:
    """Run a cell in an audit, whose budget the line may give, and return the report."""
    with audit(budget=float(line) if line.strip() else BUDGET, shown=False) as found:
        shell.run_cell(cell)
    return found.report
