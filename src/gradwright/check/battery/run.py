"""One subject through all checks."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradwright.autograd.strict import strict
from gradwright.check.attempt import Attempt
from gradwright.check.battery import behaviour, contract, cost, declared, layouts, memory, orders
from gradwright.check.battery.findings import broken, skipped
from gradwright.check.calls import Arg, Call, guessed, read
from gradwright.check.discover import Subject
from gradwright.check.lab import Lab
from gradwright.check.records import Checked, Finding, Outcome
from gradwright.errors import kind
from gradwright.op import Op
from gradwright.testing import draw

CHECKS: dict[str, Callable[[Lab], Any]] = {
    "runs": behaviour.runs,
    "captured tensors": memory.captured_tensors,
    "inputs unchanged": behaviour.inputs_unchanged,
    "deterministic": behaviour.deterministic,
    "independent calls": behaviour.independent_calls,
    "shapes": contract.shapes,
    "undefined gradients": contract.undefined_gradients,
    "first order": orders.first_order,
    "second order": orders.second_order,
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

_ORDERS = frozenset({"first order", "second order", "complex"})
_COMPARE = frozenset({"independent calls", "undefined gradients", "second order", "complex", "dtype",
                      "needs_input_grad", "strides", "forward mode", "vmap"})  # fmt: skip
AFTER: dict[str, tuple[frozenset[str], str]] = {
    "runs": (frozenset(CHECKS) - {"runs", "captured tensors"}, "it does not run"),
    "inputs unchanged": (
        _COMPARE | _ORDERS | {"shapes"},
        "not looked at before inputs and grad_outputs stay as they are",
    ),
    "deterministic": (_COMPARE, "not looked at before equal calls give equal results"),
    "shapes": (_ORDERS | {"dtype"}, "not looked at before gradients have the shapes of their arguments"),
    "undefined gradients": (_ORDERS, "not looked at before undefined gradients are dealt with"),
}
"""What is not looked at if a check fails, as it would only fail for the same reason; and what is said instead."""

_ABSENT = {"complex": "not claimed: no sample is complex", "first order": "all samples are complex: see there"}

_HOW = (
    "give it a static method `samples` that returns a list with a tuple of arguments for each call; or a decorator, "
    "@gradwright.check.samples(...)"
)
_HOW_OP = "declare it with samples: @op(samples=[Sample(A(3, 4))])"
_PASSED = Finding("", Outcome.PASS)

TRIES = 400
"""How many made-up calls are tried."""


def examine(subject: Subject, fast: bool = False) -> Checked:
    """Everything that can be said of a subject; ``fast``: with its first sample only."""
    start = time.perf_counter()
    with warnings.catch_warnings(), strict(False):  # the checks look for themselves
        warnings.simplefilter("ignore")
        labs, problem, made_up = _labs(subject)
        labs = labs[:1] if fast else labs
        findings, diagnoses = ((problem,), ()) if problem is not None else _findings(labs)
    described = tuple(str(lab.call) for lab in labs)
    return Checked(
        subject.name,
        subject.kind,
        subject.file,
        subject.line,
        subject.source,
        described,
        made_up,
        findings,
        diagnoses,
        time.perf_counter() - start,
    )


# ---- with what ------------------------------------------------------------------------------------------


def _labs(subject: Subject) -> tuple[list[Lab], Finding | None, bool]:
    """The subject with each of its sample calls; or what keeps it from being called; whether they are made up."""
    attempt = Attempt()
    with attempt:
        calls = _drawn(subject) if subject.kind == "op" else given(subject)
        if calls:
            return [_precise(Lab(subject, c)) for c in calls], None, False
    if attempt.error is not None:
        return [], _error("runs", attempt, subject, "samples"), False
    lab, refused = _tried(subject)
    if lab is not None:
        return [lab], None, True
    return (
        [],
        Finding(
            "runs",
            Outcome.ERROR,
            f"it has no sample inputs, and none could be made up that its forward takes{refused}",
            _HOW_OP if subject.kind == "op" else _HOW,
            "no samples",
            (subject.line,),
        ),
        True,
    )


def given(subject: Subject) -> list[Call]:
    """The calls that the author of a subject declared; none if there are none.

    Raises TypeError if ``samples`` is not, or does not return, a list of tuples; and whatever it raises.
    """
    declared = getattr(subject.target, "samples", None) if subject.samples is None else subject.samples
    if declared is None:
        return []
    found = declared() if callable(declared) else declared
    if isinstance(found, subject.T.Tensor) or not hasattr(found, "__iter__"):
        raise TypeError(f"samples must return a list with a tuple of arguments for each call, not {kind(found)}")
    calls = [subject.full(c if isinstance(c, tuple) else (c,)) for c in found]
    return [Call(read(c, subject.T), tuple(subject.names(len(c)))) for c in calls]


def _drawn(subject: Subject) -> list[Call]:
    """The samples of an Op."""
    op: Op = subject.target
    found = []
    for sample in op.samples if subject.samples is None else subject.samples:
        arrays, static = draw(sample)
        names = op.inputs if not op.variadic else [f"{op.inputs[-1]}[{k}]" for k in range(len(arrays))]
        known = [n in op.rules or (op.variadic and bool(op.rules)) for n in (*op.inputs, *names)][-len(arrays) :]
        args = [Arg(np.asarray(a), r and a.dtype.kind in "fc") for a, r in zip(arrays, known, strict=True)]
        found.append(Call(tuple(args), tuple(names), static))
    return found


def _precise(lab: Lab) -> Lab:
    """With float64 for float32, if it takes that; on clones, if it says that it changes its inputs."""
    for call in (lab.call.precise(), lab.call):
        for cloned in (False, True):
            found = Lab(lab.subject, call, cloned)
            attempt = Attempt()
            with attempt:
                found.run()
            if attempt.error is None:
                return found
            if not cloned and "leaf" not in attempt.said():
                break
    return Lab(lab.subject, lab.call.precise())


def _tried(subject: Subject) -> tuple[Lab | None, str]:
    """With the first made-up call that runs forward and backward; or else with the first that runs forward.

    Also what came of the very first call.
    """
    if subject.kind == "op":
        return None, ""
    second: Lab | None = None
    refused = ""
    for k, call in enumerate(guessed(subject.function.forward, subject.own_context)):
        if k == TRIES:
            break
        lab = _precise(Lab(subject, call))
        attempt = Attempt()
        with attempt:
            run = lab.run()
            if not run.values:
                refused = refused or f": with {lab.call} it returns {kind(run.result)}, no tensor"
            if not run.outputs or not all(np.isfinite(v).all() for v in run.arrays):
                continue
            second = second or lab
            lab.backward(run)
            return lab, ""
        if attempt.error is not None:
            refused = refused or f": with {lab.call} it raises {attempt.said()}"
    return second, refused


# ---- the checks -----------------------------------------------------------------------------------------


def _findings(labs: Sequence[Lab]) -> tuple[tuple[Finding, ...], tuple[dict[str, Any], ...]]:
    found: dict[str, Finding] = {}
    diagnoses: list[dict[str, Any]] = []
    for name, check in CHECKS.items():
        said = next(
            (why for c, (barred, why) in AFTER.items() if name in barred and c in found and _bad(found[c])), None
        )
        if name != "captured tensors" and found.get("runs", _PASSED).outcome is Outcome.SKIPPED:
            said = found["runs"].sentence
        if said is not None:
            found.setdefault(name, replace(skipped(said), check=name))
            continue
        for lab in _fit(labs, name):
            one, diagnosis = _made(name, check, lab)
            if diagnosis is not None:
                precision = next((a.array.dtype.name for a in lab.call.args if a.grad), "")
                diagnoses.append({**diagnosis.as_dict(), "sample": str(lab.call), "dtype": precision})
            if _rank(one) >= _rank(found.get(one.check, one)):
                found[one.check] = one
            if _bad(one):
                break
        found.setdefault(name, replace(skipped(_ABSENT.get(name, "see the failure")), check=name))
    return tuple(found[n] for n in CHECKS), tuple(diagnoses)


def _bad(f: Finding) -> bool:
    return f.outcome in (Outcome.INCONCLUSIVE, Outcome.FAIL, Outcome.ERROR)


def _rank(f: Finding) -> int:
    order = (Outcome.SKIPPED, Outcome.PASS, Outcome.ADVICE, Outcome.INCONCLUSIVE, Outcome.FAIL, Outcome.ERROR)
    return order.index(f.outcome)


def _fit(labs: Sequence[Lab], name: str) -> Sequence[Lab]:
    """The samples that a check is for."""
    if name == "complex":
        return [lab for lab in labs if lab.call.is_complex]
    return [lab for lab in labs if not lab.call.is_complex] if name == "first order" else labs


def _made(name: str, check: Callable[[Lab], Any], lab: Lab) -> tuple[Finding, Any]:
    """What a check says of a sample, with the diagnosis if it made one."""
    attempt = Attempt()
    with attempt:
        said = check(lab)
        finding, diagnosis = said if isinstance(said, tuple) else (said, None)
        return replace(finding, check=name), diagnosis
    rule = broken(attempt, lab)
    return rule or _error(name, attempt, lab.subject), None


def _error(name: str, attempt: Attempt, subject: Subject, what: str = "it") -> Finding:
    lines = attempt.line(subject.file)
    where = f" at line {lines[0]}" if lines else ""
    verb = "" if isinstance(attempt.error, SystemExit) else "raises "
    return Finding(
        name, Outcome.ERROR, f"{what} {verb}{attempt.said()}{where}", "", type(attempt.error).__name__, lines
    )
