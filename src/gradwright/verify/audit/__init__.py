"""Looking at the calls that a program makes: `gradwright audit`, and `gradwright.audit()` around a part of one.

hooks.py      where calls of Functions and operations are heard: gradwright's, and PyTorch's once that is imported
recorder.py   which calls are kept                        recorded.py  one that is: copies of what it was given
workers.py    those of worker processes                   rerun.py     such a call, made again as often as wanted
slopes.py     its gradient against differences            verdicts.py  what is said of it
notebook.py   ``%%audit`` above a cell
session.py    `audit`                           meeting.py    modules, when the program imports them
doors/        what the program hands to other libraries: SciPy, lmfit, statsmodels and others

While the program runs, calls are copied and nothing else is done; they are made again when it has ended.
"""

from gradwright.verify.audit.session import Audit, audit

__all__ = ["Audit", "audit"]
