"""First and second derivatives against finite differences: `gradwright.autograd.diagnose`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import gradwright
from gradwright.function.contract.surrogate import reason_of
from gradwright.verify.check.battery.findings import failed, listed, passed, skipped, tried
from gradwright.verify.check.bridge import bridged
from gradwright.verify.check.records import Finding, Outcome
from gradwright.verify.check.suspects import helpers, suspects
from gradwright.verify.check.trial import Trial
from gradwright.verify.diagnosis import Diagnosis, Examination, Verdict
from gradwright.verify.diagnosis.examination import NOT_GIVEN
from gradwright.verify.diagnosis.records import to_digits
from gradwright.verify.witness import second_witness

ALSO = ("not linear", "same tensor", "off the axis")
"""Experiments that a gradient must stand besides."""


def first_order(trial: Trial) -> tuple[Finding, Diagnosis]:
    """The gradient is that of finite differences."""
    _, first = examined(trial)
    found = judged(trial, first)
    if first.verdict is Verdict.VERIFIED:
        tested = tried(trial, ALSO, lambda fault: trial.lines("backward", "return"))
        found = found if tested.outcome is Outcome.PASS else tested
    return found, first


def examined(trial: Trial) -> tuple[Examination, Diagnosis]:
    """The examination of a trial's derivatives, and the diagnosis of the first order; made when first asked for."""
    if trial.examined is None:
        arguments, _ = trial.call.tensors(gradwright)
        examination = Examination(callable_of(trial), arguments, trial.call.names, around=False)  # other checks do
        trial.examined = examination, examination.first()
    return trial.examined


def second_order(trial: Trial) -> tuple[Finding, Diagnosis | None]:
    """The gradient of the gradient is that of finite differences; skipped until the gradient is right."""
    if _once(trial.subject.function):
        return skipped("declared once_differentiable"), None
    examination, first = examined(trial)
    if first.verdict is not Verdict.VERIFIED:
        return skipped("not looked at before the first order is right"), None
    found = examination.second()
    if found.reason == NOT_GIVEN:
        return skipped(f"there is none: {found.hypotheses[0].sentence}"), found
    return judged(trial, found), found


def witness(trial: Trial) -> Finding:
    """Backward is the engine's own derivative of forward, to rounding, where forward is made of recorded operations."""
    if trial.subject.kind == "torch":
        return skipped("forward is PyTorch's, which is not recorded here")
    if (reason := reason_of(trial.subject.function)) is not None:
        return skipped(f"declared a surrogate gradient: {reason}")
    if not trial.call.is_complex and examined(trial)[1].verdict is not Verdict.VERIFIED:
        return skipped("not looked at before the first order is right")
    target = trial.subject.target
    arguments, _ = trial.call.tensors(gradwright)
    order = 1 if _once(trial.subject.function) else 2
    trial.seed()
    found = second_witness(partial(target, **trial.call.static), *arguments, order=order)
    if found.agrees is None:
        return skipped(found.reason)
    if not found and trial.examined is not None and trial.examined[0].case.stops:
        return skipped("results jump, as those of an iteration that stops: backward may be that of the limit")
    if found:
        return replace(passed(str(found)), seen=found.seen)
    return failed("small error", str(found), "look for a constant or a term that is nearly right",
                  trial.lines("backward", r"return"))  # fmt: skip


def _once(function: Any) -> bool:
    """Whether backward is declared with either library's ``once_differentiable``."""
    backward: Any = getattr(function, "backward", None)
    vjp: Any = getattr(function, "vjp", None)
    codes = [getattr(f, "__code__", None) for f in (backward, vjp)]
    return any(c is not None and c.co_qualname.startswith("once_differentiable.") for c in codes)


def callable_of(trial: Trial) -> Callable[..., Any]:
    """The subject as a function of gradwright's tensors, every call seeded."""
    function = trial.subject.function
    if function is None:
        run = trial.subject.target
    elif trial.subject.kind == "torch":
        run = bridged(function, trial.T, trial.cloned).apply
    else:
        run = function.apply

    def seeded(*arguments: Any) -> Any:
        trial.seed()
        if trial.cloned and trial.subject.kind != "torch":
            arguments = tuple(a.clone() if isinstance(a, gradwright.Tensor) else a for a in arguments)
        return run(*arguments, **trial.call.static)

    seeded.__name__ = trial.subject.name
    return seeded


def judged(trial: Trial, d: Diagnosis) -> Finding:
    """A diagnosis as a finding."""
    if (reason := reason_of(trial.subject.function)) is not None and d.verdict is not Verdict.VERIFIED:
        return skipped(f"declared a surrogate gradient: {reason}")
    if d.verdict is Verdict.VERIFIED:
        return replace(passed("; ".join(filter(None, (d.summary, d.sampled)))), seen=d.seen if d.order == 1 else None)
    if d.verdict is Verdict.SURROGATE or d.reason == "empty":
        return skipped(d.summary)
    cause = d.hypotheses[0] if d.hypotheses else None
    sentence = d.summary
    if d.worst is not None and any(b.wrong.any() or b.kinks.any() for b in d.blocks):
        said, due = to_digits(d.worst.analytic, d.worst.numeric)
        sentence += f"; {d.worst} is {due} ± {d.worst.bar:.1g}, and backward gives {said}"
    if d.sampled:
        sentence += f". {d.sampled[0].upper()}{d.sampled[1:]}"
    if cause is not None:
        others = [f"`{h.argument}`" for h in d.hypotheses if h.name == cause.name and h.argument != cause.argument]
        also = f"; likewise for {listed(others)}" if others else ""
        sentence += f". {cause.sentence[0].upper()}{cause.sentence[1:]}{also}"
    if d.verdict is Verdict.WRONG and (rest := [f"`{n}`" for n in d.unexplained]):
        sentence += f". No known cause fits the gradient of {listed(rest)}"
    name, mend = (cause.name, cause.mend) if cause is not None else ("unknown", d.settle)
    lines = suspects(trial, cause, d.worst.input if d.worst is not None else "")
    if called := helpers(trial.subject, lines) if trial.subject.function is not None else ():
        sentence += f". It is computed by {listed(called)}"
    if d.verdict is Verdict.WRONG or name == "second derivative":
        return failed(name, sentence, mend, lines)
    return Finding("", Outcome.INCONCLUSIVE, sentence, mend, name, lines)
