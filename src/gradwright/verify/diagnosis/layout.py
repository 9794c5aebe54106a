"""Hypotheses: the right numbers in the wrong places."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from gradwright.base.errors import MisfitGradient, size
from gradwright.verify.diagnosis.context import Context
from gradwright.verify.diagnosis.records import Hypothesis
from gradwright.verify.diagnosis.residual import Part, Residual
from gradwright.verify.diagnosis.scaling import ENOUGH


def swapped(r: Residual, c: Context) -> Hypothesis | None:
    """The gradient is that of another argument."""
    for other in c.residuals:
        if other is r or other.input.axes != r.input.axes:
            continue
        evidence = r.explained(other.numeric)
        if evidence < ENOUGH:
            continue
        if other.explained(r.numeric) >= ENOUGH:
            names = [n for n in c.case.names if n in (r.name, other.name)]
            both = " and ".join(f"`{n}`" for n in names)
            return Hypothesis("swapped", f"the gradients of {both} are swapped", evidence,
                              "return the gradients in the order of the arguments of forward")
        return Hypothesis("swapped", f"the gradient of `{r.name}` is that of `{other.name}`", evidence,
                          f"return the gradient of `{r.name}` in its place", r.name)
    return None


def exchanged(r: Residual, c: Context) -> Hypothesis | None:
    """The grad_outputs of two outputs are taken for each other."""
    for a, b in itertools.combinations(r.outputs, 2):
        if a.axes != b.axes or not r.wrong[:, a.slice].any():
            continue
        guess = np.array(r.numeric)
        guess[:, a.slice], guess[:, b.slice] = r.numeric[:, b.slice], r.numeric[:, a.slice]
        evidence = r.explained(guess)
        if evidence >= ENOUGH:
            return Hypothesis("swapped", f"in the gradient of `{r.name}` the grad_outputs of `{a.name}` and "
                              f"`{b.name}` are swapped", evidence, "take the grad_outputs in the order of what "
                              "forward returns", r.name)
    return None


def transpose(r: Residual, c: Context) -> Hypothesis | None:
    """The gradient, the cotangent, or a matrix between them is transposed."""
    for out, said, known in _single(r):
        shape = (*r.input.axes, *out.axes)
        inner = len(r.input.axes)
        skip = {0} if r.input.is_complex else set()
        skip |= {inner} if out.is_complex else set()
        for a, b in itertools.combinations([k for k in range(len(shape)) if k not in skip], 2):
            if shape[a] != shape[b] or shape[a] == 1:
                continue
            guess = _spread(r, out, known.reshape(shape).swapaxes(a, b).reshape(said.shape))
            evidence = r.explained(guess)
            if evidence < ENOUGH:
                continue
            if b < inner:
                sentence, mend = f"the gradient of `{r.name}` is transposed", f"transpose the gradient of `{r.name}`"
            elif a >= inner:
                sentence, mend = "backward uses grad_output transposed", "do not transpose grad_output"
            else:
                sentence = f"a matrix that the gradient of `{r.name}` is computed with is transposed"
                mend = "transpose that matrix (of y = x @ w, the gradient of x is g @ w.mT, that of w is x.mT @ g)"
            return Hypothesis("transpose", sentence, evidence, mend, r.name)
    return None


def triangle(r: Residual, c: Context) -> Hypothesis | None:
    """Forward reads one triangle of a matrix, and backward gives the gradient of both, as of a Hermitian one."""
    if len(r.input.shape) < 2 or r.input.shape[-1] != r.input.shape[-2] or not r.wrong.any():
        return None
    by_entry = r.numeric.reshape(*r.input.axes, -1)
    other = by_entry.swapaxes(-3, -2)
    if r.input.is_complex:
        other = np.stack((other[0], -other[1]))
    for unread, part in (("upper", np.triu), ("lower", np.tril)):
        outside = part(np.ones(r.input.shape[-2:]), 1 if unread == "upper" else -1) > 0
        if by_entry[..., outside, :].any():
            continue
        evidence = r.explained(((by_entry + other) / 2).reshape(r.numeric.shape))
        if evidence >= ENOUGH:
            name = r.name
            return Hypothesis("triangle", f"the {unread} triangle of `{name}` is not read: it is taken to be that of "
                              "a Hermitian (symmetric, if real) matrix, and backward gives the gradient of both",
                              evidence, f"symmetrise what is given: check the function of ({name} + {name}.mH) / 2",
                              name)
    return None


def flipped(r: Residual, c: Context) -> Hypothesis | None:
    """The gradient, the cotangent, or a kernel is in reverse order along a dimension; or moved along it."""
    for out, said, known in _single(r):
        shape = (*r.input.axes, *out.axes)
        inner = len(r.input.axes)
        matrix = known.reshape(shape)
        parts = ({0} if r.input.is_complex else set()) | ({inner} if out.is_complex else set())
        axes = [k for k, n in enumerate(shape) if n > 1 and k not in parts]
        for some in (s for n in (1, 2) for s in itertools.combinations(axes, n)):
            evidence = r.explained(_spread(r, out, np.flip(matrix, some).reshape(said.shape)))
            if evidence >= ENOUGH:
                what = "the gradient" if some[-1] < inner else "grad_output" if some[0] >= inner else "a kernel"
                return Hypothesis(
                    "reversed",
                    f"{what} of `{r.name}` is in reverse order along a dimension"
                    if what != "grad_output"
                    else "grad_output is used in reverse order",
                    evidence,
                    f"flip it back in the gradient of `{r.name}`",
                    r.name,
                )
        for a, by in itertools.product(axes, (1, -1)):
            evidence = r.explained(_spread(r, out, np.roll(matrix, by, a).reshape(said.shape)))
            if evidence >= ENOUGH:
                return Hypothesis("shifted", f"the gradient of `{r.name}` is moved by one entry along a dimension",
                                  evidence, "look for an index that is off by one in backward", r.name)
    return None


def missing_sum(r: Residual, c: Context) -> Hypothesis | None:
    """The sum over a dimension that the argument was broadcast along is missing, or taken over another."""
    for w in _misfits(r, c):
        if isinstance(w.got, tuple):
            return Hypothesis("missing sum", "the sum over the broadcast dimensions is missing: backward returns a "
                              f"gradient of shape {size(w.got)} for `{w.argument}` of shape {size(w.expected)}", 1.0,
                              w.mend, r.name)
    for out, _, known in _single(r):
        if math.prod(out.shape) <= math.prod(r.input.shape):
            continue
        columns = known.reshape(known.shape[0], *out.axes)
        for d in range(out.is_complex, len(out.axes)):
            for k in dict.fromkeys((0, out.axes[d] - 1)):
                kept = np.zeros_like(columns)
                where = (slice(None),) * (d + 1) + (k,)
                kept[where] = columns[where]
                if not kept.any():  # nothing there: a gradient of 0 says nothing of it
                    continue
                evidence = r.explained(_spread(r, out, kept.reshape(known.shape)))
                if evidence >= ENOUGH and out.axes[d] > 1:
                    d -= out.is_complex
                    return Hypothesis("missing sum", f"the gradient of `{r.name}` takes only entry {k} of dimension "
                                      f"{d} of grad_output, which `{r.name}` was broadcast along, instead of the sum",
                                      evidence, f"sum over that dimension: grad_output.sum({d})", r.name)
        for a, b in itertools.combinations(range(out.is_complex, len(out.axes)), 2):
            if out.axes[a] == out.axes[b] > 1:
                guess = columns.swapaxes(a + 1, b + 1).reshape(known.shape)
                evidence = r.explained(_spread(r, out, guess))
                if evidence >= ENOUGH:
                    return Hypothesis("missing sum", f"the gradient of `{r.name}` is summed over the wrong dimension",
                                      evidence, f"sum over the dimension that `{r.name}` was broadcast along "
                                      "(sum_to_size finds it)", r.name)
    return None


def converted(r: Residual, c: Context) -> Hypothesis | None:
    """The gradient is of another dtype than its argument."""
    for w in _misfits(r, c):
        if not isinstance(w.got, tuple):
            return Hypothesis("gradient dtype", f"backward returns a gradient of {w.got} for `{w.argument}` of "
                              f"{w.expected}", 1.0, w.mend, r.name)
    return None


def _misfits(r: Residual, c: Context) -> list[MisfitGradient]:
    """What did not fit this input, as far as names and shapes tell."""
    return [w for w in c.case.misfits() if w.argument == r.name or w.argument not in c.case.names]


def conjugate(r: Residual, c: Context) -> Hypothesis | None:
    """A complex conjugate is missing, or one too many."""
    rows = _signs(r.input)[:, None]
    columns = np.concatenate([_signs(o) for o in r.outputs])[None]
    out_is_complex, is_complex = (columns < 0).any(), r.input.is_complex
    guesses = [
        (is_complex and out_is_complex, rows * columns,
         f"the gradient of `{r.name}` lacks a conjugate of what it multiplies grad_output with",
         "multiply grad_output by the conjugate of the derivative"),
        (is_complex, rows, f"the gradient of `{r.name}` is the conjugate of what it should be",
         f"conjugate the gradient of `{r.name}`"),
        (out_is_complex, columns, f"grad_output is conjugated in the gradient of `{r.name}`",
         "take away, or add, the conjugate of grad_output"),
    ]  # fmt: skip
    for signs, sentence, mend in (guess for may, *guess in guesses if may):
        evidence = r.explained(signs * r.numeric)
        if evidence >= ENOUGH:
            return Hypothesis("conjugate", sentence, evidence, mend, r.name)
    return None


def _signs(part: Part) -> Any:
    signs = np.ones(part.size)
    if part.is_complex:
        signs[part.size // 2 :] = -1
    return signs


def _single(r: Residual) -> list[tuple[Part, Any, Any]]:
    """The blocks with something wrong in them."""
    return [(o, a, n) for o, a, n in r.blocks() if r.wrong[:, o.slice].any()]


def _spread(r: Residual, out: Part, block: Any) -> Any:
    """A guess for one output, and what backward says for the others."""
    guess = r.analytic.copy()
    guess[:, out.slice] = block
    return guess
