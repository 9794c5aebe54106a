"""Guesses: the derivative by another variable than x, or one with a term too many or too few."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradwright.verify.diagnosis.scaling import CHOSEN
from gradwright.verify.pairs.causes import Cause, Found, whole
from gradwright.verify.pairs.measured import Measured
from gradwright.verify.pairs.reading import single


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


Form = tuple[str, str, str, Callable[[Any], Any]]
_LOG, _EXP, _SQUARE, _ROOT, _INVERSE, _BOUND = (
    "log parameter", "exp parameter", "square parameter", "root parameter", "reciprocal parameter", "bounded parameter")
FORMS: tuple[Form, ...] = (
    (_LOG, "log({})", "divide by {}", lambda x: x),
    (_EXP, "exp({})", "multiply by exp({})", lambda x: np.exp(-x)),
    (_SQUARE, "{} ** 2", "multiply by 2 * {}", lambda x: 1 / (2 * x)),
    (_ROOT, "sqrt({})", "divide by 2 * sqrt({})", lambda x: 2 * np.sqrt(x)),
    (_INVERSE, "1 / {}", "divide by -{} ** 2", lambda x: -x * x),
)
"""By what the derivative is meant: cause, the variable, the mend, and dx by that variable."""
BY_NAME = frozenset(name for name, *_ in FORMS)
"""The causes that say by which variable it is."""
TWICE: tuple[Form, ...] = (
    (_LOG, "1 / {0}", "multiply by {}", lambda x: 1 / x),
    (_EXP, "exp({0})", "divide by exp({})", np.exp),
    (_SQUARE, "2 * {0}", "divide by 2 * {}", lambda x: 2 * x),
    (_ROOT, "1 / (2 * sqrt({0}))", "multiply by 2 * sqrt({})", lambda x: 1 / (2 * np.sqrt(x))),
    (_INVERSE, "-1 / {0} ** 2", "multiply by -{} ** 2", lambda x: -1 / (x * x)),
)
_TOLD = {_LOG: "log(x)", _EXP: "exp(x)", _SQUARE: "x ** 2", _ROOT: "sqrt(x)", _INVERSE: "1 / x"}
"""The same where the chain rule of a model by that variable is applied twice: what it is too large by."""
BOUNDED: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("cos({})", np.cos), ("{0} / sqrt({0} ** 2 + 1)", lambda u: u / np.sqrt(u * u + 1)),
    ("sigmoid({0}) * (1 - sigmoid({0}))", lambda u: _sigmoid(u) * (1 - _sigmoid(u))),
    ("(1 - tanh({}) ** 2)", lambda u: 1 - np.tanh(u) ** 2), ("1 / (1 + {} ** 2)", lambda u: 1 / (1 + u * u)),
    ("sigmoid({})", _sigmoid), ("{}", lambda u: u), ("exp({})", np.exp),
)  # fmt: skip
"""The inner derivatives of what maps a free u between bounds, up to their width."""


def other_variable(f: Found) -> Cause | None:
    """All of it, or all that is wrong, is the derivative by a function of x; or the chain rule is applied twice."""
    if not f.whole:
        return None
    wrong = f.rows()
    for rows in ([*range(f.side)], wrong) if len(wrong) < f.side else ([*range(f.side)],):
        for forms, twice in ((FORMS, False), (TWICE, True)):
            for name, variable, mend, function in forms:
                share = f.share(lambda v, g=function, rows=rows: _by(f, v, g, rows), 3.0)
                if share < CHOSEN or not _varied(f, rows, function):
                    continue
                x = "x" if len(rows) == f.side else ", ".join(f.x_name(j) for j in rows[:4])
                told = variable.format(x)
                if twice:
                    return Cause(name, f"is {told} times what it should be: the chain rule of {_TOLD[name]} is applied "
                                 "twice, or a power is off by one", mend.format(x), share)  # fmt: skip
                return Cause(name, f"is the derivative by {told}, not by {x}", f"{mend.format(x)} (or hand over "
                             f"functions of {told})", share)  # fmt: skip
    return None


def _by(f: Found, v: Measured, function: Callable[[Any], Any], rows: list[int]) -> Any:
    """The derivative, taken to be too large by a function of some entries of x: of both sides, if of second order."""
    with np.errstate(all="ignore"):
        by = np.ones(f.side)
        by[rows] = function(v.at.x.reshape(-1)[rows])
    return v.said / np.outer(by, by) if f.second else v.said / by[:, None]


def _varied(f: Found, rows: list[int], function: Callable[[Any], Any]) -> bool:
    """Whether a function of x takes three values at least that are not nearly one: less could be any other."""
    with np.errstate(all="ignore"):
        values = np.concatenate([function(v.at.x.reshape(-1)[rows]) for v in f.views])
    return np.unique(np.round(values[np.isfinite(values)], 6)).size > 2


def bounded(f: Found) -> Cause | None:
    """What is wrong is off by the inner derivative of a variable between bounds, times a width for each entry of x."""
    if not f.whole or len(f.views) < 3:
        return None
    wrong = f.rows()
    for text, function in BOUNDED:
        for power, lacks in ((1, True), (-1, False)):
            by = [_widths(f, j, function, power) for j in wrong]
            if any(w is None for w in by) or not by:
                continue
            share = f.share(lambda v, g=function, p=power, by=by: _unbound(f, v, wrong, g, p, by), 3.0)
            if share >= CHOSEN:
                names, told = ", ".join(f.x_name(j) for j in wrong[:4]), text.format("x")
                width = ", ".join(f"{w:.4g}" for w in by[:4])
                how = "lacks" if lacks else "has once too often"
                return Cause("bounded parameter" if text not in ("{}", "exp({})") else "scaled parameter",
                             f"{how} the inner derivative {told}, times [{width}], of {names}: the chain rule of a "
                             f"transformed parameter is {'forgotten' if lacks else 'applied twice'}",
                             f"{'multiply' if lacks else 'divide'} by it, entry by entry", share)  # fmt: skip
    return None


def _widths(f: Found, j: int, function: Callable[[Any], Any], power: int) -> float | None:
    """By what, besides a function of it, the derivative by one entry of x is too small; None if by no constant."""
    ratios, values = [], []
    for v in f.views:
        for k, r in enumerate(v.rows):
            if np.count_nonzero(r) != 1 or not r[j]:
                continue
            sound = v.usable[k] & ~v.kinks[k] & (np.abs(v.true[k]) > 1e3 * v.bar[k]) & (v.told[k] != 0)
            cells = [j] if f.second else np.flatnonzero(sound)[:3]
            with np.errstate(all="ignore"):
                by = float(function(v.at.x.reshape(-1)[j])) ** power if function(v.at.x.reshape(-1)[j]) else 0.0
            if not by or not np.isfinite(by):
                return None
            for i in cells:
                if sound[i]:
                    ratio = float(np.real(v.true[k, i] / v.told[k, i]))
                    ratios.append((np.sqrt(abs(ratio)) if f.second else ratio) / (abs(by) if f.second else by))
                    values.append(by)
    if len(ratios) < 3 or np.ptp(np.abs(values)) < 2e-3 * np.abs(values).max():
        return None
    width = float(np.median(ratios))
    return width if np.allclose(ratios, width, rtol=1e-5) and abs(width) > 1e-9 else None


def _unbound(f: Found, v: Measured, rows: list[int], function: Any, power: int, by: list[Any]) -> Any:
    scales = np.ones(f.side)
    scales[rows] = function(v.at.x.reshape(-1)[rows]) ** power * np.array(by)
    return v.said * np.outer(scales, scales) if f.second else v.said * scales[:, None]


def probability(f: Found) -> Cause | None:
    """A raw score is taken for a probability: x stands where sigmoid(x) belongs."""
    if not f.whole:
        return None
    v = f.views[0]
    if v.said.shape[1] != 1 or f.second:
        return None
    with np.errstate(all="ignore"):
        by = f.share(lambda v: v.said - v.at.x.reshape(-1, 1) + _sigmoid(v.at.x.reshape(-1, 1)))
    x = v.at.x.reshape(-1, 1)
    flat = f.pair.elementwise and f.side > 2 and np.ptp(v.true) <= 1e-6 * np.abs(v.true).max()
    if flat and np.ptp(x) and np.allclose(v.said, x * (1 - x) * v.true[0, 0], rtol=1e-6):
        return Cause("raw score", "takes the raw score for a probability: it is x * (1 - x), and the gradient has x, "
                     "too, where sigmoid(x) belongs", "p = 1 / (1 + exp(-x)) first")  # fmt: skip
    if by >= CHOSEN and f.side > 2:
        return Cause("raw score", "takes the raw score for a probability: it has x where sigmoid(x) belongs",
                     "p = 1 / (1 + exp(-x)) first", by)  # fmt: skip
    return None


_TERMS: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("{}", lambda x: x), ("1", np.ones_like), ("sign({})", np.sign), ("{} ** 2", lambda x: x * x),
    ("{} ** 3", lambda x: x**3), ("1 / {}", lambda x: 1 / x), ("1 / {} ** 2", lambda x: x**-2.0), ("exp({})", np.exp),
    ("exp(-{})", lambda x: np.exp(-x)), ("sin({})", np.sin), ("cos({})", np.cos), ("log({})", np.log),
)  # fmt: skip


def simple_term(f: Found) -> Cause | None:
    """It has, or lacks, a multiple of a simple function of x: the derivative of a penalty, of a prior."""
    if not f.whole or (f.views[0].said.shape[1] != 1 and not f.second):
        return None
    errors = [(v, v.told - v.true) for v in f.views]
    wrong = f.rows()
    for text, function in _TERMS:
        for only in (False, True):
            shapes = [s for v in f.views if (s := _shape(f, v, function, wrong if only else None)) is not None]
            if len(shapes) < len(f.views):
                continue
            a = np.concatenate([(s[0])[v.usable & ~v.kinks] for s, (v, _) in zip(shapes, errors, strict=True)])
            e = np.concatenate([err[v.usable & ~v.kinks] for v, err in errors])
            size = float(np.sum(a * a))
            if not np.isfinite(size) or size == 0 or not np.isfinite(e).all() or np.count_nonzero(a) < 3:
                continue
            c = float(np.real(np.sum(a * e))) / size
            matrices = {id(v): s[1] for v, s in zip(f.views, shapes, strict=True)}
            share = f.share(lambda v, c=c, by=matrices: v.said - c * by[id(v)])
            if share >= CHOSEN and c:
                term = f"{abs(c):.6g}" + (f" * {text.format('x')}" if text != "1" else "")
                where = f" in {', '.join(map(f.x_name, wrong[:4]))}" if only else ""
                return Cause("lost term" if c < 0 else "extra term", f"{'lacks' if c < 0 else 'has'} the term {term}"
                             f"{'' if c < 0 else ' too much'}{where}",
                             f"{'add' if c < 0 else 'subtract'} {term}", share)  # fmt: skip
    return None


def _shape(f: Found, v: Measured, function: Callable[[Any], Any], rows: list[int] | None) -> tuple[Any, Any] | None:
    """A function of x as a derivative: along the ways, and whole."""
    with np.errstate(all="ignore"):
        values = np.asarray(function(v.at.x.reshape(-1)), np.float64)
    if rows is not None:
        values = np.where(np.isin(np.arange(f.side), rows), values, 0.0)
    if not np.isfinite(values).all():
        return None
    matrix = np.diag(values) if f.second else values[:, None]
    return v.rows @ matrix, matrix


def term(f: Found) -> Cause | None:
    """What is left when nothing simpler fits: said by its size beside the derivative."""
    told, true = (np.concatenate([np.ravel(part[v.usable & ~v.kinks]) for part, v in parts])
                  for parts in ([(v.told, v) for v in f.views], [(v.true, v) for v in f.views]))  # fmt: skip
    size = float(np.linalg.norm(true))
    if not np.isfinite(told).all() or not told.size:
        return None
    error = told - true
    part = float(np.linalg.norm(error)) / size if size else np.inf
    along = float(np.real(np.vdot(true, error)))
    how = "a term is lost" if along < 0 else "a term is there twice, or too large"
    return Cause("lost term" if along < 0 else "extra term", f"differs by {part:.2g} of its size, by no constant "
                 f"factor: {how}, or one has a wrong sign, power or factor", "compare term by term with the value",
                 0.5)  # fmt: skip


def nearly(f: Found) -> Cause | None:
    """It is right up to the rounding of float32, or to few digits."""
    scales = [v.scale for v in f.views]
    off = max((float(np.max(np.abs(v.told - v.true), where=v.wrong, initial=0.0)) / s if s else np.inf
               for v, s in zip(f.views, scales, strict=True)), default=np.inf)  # fmt: skip
    rounded = all(single(whole(v)) for v in f.views)
    if rounded and off < 1e-2:
        return Cause("float32", f"is computed in float32: it is off by {off:.1g} of its largest entry", "compute it in "
                     "float64, x.astype(np.float64)", 1.0)  # fmt: skip
    return None


