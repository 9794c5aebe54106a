"""One subject through all checks."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from gradwright.engine.strict import strict
from gradwright.verify.check.attempt import Attempt
from gradwright.verify.check.battery import behaviour, contract, cost, declared, layouts, memory, orders
from gradwright.verify.check.battery.compiled import compiled as as_compiled
from gradwright.verify.check.battery.digits import digits
from gradwright.verify.check.battery.findings import broken, error, skipped
from gradwright.verify.check.battery.inputs import trials
from gradwright.verify.check.discover import Subject
from gradwright.verify.check.records import Checked, Finding, Outcome
from gradwright.verify.check.trial import Trial

CHECKS: dict[str, Callable[[Trial], Any]] = {
    "runs": behaviour.runs,
    "captured tensors": memory.captured_tensors,
    "inputs unchanged": behaviour.inputs_unchanged,
    "deterministic": behaviour.deterministic,
    "independent calls": behaviour.independent_calls,
    "grad modes": behaviour.grad_modes,
    "shapes": contract.shapes,
    "undefined gradients": contract.undefined_gradients,
    "marked outputs": contract.marked_outputs,
    "first order": orders.first_order,
    "second order": orders.second_order,
    "second witness": orders.witness,
    "complex": orders.first_order,
    "dtype": contract.dtype,
    "needs_input_grad": contract.needs_input_grad,
    "strides": layouts.strides,
    "no leak": memory.no_leak,
    "forward mode": declared.forward_mode,
    "vmap": declared.vmap,
    "cost": cost.cost,
}
"""All checks, in order."""
ASKED: dict[str, Callable[[Trial], Any]] = {"compiled": as_compiled}
"""Those that are made after them if they are asked for."""

_ORDERS = frozenset({"first order", "second order", "second witness", "complex"})
_COMPARE = frozenset({"compiled", "independent calls", "grad modes", "marked outputs", "undefined gradients",
                      "second order", "second witness", "complex", "dtype", "needs_input_grad", "strides",
                      "forward mode", "vmap"})  # fmt: skip
AFTER: dict[str, tuple[frozenset[str], str]] = {
    "runs": (frozenset(CHECKS | ASKED) - {"runs", "captured tensors"}, "it does not run"),
    "inputs unchanged": (
        _COMPARE | _ORDERS | {"shapes"},
        "not looked at before inputs and grad_outputs stay as they are",
    ),
    "deterministic": (_COMPARE, "not looked at before equal calls give equal results"),
    "shapes": (_ORDERS | {"dtype"}, "not looked at before gradients have the shapes of their arguments"),
    "undefined gradients": (_ORDERS, "not looked at before undefined gradients are dealt with"),
}
"""What is not looked at if a check fails, as it would only fail for the same reason; and what is said instead."""

NOT_IN_JAX = {
    "needs_input_grad": "JAX asks rules for all gradients at once",
    "cost": "what it costs here is JAX's way from and to gradwright",
}
"""What is not looked at of JAX's functions, and what is said instead."""
_ABSENT = {"complex": "not claimed: no sample is complex", "first order": "all samples are complex: see there"}

_PASSED = Finding("", Outcome.PASS)


def examine(subject: Subject, fast: bool = False, doing: Callable[[str], None] = lambda what: None,
            compiled: bool = False) -> Checked:  # fmt: skip
    """Everything that can be said of a subject.

    Args:
        fast: with its first sample only. doing: see `gradwright.verify.check.battery.inputs.trials`.
        compiled: whether its compiled form is checked, too.
    """
    start = time.perf_counter()
    with warnings.catch_warnings(), strict(False):  # the checks look for themselves
        warnings.simplefilter("ignore")
        found, problem, made_up = trials(subject, doing)
        checks = CHECKS | ASKED if compiled else CHECKS
        found = found[:1] if fast else found
        findings, diagnoses = ((problem,), ()) if problem is not None else _findings(found, checks)
        right = problem is None and not any(_bad(f) for f in findings)
        lost = tuple(d for trial in found if (d := digits(trial)) is not None) if right else ()
    described = tuple(str(trial.call) for trial in found)
    return Checked(subject.name, subject.kind, subject.file, subject.line, subject.source, described, made_up, findings,
                   diagnoses, time.perf_counter() - start, lost)


# ---- the checks -----------------------------------------------------------------------------------------


def _findings(trials: Sequence[Trial],
              checks: dict[str, Callable[[Trial], Any]]) -> tuple[tuple[Finding, ...], tuple[dict[str, Any], ...]]:
    found: dict[str, Finding] = {}
    diagnoses: list[dict[str, Any]] = []
    for name, check in checks.items():
        said = next((why for c, (barred, why) in AFTER.items() if name in barred and c in found and _bad(found[c])),
                    None)
        said = NOT_IN_JAX.get(name, said) if trials[0].subject.kind == "jax" else said
        if name != "captured tensors" and found.get("runs", _PASSED).outcome is Outcome.SKIPPED:
            said = found["runs"].sentence
        if said is not None:
            found.setdefault(name, replace(skipped(said), check=name))
            continue
        right: list[Trial] = []
        for trial in _fit(trials, name):
            one, diagnosis = _made(name, check, trial)
            if diagnosis is not None:
                diagnoses.append({**diagnosis.as_dict(), "sample": str(trial.call), "dtype": trial.call.precision})
            if _bad(one) and name in _ORDERS:
                one = _told_where_right(one, trial, right or _right(name, check, trials, trial))
            if _rank(one) >= _rank(found.get(one.check, one)):
                found[one.check] = one
            if _bad(one):
                break
            right += [trial] if one.outcome is Outcome.PASS else []
        found.setdefault(name, replace(skipped(_ABSENT.get(name, "see the failure")), check=name))
    return tuple(found[n] for n in checks), tuple(diagnoses)


def _right(name: str, check: Callable[[Trial], Any], trials: Sequence[Trial], wrong: Trial) -> list[Trial]:
    """Those of the other samples with which it is right."""
    others = (trial for trial in _fit(trials, name) if trial is not wrong)
    return [trial for trial in others if _made(name, check, trial)[0].outcome is Outcome.PASS]


def _told_where_right(found: Finding, trial: Trial, right: Sequence[Trial]) -> Finding:
    """A finding about a derivative that is wrong with one sample, and with others is not."""
    if not right:
        return found
    return replace(found, sentence=f"{found.sentence}. It is wrong with {trial.call}, and right with {right[-1].call}")


def _bad(f: Finding) -> bool:
    return f.outcome in (Outcome.INCONCLUSIVE, Outcome.FAIL, Outcome.ERROR)


def _rank(f: Finding) -> int:
    order = (Outcome.SKIPPED, Outcome.PASS, Outcome.ADVICE, Outcome.INCONCLUSIVE, Outcome.FAIL, Outcome.ERROR)
    return order.index(f.outcome)


def _fit(trials: Sequence[Trial], name: str) -> Sequence[Trial]:
    """The samples that a check is for."""
    if name == "complex":
        return [trial for trial in trials if trial.call.is_complex]
    return [trial for trial in trials if not trial.call.is_complex] if name == "first order" else trials


def _made(name: str, check: Callable[[Trial], Any], trial: Trial) -> tuple[Finding, Any]:
    """The finding of a check on a sample, with the diagnosis if it made one."""
    with Attempt() as attempt:
        said = check(trial)
        finding, diagnosis = said if isinstance(said, tuple) else (said, None)
        return replace(finding, check=name), diagnosis
    rule = broken(attempt, trial)
    with_what = f"with {trial.call} it" if name == "runs" else "it"
    return rule or error(name, attempt, trial.subject, with_what), None
