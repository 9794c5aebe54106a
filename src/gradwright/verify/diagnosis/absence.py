"""Hypotheses: gradients that are not there, cut off, or there where none belongs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gradwright.verify.diagnosis.context import Context
from gradwright.verify.diagnosis.records import MEANT, Hypothesis, to_digits
from gradwright.verify.diagnosis.residual import Residual
from gradwright.verify.diagnosis.scaling import ENOUGH


def zero(r: Residual, c: Context) -> Hypothesis | None:
    """There is no gradient for an input, an output or entries that matter."""
    wrong = r.wrong
    if not wrong.any() or r.analytic[wrong].any():
        return None
    if not r.analytic[r.sound].any():
        if not c.case.differentiable:
            return Hypothesis("zero", f"the result does not depend on `{r.name}` as far as gradwright knows: its "
                              "history was cut off", 1.0, "keep to gradwright's functions on the way: .detach(), "
                              ".data, .numpy() and no_grad cut the history", r.name)
        what = "zeros" if any(r.given) else "None"
        return Hypothesis("zero", f"backward returns {what} for `{r.name}`, which the result does depend on", 1.0,
                          f"return the gradient of `{r.name}` in its place", r.name)
    for out, said, known in r.blocks():
        if len(r.outputs) > 1 and not said.any() and wrong[:, out.slice].sum() == wrong.sum() and known.any():
            return Hypothesis("zero", f"the gradient of `{r.name}` leaves out what comes from `{out.name}`", 1.0,
                              f"add the part of the gradient of `{out.name}`: backward gets one grad_output for each "
                              "output", r.name)
    rows = np.flatnonzero(wrong.any(1))
    if r.analytic[rows].any():
        return None
    return Hypothesis("zero", f"the gradient of `{r.name}` is 0 at {len(rows)} of {len(wrong)} entries that the "
                      f"result does depend on, the first at {_at(r, rows[0])}", 1.0,
                      f"look for what masks or skips them in backward{_region(r, c, rows)}", r.name)


def not_a_number(r: Residual, c: Context) -> Hypothesis | None:
    """Backward makes a NaN or an infinity where the function is smooth."""
    bad = r.usable & ~np.isfinite(r.analytic)
    if not bad.any():
        return None
    rows = np.flatnonzero(bad.any(1))
    return Hypothesis("not a number", f"backward returns nan or inf for `{r.name}` at "
                      f"{_at(r, rows[0])}{' and elsewhere' if len(rows) > 1 else ''}, where the derivative is "
                      f"finite{_region(r, c, rows)}", 1.0, "look for 0 / 0, or a root, logarithm or power that is not "
                      "defined there: 0 times it is nan, not 0, and `where` computes the branch that it drops. Put a "
                      "harmless number in first: safe = where(taken, x, 1), and compute with that; "
                      "gradwright.autograd.detect_anomaly() names the operation", r.name)


def surrogate(r: Residual, c: Context) -> Hypothesis | None:
    """Backward hands a gradient on where forward is flat: rounding, clamping, a threshold."""
    wrong = r.wrong
    rows = wrong.any(1)
    if not wrong.any() or r.numeric[rows].any() or not r.analytic[wrong].all():
        return None
    everywhere = not r.numeric.any()
    straight = " (straight-through)" if set(np.unique(r.analytic[wrong])) == {1.0} else ""
    if everywhere:
        sentence = f"forward is flat in `{r.name}`, as rounding and comparing are, but backward hands a gradient on"
    else:
        sentence = (
            f"forward is flat in `{r.name}` at {rows.sum()} of {len(rows)} entries, as clamping makes it, but "
            "backward hands a gradient on there"
        )
    return Hypothesis("surrogate", sentence + straight, 1.0, f"return 0 where forward is flat; {MEANT}", r.name)


def clipped(r: Residual, c: Context) -> Hypothesis | None:
    """Backward limits the size of the gradient."""
    if (r.usable & ~np.isfinite(r.analytic)).any():
        return None  # it limits nothing
    if r.wrong.any() and not r.numeric[r.wrong.any(1)].any():
        return None  # nothing that could be limited
    mend = f"return the gradient as it is, and clip where the gradients are used; {MEANT}"
    limit = float(np.abs(r.analytic[r.sound]).max(initial=0.0))
    size = np.abs(r.analytic)
    at_limit = r.wrong & (size > limit * (1 - 1e-9))
    cut = c.probes.at_large > 1e-6 and c.probes.saturates and not c.probes.ignored
    if not cut and not (r.sound & ~r.wrong & (size > 1e-9 * limit)).any():
        return None  # nothing that got through
    if limit and at_limit.sum() > 1 and (at_limit == r.wrong).all():
        evidence = r.explained(np.clip(r.numeric, -limit, limit))
        if evidence >= ENOUGH:
            return Hypothesis("clipped", f"the gradient of `{r.name}` is clipped to ±{limit:.6g}", evidence, mend,
                              r.name)
    lengths = np.linalg.norm(np.where(r.sound, r.numeric, 0), axis=0)
    said = np.linalg.norm(np.where(r.sound, r.analytic, 0), axis=0)
    top = float(said.max(initial=0.0))
    if top and np.unique(np.round(lengths / (lengths.max() or 1), 6)).size > 1:
        with np.errstate(all="ignore"):
            guess = r.numeric * np.where(lengths > top, top / lengths, 1.0)
        evidence = r.explained(guess)
        if evidence >= ENOUGH:
            return Hypothesis("clipped", f"the gradient of `{r.name}` is scaled down to a length of {top:.6g}",
                              evidence, mend, r.name)
    if cut:
        return Hypothesis("clipped", "the gradients do not grow with grad_output beyond some size: backward clips them",
                          1.0, mend)
    return None


def region(r: Residual, c: Context) -> Hypothesis | None:
    """The gradient is wrong in one region only: where a tensor is negative, above 1, ..."""
    wrong = r.wrong.any(1)
    judged = r.usable.any(1) & (r.numeric.any(1) | r.analytic.any(1))
    text = _split(r, c, wrong, judged)
    if text is None:
        return None
    rows = r.wrong.any(1)
    numeric, analytic = r.numeric[rows], r.analytic[rows]
    size = float(np.sum(numeric * numeric))
    k = float(np.sum(numeric * analytic)) / size if size and np.isfinite(analytic).all() else 0.0
    scaled = np.where(rows[:, None], k * r.numeric, r.numeric)
    if size and r.explained(scaled, abs(k)) >= ENOUGH:
        return Hypothesis("region", f"the gradient of `{r.name}` is wrong exactly where {text}: {to_digits(k, 1.0)[0]} "
                          "times what it should be there", 1.0, f"look at the branch of backward for {text}", r.name, k)
    return Hypothesis("region", f"the gradient of `{r.name}` is wrong exactly where {text} ({wrong.sum()} of "
                      f"{judged.sum()} entries)", 0.9, f"look at the branch of backward for {text}", r.name)


def _split(r: Residual, c: Context, wrong: Any, judged: Any) -> str | None:
    """A condition that holds for the wrong rows and for no others."""
    if r.input.is_complex or not wrong.any() or judged.sum() < 4 or wrong[judged].all():
        return None
    for name, t in c.tensors:
        if t.size != len(wrong):
            continue
        values = np.asarray(t).reshape(-1)
        for sense, v, limit in _limits(values):
            if (judged & (v > limit) == wrong).all():
                return f"`{name}` {sense} {(limit if sense == '>' else -limit) + 0.0:g}"
    return None


def _limits(values: Any) -> Iterator[tuple[str, Any, float]]:
    for limit in (0.0, 1.0, -1.0):
        yield ">", values, limit
        yield "<", -values, limit


def _region(r: Residual, c: Context, rows: Any) -> str:
    wrong = np.zeros(r.input.size, bool)
    wrong[rows] = True
    text = _split(r, c, wrong, r.usable.any(1) & (r.numeric.any(1) | r.analytic.any(1)))
    return f": they are those where {text}" if text else ""


def _at(r: Residual, row: int) -> str:
    return str(list(r.input.at(int(row))[1]))
