"""Hypotheses: the right gradient times something, or with a term too many or too few."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradwright.verify.diagnosis.context import Context
from gradwright.verify.diagnosis.records import MEANT, Hypothesis, apart
from gradwright.verify.diagnosis.residual import Residual

ENOUGH = 0.99
"""What a guess must explain to be worth telling."""
CHOSEN = 0.9999
"""What it must explain if it is one of very many."""
NEARLY = 1e-2
"""Errors smaller than this part of the largest entry are small ones."""
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
    return Hypothesis(
        "sign",
        f"the gradient of `{r.name}` has the wrong sign",
        evidence,
        f"negate the gradient of `{r.name}` in backward; {MEANT}",
        r.name,
    )


def factor(r: Residual, c: Context) -> Hypothesis | None:
    """The gradient is a constant times what it should be."""
    numeric = r.numeric[r.sound]
    size = float(numeric @ numeric)
    if not size:
        return None
    k = float(numeric @ r.analytic[r.sound]) / size
    evidence = r.explained(k * r.numeric, abs(k))
    if evidence < ENOUGH or abs(k) < 1e-12 or abs(k + 1) < 1e-6:
        return None
    rough = float(np.linalg.norm(r.allowed[r.sound])) / size**0.5 + 1e-7
    found = c.named(k, rough)
    name, divisor, is_size = found or ("", False, False)
    times, _ = apart(k, 1.0)
    equal = f"; {times} = {'-' if k < 0 else ''}{name}" if name else ""
    sentence = f"the gradient of `{r.name}` is {times} times what it should be{equal}"
    if divisor and is_size:
        sentence += ": a mean where a sum belongs"
    elif is_size:
        sentence += ": a sum where a mean belongs"
    sign = "-" if k < 0 else ""
    if name and divisor:
        mend = f"multiply the gradient of `{r.name}` in backward by {sign}{name.removeprefix('1 / ')}"
    elif name:
        mend = f"divide the gradient of `{r.name}` in backward by {sign}{name}: it is multiplied by that once too often"
    else:
        mend = f"multiply the gradient of `{r.name}` in backward by {apart(1 / k, 1.0)[0]}"
    return Hypothesis("factor", sentence, evidence, f"{mend}; {MEANT}" if k < 0 else mend, r.name, None if name else k)


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
    return Hypothesis(
        "small error",
        f"the gradient of `{r.name}` is nearly right: it is off by at most {off / scale:.1g} of its largest entry",
        1.0,
        "look for a constant with too few digits, an eps that only one of forward and backward has, a conversion to a "
        "shorter dtype, or an approximation in place of the formula",
        r.name,
    )


def _terms(r: Residual, c: Context) -> Iterator[tuple[str, Any]]:
    rows, columns = r.numeric.shape
    same = len(r.outputs) == 1 and r.outputs[0].shape == r.input.shape
    tensors = [
        ("", np.ones(())),
        *[(f"`{n}`", t) for n, t in c.tensors],
        *[(f"`{n}` ** 2", t * t) for n, t in c.tensors],
    ]
    if same and rows > 2:
        for text, function, t in [
            ("", abs, np.ones(())),
            *((f.format(n), g, t) for f, g in _FORMS for n, t in c.tensors),
        ]:
            with np.errstate(all="ignore"):
                values = _rows(r, function(t))
            if values is not None:
                yield f"grad_output * {text}" if text else "grad_output", np.diag(values[:, 0])
    for text, t in tensors:
        values = _rows(r, t)
        for other, u in tensors if values is not None else ():
            across = _columns(r, u)
            if across is not None:
                inner = f"(grad_output * {other}).sum()" if other else "grad_output.sum()"
                if columns == 1:
                    inner = f"grad_output * {other}" if other else "grad_output"
                yield f"{inner} * {text}" if text else inner, values * across
