"""`judge`: whether a function and its derivative agree, and if not, what the derivative is instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradwright.verify.diagnosis.records import to_digits
from gradwright.verify.pairs import causes, variables
from gradwright.verify.pairs.at_hand import numbers
from gradwright.verify.pairs.calls import Budget, Calls
from gradwright.verify.pairs.causes import Cause, Found, Guess, guesses
from gradwright.verify.pairs.conduct import by_itself, of_another_point, own_differences, short
from gradwright.verify.pairs.intent import on_purpose, scaled
from gradwright.verify.pairs.judgement import Entry, Judgement, Verdict
from gradwright.verify.pairs.look import Look, linear, look
from gradwright.verify.pairs.measured import Measured
from gradwright.verify.pairs.pair import ADJOINT, GRADIENT, HESSIAN, HVP, JACOBIAN, OBJECTIVE, Pair, Point
from gradwright.verify.pairs.powers import power
from gradwright.verify.pairs.source import Source, declared, source_of

TABLE: tuple[Guess, ...] = (
    causes.not_a_number, causes.zero, causes.sign, causes.factor, variables.probability, causes.transposed,
    causes.conjugate, causes.unsymmetric, causes.block, causes.exchanged, variables.other_variable,
    variables.nearly, variables.bounded, power, causes.one_entry,
    causes.one_component, causes.per_component, variables.simple_term, causes.region, causes.component, variables.term,
)  # fmt: skip
_BLIND = 1e-3
"""A derivative that agrees, but where an error of this part of it would not be seen, is noisy."""
_OF_RUN = 1e-8
_TINY = 1e-300
"""Smaller numbers stand in memory that nobody has written to."""
_MORE = 3
"""So many points it takes to tell a cause."""


def judge(pair: Pair, budget: Budget = Budget()) -> Judgement:  # noqa: B008 - it is frozen
    """Compare a derivative with differences of its value at the points of the pair.

    Differences stay inside the bounds and are one-sided at them. At a kink whatever lies between the slopes to the two
    sides is right. How far a difference may be off is estimated, from the noise of the value on; what is not further
    off than that, and than 3e-7 of the derivative, is right.

    Args:
        pair: what is judged. budget: what it may cost; to tell a cause may cost as much again.

    Returns:
        The `Judgement`. Whatever the pair's functions raise at other points than its own counts as no number.
    """
    if not pair.points:
        return _told(pair, Verdict.NOT_CALLED, f"`{pair.names[1]}` was never called, and was not judged")
    if pair.kind == OBJECTIVE:
        with np.errstate(all="ignore"):
            return _objective(pair, budget)
    source = source_of(pair)
    if reason := declared(pair, source):
        return _told(pair, Verdict.ON_PURPOSE, f"`{pair.names[1]}` is declared to be no derivative: {reason}",
                     cause="declared")  # fmt: skip
    with np.errstate(all="ignore"):
        return _Course(pair, budget, source).judged()


def _told(pair: Pair, verdict: Verdict, sentence: str, **more: Any) -> Judgement:
    notes = (*pair.notes, *more.pop("notes", ()))
    return Judgement(verdict, sentence, name=pair.names[1], where=pair.where, door=pair.door, notes=notes, **more)


class _Course:
    """One pair, being judged."""

    def __init__(self, pair: Pair, budget: Budget, source: Source, objective: bool = False) -> None:
        self.pair, self.source, self.objective = pair, source, objective
        self.calls = Calls(pair, budget)
        self.df = f"`{pair.names[1]}`"
        self.notes: list[str] = []
        self.trusted = True

    def judged(self) -> Judgement:
        """The verdict on it."""
        pair = self.pair
        if pair.kind in (HESSIAN, HVP) and pair.gradient is not None and pair.value is not None:
            self._trust(pair)
        numbered = _spread(len(pair.points), self.calls.budget.points)
        looks: list[Look] = []
        for k, number in enumerate(numbered):
            looks.append(look(self.calls, number, self.calls.left // (len(numbered) - k), self.trusted))
        return self.said(_by_the_run(looks))

    def said(self, looks: list[Look]) -> Judgement:
        """The verdict on what was found."""
        misshapen = next((v for v in looks if v.shape), None)
        seen = [v for v in looks if v.view is not None]
        wrong = [v for v in seen if v.view is not None and v.view.wrong.any()]
        if misshapen is not None and not wrong:
            return self._misshapen(misshapen)
        if not seen:
            return self.told(Verdict.NOT_SHOWN, f"{self.df} was not judged: {_reasons(looks)}",
                             mend="give a point where value and derivative are defined, or functions that can be "
                             "called again")  # fmt: skip
        if self.pair.kind == ADJOINT and not linear(self.calls, seen[0].number):
            return self.told(Verdict.NOT_SHOWN, f"{self.df} was not judged: `{self.pair.names[0]}` is not linear, and "
                             "has no adjoint", cause="not linear")  # fmt: skip
        self.notes += [f"not compared at point {v.number}: {v.why}" for v in looks if v.why and not v.shape][:2]
        return self._wrong(looks, wrong) if wrong else self._right(seen)

    # ---- right -----------------------------------------------------------------------------------------------

    def _right(self, looks: list[Look]) -> Judgement:
        views = [v.view for v in looks if v.view is not None]
        if not any(v.usable.any() for v in views):
            where = "has a pole or jumps there" if any(v.leaps.any() for v in views) else "has no slope that is known"
            return self.told(Verdict.NOT_SHOWN, f"{self.df} was not judged: the value {where}", cause="pole")
        cause, notes = by_itself(self.calls, looks)
        self.notes += notes
        if cause is not None:
            return self.told(Verdict.WRONG, f"{self.df} {cause.sentence}", cause=cause.name, mend=cause.mend,
                             point=looks[0].number)  # fmt: skip
        best = min((v for v in views if v.usable.any()), key=_seen)  # near an optimum little is seen, elsewhere more
        seen = _seen(best)
        digits = max(0, int(-np.log10(max(seen, 1e-16))))
        kinks = any(v.kinks.any() for v in views)
        if kinks:
            self.notes.append("the value has a kink at some of the points: what it says lies between the slopes there")
        if any(v.leaps.any() for v in views):
            self.notes.append("where the value jumps or has a pole, it was not compared")
        more = {"cause": "kink" if kinks else "", "seen": seen, "sampled": self._sampled(views)}
        if seen > _BLIND:
            return self.told(Verdict.NOISY, f"{self.df} agrees as far as can be told, to {digits} digits: the value "
                             f"has noise of {float(np.max(best.grain, initial=0.0)):.1g}, as of an inner solver's "
                             "tolerance, of float32 or of random numbers", mend="a smaller tolerance, float64, or a "
                             "fixed seed would show more", view=best, **{**more, "cause": "noise"})  # fmt: skip
        at = f"at {len(views)} points" if len(views) > 1 else f"at {self._x} = {short(views[0].at.x)}"
        return self.told(Verdict.RIGHT, f"{self.df} is right {at}, to {digits} digits", view=best, **more)

    def _sampled(self, views: Sequence[Measured]) -> str:
        whole = max(int(v.at.free.sum()) for v in views)
        single = min(int((np.count_nonzero(v.rows, axis=1) == 1).sum()) for v in views)
        if single >= whole or (self.pair.kind == ADJOINT and views[0].said is not None):
            return ""
        ways = max(len(v.rows) for v in views) - single
        of = f"{single} of {whole} entries of x were moved one by one" if single else f"x has {whole} entries"
        if self.pair.elementwise:
            return f"{of}, all at once beside, where none moves another: {self.calls.made} calls"
        return f"{of}, all together along {ways} random ways: {self.calls.made} calls of {self.calls.budget.calls}"

    # ---- wrong -----------------------------------------------------------------------------------------------

    def _wrong(self, looks: list[Look], wrong: list[Look]) -> Judgement:
        views = [v.view for v in looks if v.view is not None]
        rebound = self.source.rebound
        anew = [v.view.said if v.fresh is None else v.fresh for v in looks if v.view is not None]
        if rebound and all(said is None or np.abs(said).max(initial=0.0) < _TINY for said in anew):
            return self._verdict(Verdict.WRONG, Cause("in-place result ignored", f"binds a new array to `{rebound}` "
                                 "and leaves the one it was given as it was", f"fill it: `{rebound}[:] = ...`"), views)
        stale = of_another_point(self.calls, wrong)
        if stale is not None:
            return self._verdict(Verdict.WRONG, stale, views)
        found = Found(self.pair, self._more(views), numbers(self.pair.derivative, self.pair.value))
        for meant in (on_purpose(found, self.source, self.objective), own_differences(self.calls, views)):
            if meant is not None:
                return self._verdict(Verdict.ON_PURPOSE, meant, views)
        if (scale := scaled(found, self.source, self.objective)) is not None:
            return self._verdict(Verdict.UP_TO_SCALE, scale, views)
        if any(v.turned for v in wrong):
            return self._misshapen(next(v for v in wrong if v.turned))
        cause = next(guesses(found, TABLE), None)
        if cause is None:
            return self._verdict(Verdict.WRONG, Cause("", "is not the derivative", ""), views)
        if self.pair.convention and cause.name in variables.BY_NAME and "not by" in cause.sentence:
            return self._verdict(Verdict.OTHER_VARIABLE, cause, views)
        return self._verdict(Verdict.WRONG, cause, views)

    def _more(self, views: list[Measured]) -> list[Measured]:
        """The same with more points near them, where there are too few to tell a cause by."""
        pair, near = self.pair, [*views]
        right = [v for v in views if not v.wrong.any()]
        missing = _MORE + 1 - len({v.at.x.tobytes() for v in views})
        beside = [views[0]] * (missing if missing > 1 else 0) + (right if len(right) == 1 else [])
        if pair.kind == ADJOINT or not beside:
            return near
        generator = np.random.default_rng(23)
        made = []
        for v in beside:
            base, here = pair.points[v.number], v.at
            x = np.array(base.x, np.float64)
            far = generator.uniform(*((0.7, 1.3) if v is views[0] else (0.95, 1.05)), x.shape)
            to = np.where(x == 0, 0.05 * generator.uniform(0.5, 1, x.shape), x * far)
            to = np.where(here.free, np.clip(to.reshape(-1), here.low, here.high), x.reshape(-1)).reshape(x.shape)
            made.append(Point(to, base.extra, base.v))
        budget = self.calls.budget
        there = Calls(replace(pair, points=tuple(made)), replace(budget, calls=max(self.calls.left, budget.calls // 2)))
        for number in range(len(made)):
            found = look(there, number, there.left // (len(made) - number), self.trusted).view
            if found is not None and found.usable.any() and found.out == views[0].out:
                near.append(found)
        self.calls.made += there.made
        return near

    def _misshapen(self, v: Look) -> Judgement:
        out = "the transpose of" if v.turned else "not of"
        what = v.shape if v.view is not None or v.turned else f"{v.shape}, so that it could not be compared"
        name = "transposed" if v.turned else "shape"
        mend = f"return `{self.pair.names[1]}(...).T`" if v.turned else "return exactly that shape"
        return self.told(Verdict.WRONG, f"{self.df} is {out} the shape that is expected: {what}"
                         + (", with the right numbers" if v.view is not None else ""), cause=name, mend=mend,
                         point=v.number, view=v.view)  # fmt: skip

    def _verdict(self, verdict: Verdict, cause: Cause, views: Sequence[Measured]) -> Judgement:
        view, entry = _worst(views)
        said, measured = to_digits(np.real(entry.said), np.real(entry.measured), 8)
        if np.imag(entry.said) or np.imag(entry.measured):
            said, measured = f"{entry.said:.6g}", f"{entry.measured:.6g}"
        at = self.pair.points[view.number]
        call = f", call {at.call} of the run" if at.call else ""
        index = f"entry {list(entry.index)} " if entry.index else "it "
        sentence = (f"{self.df} {cause.sentence}: {index}is {said} where differences say {measured} ± {entry.bar:.1g}, "
                    f"at {self._x} = {short(at.x)}{call}")  # fmt: skip
        return self.told(verdict, sentence, cause=cause.name, mend=cause.mend, view=view, worst=entry,
                         sampled=self._sampled(views))  # fmt: skip

    @property
    def _x(self) -> str:
        """What x is called."""
        names = self.pair.parameters
        return f"[{', '.join(names[:4])}{', ...' if len(names) > 4 else ''}]" if names else "x"

    def told(self, verdict: Verdict, sentence: str, view: Measured | None = None, **more: Any) -> Judgement:
        """A judgement, with what was measured at one of the points."""
        if view is not None:
            worst = more.setdefault("worst", _worst([view])[1])
            row = _row(view)
            more |= {"point": more.get("point", view.number), "said": view.told, "measured": view.true, "bar": view.bar,
                     "steps": view.steps[row], "ladder": view.ladders[row][:, _column(view)]}  # fmt: skip
            more["worst"] = worst
        return _told(self.pair, verdict, sentence, calls=self.calls.made, notes=tuple(self.notes), **more)

    def _trust(self, pair: Pair) -> None:
        """Judge the gradient first: a Hessian is not blamed for what is wrong with that."""
        points = tuple(replace(p, returned=None, v=None) for p in pair.points)
        gradient = replace(pair, kind=GRADIENT, derivative=pair.gradient or pair.derivative, gradient=None, triangle="",
                           notes=(), points=points)  # fmt: skip
        budget = replace(self.calls.budget, calls=self.calls.budget.calls // 4, points=2)
        found = _Course(gradient, budget, Source(None, None, "")).judged()
        self.calls.made += found.calls
        self.trusted = found.verdict is not Verdict.WRONG
        if not self.trusted:
            self.notes.append("the gradient that was handed over beside it is wrong: this is compared with second "
                              "differences of the value")  # fmt: skip


def _objective(pair: Pair, budget: Budget) -> Judgement:
    """The gradient of an objective by its value, where there is one, and the Hessian's diagonal by the gradient."""
    source = source_of(pair)
    if reason := declared(pair, source):
        return _told(pair, Verdict.ON_PURPOSE, f"`{pair.names[1]}` is declared to be no derivative: {reason}",
                     cause="declared")  # fmt: skip

    def part(k: int) -> Any:
        return lambda x, *extra: np.asarray(pair.derivative(x, *extra)[k])

    def points(k: int) -> tuple[Point, ...]:
        returned = [None if p.returned is None else p.returned[k] for p in pair.points]
        return tuple(replace(p, returned=r, value=None) for p, r in zip(pair.points, returned, strict=True))

    f, df = pair.names
    found = []
    if pair.value is not None:
        value = pair.value
        gradient = replace(pair, kind=GRADIENT, value=lambda x, *e: np.sum(value(x, *e)), derivative=part(0),
                           points=points(0), names=(f, f"the gradient of {df}"))  # fmt: skip
        found.append(_Course(gradient, replace(budget, calls=budget.calls // 2), source, True).judged())
    if not found or found[0].verdict is not Verdict.WRONG:
        second = replace(pair, kind=JACOBIAN, value=part(0), derivative=part(1), points=points(1), elementwise=True,
                         names=(f"the gradient of {df}", f"the Hessian of {df}"))  # fmt: skip
        found.append(_Course(second, budget, source, True).judged())
    found[-1] = _boosted(pair, found[-1])
    order = [Verdict.WRONG, Verdict.NOT_SHOWN, Verdict.NOISY, Verdict.ON_PURPOSE, Verdict.UP_TO_SCALE, Verdict.RIGHT]
    worst = min(found, key=lambda j: order.index(j.verdict) if j.verdict in order else len(order))
    return replace(worst, name=df, calls=sum(j.calls for j in found))


def _boosted(pair: Pair, found: Judgement) -> Judgement:
    """The same, where a Hessian that is right is none that a step can be divided by."""
    if pair.value is None and found.cause == "sign":
        return replace(found, sentence=f"{found.sentence}; a step is -gradient / Hessian, so one of them leads uphill")
    if found.verdict is not Verdict.RIGHT or found.said is None:
        return found
    if not np.any(found.said):
        return replace(found, verdict=Verdict.WRONG, cause="zero Hessian", sentence=f"{found.sentence}, but it is 0: "
                       "steps divide by it", mend="return a bound in its place, np.ones_like(gradient)")  # fmt: skip
    if np.all(np.real(found.said) < 0):
        return replace(found, verdict=Verdict.WRONG, cause="sign", sentence=f"{found.sentence}, but negative "
                       "everywhere: they are those of what is to be maximised", mend="negate both")  # fmt: skip
    return found


def _by_the_run(looks: list[Look]) -> list[Look]:
    """The same, with as much room near an optimum as is nothing beside the derivative elsewhere in the run."""
    views = [v.view for v in looks if v.view is not None]
    plain, own = (max((float(np.max(np.where(v.usable, np.abs(v.true) / by(v), 0.0), initial=0.0)) for v in views),
                      default=0.0) for by in (_lengths, _units))  # fmt: skip
    return [v if v.view is None else replace(v, view=replace(v.view, allowed=v.view.allowed + _OF_RUN * np.minimum(
            plain * _lengths(v.view), own * _units(v.view)))) for v in looks]  # fmt: skip


def _lengths(v: Measured) -> Any:
    return np.linalg.norm(v.rows, axis=1)[:, None]


def _units(v: Measured) -> Any:
    """How long the ways are if each entry of x is measured by its size."""
    return np.max(np.abs(v.rows / v.at.sizes), axis=1)[:, None]


# ---- what is told --------------------------------------------------------------------------------------------


def _spread(n: int, most: int) -> list[int]:
    """So many of n points, from the first to the last."""
    return sorted({round(k) for k in np.linspace(0, n - 1, min(n, most))})


def _reasons(looks: Sequence[Look]) -> str:
    return "; ".join(dict.fromkeys(v.why for v in looks if v.why)) or "there is no point"


def _seen(v: Measured) -> float:
    """How small an error is told, as a part of the largest entry."""
    lengths = np.linalg.norm(v.rows, axis=1)[:, None]
    with np.errstate(all="ignore"):
        room = float(np.max(np.where(v.usable & ~v.kinks, v.allowed / lengths, 0.0), initial=0.0))
        largest = np.maximum(np.abs(v.true), np.abs(v.told)) / lengths
        scale = float(np.max(np.where(v.usable, largest, 0.0), initial=0.0))
        size = scale or float(np.max(np.abs(v.grain), initial=0.0)) or 1.0
    return room / size if scale else min(room, 1e-7)


def _ratios(v: Measured) -> Any:
    with np.errstate(all="ignore"):
        off = np.where(np.isfinite(v.told), np.abs(v.told - v.true), np.inf) / np.maximum(v.allowed, 1e-300)
    single = (np.count_nonzero(v.rows, axis=1) == 1)[:, None]
    return np.where(v.usable, np.where(v.wrong, 1e6, 1.0) * np.where(single, 1e3, 1.0) * np.minimum(off, 1e30), -1.0)


def _row(v: Measured) -> int:
    return int(np.unravel_index(np.argmax(_ratios(v)), v.told.shape)[0])


def _column(v: Measured) -> int:
    return int(np.unravel_index(np.argmax(_ratios(v)), v.told.shape)[1])


def _worst(views: Sequence[Measured]) -> tuple[Measured, Entry]:
    """The entry that is furthest off for what may be, and of which point."""
    view = max(views, key=lambda v: float(_ratios(v).max(initial=-1.0)))
    k, i = _row(view), _column(view)
    way = view.rows[k]
    index: tuple[int, ...] = ()
    if np.count_nonzero(way) == 1:
        of = np.unravel_index(int(np.flatnonzero(way)[0]), view.at.x.shape) if view.at.x.ndim else ()
        if view.told.shape[1] > 1:
            index = tuple(int(n) for n in np.unravel_index(i, view.out))
        index += tuple(int(n) for n in of)
    return view, Entry(index, view.told[k, i].item(), view.true[k, i].item(), float(view.bar[k, i]))
