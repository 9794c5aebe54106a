"""What a wrong derivative is instead: a table of guesses, each a way to mend the matrix and a check that it is mended.

A guess is told if what it makes of the derivative agrees with differences at every point that was looked at.
To add one, write a function that takes what was found and returns a `Cause` or None, and put it in the table: the more
particular before the more general.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from gradwright.verify.diagnosis.scaling import CHOSEN, ENOUGH
from gradwright.verify.pairs.at_hand import Number
from gradwright.verify.pairs.measured import PARTS, Measured
from gradwright.verify.pairs.pair import HESSIAN, HVP, Pair


class Cause(NamedTuple):
    """What a derivative is instead.

    Attributes:
        name: in a word or two. sentence: what it is, to follow the function's name. mend: what to do about it.
        share: how much of the error it explains, from 0 to 1.
        factor: by what it is too large, where that is one number.
    """

    name: str
    sentence: str
    mend: str
    share: float = 1.0
    factor: float | None = None


@dataclass(frozen=True, eq=False)
class Found:
    """What is known of a wrong derivative.

    Attributes:
        pair: it. views: what was found at each point. numbers: what the functions have at hand, by name.
    """

    pair: Pair
    views: Sequence[Measured]
    numbers: Sequence[Number]

    @property
    def df(self) -> str:
        """The name of the derivative."""
        return self.pair.names[1]

    @property
    def second(self) -> bool:
        """Whether both sides of the matrix belong to x."""
        return self.pair.kind in (HESSIAN, HVP) and all(v.said is not None for v in self.views)

    @property
    def whole(self) -> bool:
        """Whether the derivative is known entry by entry, not along some ways alone."""
        return all(v.said is not None for v in self.views)

    def share(self, mend: Callable[..., Any], doubt: float = 2.0) -> float:
        """How much of the error is gone at the worst of the points with the derivative mended."""
        with np.errstate(all="ignore"):
            misses = [v.miss(mend(v), doubt) for v in self.views]
        return max(0.0, 1 - max(misses, default=1.0))

    def rows(self) -> list[int]:
        """The entries of x that are wrong somewhere, as far as they were moved one by one."""
        found: set[int] = set()
        for v in self.views:
            for k in np.flatnonzero(v.wrong.any(axis=1)):
                moved = np.flatnonzero(v.rows[k])
                found |= {int(moved[0])} if moved.size == 1 else set()
        return sorted(found)

    def columns(self) -> list[int]:
        """The entries of the value whose derivatives are wrong somewhere."""
        return sorted({int(i) for v in self.views for i in np.flatnonzero(v.wrong.any(axis=0))})

    @property
    def side(self) -> int:
        """How many entries x has."""
        return int(self.views[0].at.x.size)

    def x_name(self, j: int) -> str:
        """An entry of x."""
        shape = self.views[0].at.x.shape
        if len(self.pair.parameters) == self.side:
            return self.pair.parameters[j]
        return f"x[{', '.join(map(str, np.unravel_index(j, shape)))}]" if shape else "x"


def whole(v: Measured) -> Any:
    """The derivative, or what is known of it."""
    return v.told if v.said is None else v.said


# ---- zero, and not a number ------------------------------------------------------------------------------


def not_a_number(f: Found) -> Cause | None:
    """There are entries that are not finite where the value is smooth."""
    bad = [v for v in f.views if (v.wrong & ~np.isfinite(v.told)).any()]
    if not bad:
        return None
    return Cause("not finite", "is not finite where the value and its slopes are", "give the limit there: np.where "
                 "with a safe argument on both sides")  # fmt: skip


def zero(f: Found) -> Cause | None:
    """All is zero."""
    if any(whole(v).any() for v in f.views):
        return None
    return Cause("zero", "is all zero", "return what was computed: of an array to be filled (`grad = ...` binds a new "
                 "name, `grad[:] = ...` fills it)")  # fmt: skip


# ---- a factor --------------------------------------------------------------------------------------------


def sign(f: Found) -> Cause | None:
    """It is the negative."""
    share = f.share(lambda v: -whole(v))
    if share < ENOUGH:
        return None
    return Cause("sign", "has the wrong sign: it is that of -f, as of the negative of a log-likelihood or of what is "
                 "to be maximised", f"negate what `{f.df}` returns (or the value, if it is that which is negated)",
                 share, -1.0)  # fmt: skip


def factor(f: Found) -> Cause | None:
    """It is a constant times what it should be."""
    k = _times([v.told for v in f.views], f.views)
    if k is None or abs(k - 1) < 1e-12 or abs(k) < 1e-9:
        return None
    share = f.share(lambda v: whole(v) / k, 3.0)
    if share < ENOUGH:
        return None
    sentence, mend = _told(k, f)
    half = f.pair.kind in (HESSIAN, HVP) and abs(k - 0.5) < 1e-5
    name = "half" if half else "sign" if abs(k + 1) < 1e-5 else "factor"
    return Cause(name, sentence, mend, share, k)


def _times(told: Sequence[Any], views: Sequence[Measured]) -> float | None:
    """By what the derivative is too large, if by one number; None if all is 0."""
    top = bottom = 0.0
    for t, v in zip(told, views, strict=True):
        sound = v.usable & ~v.kinks & np.isfinite(t)
        weights = 1 / np.maximum(v.allowed[sound], 1e-300) ** 2
        top += float(np.sum(np.real(np.conj(v.true[sound]) * t[sound]) * weights))
        bottom += float(np.sum(np.abs(v.true[sound]) ** 2 * weights))
    return top / bottom if bottom > 0 and np.isfinite(top / bottom) else None


_DEGREES = "(180 / pi)"
CONSTANTS = (
    ("2", 2.0), ("3", 3.0), ("4", 4.0), (_DEGREES, 180 / np.pi), ("ln 10", np.log(10)),
    ("ln 2", np.log(2)), ("2 pi", 2 * np.pi), ("pi", np.pi), ("sqrt(2)", np.sqrt(2)),
)  # fmt: skip


def _told(k: float, f: Found) -> tuple[str, str]:
    """That it is k times what it should be, with the name of that number; and what to do about it."""
    size, minus = abs(k), "-" if k < 0 else ""
    half = {0.5: "half", 2: "twice"}.get(round(k, 5), "")
    half = f"{half} what it should be" if half and f.second else ""
    for name, value in (*((n.name, n.value) for n in f.numbers if n.size), *CONSTANTS,
                        *((n.name, n.value) for n in f.numbers if not n.size)):  # fmt: skip
        counted = name.startswith("len(")
        for form, number in ((f"{name}", value), (f"1 / {name}", 1 / value if value else np.inf),
                             (f"{name} ** 2", value**2), (f"1 / {name} ** 2", value**-2 if value else np.inf)):
            if abs(size - number) <= 3e-7 * size and abs(number - 1) > 1e-9:
                why = ": a mean where a sum belongs" if counted and number < 1 else ""
                why = ": a sum where a mean belongs" if counted and number == value else why
                why = ": degrees for radians" if name == _DEGREES else why
                form = form.replace("(a number in it)", name).replace("a number in it", f"{value:.6g}")
                form = form.strip("()") if form == _DEGREES else form
                same = form.strip("()") == f"{size:.6g}"
                by = half or f"{minus}{size:.6g}{'' if same else f' = {minus}{form}'} times what it should be"
                much = form.startswith("1 / ") or size == 0.5
                number_of = f"{minus}2" if size == 0.5 else f"{minus}{form.removeprefix('1 / ')}"
                mend = f"multiply what `{f.df}` returns by {number_of}" if much else (
                    f"divide what `{f.df}` returns by {minus}{form}")  # fmt: skip
                return f"is {by}{why}", mend
    whole_number = next((w for w in (size, 1 / size) if w > 1.5 and abs(w - round(w)) < 1e-6 * w), None)
    why = f": as a mean of {round(1 / size)} where a sum belongs" if whole_number and size < 1 else ""
    why = f": as a sum of {round(size)} where a mean belongs" if whole_number and size > 1 else why
    return (f"is {half or f'{k:.8g} times what it should be'}{why}",
            f"divide what `{f.df}` returns by {k:.8g}; a factor of the value is missing in it, or has come in twice")


# ---- the right numbers in the wrong places ---------------------------------------------------------------


def transposed(f: Found) -> Cause | None:
    """Two axes of the same length are exchanged."""
    if not f.whole:
        return None
    v = f.views[0]
    shape = (*v.at.x.shape, *v.out)
    for a, b in itertools.combinations(range(len(shape)), 2):
        if shape[a] != shape[b] or shape[a] == 1:
            continue
        share = f.share(lambda v, a=a, b=b: v.said.reshape(shape).swapaxes(a, b).reshape(v.said.shape))
        if share >= ENOUGH:
            return Cause("transposed", "is transposed: a row belongs to each entry of the value, a column to x's",
                         f"return the transpose, `{f.df}(...).T` (or say col_deriv=True where there is that)", share)
    if len(v.out) == 0 and v.at.x.ndim == 1:
        for a in (k for k in range(2, f.side) if f.side % k == 0):
            share = f.share(lambda v, a=a: v.said.reshape(a, -1).T.reshape(-1, 1))
            if share >= ENOUGH:
                b = f.side // a
                return Cause("transposed", f"is in another order than x: that of the {a} x {b} array, where x is "
                             f"the {b} x {a} one, its transpose", "transpose before ravel(), or flatten x and it alike",
                             share)  # fmt: skip
    share = f.share(lambda v: v.said.T.reshape(-1).reshape(v.said.T.shape, order="F").T)
    if v.said.shape[0] > 1 < v.said.shape[1] and share >= ENOUGH:
        return Cause("transposed", "is filled by columns where rows belong", "reshape in C order", share)
    return None


def conjugate(f: Found) -> Cause | None:
    """It is the complex conjugate."""
    if not any(np.iscomplexobj(whole(v)) or np.iscomplexobj(v.true) for v in f.views):
        return None
    share = f.share(lambda v: np.conj(whole(v)))
    if share < ENOUGH:
        return None
    adjoint = f.pair.kind == "adjoint"
    return Cause("conjugate", "is not conjugated: it is the transpose, not the adjoint" if adjoint else
                 "is the complex conjugate of what it should be", "take the conjugate transpose, `A.conj().T @ w`"
                 if adjoint else "conjugate it", share)  # fmt: skip


def exchanged(f: Found) -> Cause | None:
    """Two entries of x, or two of the value, are exchanged; or all are moved by one, or in reverse order."""
    if not f.whole:
        return None
    rows, columns = f.rows(), f.columns()
    for which, wrong, axis in (("the entries", rows, 0), ("the rows", columns, 1)):
        if len(wrong) == 2 or (len(wrong) == 1 and axis == 0 and f.views[0].rows.shape[0] < f.side):
            pairs = [tuple(wrong)] if len(wrong) == 2 else [(wrong[0], k) for k in range(f.side)]
            for a, b in pairs:
                share = f.share(lambda v, a=a, b=b, axis=axis: _swapped(v.said, a, b, axis))
                if share >= ENOUGH:
                    what = f"{f.x_name(a)} and {f.x_name(b)}" if axis == 0 else f"value[{a}] and value[{b}]"
                    mend = f"exchange {which} {a} and {b}"
                    return Cause("exchanged", f"has {which} of {what} exchanged", mend, share)
    for axis, length in ((0, f.side), (1, f.views[0].said.shape[1])):
        if length < 3:
            continue
        for what, change in (("in reverse order", lambda m, axis: np.flip(m, axis)),
                             ("moved by one", lambda m, axis: np.roll(m, 1, axis)),
                             ("moved by one", lambda m, axis: np.roll(m, -1, axis))):  # fmt: skip
            share = f.share(lambda v, change=change, axis=axis: change(v.said, axis))
            if share >= ENOUGH:
                return Cause("exchanged", f"has its entries {what}", "look for an index that is off by one, or a slice "
                             "that goes backwards", share)  # fmt: skip
    return None


def _swapped(matrix: Any, a: int, b: int, axis: int) -> Any:
    order = np.arange(matrix.shape[axis])
    order[[a, b]] = order[[b, a]]
    return np.take(matrix, order, axis)


def block(f: Found) -> Cause | None:
    """Entries off the diagonal are zero that should not be: all, those of one triangle, or of a block."""
    if not f.whole or min(f.views[0].said.shape) < 2:
        return None
    for v in f.views:
        if v.wrong.any() and (np.abs(v.told[v.wrong]) > 0).any():
            return None  # something else is wrong, too
    wrong = {(j, i) for v in f.views for k, i in np.argwhere(v.wrong) if len(js := np.flatnonzero(v.rows[k])) == 1
             for j in [int(js[0])]}  # fmt: skip
    if not wrong or not f.second:
        if wrong and len({j for j, _ in wrong}) > 1 < len({i for _, i in wrong}):
            return Cause("block zero", f"has zeros where {len(wrong)} entries are none", "fill in the missing block")
        return None
    if any(i == j for i, j in wrong):
        return None
    triangle = "upper" if all(i > j for j, i in wrong) else "lower" if all(i < j for j, i in wrong) else ""
    mirrored = all((i, j) in wrong for j, i in wrong)
    if triangle and not mirrored:
        if f.pair.triangle:
            return None
        return Cause("triangle", f"has one triangle alone: the {triangle} one is zero", "fill in both triangles: "
                     "H + H.T - diag(diag(H))")  # fmt: skip
    some = sorted({j for j, _ in wrong})
    diagonal = all(not (v.said - np.diag(np.diag(v.said))).any() for v in f.views)
    what = "all off the diagonal" if diagonal else f"the cross block of x{some}"
    return Cause("block zero", f"has zeros for {what}, where the second derivatives are none", "fill in the second "
                 "derivatives by two different parameters, both ways (the matrix is symmetric)")  # fmt: skip


def unsymmetric(f: Found) -> Cause | None:
    """A Hessian whose symmetric part is right."""
    if not f.second:
        return None
    share = f.share(lambda v: (v.said + v.said.T) / 2)
    if share < ENOUGH:
        return None
    return Cause("not symmetric", "is not symmetric, though its symmetric part is right", "return (H + H.T) / 2", share)


# ---- some entries ----------------------------------------------------------------------------------------


def one_component(f: Found) -> Cause | None:
    """All that is wrong belongs to one entry of x, or to one of the value."""
    if not f.whole:
        return None
    rows, columns = f.rows(), f.columns()
    for wrong, total, axis in ((rows, f.side, 0), (columns, f.views[0].said.shape[1], 1)):
        if f.second and axis == 1:
            continue
        if total < 2 or len(wrong) != 1:
            continue
        j = wrong[0]
        k = _times([_only(v, j, axis) for v in f.views], [_cut(v, j, axis) for v in f.views])
        what = f"the entry of {f.x_name(j)}" if axis == 0 else f"the row of value[{j}]"
        if f.views[0].said.shape[1] > 1 and axis == 0:
            what = f"the column of {f.x_name(j)}"

        def mend(v: Measured, k: Any = k, j: int = j, axis: int = axis) -> Any:
            matrix = v.said.copy()
            matrix[(j,) if axis == 0 else (slice(None), j)] /= k
            return matrix

        if k is not None and abs(k) > 1e-9 and (share := f.share(mend, 3.0)) >= ENOUGH:
            if abs(k + 1) < 1e-6:
                return Cause("component sign", f"has the wrong sign in {what} alone", f"negate {what}", share)
            return Cause("component factor", f"is {k:.8g} times what it should be in {what} alone",
                         f"divide {what} by {k:.8g}", share)  # fmt: skip
        if all(not _only(v, j, axis).any() for v in f.views):
            return Cause("component zero", f"is zero in {what} alone", f"fill in {what}")
    return None


def one_entry(f: Found) -> Cause | None:
    """One entry of a matrix is wrong, by one factor."""
    rows, columns = f.rows(), f.columns()
    if not f.whole or len(rows) != 1 or len(columns) != 1 or min(f.views[0].said.shape) < 2:
        return None
    j, i = rows[0], columns[0]
    cells = [_cut(_cut(v, j, 0), i, 1) for v in f.views]
    k = _times([c.told for c in cells], cells)
    what = f"entry [{i}, {j}]"
    if not any(c.told.any() for c in cells):
        return Cause("component zero", f"is zero in {what} alone", f"fill in {what}")
    if k is None or abs(k) < 1e-9:
        return None

    def mend(v: Measured) -> Any:
        matrix = v.said.copy()
        matrix[j, i] /= k
        return matrix

    share = f.share(mend, 3.0)
    if share < ENOUGH:
        return None
    if abs(k + 1) < 1e-6:
        return Cause("component sign", f"has the wrong sign in {what} alone", f"negate {what}", share)
    return Cause("component factor", f"is {k:.8g} times what it should be in {what} alone", f"divide {what} by {k:.8g}",
                 share)  # fmt: skip


def component(f: Found) -> Cause | None:
    """All that is wrong belongs to one entry of x, or to one of the value; nothing else is known of it."""
    if not f.whole:
        return None
    rows, columns = f.rows(), f.columns()
    if len(rows) == 1 < f.side:
        j = rows[0]
        what = f"the {'entry' if f.views[0].said.shape[1] == 1 else 'column'} of {f.x_name(j)}"
        for k in (k for k in range(f.side) if k != j and all(np.array_equal(v.said[j], v.said[k]) for v in f.views)):
            return Cause("component", f"has in {what} that of {f.x_name(k)} once more", f"fill in {what}: the index is "
                         "another's", 0.9)  # fmt: skip
    elif len(columns) == 1 < f.views[0].said.shape[1] and not f.second:
        what = f"the row of value[{columns[0]}]"
    else:
        return None
    return Cause("component", f"is wrong in {what} alone", f"look at how {what} is computed", 0.9)


def _only(v: Measured, j: int, axis: int) -> Any:
    cut = _cut(v, j, axis)
    return cut.told


def _cut(v: Measured, j: int, axis: int) -> Measured:
    """What belongs to an entry of x, or of the value, alone."""
    if axis == 0:
        keep = np.array([np.count_nonzero(r) == 1 and r[j] != 0 for r in v.rows])
        parts = {n: getattr(v, n)[keep] for n in PARTS}
        return replace(v, rows=v.rows[keep], **parts)
    return replace(v, **{n: getattr(v, n)[:, [j]] for n in PARTS})


def per_component(f: Found) -> Cause | None:
    """Each entry of x, or of the value, has a constant of its own: a scaled parameter, weights that were forgotten."""
    if not f.whole or len(f.views) < 2:
        return None
    n, m = f.views[0].said.shape
    for axis, length in ((0, n), (1, m)):
        if length < 2:
            continue
        ks = np.ones(length)
        for j in range(length):
            cuts = [_cut(v, j, axis) for v in f.views]
            k = _times([c.told for c in cuts], cuts) if any(c.wrong.any() for c in cuts) else 1.0
            ks[j] = k if k is not None and abs(k) > 1e-9 else 1.0
        if np.ptp(ks) < 1e-7 * np.abs(ks).max():
            continue
        scales = ks[:, None] if axis == 0 else ks[None]
        share = f.share(lambda v, scales=scales: v.said / scales, 3.0)
        told = ", ".join(f"{k:.4g}" for k in ks[:6]) + (", ..." if length > 6 else "")
        if share >= CHOSEN:
            if (np.isclose(np.abs(ks), 1, rtol=1e-6)).all():
                return Cause("component sign", f"has the wrong sign in some entries: [{told}] times what is due",
                             "negate these", share)  # fmt: skip
            of = "x" if axis == 0 else "the value"
            return Cause("scaled parameter" if axis == 0 else "weights", f"is [{told}] times what it should be, entry "
                         f"by entry of {of}: the chain rule of a scaled {of} is forgotten, or applied twice",
                         f"multiply by what each entry of {of} is scaled with", share)  # fmt: skip
        if f.second and axis == 0:
            roots = np.sqrt(np.abs(np.array([_diagonal(f, j) for j in range(length)])))
            share = f.share(lambda v, r=roots: v.said / np.outer(r, r), 3.0) if (roots > 0).all() else 0.0
            if share >= CHOSEN:
                told = ", ".join(f"{k:.4g}" for k in roots[:6])
                return Cause("scaled parameter", f"is [{told}] times what it should be by each of x: the chain rule of "
                             "scaled parameters is forgotten, or applied twice", "multiply rows and columns by the "
                             "scales", share)  # fmt: skip
    return None


def _diagonal(f: Found, j: int) -> float:
    """By what the j-th second derivative is too large."""
    for v in f.views:
        for k, r in enumerate(v.rows):
            if np.count_nonzero(r) == 1 and r[j] and v.usable[k, j] and v.true[k, j]:
                return float(np.real(v.told[k, j] / v.true[k, j]))
    return 0.0


def region(f: Found) -> Cause | None:
    """Some points are right, others wrong, and a number parts them: one entry of x, or its sign."""
    bad = [v for v in f.views if v.wrong.any()]
    good = [v for v in f.views if not v.wrong.any()]
    if not bad or len(good) < 2:
        return None  # one may be right by chance: where an entry of x is 0 or 1
    for j in range(min(f.side, 50)):
        a, b = ([float(v.at.x.reshape(-1)[j]) for v in some] for some in (bad, good))
        if max(a) < min(b) or min(a) > max(b):
            side, edge = ("below", (max(a) + min(b)) / 2) if max(a) < min(b) else ("above", (min(a) + max(b)) / 2)
            near, far = (max(a), min(b)) if side == "below" else (max(b), min(a))
            edge = 0.0 if near * far < 0 else edge
            return Cause("region", f"is wrong at {len(bad)} of {len(f.views)} points, those with {f.x_name(j)} {side} "
                         f"about {edge:.3g}, and right at the others", "look at the branch that is taken there", 0.5)
    return None


Guess = Callable[[Found], Cause | None]


def guesses(f: Found, table: Sequence[Guess]) -> Iterator[Cause]:
    """What fits, in the order of the table."""
    for guess in table:
        cause = guess(f)
        if cause is not None:
            yield cause
