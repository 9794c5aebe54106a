"""What is said of a call that was recorded: whether it can be made again, and whether its gradient is right there."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import gradwright
from gradwright.function.contract.surrogate import reason_of
from gradwright.verify.audit.recorded import Print, Recorded, dtype_of, printed
from gradwright.verify.audit.rerun import Rerun, alone
from gradwright.verify.audit.slopes import Measured, Weighted, calls, measured
from gradwright.verify.audit.subjects import argument_names, leaf_names, runs, written
from gradwright.verify.check.attempt import Attempt
from gradwright.verify.check.battery.findings import failed, listed, passed, skipped
from gradwright.verify.check.battery.orders import callable_of, first_order
from gradwright.verify.check.calls import Arg, Call, mapped
from gradwright.verify.check.discover import Subject
from gradwright.verify.check.records import Finding, Outcome
from gradwright.verify.check.suspects import gradient
from gradwright.verify.check.trial import Trial
from gradwright.verify.diagnosis.examination import Examination
from gradwright.verify.experiments import Fault, Trying, fault, narrower
from gradwright.verify.numeric.again import Change
from gradwright.verify.numeric.streams import State

AGAIN, OWN, WIDE = "made again", "own dtype", "float64"
"""The checks of an audit: the call gives again what it gave; its gradient in its dtype; the same in float64."""
_SURROGATE = ("if it is meant to be another (straight-through, say), declare that with gradwright.autograd.surrogate, "
              "or leave it out with --skip")  # fmt: skip
_PLANS = ((False, 4), (False, 2), (True, 4), (True, 2), (True, 1))
"""Whether all inputs are moved at once, and along how many directions: what is done within the time there is."""
_CALLS = 30
"""Whether backward is linear is looked at further if there is time for so many calls."""
_LOST = 1e-2
_SLIGHT = 1e-7
"""Errors smaller than this part of a gradient are those of a method that ends at a tolerance, as of solvers."""


class Late(Exception):  # noqa: N818 - it is no error here
    """There is not enough time; says how much it would take."""


@dataclass
class Verdict:
    """The verdict on one call.

    Attributes:
        findings: by check. diagnoses: what `diagnose` found of it. size: of the errors that would be found, relative to
            the gradient, for the input that is known worst, with its name; by check.
    """

    findings: dict[str, Finding] = field(default_factory=dict)
    diagnoses: list[dict[str, Any]] = field(default_factory=list)
    size: dict[str, tuple[float, str]] = field(default_factory=dict)


def looked_at(recorded: Recorded, subject: Subject, seconds: float, generator: Any, explained: bool = True) -> Verdict:
    """The verdict on a call, within about ``seconds``; why it is wrong, if that is to be explained.

    Raises Late if that is not enough for anything.
    """
    names = argument_names(subject, len(recorded.arguments))
    with alone(recorded.met.T):
        state = State(written(recorded.met))
        try:
            return _looked(recorded, subject, names, state, seconds, generator, explained)
        finally:
            state.put_back()


def _looked(recorded: Recorded, subject: Subject, names: list[str], state: State, seconds: float, generator: Any,
            explained: bool) -> Verdict:  # fmt: skip
    until = time.perf_counter() + seconds
    if recorded.seconds > seconds:
        raise Late(10 * recorded.seconds)
    found = Verdict()
    leaves = leaf_names(names, recorded)
    rerun = Rerun(recorded, runs(recorded.met), leaves, state)
    found.findings[AGAIN] = again = _again(rerun)
    if again.outcome in (Outcome.ERROR, Outcome.INCONCLUSIVE):
        return found
    if (reason := reason_of(subject.function) if recorded.met.kind != "torch op" else None) is not None:
        said = skipped(f"declared a surrogate gradient: {reason}")
        found.findings |= {OWN: said, WIDE: said}
        return found
    wide = rerun.unit > 1e-10
    half = (until - time.perf_counter()) * (0.4 if wide else 1.0)
    own, tried = _gradient(OWN, rerun, found, half, generator)
    if not wide:
        found.findings[WIDE] = skipped("the program runs in float64: see there")
    else:
        broad = Rerun(recorded, rerun.apply, leaves, state, wide=True)
        _wider(broad, found, own, tried, until - time.perf_counter(), generator)
    if explained and any(f.outcome is Outcome.FAIL for f in found.findings.values()):
        _explain(recorded, subject, names, found, wide, max(until - time.perf_counter(), 1.0))
    return found


def _again(rerun: Rerun) -> Finding:
    """Whether the call gives what it gave in the program."""
    with Attempt() as attempt:
        first = [printed(o) for o in rerun.settle()]
        before = list(rerun.recorded.prints)
        if first == before:
            return passed("to the bit what it gave in the program")
        if _alike(first, before, rerun.unit):
            return passed("up to rounding what it gave in the program")
        if not _alike([printed(o) for o in rerun.run()[0]], first, rerun.unit):
            return Finding("", Outcome.INCONCLUSIVE, "it gives another result each time it is called with the same "
                           "inputs, wherever the generators of random numbers stand",
                           "draw random numbers with the library's generator, or pass them in",
                           "non-determinism")  # fmt: skip
        return Finding("", Outcome.ADVICE, "made again it gives another result than in the program, since it depends "
                       "on what has changed since; its gradient was compared with what it gives now",
                       "pass to it what it depends on", "state")  # fmt: skip
    return Finding("", Outcome.ERROR, f"made again it raises {attempt.said(_file(rerun))}", "", "not made again")


def _file(rerun: Rerun) -> str:
    code = getattr(next(iter(written(rerun.recorded.met)), None), "__code__", None)
    return getattr(code, "co_filename", "")


def _alike(a: Sequence[Print], b: Sequence[Print], unit: float) -> bool:
    if [(p.shape, p.dtype) for p in a] != [(p.shape, p.dtype) for p in b]:
        return False
    return all(p.digest == q.digest or 0 < abs(p.length - q.length) <= 1e3 * unit * q.length
               for p, q in zip(a, b, strict=True))  # fmt: skip


# ---- the gradient -----------------------------------------------------------------------------------------


def _gradient(check: str, rerun: Rerun, verdict: Verdict, seconds: float,
              generator: Any) -> tuple[list[Measured], Trying | None]:  # fmt: skip
    """Compare the gradient, and note what is found; also what can be tried further."""
    attempt = Attempt()
    found: list[Measured | None] = []
    bent: Fault | None = None
    until = time.perf_counter() + seconds
    with attempt:
        weighted = Weighted(rerun, generator)
        if not weighted.which:
            verdict.findings[check] = failed("zero", "no output of it requires grad, though inputs do",
                                             "return tensors that are made of the inputs")  # fmt: skip
            return [], None
        groups, directions = _plan(weighted, until - time.perf_counter())
        found = [measured(weighted, group, directions, generator) for group in groups]
        if not weighted.linear or _CALLS * rerun.recorded.seconds < seconds:
            bent = fault(weighted.tried, "not linear")
    if isinstance(attempt.error, Late):
        raise attempt.error
    if attempt.error is not None:
        verdict.findings[check] = Finding("", Outcome.ERROR, f"its backward raises {attempt.said(_file(rerun))}", "",
                                          type(attempt.error).__name__)  # fmt: skip
        return [], None
    known = [m for m in found if m is not None]
    verdict.findings[check] = _said(rerun, weighted, known, len(found) - len(known), bent)
    if known and not any(m.wrong for m in known):
        verdict.size[check] = max((max(m.sampled.noticed(), *m.sampled.rooms), listed([f"`{n}`" for n in m.names]))
                                  for m in known)  # fmt: skip
    return known, weighted.tried


def _plan(weighted: Weighted, seconds: float) -> tuple[list[list[int]], int]:
    """Which inputs are moved at once, and along how many directions, such that it is done in time.

    Raises Late if there is no such plan.
    """
    start = time.perf_counter()
    weighted.beyond(weighted.at)
    one = time.perf_counter() - start
    every = list(range(len(weighted.at)))
    cost = 0.0
    for together, directions in _PLANS:
        groups = [every] if together else [[k] for k in every]
        cost = one * len(groups) * calls(directions, weighted.rerun.unit)
        if cost <= seconds:
            return groups, directions
    raise Late(cost)


def _said(rerun: Rerun, weighted: Weighted, found: list[Measured], unknown: int, bent: Fault | None) -> Finding:
    if not all(np.isfinite(g).all() for g in weighted.gradient):
        return Finding("", Outcome.INCONCLUSIVE, "backward gives nan or inf at the inputs of the program", "",
                       "not a number")  # fmt: skip
    dtype = _dtype(rerun)
    if bent is not None:
        return failed("not linear", f"in {dtype}, {bent.sentence}", bent.mend)
    if wrong := [m for m in found if m.wrong]:
        if all(m.length > 0 and m.off < _SLIGHT for m in wrong):
            off = max(m.off for m in wrong)
            return Finding("", Outcome.ADVICE, f"in {dtype} it agrees, but only to {off:.1g} of its length, which is "
                           "more than rounding", "if it comes from no solver or other method that ends at a "
                           "tolerance, look for a small term that is lost", "slightly off")  # fmt: skip
        return _wrong(dtype, wrong, found)
    if unknown or not found:
        return Finding("", Outcome.INCONCLUSIVE, f"in {dtype} the values are not finite, or jump, around the inputs, "
                       "so that there are no differences to compare with", "", "edge of the domain")  # fmt: skip
    size, name = max((max(m.sampled.noticed(), *m.sampled.rooms), listed([f"`{n}`" for n in m.names])) for m in found)
    chance = max(*(m.sampled.missing(size) for m in found), 1e-99)
    directions = len(found[0].sampled.rooms)
    own = ", entries weighted with their own size" if any(m.own for m in found) else ""
    if size >= 1:
        return Finding("", Outcome.INCONCLUSIVE,
                       f"agrees in {dtype} along {directions} random directions, but only errors as large as the "
                       f"gradient by {name} would be found for sure: rounding and kinks hide others")  # fmt: skip
    ways = f"{directions} random direction{'s' if directions > 1 else ''}"
    return passed(f"agrees in {dtype} along {ways}; an error of {size:.1g} of the gradient by {name} or more "
                  f"is missed with a chance below {chance:.1g}{own}")  # fmt: skip


def _wrong(dtype: str, wrong: list[Measured], found: list[Measured]) -> Finding:
    parts = []
    for m in wrong:
        by = f"the gradient by {listed([f'`{n}`' for n in m.names])}"
        if m.length == 0:
            parts.append(f"{by} is zero, and should not be")
        elif m.ratio is not None:
            parts.append(f"{by} is {1 / m.ratio:.6g} times what it should be")
        else:
            parts.append(f"{by} is off by {m.off:.2g} of its length")
    ratio = wrong[0].ratio if wrong[0].length else None
    cause = "zero" if not wrong[0].length else "factor" if ratio is not None else "wrong gradient"
    mend = f"multiply it by {ratio:.6g}: look for a factor that is lost" if ratio else "look at the terms of backward"
    right = [n for m in found if not m.wrong for n in m.names]
    beside = f"; that by {listed([f'`{n}`' for n in right])} is right" if right else ""
    return failed(cause, f"in {dtype}, {', and '.join(parts)}{beside}", f"{mend}; {_SURROGATE}")


def _dtype(rerun: Rerun) -> str:
    if rerun.wide:
        return "float64"
    return listed(sorted({dtype_of(a.array) for a in rerun.recorded.args if a.grad}))


def _wider(rerun: Rerun, verdict: Verdict, own: list[Measured], tried: Trying | None, seconds: float,
           generator: Any) -> None:  # fmt: skip
    """The same in float64, where it takes that; and what that says of what was found in the program's dtype."""
    with Attempt() as attempt:
        outs = rerun.settle()
    narrow = attempt.error is None and rerun.unit < 1e-10 and any(
        o.requires_grad and dtype_of(o) not in ("float64", "complex128") for o in outs)
    if attempt.error is not None or narrow:
        why = f"it raises {attempt.said(_file(rerun))}" if attempt.error is not None else "it returns another dtype"
        verdict.findings[WIDE] = skipped(f"it does not take float64: {why}")
        return
    found: list[Measured] = []
    try:
        found, _ = _gradient(WIDE, rerun, verdict, max(seconds, 0.0), generator)
    except Late as late:
        verdict.findings[WIDE] = skipped(f"there was no time left: it would take {late.args[0]:.1f} s more")
    first = verdict.findings[OWN]
    right = verdict.findings[WIDE].outcome is Outcome.PASS and found
    if right and tried is not None and first.outcome is not Outcome.FAIL:
        dtype = dtype_of(next(a.array for a in rerun.recorded.args if a.grad))
        run = lambda at: rerun.outcome(Change(at, cotangents=tried.cotangents))
        if (lost := narrower(tried, dtype, rerun.arrays, run)) is not None:
            verdict.findings[OWN] = failed("dtype", lost.sentence, lost.mend)
            return
    if right and first.outcome is Outcome.FAIL and first.cause not in ("not linear", "zero"):
        worst = max(m.off for m in own)
        said = f"{first.sentence}; in float64 it is right, so digits are lost in between"
        mend = "compute backward such that fewer digits are lost, or in a wider dtype"
        outcome = Outcome.ADVICE if worst < _LOST else Outcome.FAIL
        verdict.findings[OWN] = Finding("", outcome, said, mend, "lost digits")
    elif right and first.outcome is Outcome.INCONCLUSIVE:
        verdict.findings[OWN] = Finding("", Outcome.PASS, f"{first.sentence}; in float64 it is right")


# ---- what is wrong ----------------------------------------------------------------------------------------


def _explain(recorded: Recorded, subject: Subject, names: list[str], verdict: Verdict, wide: bool,
             seconds: float) -> None:  # fmt: skip
    """Ask `diagnose` for the cause, and name the lines that are suspected."""
    check = next(c for c in (WIDE, OWN) if c in verdict.findings and verdict.findings[c].outcome is Outcome.FAIL)
    found = verdict.findings[check]
    if recorded.met.kind == "torch op" or found.cause in ("lost digits", "not linear", "dtype"):
        lines = () if recorded.met.kind == "torch op" else gradient(_trial(recorded, subject, names, False), None)
        verdict.findings[check] = replace(found, lines=lines)
        return
    with Attempt():
        trial = _trial(recorded, subject, names, wide and check == WIDE)
        arguments, _ = trial.call.tensors(gradwright)
        examination = Examination(callable_of(trial), arguments, trial.call.names, budget=min(seconds, 5.0),
                                  around=False)  # fmt: skip
        trial.examined = examination, examination.first()
        said, diagnosis = first_order(trial)
        if said.outcome is Outcome.FAIL:
            about = {"sample": recorded.described(names), "dtype": trial.call.precision}
            verdict.diagnoses.append(diagnosis.as_dict() | about)
            for name in (OWN, WIDE):
                one = verdict.findings.get(name, found)
                if one.outcome is Outcome.FAIL:
                    more = f"{one.sentence}. {said.sentence[0].upper()}{said.sentence[1:]}"
                    verdict.findings[name] = replace(said, sentence=more, mend=said.mend or found.mend)
            return
        verdict.findings[check] = replace(found, lines=gradient(trial, None))


def _trial(recorded: Recorded, subject: Subject, names: list[str], wide: bool) -> Trial:
    """The call as `gradwright check` has it."""
    numpy = lambda t: np.asarray(t.array) if hasattr(t, "array") else t.detach().resolve_conj().cpu().numpy()
    as_array = lambda a: Arg(numpy(a.array), a.grad)
    arguments = mapped(recorded.arguments, as_array)
    call = Call(arguments, tuple(names), mapped(recorded.static, as_array) if recorded.met.kind == "op" else {})
    return Trial(subject, call.precise() if wide else call)


