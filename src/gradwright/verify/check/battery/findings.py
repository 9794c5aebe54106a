"""What a check returns, and what the errors mean that the libraries raise when a Function breaks their rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from gradwright.verify.check.attempt import Attempt
from gradwright.verify.check.discover import Subject
from gradwright.verify.check.records import Finding, Outcome
from gradwright.verify.check.suspects import gradient, named, returned
from gradwright.verify.check.trial import Trial
from gradwright.verify.experiments import Fault


def passed(sentence: str = "") -> Finding:
    """It is so."""
    return Finding("", Outcome.PASS, sentence)


def advised(cause: str, sentence: str, mend: str) -> Finding:
    """It is so, but could be had for less."""
    return Finding("", Outcome.ADVICE, sentence, mend, cause)


def failed(cause: str, sentence: str, mend: str, lines: Sequence[int] = ()) -> Finding:
    """It is not so."""
    return Finding("", Outcome.FAIL, sentence, mend, cause, tuple(lines))


def tried(trial: Trial, names: Sequence[str], lines: Callable[[Fault], Sequence[int]]) -> Finding:
    """What these experiments find first; ``lines`` says which lines a fault is likely in, if it is not an error."""
    fault = trial.fault(*names)
    if fault is None:
        return passed()
    attempt = Attempt()
    attempt.error = fault.error
    at = attempt.line(trial.subject.file) if fault.error is not None else lines(fault)
    return failed(fault.cause or fault.name, fault.sentence, fault.mend, at)


def skipped(sentence: str) -> Finding:
    """It does not apply."""
    return Finding("", Outcome.SKIPPED, sentence)


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: ``a, b and c``."""
    *rest, last = names
    return f"{', '.join(rest)} and {last}" if rest else last


RULES: tuple[tuple[str, str, str, str], ...] = (
    (r"marked as dirty .*were not returned|must all be outputs", "inputs unchanged", "mark_dirty",
     "return every input that is marked dirty"),
    (r"changed (its|an) input .*in place|input.* modified in ?place", "inputs unchanged", "changed input",
     "work on x.clone(), or declare the change with ctx.mark_dirty(x) and return x"),
    (r"changed its grad_output in place", "inputs unchanged", "changed grad_output",
     "work on grad_output.clone(): other parts of the graph share its memory"),
    (r"backward changed saved_tensors\[\d+\] in place", "inputs unchanged", "changed saved tensor",
     "work on a clone() of the saved tensor"),
    (r"needed for gradient computation has been modified|was (changed|modified) in.?place since|saved .*changed",
     "runs", "changed saved tensor", "do not change in place what is saved for backward: save a clone()"),
    (r"incorrect number of gradients|returns? \d+ gradients?|gradients.* but forward takes", "runs",
     "number of gradients", "return one gradient for each argument of forward but ctx, None for those that have none"),
    (r"invalid gradient at index|expected shape compatible|returned a gradient of shape", "shapes", "gradient shape",
     "return a gradient of the shape of the argument; of a broadcast one, grad.sum_to_size(x.shape)"),
    (r"gradient different than None at position", "runs", "gradient of a number",
     "return None for arguments that are no tensors"),
    (r"expected Variable or None|expected Tensor or None|expected a Tensor", "runs", "wrong type",
     "return tensors from backward"),
    (r"through which no gradient flows", "runs", "wrong type", "return tensors from forward"),
    (r"must implement (either )?the (forward|backward)|not implemented the", "runs", "not implemented",
     "write forward and backward as static methods"),
    (r"which requires grad but is no argument", "captured tensors", "captured tensor",
     "pass it to apply as an argument, and return a gradient for it"),
)  # fmt: skip
"""Errors that tell of a broken rule: a pattern, the check they belong to, the cause in a word, the mend."""


def broken(attempt: Attempt, trial: Trial) -> Finding | None:
    """The finding for an error that tells of a broken rule, with its check; None for any other error."""
    said = attempt.said()
    found = rule(said)
    if found is None:
        return None
    check, cause, mend = found
    lines = named(trial.subject, said) or attempt.line(trial.subject.file) or gradient(trial, None)
    return Finding(check, Outcome.FAIL, said, mend, cause, lines)


def error(check: str, attempt: Attempt, subject: Subject, what: str) -> Finding:
    """The finding for an error of any other kind: ``what`` has raised it."""
    verb = "" if isinstance(attempt.error, SystemExit) else "raises "
    sentence = f"{what} {verb}{attempt.said(subject.file)}"
    return Finding(check, Outcome.ERROR, sentence, "", type(attempt.error).__name__, attempt.line(subject.file))


def refused(subject: Subject, error: Exception) -> Finding:
    """The finding for a class that cannot even be defined."""
    said = f"the class statement raises {type(error).__name__}: {error}"
    _, cause, mend = rule(said) or ("runs", "signature", "")
    lines = returned(subject, None) if cause == "number of gradients" else named(subject, said)
    return Finding("runs", Outcome.FAIL, said, mend, cause, lines or (subject.line,))


def rule(said: str) -> tuple[str, str, str] | None:
    """The check, cause and mend that belong to an error."""
    text = " ".join(said.split())
    return next(((check, cause, mend) for pattern, check, cause, mend in RULES if re.search(pattern, text)), None)
