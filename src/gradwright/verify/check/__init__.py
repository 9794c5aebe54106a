"""Checking everything with a hand-written derivative in files and modules: `gradwright check`.

calls.py     what a subject is called with: `samples`     records.py   what is found
discover.py  what there is to check                       isolate.py   `check`: in processes of their own
trial.py     a subject with one sample call               worker.py    such a process
battery/     the checks                                   table.py, page.py   the report, in a terminal or a browser
bridge.py    PyTorch's Functions as gradwright's      pairs.py       functions with derivatives beside them
"""

from gradwright.base.lazy import lazy
from gradwright.verify.check.calls import samples
from gradwright.verify.check.isolate import check
from gradwright.verify.check.records import Checked, Finding, Outcome, Report

__all__ = ["Checked", "Finding", "Outcome", "Report", "check", "samples"]

lazy(__name__)
