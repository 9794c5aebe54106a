"""The fast mode: random projections of all Jacobians together, sharp enough to notice a few slightly wrong entries.

With random u and v, ``v . (J u)`` by finite differences, extrapolated until their error bar is small, is held against
``(v J) . u`` by backward. An error E of the Jacobians goes unnoticed if ``v E u`` happens to be within that bar: the
chance is about the bar over the size of E. There is a second projection if the first leaves more than a chance of one
in a million to miss 1 % in three entries of typical size. Where both leave more than one in a thousand, nothing is
decided here, nor where anything was noticed: then all entries are compared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gradwright.verify.gradcheck.passes import _same
from gradwright.verify.gradcheck.settings import Settings
from gradwright.verify.numeric.differences import slope_along, step
from gradwright.verify.numeric.draws import draw
from gradwright.verify.numeric.jacobian import Subject, coordinates, pullback, rounding

_PROBES, _ENOUGH = 2, 1e-6
ACCEPTED = 1e-3
"""The chance to miss 1 % in three entries that is low enough."""


class Projected(NamedTuple):
    """The findings of the projections.

    Attributes:
        agree: whether all came out alike both ways, within their error bars.
        missing: the chance that an error of 1 % in three entries of typical size would not have been noticed.
    """

    agree: bool
    missing: float


def project(subject: Subject, settings: Settings) -> Projected:
    """Hold both sides against each other, projected."""
    missing = 1.0
    for seed in range(_PROBES):
        v = [draw(o.array, 10 + seed) for o in subject.outputs]
        u = [step(x, 1.0, small=0.05) * draw(np.zeros(coordinates(x)), 20 + seed + 10 * j)
             for j, x in enumerate(subject.varied)]  # fmt: skip
        grads = pullback(subject, v)
        if not seed and not _same(grads, pullback(subject, v), settings.nondet_tol):
            return Projected(agree=False, missing=1.0)
        terms = np.concatenate([np.zeros_like(d) if g is None else g.astype(np.float64) * d
                                for g, d in zip(grads, u, strict=True)] or [np.zeros(0)])  # fmt: skip
        entries = sum(o.array.size for o in subject.outputs)
        typical = float(np.sqrt(np.mean(terms**2) / max(entries, 1))) if terms.any() else np.inf
        noticed = 0.01 * np.sqrt(3) * typical
        slope, bar, bent, _ = slope_along(subject, u, v, enough=_ENOUGH * noticed)
        precision = max(rounding(t.array.dtype) for t in (*subject.varied, *subject.outputs))
        bar += 4 * precision * float(np.abs(terms).sum())
        if bent or not abs(float(terms.sum()) - slope) <= bar:
            return Projected(agree=False, missing=1.0)
        missing *= min(1.0, 0.8 * bar / noticed)
        if missing <= _ENOUGH:
            break
    return Projected(agree=True, missing=missing)
