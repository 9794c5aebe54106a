"""What a subject is called with: the samples that its author gives, or calls made up from how it is written."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gradwright.base.errors import StrictError, kind
from gradwright.engine.strict import strict
from gradwright.ops.declare import Op
from gradwright.verify.check.attempt import Attempt
from gradwright.verify.check.battery.contract import shapes
from gradwright.verify.check.battery.findings import error, refused, rule
from gradwright.verify.check.calls import Arg, Call, read
from gradwright.verify.check.discover import Subject
from gradwright.verify.check.guess import Use, guessed, uses
from gradwright.verify.check.records import Finding, Outcome
from gradwright.verify.check.trial import Run, Trial
from gradwright.verify.numeric.jacobian import is_floating
from gradwright.verify.testing import draw

HOW = (
    "give it a static method `samples` that returns a list with a tuple of arguments for each call; or a decorator, "
    "@gradwright.check.samples((x, y), ...); to one in C++, from Python: samples((x, y), ...)(module.Name)"
)
"""How to give sample inputs."""
_HOW_OP = "declare it with samples: @op(samples=[Sample(A(3, 4))])"
TRIES = 400
"""How many made-up calls are tried."""
BLANKS = 40
"""How many, if some run but give nothing but zeros."""
MORE = 10
"""How many more, to find a larger one."""
_PLAIN = ("changed input", "changed saved tensor", "changed grad_output", "mark_dirty", "number of gradients")
"""What is wrong whatever a Function is called with."""
_SLIPS = (AttributeError, NameError, ImportError)
"""What backward raises for what is written there, and not for its inputs."""


def trials(subject: Subject, doing: Callable[[str], None]) -> tuple[list[Trial], Finding | None, bool]:
    """The subject with each of its sample calls; or what keeps it from being called; whether they are made up.

    ``doing`` is called with what is run from then on: ``samples``, or ``it``.
    """
    if subject.refused is not None:
        return [], refused(subject, subject.refused), False
    with Attempt() as attempt:
        doing("samples")
        calls = _drawn(subject) if subject.kind == "op" else given(subject)
        doing("it")
        if calls:
            return [_precise(Trial(subject, c)) for c in calls], None, False
    if attempt.error is not None:
        found = error("runs", attempt, subject, "samples")
        if attempt.was_raised_in(__file__):
            found = replace(found, sentence=str(attempt.error), mend=HOW)
        return [], replace(found, cause="samples"), False
    tried, came_of_it, doubts = _tried(subject)
    if tried:
        tried[0].doubt = max(doubts, key=lambda d: d.dimensions).said if doubts else ""
        return tried, None, True
    sentence = f"it has no sample inputs, and none could be made up that its forward takes{came_of_it}"
    how = _HOW_OP if subject.kind == "op" else HOW
    return [], Finding("runs", Outcome.ERROR, sentence, how, "no samples", (subject.line,)), True


def given(subject: Subject) -> list[Call]:
    """The calls that the author of a subject declared; none if there are none.

    Raises TypeError if ``samples`` is not, or does not return, a list of tuples that forward can take as arguments; and
    whatever it raises.
    """
    declared = getattr(subject.target, "samples", None) if subject.samples is None else subject.samples
    if declared is None:
        return []
    found = declared() if callable(declared) else declared
    if isinstance(found, subject.T.Tensor) or not hasattr(found, "__iter__"):
        raise TypeError(f"samples must return a list with a tuple of arguments for each call, not {kind(found)}")
    calls = [(c if isinstance(c, tuple) else (c,)) for c in found]
    for k, c in enumerate(calls):
        try:
            subject.bind(c)
        except TypeError as e:
            takes = ", ".join(p.name for p in subject.parameters)
            raise TypeError(f"sample {k} has {len(c)} arguments, but forward takes {takes}: {e}") from None
    full = [subject.full(c) for c in calls]
    return [Call(read(c, subject.T), tuple(subject.names(len(c)))) for c in full]


def _drawn(subject: Subject) -> list[Call]:
    """The samples of an Op."""
    op: Op = subject.target
    found = []
    for sample in op.samples if subject.samples is None else subject.samples:
        arrays, static = draw(sample)
        first = len(op.inputs) - 1 if op.variadic else len(arrays)
        known = [n in op.rules for n in op.names_of(len(arrays))]
        names = [n if k < first else f"{n}[{k - first}]" for k, n in enumerate(op.names_of(len(arrays)))]
        args = [Arg(np.asarray(a), r and is_floating(a.dtype)) for a, r in zip(arrays, known, strict=True)]
        found.append(Call(tuple(args), tuple(names), static))
    return found


def _precise(trial: Trial) -> Trial:
    """With float64 for float32, if it takes that; on clones, if it says that it changes its inputs."""
    for call in (trial.call.precise(), trial.call):
        for cloned in (False, True):
            found = Trial(trial.subject, call, cloned, own=trial.call)
            with Attempt() as attempt:
                found.run()
            if attempt.error is None:
                return found
            if not cloned and "leaf" not in attempt.said():
                break
    return Trial(trial.subject, trial.call.precise())


class _Doubt(NamedTuple):
    """A made-up call that forward takes, and of which backward raises something."""

    dimensions: int
    said: str


def _tried(subject: Subject) -> tuple[list[Trial], str, list[_Doubt]]:
    """With the first made-up call that runs forward and backward; or else with the first that runs forward.

    One that gives nothing but zeros, as dropout of all, is taken only if there is no other soon. With another one, too,
    of more dimensions, if there is one with which it does so without any doubt. Also what came of the very first call,
    and of those that forward takes and backward does not.
    """
    if subject.kind == "op":
        return [], "", []
    second: Trial | None = None
    blank: Trial | None = None
    said = ""
    doubts: list[_Doubt] = []
    calls = guessed(subject.parameters, _uses(subject), packed=subject.kind == "custom_op")
    for k, call in enumerate(calls):
        if k == TRIES or (blank is not None and k > BLANKS):
            break
        trial = _precise(Trial(subject, call))
        attempt, run = Attempt(), None
        with attempt:
            run = trial.run()
            if not run.values:
                said = said or f": with {trial.call} it returns {kind(run.result)}, no tensor"
            if not run.outputs or not all(np.isfinite(v).all() for v in run.arrays):
                continue
            second = second or trial
            trial.backward(run)
            if not any(v.any() for v in run.arrays):
                blank = blank or trial
                continue
            return [trial, *_larger(trial, calls, doubts)], "", doubts
        if attempt.error is not None:
            said = said or f": with {trial.call} it raises {attempt.said()}"
            _, cause, _ = rule(attempt.said()) or ("", "", "")
            if cause in _PLAIN or (trial is second and isinstance(attempt.error, _SLIPS)):
                return [trial], "", []
            _note(doubts, trial, run, attempt)
    return ([blank], "", doubts) if blank else ([second] if second is not None else [], said, [])


def _note(doubts: list[_Doubt], trial: Trial, run: Run | None, attempt: Attempt) -> None:
    """Note what backward raised, if it was that."""
    lines = attempt.line(trial.subject.file)
    if run is not None and not isinstance(attempt.error, StrictError):
        where = f" at line {lines[0]}" if lines else ""
        text = f"with {trial.call}, which forward takes, backward raised {attempt.said().splitlines()[0]}{where}"
        doubts.append(_Doubt(sum(a.array.ndim for a in trial.call.args), text))


def _larger(first: Trial, calls: Iterator[Call], doubts: list[_Doubt]) -> list[Trial]:
    """A call of tensors of more dimensions that runs with gradients of the right shapes; best with other numbers."""
    dimensions = max(a.array.ndim for a in first.call.args)
    found: list[Trial] = []
    for call in itertools.islice(calls, MORE):
        if max((a.array.ndim for a in call.args), default=0) <= dimensions or (found and not _differ(first.call, call)):
            continue
        trial = _precise(Trial(first.subject, call))
        attempt, run = Attempt(), None
        with attempt, strict(True):
            run = trial.run()
            trial.backward(run)
            fit = run.outputs and all(np.isfinite(v).all() for v in run.arrays) and any(v.any() for v in run.arrays)
            if fit and shapes(trial).outcome is Outcome.PASS:
                found = [trial]
                if _differ(first.call, call):
                    break
        if run is not None and isinstance(attempt.error, _SLIPS):
            return [trial]
        if attempt.error is not None:
            _note(doubts, trial, run, attempt)
    return found


def _differ(a: Call, b: Call) -> bool:
    """Whether two calls have other numbers."""
    return any(x != y for x, y in zip(a.arguments, b.arguments, strict=True) if isinstance(x, (int, float)))


def _uses(subject: Subject) -> dict[str, Use]:
    """How the arguments are used; of a custom_op, as far as its formulas tell."""
    names = [p.name for p in subject.parameters]
    function: Any = subject.function
    if subject.kind == "custom_op":
        return {n: Use(gradient=subject.target.has_gradient(n)) for n in names}
    backward = "backward" if function.backward is not subject.T.autograd.Function.backward else "vjp"
    return uses(names, function.forward, function.setup_context, getattr(function, backward))
