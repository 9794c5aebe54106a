"""What differs from the derivative on purpose: an approximation of a Hessian, a bound in its place, a scale."""

from __future__ import annotations

import numpy as np

from gradwright.verify.pairs.causes import Cause, Found, factor
from gradwright.verify.pairs.pair import GRADIENT, HESSIAN, HVP
from gradwright.verify.pairs.source import Source


def on_purpose(f: Found, source: Source, objective: bool) -> Cause | None:
    """An approximation: told by its structure, or by the words of its source."""
    second = f.pair.kind in (HESSIAN, HVP)
    if objective and (found := bound(f)) is not None:
        return found
    words = source.meant(second or objective)
    if second and (words or source.squares) and _convex(f):
        how = f"`{source.squares}`" if source.squares else f"its source says {words!r}"
        name = "Gauss-Newton" if source.squares or "newton" in words.lower() else "approximation"
        return Cause(name, f"is no Hessian but a positive semidefinite approximation: {how}", "")
    if words and not second:
        return Cause("approximation", f"is meant to be none: its source says {words!r}", "")
    return None


def _convex(f: Found) -> bool:
    """Whether it is symmetric, has no negative eigenvalue, and goes along with the true one."""
    for v in f.views:
        told = v.said if v.said is not None else v.told @ v.rows.T
        if told.shape[0] != told.shape[1] or not np.isfinite(told).all():
            return False
        size = float(np.abs(told).max(initial=0.0))
        if np.abs(told - told.T).max(initial=0.0) > 1e-8 * size:
            return False
        if np.linalg.eigvalsh((told + told.T) / 2).min() < -1e-8 * size:
            return False
    along = sum(float(np.real(np.vdot(v.true[v.usable], v.told[v.usable]))) for v in f.views)
    return along > 0


def bound(f: Found) -> Cause | None:
    """The diagonal of a Hessian that is no smaller than the true one, and one constant wherever it is larger."""
    told = np.concatenate([v.told[v.usable] for v in f.views])
    true = np.concatenate([v.true[v.usable] for v in f.views])
    room = np.concatenate([v.allowed[v.usable] for v in f.views])
    if not told.size or not (told > 0).all() or not (told >= true - room).all():
        return None
    more = told - true
    if np.ptp(more) <= 1e-6 * more.max() and (true >= -room).all() and (true.any() and more.max() < 0.1 * true.max()):
        return Cause("damped", f"is the true one and {np.median(more):.4g}, so that no step is divided by nothing", "")
    larger = told > true + room
    if larger.any() and np.ptp(told[larger]) <= 1e-6 * float(told[larger].max()):
        if told[larger][0] < 1e-2 * float(np.abs(true).max(initial=0.0)) or not larger.all() or not true.any():
            return Cause("bound", f"is {told[larger][0]:.4g} where the true one is smaller, so that no step is divided "
                         "by nothing", "")  # fmt: skip
        if np.ptp(true) > 1e-6 * np.abs(true).max():
            return Cause("bound", f"is the bound {told[larger][0]:.4g} in place of what varies below it", "")
    return None


def scaled(f: Found, source: Source, objective: bool) -> Cause | None:
    """One positive factor, where the source says so or what uses it does not mind."""
    found = factor(f)
    if found is None or found.factor is None or found.factor <= 0:
        return None
    if source.scaled:
        return Cause("scale", f"{found.sentence}, as its source says: {source.scaled!r}", "", found.share, found.factor)
    if objective and f.pair.kind == GRADIENT:
        return Cause("scale", f"{found.sentence}; boosting does not mind as long as the Hessian has it, too", "",
                     found.share, found.factor)  # fmt: skip
    return None
