"""Hypotheses about how forward and backward behave, from experiments rather than from the residual."""

from __future__ import annotations

import numpy as np

from gradwright.engine.base import TensorBase
from gradwright.verify.diagnosis.context import Context
from gradwright.verify.diagnosis.probes import overlapping
from gradwright.verify.diagnosis.records import Hypothesis
from gradwright.verify.diagnosis.residual import Residual
from gradwright.verify.diagnosis.scaling import NEARLY, nearly
from gradwright.verify.numeric.streams import state_between_calls

TELLING = 1e-6
"""How large a part of the gradient an experiment must move to mean anything."""


def overlap(r: Residual, c: Context) -> Hypothesis | None:
    """Entries of an input share memory."""
    for name, x in zip(c.case.names, c.case.varied, strict=True):
        how = overlapping(x)
        if how:
            return Hypothesis("overlap", f"entries of `{name}` share memory ({how}): one cannot be moved without the "
                              "others", 1.0, f"give {name}.detach().clone() instead", name)
    return None


def writes(r: Residual, c: Context) -> Hypothesis | None:
    """Forward changes its inputs."""
    if not c.probes.written:
        return None
    names = ", ".join(f"`{n}`" for n in c.probes.written)
    return Hypothesis("changed input", f"forward changes {names} in place", 1.0,
                      "clone it first, or declare it with ctx.mark_dirty and return it")


def random(r: Residual, c: Context) -> Hypothesis | None:
    """Forward or backward is random."""
    p = c.probes
    if p.drift > 100 * r.unit:
        kept = f" ({', '.join(p.state)} changed from one to the other)" if p.state else ""
        return Hypothesis("non-determinism", f"two calls at the same point differ by {p.drift:.2g} of the result{kept}",
                          1.0, "draw the random numbers outside and pass them in, or seed the generator inside the "
                          "function; keep nothing between calls")
    if p.backward_drift > TELLING and p.draws:
        return Hypothesis("non-determinism", "backward draws random numbers: two passes over the same graph differ by "
                          f"{p.backward_drift:.2g} of the gradient, and from the same seed they do not", 1.0,
                          "draw in forward, and keep on ctx what was drawn: backward must use the same")
    if p.backward_drift > TELLING and p.renewed > TELLING:
        return Hypothesis("non-determinism", "two backward passes over the same graph differ by "
                          f"{p.backward_drift:.2g} of the gradient", 1.0, "draw random numbers in forward and keep "
                          "them on ctx; backward must use the same")
    return None


def stale(r: Residual, c: Context) -> Hypothesis | None:
    """Backward uses what another call left behind."""
    p = c.probes
    if p.draws:
        return None
    where = f" in {', '.join(p.state)}" if p.state else _class_tensors(c)
    mend = "keep what backward needs on ctx (save_for_backward for tensors), not on the class or in a global"
    if p.drift > 100 * r.unit and p.state:
        return Hypothesis("stale state", f"forward depends on what earlier calls left behind{where}", 1.0, mend)
    if p.interleaved > TELLING and p.renewed <= TELLING:
        return Hypothesis("stale state", "after another call of forward, backward gives another gradient: it uses "
                          f"what the last call left behind{where}", 1.0, mend)
    if (
        p.elsewhere is not None
        and p.elsewhere[0] > p.elsewhere[1]
        and p.same_elsewhere
        and (where or not any(q.wrong.any() for q in c.residuals))
    ):
        return Hypothesis("stale state", "at another point backward gives the gradient of the first call: it uses "
                          f"what that left behind{where}", 1.0, mend)
    if p.backward_drift > TELLING and p.renewed <= TELLING:
        return Hypothesis("stale state", "a second backward pass over the same graph gives another gradient: backward "
                          "changes what is on ctx", 1.0, "do not write to ctx, or to what is on it, in backward")
    return None


def elsewhere(r: Residual, c: Context) -> Hypothesis | None:
    """Backward is right at the point given, and wrong at another."""
    p = c.probes
    if (
        p.same_elsewhere
        or p.elsewhere is None
        or p.elsewhere[0] <= p.elsewhere[1]
        or any(q.wrong.any() for q in c.residuals)
    ):
        return None
    return Hypothesis("elsewhere", "right at these inputs, but with them times 0.8731 the gradient is off by "
                      f"{p.elsewhere[0]:.3g}", 0.9, "diagnose it there, for an entry by entry account")


def disowned(r: Residual, c: Context) -> Hypothesis | None:
    """Backward is as differences have it, and not as the engine's own derivative of forward."""
    w = c.probes.witness
    if w is None or w.agrees is not False or any(q.wrong.any() for q in c.residuals):
        return None
    return Hypothesis("small error", f"the derivative {w.at} is off from the engine's own derivative of forward by "
                      f"{w.error:.2g} of its largest entry: less than differences tell, and more than rounding", 1.0,
                      "look for a constant with too few digits, an eps that only one of forward and backward has, or "
                      "an approximation in place of the formula", w.at.partition("`")[2].rstrip("`"))


def cotangent(r: Residual, c: Context) -> Hypothesis | None:
    """Backward does not multiply by grad_output, or not only once."""
    p = c.probes
    if p.draws:
        return None
    if p.ignored and np.isfinite(r.analytic).all():
        return Hypothesis("cotangent ignored", "backward gives the same whatever grad_output is", 1.0,
                          "multiply by grad_output: backward returns grad_output times the derivative")
    if p.at_zero > TELLING:
        return Hypothesis("cotangent ignored", "backward does not give 0 for a grad_output of 0: a term is not "
                          "multiplied by it", 1.0, "multiply every term by grad_output")
    enough = telling(c)
    if max(p.at_random, p.at_large) < NEARLY and nearly(r, c) is not None:
        return None  # rounding to a shorter dtype does so
    if r.wrong.any() and not r.numeric[r.wrong.any(1)].any():
        return None  # where forward is flat there is no gradient, linear or not
    if p.at_random > enough:
        return Hypothesis("cotangent ignored", "backward is not linear in grad_output: its results for single entries "
                          "do not add up to that for all", 1.0, "use grad_output once in every term, and no function "
                          "of it such as abs, sign or a power")
    if p.at_large > enough and not p.saturates:
        return Hypothesis("cotangent ignored", "backward is not linear in grad_output: a much larger one does not "
                          "give a gradient as much larger", 1.0, "use grad_output once in every term, without "
                          "clipping or thresholds")
    return None


def condition(r: Residual, c: Context) -> Hypothesis | None:
    """Backward is right as it is usually run, and wrong in other conditions."""
    fault = c.probes.fault
    return None if fault is None else Hypothesis(fault.name, fault.sentence, 1.0, fault.mend)


def doubtful(c: Context) -> bool:
    """Whether random sums of all entries are off, though those compared agree."""
    rest = c.probes.rest
    return rest is not None and rest[0] > rest[1]


def sums(r: Residual, c: Context) -> Hypothesis | None:
    """Something may be wrong off the grid."""
    if not doubtful(c) or c.probes.rest is None:
        return None
    return Hypothesis("doubtful sums", "the entries compared agree, but random sums of all are off by "
                      f"{c.probes.rest[0]:.2g}, more than the {c.probes.rest[1]:.1g} that may be, and no single entry "
                      "was found that is", 1.0, "give smaller inputs, of which all entries can be compared, or a "
                      "larger budget")


def empty(r: Residual, c: Context) -> Hypothesis | None:
    """There are no numbers."""
    if any(q.numeric.size for q in c.residuals):
        return None
    names = [n for n, t in (*zip(c.case.names, c.case.varied, strict=True),
                            *((o.name, t) for o, t in zip(c.case.columns, c.case.outputs, strict=True)))
             if not t.array.size]  # fmt: skip
    where = " and ".join(f"`{n}`" for n in names)
    return Hypothesis("empty", f"there is nothing to compare: no entries in {where}", 1.0, "give inputs with entries")


def kink(r: Residual, c: Context) -> Hypothesis | None:
    """The function has a kink right there."""
    rows = np.flatnonzero(r.kinks.any(1))
    if not rows.size:
        return None
    row = rows[0]
    column = int(np.flatnonzero(r.kinks[row])[0])
    left, right, said = (float(m[row, column]) for m in (r.left, r.right, r.analytic))
    at = list(r.input.at(row)[1])
    where = f"`{r.name}{at or ''}`" + (f" and {len(rows) - 1} more" if len(rows) > 1 else "")
    low, high = sorted((left, right))
    inside = "one of the values between, as it may be" if low - 1e-6 <= said <= high + 1e-6 else "not between them"
    return Hypothesis("kink", f"the function has a kink at {where}: the slope is {left:.6g} to the left and "
                      f"{right:.6g} to the right; backward gives {said:.6g}, {inside}", 1.0,
                      "give inputs away from the kink; what backward does at it is a matter of convention", r.name)


def edge(r: Residual, c: Context) -> Hypothesis | None:
    """The function is not defined around the inputs."""
    rows = np.flatnonzero(~r.known.all(1))
    if not rows.size:
        return None
    at = list(r.input.at(int(rows[0]))[1])
    more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
    return Hypothesis("edge", f"the result is nan or inf right beside `{r.name}{at or ''}`{more}: the edge of where "
                      "the function is defined", 1.0, "give inputs further inside", r.name)


def precision(r: Residual, c: Context) -> Hypothesis | None:
    """The arithmetic is too coarse to tell, or forward is rough."""
    if not rough(r, c):
        return None
    for name, x in zip(c.case.names, c.case.varied, strict=True):
        if x.array.real.dtype.itemsize < 8:
            sentence = f"`{name}` is of {x.array.dtype}: differences of numbers so coarse cannot tell"
            return Hypothesis("precision", sentence, 1.0, "give inputs of float64")
    return Hypothesis("noise", "forward is not smooth: finite differences do not settle, whatever the step (rounding "
                      "to a lower precision inside, an iteration stopped early, a table)", 1.0,
                      "compute in float64 throughout, and iterate to the end; or give inputs where the function "
                      "varies less wildly")


def coarse(r: Residual, c: Context) -> float:
    """How far off a numeric derivative may be and still verify anything."""
    values = max((float(np.abs(o.array).max(initial=0.0)) for o in c.case.outputs), default=0.0)
    largest = max(q.scale() for q in c.residuals)
    return float(r.unit**0.25) * (max(r.scale(), 1e-2 * max(values, largest)) or 1.0)


def telling(c: Context) -> float:
    """How far from linear backward must be to mean anything: rough arithmetic makes it so, too."""
    unit = max(r.unit for r in c.residuals)
    return 0.02 if any(rough(r, c) for r in c.residuals) else max(TELLING, unit**0.5)


def rough(r: Residual, c: Context) -> bool:
    """Whether some numeric derivative is known too badly to verify anything."""
    near = np.abs(r.error) > r.allowed - (0 if r.unit < 1e-10 else 10) * r.bar
    return bool((5 * r.bar[r.due] > coarse(r, c)).any() or near[r.usable & ~r.wrong].any())


def _class_tensors(c: Context) -> str:
    function = c.case.function
    held = () if function is None else state_between_calls((), function, (TensorBase, np.ndarray))
    return f" in {', '.join(held)}" if held else ""
