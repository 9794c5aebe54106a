"""The check of `gradwright check --compiled`: the derivative of the compiled form."""

from __future__ import annotations

import gradwright
from gradwright.compilation.compile import compile as as_program
from gradwright.verify.check.attempt import Attempt
from gradwright.verify.check.battery.findings import failed, passed, skipped
from gradwright.verify.check.records import Finding
from gradwright.verify.check.trial import Trial

_CALLS = 4
_STEP = """
def step(arguments, leaves):
    values = apply(*arguments, **static)
    values = values if isinstance(values, tuple) else (values,)
    grads = grad([v for v in values if v.requires_grad], leaves, cotangents, allow_unused=True)
    return [v.detach() for v in values], grads
"""


def compiled(trial: Trial) -> Finding:
    """Compiled in a step with its backward pass, it gives what it gives eagerly, each time it is called."""
    if trial.T is not gradwright:
        return skipped("gradwright compiles its own Functions, not PyTorch's")
    run = trial.run()
    if not run.outputs:
        return skipped("no output requires grad")
    results = run.result if isinstance(run.result, tuple) else (run.result,)
    if any(isinstance(v, (list, tuple, dict)) for v in results):
        return skipped("its results are in containers")
    subject = trial.subject
    scope = {
        "__name__": "step", "apply": subject.function.apply if subject.kind in ("function", "jax") else subject.target,
        "static": trial.call.static, "grad": gradwright.autograd.grad,
        "cotangents": [gradwright.from_numpy(c) for c in trial.cotangents(run)],
    }  # fmt: skip
    exec(_STEP, scope)  # noqa: S102 - the text is above; what stands in this package is not looked into by compile
    lines = trial.lines("backward", r"return")
    made = as_program(scope["step"], check="always")
    with Attempt() as attempt:
        for _ in range(_CALLS):
            trial.seed()
            arguments, found = trial.call.tensors(gradwright)
            made(arguments, [t for t in found if t.requires_grad])
    if isinstance(attempt.error, AssertionError):
        said = str(attempt.error).removeprefix("compile(check='always'): ")
        mend = "read nothing in forward and backward that changes, but for arguments and ctx"
        return failed("compiled", said, mend, lines)
    if attempt.error is not None:
        return failed("compiled", f"compiled it fails: {attempt.said()}", "see the line",
                      attempt.line(trial.subject.file))  # fmt: skip
    if made.programs.reason:
        return skipped(f"it stays eager: {made.programs.reason}")
    rows = [row for program in made.explain().programs for row in program.rows]
    hosted = sorted({row.what for row in rows if "computes in Python" in row.why})
    return passed(f"stays in Python: {', '.join(hosted)}" if hosted else "")
