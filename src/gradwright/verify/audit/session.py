"""`gradwright.audit`: hear the calls that a program makes, and look at them when it has ended."""

from __future__ import annotations

import inspect
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import gradwright
from gradwright.base.cpython.forks import lock
from gradwright.verify.audit.doors.known import DOORS
from gradwright.verify.audit.doors.opened import Doors
from gradwright.verify.audit.hooks import Hooks, below, classes
from gradwright.verify.audit.recorded import Met, Recorded
from gradwright.verify.audit.recorder import Recorder
from gradwright.verify.audit.subjects import argument_names, subject_of_met
from gradwright.verify.audit.verdicts import AGAIN, OWN, WIDE, Late, Verdict, looked_at
from gradwright.verify.check import page
from gradwright.verify.check.attempt import Attempt
from gradwright.verify.check.discover import Subject
from gradwright.verify.check.records import Checked, Finding, Outcome, Report
from gradwright.verify.check.table import show

BUDGET = 20.0
"""Seconds that looking at the calls may take."""
_RANK = (Outcome.SKIPPED, Outcome.PASS, Outcome.ADVICE, Outcome.INCONCLUSIVE, Outcome.FAIL, Outcome.ERROR)
_NAMED = 8
_ANEW = ("spawn_posix", "spawn_win32", "forkserver")
_on: list[Any] = []


def audit(*, budget: float = BUDGET, every: int = 0, only: Sequence[str] = (), skip: Sequence[str] = (),
          html: str | os.PathLike[str] | None = None, shown: bool = True) -> Audit:
    """A context manager: all Functions and operations that are called within it are looked at when it ends.

    So are derivatives that are handed to SciPy and other libraries within it (``jac=``, ``rmatvec``, ``score``).

    Args:
        budget: seconds that looking at them may take.
        every: keep each ``every``-th call of each, too, beside the first.
        only, skip: names of those to look at, and of those to leave out.
        html: where to write the report as a page.
        shown: whether to print it.

    What is called is copied, and nothing else happens to it; it is called again, on copies, when the block has ended.
    So no number that the program computes is another, and no random number. ``report`` of what it returns is the
    report.

    >>> class Double(gw.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         return g
    >>> with audit(shown=False) as found:
    ...     y = Double.apply(gw.linspace(-2, 3, 9, requires_grad=True))
    >>> found.report.checked[0].failures[0].cause
    'factor'

    Raises ValueError for a budget that is not above 0; RuntimeError, when the block begins, if an audit is on already.
    """
    return Audit(budget, every, only, skip, html, shown)


class Audit:
    """An audit: see `audit`.

    Attributes:
        report: what was found; None until the block has ended.
    """

    def __init__(self, budget: float = BUDGET, every: int = 0, only: Sequence[str] = (), skip: Sequence[str] = (),
                 html: Any = None, shown: bool = True, target: str = "") -> None:  # fmt: skip
        if not 0 < budget < 1e6:
            raise ValueError(f"audit: budget must be a number of seconds above 0, got {budget!r}")
        if every < 0 or int(every) != every:
            raise ValueError(f"audit: every must be a whole number, 0 or more, got {every!r}")
        names = [(only,) if isinstance(only, str) else tuple(only), (skip,) if isinstance(skip, str) else tuple(skip)]
        self.budget, self.every, self.only, self.skip = budget, every, *names
        self.html, self.shown, self.target = html, shown, target
        self.problems: list[tuple[str, str]] = []
        self.report: Report | None = None

    def __enter__(self) -> Audit:
        with lock:
            if _on:
                raise RuntimeError("audit: an audit is on already in this process: end that one first")
            _on.append(self)
        self.recorder = Recorder(self.every, only=self.only, skip=self.skip)
        self.hooks = Hooks(self.recorder)
        self.doors = Doors(DOORS, self.only, self.skip)
        self.start = time.perf_counter()
        self.hooks.__enter__()
        self.doors.__enter__()
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self.doors.__exit__()
        self.hooks.__exit__()
        self.recorder.on = False
        _on.clear()
        if os.getpid() != self.recorder.process:  # a process that was forked within
            return
        if error is not None and not self.problems:
            said = f"raises {type(error).__name__}: {error}; what is told is what was called before"
            self.problems.append((self.target or "the block", said))
        self.report = self._report()
        if self.html is not None:
            page.write(self.report, self.html)
        if self.shown:
            show(self.report)

    def problem(self, target: str, reason: str) -> None:
        """Note what is to be told among the problems."""
        self.problems.append((target, reason))

    # ---- when it has ended --------------------------------------------------------------------------------

    def _report(self) -> Report:
        met = self.recorder.gathered(classes)
        notes: list[str] = []
        uncalled = [*_uncalled(met)]
        until = time.perf_counter() + self.budget
        checked = self._checked(met, notes)
        told = self.doors.told(max(until - time.perf_counter(), 0.0))
        checked += told.checked
        self.problems += told.problems
        notes += [*uncalled, *_compiled(self.hooks.compiled), *_spawned(), *self.doors.notes()]
        if not checked and not told.problems:
            self.problems.append((self.target or "the block", _nothing(met, self.only, self.doors.opened)))
        targets = (self.target,) if self.target else ()
        seconds = time.perf_counter() - self.start
        return Report(targets, tuple(checked), tuple(self.problems), seconds, gradwright.__version__,
                      "gradwright audit", tuple(notes))  # fmt: skip

    def _checked(self, met: list[Met], notes: list[str]) -> list[Checked]:
        """The verdicts on all calls with inputs that require grad."""
        subjects: dict[int, Subject] = {}
        for m in met:
            if m.calls or m.left:
                subjects[id(m)] = subject_of_met(m)
        asked = [m for m in met if id(m) in subjects]
        rounds = [(m, m.recorded[k]) for k in range(max((len(m.recorded) for m in asked), default=0))
                  for m in asked if k < len(m.recorded)]  # fmt: skip
        said: dict[int, list[tuple[Recorded, Verdict]]] = {id(m): [] for m in asked}
        spent: dict[int, float] = {id(m): 0.0 for m in asked}
        late: dict[int, list[tuple[Recorded, float]]] = {id(m): [] for m in asked}
        until = time.perf_counter() + self.budget
        generator = np.random.default_rng()
        waiting = []
        for n, (m, recorded) in enumerate(rounds):
            share = max(until - time.perf_counter(), 0.0) / (len(rounds) - n)
            if not self._one(m, recorded, subjects[id(m)], share, generator, said, spent, None):
                waiting.append((m, recorded))
        for m, recorded in waiting:
            self._one(m, recorded, subjects[id(m)], max(until - time.perf_counter(), 0.0), generator, said, spent, late)
        return [self._judged(m, subjects[id(m)], said[id(m)], late[id(m)], spent[id(m)], notes) for m in asked]

    def _one(self, m: Met, recorded: Recorded, subject: Subject, seconds: float, generator: Any, said: Any, spent: Any,
             late: Any) -> bool:  # fmt: skip
        """Look at one call; whether that could be done in this time."""
        start = time.perf_counter()
        try:
            wrong = any(f.outcome is Outcome.FAIL for _, v in said[id(m)] for f in v.findings.values())
            said[id(m)].append((recorded, looked_at(recorded, subject, seconds, generator, not wrong)))
        except Late as e:
            if late is not None:
                late[id(m)].append((recorded, e.args[0]))
            return False
        finally:
            spent[id(m)] += time.perf_counter() - start
        return True

    def _judged(self, m: Met, subject: Subject, said: list[tuple[Recorded, Verdict]],
                late: list[tuple[Recorded, float]], seconds: float, notes: list[str]) -> Checked:  # fmt: skip
        numbers = ", ".join(str(t.number) for t, _ in late)
        for reason, n in m.left.items():
            notes.append(f"{m.name}: {n} call{'s' if n > 1 else ''} not looked at, as {reason}")
        findings: list[Finding] = []
        if said:
            if late:
                cost = max(s for _, s in late)
                notes.append(f"{m.name}: call{'s' if len(late) > 1 else ''} {numbers} not looked at: the budget of "
                             f"{self.budget:g} s was spent; one would take {cost:.1g} s more (--budget)")  # fmt: skip
            for check in (AGAIN, OWN, WIDE):
                known = [(t, v.findings[check]) for t, v in said if check in v.findings]
                if known:
                    recorded, worst = max(known, key=lambda pair: _RANK.index(pair[1].outcome))
                    where = f" (call {recorded.number}{recorded.where} of {m.calls})" if worst.sentence else ""
                    findings.append(Finding(check, worst.outcome, f"{worst.sentence}{where}", worst.mend, worst.cause,
                                            worst.lines))  # fmt: skip
        else:
            if late:
                reason = f"the budget of {self.budget:g} s was spent; it would take {late[0][1]:.1g} s"
                mend = f"give it more: --budget {_rounded(self.budget + late[0][1])}"
            else:
                reason, mend = "; ".join(m.left) or "no call of it ended", ""
            findings.append(Finding(AGAIN, Outcome.ERROR, f"not looked at: {reason}", mend, "not looked at"))
        names = [argument_names(subject, len(t.arguments)) for t, _ in said]
        samples = tuple(t.described(n) for (t, _), n in zip(said, names, strict=True))
        diagnoses = tuple(d for _, v in said for d in v.diagnoses)[:1]
        return Checked(subject.name, subject.kind, subject.file, subject.line, subject.source, samples, False,
                       tuple(findings), diagnoses, seconds)  # fmt: skip


def _rounded(seconds: float) -> int:
    return int(np.ceil(2 * seconds / 10) * 10)


def _nothing(met: list[Met], only: Sequence[str], opened: int) -> str:
    if met:
        names = ", ".join(m.name for m in met[:_NAMED])
        return f"no Function and no operation was called with an input that requires grad: {names} were called without"
    if only:
        return f"nothing was called of the name {', '.join(only)}"
    if opened:
        return (f"no derivative was handed over: libraries that take some were called {opened} time"
                f"{'s' if opened > 1 else ''}, without one")  # fmt: skip
    return ("no Function and no custom operation was called, and no derivative was handed to a library: this looks at "
            "classes with a backward of their own, gw.op, custom_op and torch.library operations, and at `jac=` and "
            "the like of SciPy and others; `gradwright check` looks at what a file defines, called or not")  # fmt: skip


def _uncalled(met: list[Met]) -> Iterator[str]:
    """Functions that the program defines and has not called."""
    called = {id(m.target) for m in met}
    for cls, T, _ in classes():
        if id(cls) in called or below(cls) or cls.forward is T.autograd.Function.forward:
            continue
        module = sys.modules.get(cls.__module__)
        if "_made_of" in vars(cls) or module is None or "site-packages" in (getattr(module, "__file__", "") or ""):
            continue
        with Attempt():
            yield f"{cls.__qualname__} ({Path(inspect.getfile(cls)).name}) is defined, and was never called"
    for m in met:
        if not m.calls and not m.left and m.unrecorded:
            yield f"{m.name} was called, but never with an input that requires grad"


def _compiled(before: set[str]) -> Iterator[str]:
    """That there was something compiled, in which calls are not heard: before the audit, or by PyTorch."""
    for name in sorted(before):
        yield (f"{name} was compiled before the audit began, so that no Function is heard in it: begin before its "
               "first call, or have GRADWRIGHT_COMPILE=eager in the environment")  # fmt: skip
    dynamo: Any = sys.modules.get("torch._dynamo.utils")
    frames = dynamo.counters["frames"].get("ok", 0) if dynamo is not None else 0
    if frames:
        yield (f"torch.compile has compiled {frames} function{'s' if frames > 1 else ''}, in which no Function is "
               "heard: look at these with TORCH_COMPILE_DISABLE=1 in the environment")  # fmt: skip


def _spawned() -> Iterator[str]:
    """That processes were started anew, in which calls are not heard."""
    loky = any(name.endswith(".popen_loky_posix") for name in sys.modules)
    if loky or any(f"multiprocessing.popen_{how}" in sys.modules for how in _ANEW):
        how = "by loky, as joblib's are," if loky else "by spawn or forkserver,"
        mend = "in threads, or by fork," if loky else "by fork"
        yield f"processes were started {how} in which nothing is heard: start them {mend} to have them looked at"
