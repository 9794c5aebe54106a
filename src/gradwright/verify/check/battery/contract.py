"""Checks of the contract: shapes and dtypes, needs_input_grad, undefined gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradwright.verify.check.attempt import Attempt
from gradwright.verify.check.battery.findings import advised, failed, listed, passed, skipped, tried
from gradwright.verify.check.calls import Arg
from gradwright.verify.check.discover import PLACE
from gradwright.verify.check.records import Finding, Outcome
from gradwright.verify.check.suspects import gradient
from gradwright.verify.check.trial import Told, Trial, close, relative_error
from gradwright.verify.experiments import Fault


def _positions(trial: Trial) -> list[int | None]:
    """For each tensor the number of the argument that it is; None for one in a container."""
    found: list[int | None] = []
    for k, value in enumerate(trial.call.arguments):
        if isinstance(value, Arg):
            found.append(k)
        else:
            found += [None] * sum(n.partition("[")[0] == trial.call.names[k] for n in trial.call.labels()[len(found) :])
    return found


def needs_input_grad(trial: Trial) -> Finding:
    """Some inputs get without the others the gradient that they get with them, and for these nothing is computed."""
    wanted = [k for k, a in enumerate(trial.call.args) if a.grad]
    if len(wanted) < 2:
        return passed("only one input has a gradient")
    labels, positions = trial.call.labels(), _positions(trial)
    trial.told.clear()

    def lines(fault: Fault) -> Sequence[int]:
        at = [positions[k] for k in wanted if fault.sentence.endswith(f"`{labels[k]}`")]
        return trial.lines("backward", "needs_input_grad") or gradient(trial, at[0] if at else None)

    found = tried(trial, ["needs_input_grad"], lines)
    idle = sorted({j for told in trial.told for j in wanted if _idle(trial, told, positions[j])})
    if not idle or found.outcome is not Outcome.PASS:
        return found
    names = listed([f"`{labels[j]}`" for j in idle])
    what = f"the gradient of {names} is" if len(idle) == 1 else f"the gradients of {names} are"
    return advised("wasted work", f"{what} computed also when nobody asks for {'it' if len(idle) == 1 else 'them'}",
                   "compute it only if ctx.needs_input_grad says so, and return None otherwise")


def _idle(trial: Trial, told: Told, p: int | None) -> bool:
    """Whether backward computed the gradient of argument ``p`` that nobody asked for."""
    if p is None or p >= min(len(told.returned), len(told.needs)) or told.needs[p]:
        return False
    g = told.returned[p]
    return isinstance(g, trial.T.Tensor) and not any(_same(g, c, trial) for c in told.cotangents)


def _same(g: Any, cotangent: Any, trial: Trial) -> bool:
    """Whether a gradient is no more than the cotangent as it came, or a view of it."""
    if not isinstance(cotangent, trial.T.Tensor):
        return False
    return np.shares_memory(g.detach().numpy(), cotangent.detach().numpy())


def undefined_gradients(trial: Trial) -> Finding:
    """Outputs that no gradient reaches: backward gets zeros, or None if it asked for that, and copes."""
    run = trial.run()
    n = len(run.outputs)
    if n < 2:
        return passed("only one output")
    cotangents = trial.cotangents(run)
    for k in range(n):
        zeros = [c if j == k else np.zeros_like(c) for j, c in enumerate(cotangents)]
        due = trial.backward(trial.run(), zeros)
        with Attempt() as attempt:
            said = trial.backward(trial.run(), [c if j == k else None for j, c in enumerate(cotangents)])
        if attempt.error is not None:
            return failed("undefined gradient", f"backward fails when a gradient reaches only output {k}: "
                          f"{attempt.said()}", "a grad_output may be None after ctx.set_materialize_grads(False): "
                          "skip its part", attempt.line(trial.subject.file))
        if not close(said, due):
            return failed("undefined gradient", f"when a gradient reaches only output {k}, the result is not that "
                          "with zeros for the others", "treat a grad_output of None as zeros",
                          trial.lines("backward", r"\bNone\b"))
    return passed()


def marked_outputs(trial: Trial) -> Finding:
    """Outputs that are marked as non-differentiable are flat."""
    return tried(trial, ["non-differentiable"], lambda fault: trial.lines("forward", "mark_non_differentiable")
                 or trial.lines("setup_context", "mark_non_differentiable"))  # fmt: skip


def shapes(trial: Trial) -> Finding:
    """Backward returns gradients of each input's shape."""
    trial.told.clear()
    run = trial.run()
    if not run.outputs:
        return skipped("no output requires grad")
    trial.backward(run)
    return _returned(trial) or passed()


def dtype(trial: Trial) -> Finding:
    """For inputs of float32 it computes in float32, and gets what it gets in float64, but for rounding."""
    trial.told.clear()
    wide = trial.run()
    trial.backward(wide)
    if (finding := _returned(trial, kinds=True)) is not None:
        return finding
    single = trial.other(trial.call.single())
    precise = single.other(single.call.precise())
    attempt = Attempt()
    trial.told.clear()
    with attempt:
        run = single.run()
        said = single.backward(run)
    if attempt.error is not None and hasattr(trial.subject.target, PLACE) and "expected scalar type" in attempt.said():
        return skipped("it is for float64 alone, and says so")
    if attempt.error is not None:
        return failed("dtype", f"fails for inputs of float32: {attempt.said()}",
                      "take the dtype of everything from the inputs", attempt.line(trial.subject.file))
    if (finding := _returned(single, kinds=True)) is not None:
        return finding
    for k, (a, b) in enumerate(zip(run.values, wide.values, strict=True)):
        if _asked(trial):
            break
        kinds = [v.detach().numpy().dtype for v in (a, b)]
        if kinds[0] == kinds[1] and kinds[0].kind in "fc":
            what = "float64" if kinds[0].itemsize > (8 if kinds[0].kind == "c" else 4) else str(kinds[0])
            return failed("dtype", f"output {k} is of {what} for inputs of float32 and of float64 alike",
                          "make constants of the dtype of the input, and cast back what was computed in another",
                          trial.lines("forward", r"float|double|dtype|numpy|half|complex"))
    if not close(wide.arrays, trial.run(seeded=False).arrays):
        return passed("random: float32 and float64 draw other numbers from the same seed, so values are not compared")
    reference = precise.run()
    due = precise.backward(reference, [c.astype(o.detach().numpy().dtype) for c, o in zip(
        single.cotangents(run), reference.outputs, strict=True)])  # fmt: skip
    off = max(relative_error(_wide(said), due), relative_error(_wide(run.arrays), reference.arrays))
    if off > 1e-2:
        return failed("precision", f"in float32 results are off by {off:.1g} of the largest",
                      "look for cancellation, overflow or a table in lower precision")  # fmt: skip
    halves = [trial.own] if trial.own is not None and trial.own.precision in ("float16", "bfloat16") else []
    for call in (single.call, *halves):
        found = tried(trial.other(call), ["dtype"], lambda fault: trial.lines("backward", r"dtype|half|float"))
        if found.outcome is not Outcome.PASS:
            return found
    return passed()


def _asked(trial: Trial) -> bool:
    """Whether it is told in which dtype to answer."""
    values = (*trial.call.arguments, *trial.call.static.values())
    return any(isinstance(v, (trial.T.dtype, np.dtype, type)) or (isinstance(v, str) and "float" in v) for v in values)


def _wide(arrays: list[Any]) -> list[Any]:
    return [a if a is None or a.dtype.kind not in "fc" else a.astype(np.complex128 if a.dtype.kind == "c" else float)
            for a in arrays]  # fmt: skip


def _summed(trial: Trial, name: str) -> str:
    if trial.subject.kind == "custom_op":
        return 'sum it over the broadcast dimensions, or declare custom_op(kind="elementwise"), which does so'
    return f"sum it over the broadcast dimensions: grad.sum_to_size({name}.shape)"


def _returned(trial: Trial, kinds: bool = False) -> Finding | None:
    """What is wrong with the shapes, and the dtypes if asked for, of what backward itself returned."""
    labels, positions = trial.call.labels(), _positions(trial)
    for told in trial.told:
        for name, p, a in zip(labels, positions, trial.call.args, strict=True):
            g = told.returned[p] if a.grad and p is not None and p < len(told.returned) else None
            if not isinstance(g, trial.T.Tensor):
                continue
            if tuple(g.shape) != a.array.shape:
                return failed("gradient shape", f"backward returns a gradient of shape {tuple(g.shape)} for `{name}` "
                              f"of shape {a.array.shape}", _summed(trial, name), gradient(trial, p))
            got = g.detach().numpy().dtype if kinds else a.array.dtype
            if got != a.array.dtype:
                return failed("gradient dtype", f"backward returns a gradient of {got} for `{name}` of {a.array.dtype}",
                              f"return it in the dtype of `{name}`: grad.to({name}.dtype)", gradient(trial, p))
    return None
