"""Checks of how forward and backward behave: that they run, write to nothing, and depend on nothing else."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

import gradwright
from gradwright.base.errors import GradientWarning
from gradwright.verify.check import jax_functions
from gradwright.verify.check.attempt import Attempt
from gradwright.verify.check.battery.findings import advised, error, failed, passed, skipped, tried
from gradwright.verify.check.records import Finding, Outcome
from gradwright.verify.check.trial import Run, Trial, close
from gradwright.verify.numeric.jacobian import is_floating
from gradwright.verify.numeric.streams import Streams, state_between_calls


def runs(trial: Trial) -> Finding:
    """Forward and backward run, and return tensors."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", GradientWarning)
        run = trial.run()
        if run.outputs:
            trial.backward(run)
    with Attempt() as again:
        if run.outputs:
            trial.backward(run)
    if again.error is not None:
        found = error("runs", again, trial.subject, "a second backward pass over the same graph (retain_graph=True)")
        mend = "leave on ctx what is there, if there are to be second passes: do not pop, delete or free it in backward"
        return replace(found, outcome=Outcome.ADVICE, mend=mend)
    if not run.values:
        return failed("wrong type", f"forward returns {type(run.result).__name__}, and no tensor",
                      "return a tensor, or a tuple of tensors")
    if not run.leaves:
        return skipped("none of the sample inputs requires grad, nor can")
    if not run.outputs:
        return failed("zero", "no output of it requires grad, though inputs do",
                      "return tensors of floating point, and mark as non-differentiable only those that are")
    if doubts := [w for w in caught if w.category is GradientWarning]:  # other checks see the particular ones
        return advised("warning", str(doubts[0].message), "")
    if not all(np.isfinite(v.detach().numpy()).all() for v in run.outputs):
        return advised("not a number", "the result is nan or inf at the sample inputs", "give other sample inputs")
    if trial.doubt:
        return advised("backward raises", trial.doubt, "if such inputs are meant to be given, mend backward; else let "
                       "forward refuse them, or give sample inputs")
    return passed()


def inputs_unchanged(trial: Trial) -> Finding:
    """Neither forward changes its inputs nor backward its grad_outputs, but as declared."""
    run = trial.run()
    changed = _changed(trial, run)
    dirty = _dirty(trial) if changed else set()
    if undeclared := sorted(changed - dirty):
        name = trial.call.labels()[undeclared[0]]
        return failed("changed input", f"forward changes `{name}` in place and does not say so",
                      "work on a clone() of it, or declare the change with ctx.mark_dirty and return it",
                      written(trial, "forward", name))
    if not run.outputs:
        return passed()
    cotangents = trial.cotangents(run)
    given = [c.copy() for c in cotangents]
    trial.backward(run, cotangents)
    if any(not np.array_equal(c, g, equal_nan=True) for c, g in zip(cotangents, given, strict=True)):
        return failed("changed grad_output", "backward changes its grad_output in place, which other parts of the "
                      "graph share", "work on grad_output.clone()", written(trial, "backward"))
    if later := sorted(_changed(trial, run) - changed):
        return failed("changed input", f"backward changes `{trial.call.labels()[later[0]]}` in place",
                      "work on a clone() of the saved tensor", written(trial, "backward"))
    return passed()


def _changed(trial: Trial, run: Run) -> set[int]:
    """The numbers of the tensors that require grad and hold other values than they were given."""
    return {
        k
        for k, (t, a) in enumerate(zip(run.passed, trial.call.args, strict=True))
        if t.requires_grad and not np.array_equal(t.detach().numpy(), a.array, equal_nan=is_floating(a.array.dtype))
    }


def _dirty(trial: Trial) -> set[int]:
    """The numbers of the tensors that forward marks as dirty, when it is called by hand."""
    if trial.subject.function is None or not trial.subject.own_context:
        return set()
    arguments, found = trial.call.tensors(trial.T)
    ctx = trial.T.autograd.function.FunctionCtx()
    ctx.needs_input_grad = tuple(isinstance(a, trial.T.Tensor) and a.requires_grad for a in arguments)
    trial.seed()
    with trial.T.no_grad():
        trial.subject.function.forward(ctx, *arguments)
    marked = getattr(ctx, "dirty_tensors", ())
    return {k for k, t in enumerate(found) if any(t is d for d in marked)}


def written(trial: Trial, part: str, name: str = "") -> tuple[int, ...]:
    """Lines of forward or backward that write in place, as far as can be seen."""
    return trial.lines(part,
                     rf"\w_\(|\[[^]]*\]\s*[-+*/@]?=[^=]|[-+*/@|&]=|out=|np\.\w+\.at|copyto|{name}\.(data|array)\b")


def deterministic(trial: Trial) -> Finding:
    """Two calls with the same inputs give the same, forward and backward."""
    held = state(trial)
    first, second = trial.run(), trial.run()
    if not close(first.arrays, second.arrays):
        changed = [k for k, v in state(trial).items() if held.get(k) != v]
        if changed:
            return failed("stale state", f"forward gives another result each time, as {', '.join(changed)} changes "
                          "from call to call", "keep nothing between calls; pass it in as an argument",
                          trial.lines("forward", "|".join(c.rpartition(".")[2] for c in changed)))
        return failed("non-determinism", "forward gives another result each time it is called with the same inputs, "
                      "whatever is seeded", "draw random numbers with the library's generator, or pass them in",
                      trial.lines("forward", r"rand|time|urandom|shuffle|choice|noise|normal"))
    if not first.outputs:
        return passed()
    streams = Streams.now()
    one, again = trial.backward(second), trial.backward(second)
    if not close(one, again):
        streams.put_back()
        if close(one, trial.backward(second)):
            return failed("non-determinism", "backward draws random numbers: two passes over the same graph give "
                          "different gradients, and from the same seed they do not",
                          "draw in forward, and keep on ctx what was drawn: backward must use the same",
                          trial.lines("backward", r"rand|urandom|shuffle|choice|noise|normal|dropout|sample"))
    one, two = trial.backward(second), trial.backward(trial.run())
    if not close(one, two):
        return failed("non-determinism", "backward gives another gradient each time it is run",
                      "draw random numbers in forward and keep them on ctx; backward must use the same",
                      trial.lines("backward", r"rand|time|urandom|shuffle|choice|noise|normal"))
    if not close(trial.run(seeded=False).arrays, second.arrays):
        return passed("random, and the same once the generators are seeded: every check seeds them")
    return passed()


def independent_calls(trial: Trial) -> Finding:
    """Calls do not disturb each other: other calls in between, and backward run again, change nothing."""
    other = trial.other(trial.call.elsewhere())
    run = trial.run()
    if not run.outputs:
        return skipped("no output requires grad")
    alone = trial.backward(run)
    there = other.run()
    if there.outputs:
        other.backward(there)
    mixed, beside = trial.run(), other.run(seeded=False)  # other numbers, and other random ones
    if beside.outputs and [o.shape for o in beside.outputs] == [o.shape for o in mixed.outputs]:
        if not close(trial.backward(mixed), alone):
            return _disturbed(trial, "after another call of forward, backward gives another gradient")
        again, beside = trial.run(), other.run()
        trial.backward(again)
        fresh = other.run()
        if not close(other.backward(beside), other.backward(fresh)):
            return _disturbed(trial, "with another call's backward before it, backward gives another gradient")
    if not close(trial.backward(mixed), alone):
        return failed(
            "stale state",
            "a second backward pass over the same graph gives another gradient: backward changes what is on ctx",
            "do not write to ctx, or to what is on it, in backward",
            trial.lines("backward", r"ctx\.\w+\s*([-+*/@]?=[^=]|\.(append|pop|add_|mul_|clear))")
            or written(trial, "backward"),
        )
    if not close(trial.run().arrays, run.arrays):
        return _disturbed(trial, "after other calls, forward gives another result")
    return passed()


def grad_modes(trial: Trial) -> Finding:
    """Whether it is recorded changes nothing: neither what forward returns nor what backward gives."""
    if trial.subject.kind == "jax":
        called, ruled = jax_functions.values(trial.subject.function, trial.call.tensors(gradwright)[0])
        if len(called) != len(ruled) or not close(called, ruled):
            return failed("value of the rule", "the rule (fwd, or jvp) returns another value than the function, and "
                          "that is what jax.value_and_grad gives", "return from it first what the function returns")
    part = lambda fault: "backward" if "backward" in fault.sentence else "forward"
    return tried(trial, ["grad mode"], lambda fault: trial.lines(
        part(fault), r"grad_enabled|requires_grad|needs_input_grad|grad_fn"))  # fmt: skip


def _disturbed(trial: Trial, sentence: str) -> Finding:
    names = [n.rpartition(".")[2] for n in state(trial)]
    lines = trial.lines("backward", "|".join(rf"\b{n}\b" for n in names)) if names else ()
    return failed("stale state", f"{sentence}: it uses what that left "
                  f"behind{' in ' + ', '.join(state(trial)) if lines else ''}", "keep what backward needs on ctx "
                  "(save_for_backward for tensors), not on the class or in a global", lines)


def state(trial: Trial) -> dict[str, str]:
    """What forward and backward may keep between calls: values on the class, and what their code names."""
    function = trial.subject.function
    if function is None:
        return {}
    kinds = (int, float, list, dict, set, np.ndarray, trial.T.Tensor, type(None))
    parts = [getattr(function, part) for part in ("forward", "backward", "setup_context")]
    return {k: f"{id(v)} {v!r}" for k, v in state_between_calls(parts, function, kinds).items()}
