"""Hypotheses: the right gradient times something, or with a term too many or too few."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradwright.verify.diagnosis.context import Context
from gradwright.verify.diagnosis.records import MEANT, Hypothesis, to_digits
from gradwright.verify.diagnosis.residual import Residual

ENOUGH = 0.99
"""What a guess must explain to be worth telling."""
CHOSEN = 0.9999
"""What it must explain if it is one of very many."""
NEARLY = 1e-2
"""Errors smaller than this part of the largest entry are small ones."""
_NONE, _ONE = 1e-12, 1e-6
"""How near to 0 or 1 a factor is that."""
_FORMS: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("`{}`", lambda t: t),
    ("`{}` ** 2", lambda t: t * t),
    ("(1 - `{}`)", lambda t: 1 - t),
    ("(1 + `{}`)", lambda t: 1 + t),
    ("(1 - `{}` ** 2)", lambda t: 1 - t * t),
    ("(1 + `{}` ** 2)", lambda t: 1 + t * t),
    ("sqrt(`{}`)", np.sqrt),
    ("exp(`{}`)", np.exp),
    ("log(`{}`)", np.log),
    ("sin(`{}`)", np.sin),
    ("cos(`{}`)", np.cos),
    ("abs(`{}`)", np.abs),
    ("sign(`{}`)", np.sign),
)


def sign(r: Residual, c: Context) -> Hypothesis | None:
    """The gradient is the negative of what it should be."""
    evidence = r.explained(-r.numeric)
    if evidence < ENOUGH:
        return None
    return Hypothesis("sign", f"the gradient of `{r.name}` has the wrong sign", evidence,
                      f"negate the gradient of `{r.name}` in backward; {MEANT}", r.name)


def factor(r: Residual, c: Context) -> Hypothesis | None:
    """The gradient is a constant times what it should be."""
    k = _times(r.numeric[r.sound], r.analytic[r.sound])
    if k is None:
        return None
    evidence = r.explained(k * r.numeric, abs(k))
    if evidence < ENOUGH or abs(k) < _NONE or abs(k + 1) < _ONE:
        return None
    sentence, mend, named = _told(k, f"the gradient of `{r.name}`", r.sound, r, c)
    return Hypothesis("factor", sentence, evidence, f"{mend}; {MEANT}" if k < 0 else mend, r.name, None if named else k)


def part(r: Residual, c: Context) -> Hypothesis | None:
    """What some of several outputs give to the gradient is a constant times what it should be."""
    guess, said, most = np.array(r.numeric), [], 1.0
    for out, analytic, numeric in r.blocks():
        sound = r.sound[:, out.slice]
        if not r.wrong[:, out.slice].any():
            continue
        k = _times(numeric[sound], analytic[sound])
        if k is None or abs(k) < _NONE:
            return None
        guess[:, out.slice] *= k
        most = max(most, abs(k))
        said.append((k, out, sound))
    if len(r.outputs) < 2 or not said or r.explained(guess, most) < ENOUGH:
        return None
    if len(said) == len(r.outputs) and np.ptp([k for k, *_ in said]) < _ONE * most:
        return None  # all by the same: `factor` tells it
    sentences, mends, unnamed = [], [], []
    for k, out, sound in said:
        where = np.zeros_like(r.sound)
        where[:, out.slice] = sound
        sentence, mend, named = _told(k, f"the part of `{out.name}` in the gradient of `{r.name}`", where, r, c)
        sentences.append(sentence)
        mends.append(mend)
        unnamed += [] if named else [k]
    mend = "; ".join(mends)
    return Hypothesis("part", ", and ".join(sentences), r.explained(guess, most),
                      f"{mend}; {MEANT}" if any(k < 0 for k, *_ in said) else mend, r.name,
                      float(np.prod(unnamed)) if unnamed else None)  # fmt: skip


def _times(numeric: Any, analytic: Any) -> float | None:
    """By what the one is multiplied to come nearest to the other; None if it is 0."""
    size = float(numeric @ numeric)
    return float(numeric @ analytic) / size if size else None


def _told(k: float, what: str, where: Any, r: Residual, c: Context) -> tuple[str, str, bool]:
    """That ``what`` is k times what it should be; what to do about it; whether k is a number that has a name."""
    rough = float(np.linalg.norm(r.allowed[where]) / np.linalg.norm(r.numeric[where])) + 1e-7
    if abs(k + 1) < max(_ONE, rough):
        return f"{what} has the wrong sign", f"negate {what} in backward", True
    name, divisor, is_size = c.named(k, rough) or ("", False, False)
    times, _ = to_digits(k, 1.0)
    sign = "-" if k < 0 else ""
    sentence = f"{what} is {times} times what it should be{f'; {times} = {sign}{name}' if name else ''}"
    if divisor and is_size:
        sentence += ": a mean where a sum belongs"
    elif is_size:
        sentence += ": a sum where a mean belongs"
    if name and divisor:
        mend = f"multiply {what} in backward by {sign}{name.removeprefix('1 / ')}"
    elif name:
        mend = f"divide {what} in backward by {sign}{name}: it is multiplied by that once too often"
    else:
        mend = f"multiply {what} in backward by {to_digits(1 / k, 1.0)[0]}"
    return sentence, mend, bool(name)


def missing_factor(r: Residual, c: Context) -> Hypothesis | None:
    """The gradient lacks a factor that varies from entry to entry, or has one too many: a tensor at hand."""
    best: Hypothesis | None = None
    for text, values in _varying(r, c):
        for lacks in (True, False):
            with np.errstate(all="ignore"):
                guess = r.numeric / values if lacks else r.numeric * values
                doubt = np.nanmax(np.abs(guess), initial=0.0) / (r.scale() or 1.0)
            evidence = r.explained(np.where(r.numeric == 0, 0, guess), doubt)
            if evidence >= CHOSEN and (best is None or evidence > best.evidence + 1e-3):
                what = f"lacks the factor {text}" if lacks else f"has the factor {text} once too often"
                mend = f"{'multiply' if lacks else 'divide'} it by {text} in backward"
                best = Hypothesis("missing factor", f"the gradient of `{r.name}` {what}", evidence, mend, r.name)
    return best


def _varying(r: Residual, c: Context) -> Iterator[tuple[str, Any]]:
    """Tensors at hand, and simple functions of them, spread over the rows or the columns of a Jacobian."""
    if r.input.is_complex or any(o.is_complex for o in r.outputs):
        return
    seen = np.abs(r.numeric) > 0
    for form, function in _FORMS:
        for name, t in c.tensors:
            with np.errstate(all="ignore"):
                values = function(t)
            for spread in (_rows(r, values), _columns(r, values)):
                if spread is not None and np.unique(np.broadcast_to(spread, r.numeric.shape)[seen & r.wrong]).size > 2:
                    yield form.format(name), spread


def _rows(r: Residual, values: Any) -> Any:
    try:
        return np.broadcast_to(values, r.input.shape).reshape(-1, 1)
    except ValueError:
        return None


def _columns(r: Residual, values: Any) -> Any:
    try:
        return np.hstack([np.broadcast_to(values, o.shape).reshape(1, -1) for o in r.outputs])
    except ValueError:
        return None


def missing_term(r: Residual, c: Context) -> Hypothesis | None:
    """The gradient differs by a multiple of a tensor at hand: a term left out, or one too many."""
    if r.input.is_complex or any(o.is_complex for o in r.outputs) or r.wrong.sum() < 3:
        return None
    for text, shape in _terms(r, c):
        with np.errstate(all="ignore"):
            size = float(np.sum(shape[r.sound] ** 2))
        if not size or not np.isfinite(size):
            continue
        k = float(np.sum((r.error * shape)[r.sound])) / size
        evidence = r.explained(r.numeric + k * shape)
        if evidence >= CHOSEN and k:
            amount = "" if abs(abs(k) - 1) < 1e-6 else f"{abs(k):.6g} * "
            what = f"has {amount}{text} too much" if k > 0 else f"lacks the term {amount}{text}"
            mend = f"{'subtract' if k > 0 else 'add'} {amount}{text} in backward"
            return Hypothesis("missing term", f"the gradient of `{r.name}` {what}", evidence, mend, r.name, k)
    return None


def nearly(r: Residual, c: Context) -> Hypothesis | None:
    """The gradient is right but for a small part of it."""
    off, scale = float(np.abs(r.error).max(initial=0.0)), r.scale()
    if not r.wrong.any() or not 0 < off < NEARLY * scale or not np.isfinite(r.analytic[r.usable]).all():
        return None
    return Hypothesis("small error", f"the gradient of `{r.name}` is nearly right: it is off by at most "
                      f"{off / scale:.1g} of its largest entry", 1.0, "look for a constant with too few digits, an "
                      "eps that only one of forward and backward has, a conversion to a shorter dtype, or an "
                      "approximation in place of the formula", r.name)


def _terms(r: Residual, c: Context) -> Iterator[tuple[str, Any]]:
    rows, columns = r.numeric.shape
    same = len(r.outputs) == 1 and r.outputs[0].shape == r.input.shape
    tensors = [
        ("", np.ones(())),
        *[(f"`{n}`", t) for n, t in c.tensors],
        *[(f"`{n}` ** 2", t * t) for n, t in c.tensors],
    ]
    if same and rows > 2:
        for text, entries in _diagonals(r, c):
            yield f"grad_output * {text}" if text else "grad_output", np.diag(entries)
    for text, t in tensors:
        values = _rows(r, t)
        for other, u in tensors if values is not None else ():
            across = _columns(r, u)
            if across is not None:
                inner = f"(grad_output * {other}).sum()" if other else "grad_output.sum()"
                if columns == 1:
                    inner = f"grad_output * {other}" if other else "grad_output"
                yield f"{inner} * {text}" if text else inner, values * across


def _diagonals(r: Residual, c: Context) -> Iterator[tuple[str, Any]]:
    """What grad_output may be multiplied by entry by entry: tensors at hand, functions of them, and products of two.

    Of products only those that lie along the error: they are many.
    """
    yield "", np.ones(len(r.error))
    factors = []
    for form, function in _FORMS:
        for name, t in c.tensors:
            with np.errstate(all="ignore"):
                values = _rows(r, function(t))
            if values is not None:
                factors.append((form.format(name), values[:, 0]))
    yield from factors
    error = np.diag(r.error)
    whole = float(error @ error)
    for (one, a), (other, b) in itertools.combinations(factors, 2):
        entries = a * b
        along = float(error @ entries) ** 2
        if along >= CHOSEN * whole * float(entries @ entries):
            yield f"{one} * {other}", entries
