"""The guess that a factor is missing, or too much, that is a power of a parameter: `p[0]` forgotten in one column."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from gradwright.verify.diagnosis.scaling import CHOSEN
from gradwright.verify.pairs.causes import Cause, Found
from gradwright.verify.pairs.measured import Measured

_POWERS = (1, -1, 2, -2, 3, -3)
_SEARCHED = 12
"""Of so many entries of x powers are tried."""
_VARIED = 1e-2
"""An entry of x that moves by less than this part of itself is no more than a constant."""


class Power(NamedTuple):
    """What a row of the derivative is multiplied by: ``times * x[k] ** power`` for each k and power of ``of``."""

    times: float
    of: tuple[tuple[int, int], ...]

    def at(self, x: Any) -> float:
        """Its value."""
        return float(self.times * np.prod([x.reshape(-1)[k] ** float(a) for k, a in self.of]))

    def inverse(self) -> Power:
        """1 over it."""
        return Power(1 / self.times, tuple((k, -a) for k, a in self.of))

    def told(self, f: Found) -> str:
        """It as one writes it."""
        above, below = ([f.x_name(k) + (f" ** {abs(a)}" if abs(a) > 1 else "") for k, a in self.of if a * side > 0]
                        for side in (1, -1))  # fmt: skip
        minus, size = "-" if self.times < 0 else "", abs(self.times)
        if size < 1 and abs(1 / size - round(1 / size)) < 1e-6 / size:
            below = [f"{1 / size:.6g}", *below]
        elif abs(size - 1) > 1e-6:
            above = [f"{size:.6g}", *above]
        under = " * ".join(below)
        over = f" / ({under})" if len(below) > 1 else f" / {under}" if below else ""
        return f"{minus}{' * '.join(above) or '1'}{over}"


def power(f: Found) -> Cause | None:
    """What is wrong is multiplied, entry by entry of x, by powers of entries of x: the same ones at every point."""
    wrong = f.rows()
    if not f.whole or f.second or not wrong:
        return None
    found = {j: next(_fitting(f, j), None) for j in wrong}
    if any(p is None for p in found.values()):
        return None

    def mend(v: Measured) -> Any:
        by = np.ones(f.side)
        by[wrong] = [p.at(v.at.x) for p in found.values() if p is not None]
        return v.said / by[:, None]

    share = f.share(mend, 3.0)
    if share < CHOSEN:
        return None
    told, mends = [], []
    for p in dict.fromkeys(p for p in found.values() if p is not None):
        rows = [j for j in wrong if found[j] == p]
        whole = len(rows) == f.side
        where, what = "" if whole else f" in {_entries(f, rows)}", f"`{f.df}`" if whole else _entries(f, rows)
        factor = p.inverse().told(f)
        lost = all(a < 0 for _, a in p.of)
        told.append(f"lacks the factor {factor}{where}" if lost else f"is {p.told(f)} times what it should be{where}")
        mends.append(f"multiply {what} by {factor}" if lost else f"divide {what} by {p.told(f)}")
    return Cause("factor of a parameter", "; ".join(told), "; ".join(mends), share)


def _entries(f: Found, rows: list[int]) -> str:
    """Which entries of a gradient, or columns of a matrix, are meant."""
    names = ", ".join(f.x_name(j) for j in rows[:4]) + (", ..." if len(rows) > 4 else "")
    one, many = ("column", "columns") if f.views[0].said.shape[1] > 1 else ("entry", "entries")
    return f"the {one if len(rows) == 1 else many} of {names}"


def _fitting(f: Found, j: int) -> Iterator[Power]:
    """What the derivative by one entry of x may be multiplied by, from the plainest on."""
    seen = [(v.at.x.reshape(-1), r) for v in f.views for r in _ratios(v, j)]
    if len(seen) < 3:
        return
    xs, ratios = np.array([x for x, _ in seen]), np.array([r for _, r in seen])
    if np.ptp(ratios) <= _VARIED * np.abs(ratios).max():
        return
    with np.errstate(all="ignore"):
        moved = [k for k in range(min(f.side, _SEARCHED)) if np.ptp(xs[:, k]) > _VARIED * np.abs(xs[:, k]).max()]
    single = [((k, a),) for k in moved for a in _POWERS]
    double = [((k, a), (i, b)) for k, i in itertools.combinations(moved, 2) for a in _POWERS[:4] for b in _POWERS[:4]]
    for plain in (True, False):
        for of in (*single, *double):
            with np.errstate(all="ignore"):
                left = ratios / np.prod([xs[:, k] ** float(a) for k, a in of], axis=0)
            times = float(np.median(left))
            if not np.isfinite(left).all() or not np.allclose(left, times, rtol=1e-5, atol=0) or not times:
                continue
            if abs(abs(times) - 1) < 1e-5:
                yield Power(float(np.sign(times)), of)
            elif not plain and len(of) == 1:
                yield Power(times, of)


def _ratios(v: Measured, j: int) -> list[float]:
    """By what the derivative by one entry of x is too large at a point, where that is one number and well known."""
    for k, way in enumerate(v.rows):
        if np.count_nonzero(way) == 1 and way[j]:
            sound = v.usable[k] & ~v.kinks[k] & (np.abs(v.true[k]) > 1e5 * v.bar[k]) & (v.told[k] != 0)
            ratios = np.real(v.told[k, sound] / v.true[k, sound])
            if ratios.size and np.allclose(ratios, np.median(ratios), rtol=1e-5, atol=0):
                return [float(np.median(ratios))]
            return [] if not ratios.size else [np.nan]
    return []
