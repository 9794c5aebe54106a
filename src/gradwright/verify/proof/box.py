"""Box proofs: over whole intervals, the distance of a rule from the derivative of its formula, with the bound reached.

A box is divided until the bound is as small as is asked, or there are as many boxes as may be. On each box the error is
a Taylor series about its middle, whose last coefficient is that of every point of the box at once: the mean value form,
to a higher order. Where a condition is open, at a kink, boxes are divided until little is left, and that is named.

In several variables the series is taken in directions. Each term of degree k is a homogeneous polynomial of the
distances d from the middle of a box. Where the i-th is the largest, it is at most that of d/d_i, a polynomial of degree
k in each of the others, between -1 and 1; and such a polynomial is at most the Lebesgue constant of points there times
its largest value at these points. So a bound along finitely many lines, each of which ball arithmetic takes exactly, is
one for the box.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count, product
from math import cos, pi
from typing import Any

import numpy as np

from gradwright.base.errors import NotProvedError
from gradwright.engine.base import TensorBase
from gradwright.function.contract.surrogate import reason_of
from gradwright.ops.declare import Op
from gradwright.verify.numeric.jacobian import unbound
from gradwright.verify.proof import series
from gradwright.verify.proof.balls import Balls, balls, conditions, exactly
from gradwright.verify.proof.errors_of_rules import FAILURES, compared, linear, why_not
from gradwright.verify.proof.point import (
    DISPROVED,
    DOUBLES,
    NOT_PROVED,
    PROVED,
    Proof,
    confirmed,
    cotangent,
    name_of,
    read,
    upper,
)
from gradwright.verify.proof.series import flint, working

BITS = 128
_GOLDEN = 0.618034
"""How far into the first side of a box a point is taken; into the second it is twice that, less 1, and so on."""
Sides = tuple[tuple[float, float], ...]
"""The interval of each number that moves."""


@dataclass(frozen=True)
class Found:
    """What is known on one box: the largest and the least size of an error, and what is open."""

    sides: Sides
    bound: float
    least: float
    doubles: bool
    left: str

    @property
    def settled(self) -> bool:
        """Whether the bound holds by a series: no condition is open, and nothing infinite."""
        return not self.left


def prove_on(f: Callable[..., Any], *inputs: Any, goal: float = 1e-12, boxes: int = 1000, order: int = 0,
             bits: int = BITS, name: str | None = None, **static: Any) -> Proof:  # fmt: skip
    """Whether the backward of ``f`` is the derivative of its forward all over a box, with a bound on the error.

    Args:
        f: as in `gradwright.verify.prove`.
        inputs: its arguments, of which pairs ``(low, high)``, of numbers or of tensors of one shape, are boxes; the
            derivatives by these are proved. All else is handed on as it is.
        goal: the bound at which to stop.
        boxes: into how many boxes to divide at most.
        order: of the Taylor series on each; 1 is the mean value form; by default 8, 4 and 2 for one, two and three
            numbers that move, 1 for more.
        bits: with how many bits balls compute.
        name: what the proof calls it.
        static: further arguments of ``f``; if one is called as those here, ``functools.partial(f, order=2)``.

    >>> print(prove_on(gw.tanh, (-2.0, 2.0)))
    tanh: proved on [-2, 2]: error below ..., with ... boxes

    Cotangents are 1 for a result that is one number, else random ones up to 2; and backward must be linear in them all
    over the box.
    """
    f, static = unbound(f, static)
    pairs = [pair(x) for x in inputs]
    ends = [x if p is None else p[0] for x, p in zip(inputs, pairs, strict=True)]
    where = "on " + " x ".join(f"[{_number(p[0])}, {_number(p[1])}]" for p in pairs if p)
    label = name or name_of(f)
    if reason := reason_of(f):
        meant = f"its gradient is declared to be no derivative: {reason}"
        return Proof(label, NOT_PROVED, where, reason=meant)
    call, arrays, moving = read(f, ends, static)
    tensors = [p for x, p in zip(ends, pairs, strict=True) if isinstance(x, (TensorBase, np.ndarray))]
    wide = {k: p for k, p in enumerate(tensors) if p}
    moving = [k for k in moving if k in wide]
    if not moving:
        raise ValueError("prove_on: expected a box, a pair (low, high), for an input with a derivative, but got none")
    sides = tuple((float(a), float(b)) for p in wide.values() for a, b in zip(p[0].flat, p[1].flat, strict=True))
    order = order or ((8, 4, 2)[len(sides) - 1] if len(sides) < 4 else 1)
    evaluate = _Problem(call, arrays, moving, {k: p[0].shape for k, p in wide.items()}, order, bits,
                        isinstance(f, Op) and f.kind == "elementwise")  # fmt: skip
    try:
        done, left = _divided(evaluate, sides, goal, boxes)
    except FAILURES as e:
        return Proof(label, NOT_PROVED, where, reason=why_not(e))
    found = _judged(label, where, done, left, sides)
    if not found:
        return found
    try:
        evaluate.linear(sides, done)
        evaluate.left_is_narrow(left)
    except NotProvedError as e:
        return Proof(label, NOT_PROVED, where, reason=why_not(e), boxes=found.boxes)
    for one in {min(done, key=lambda one: one.bound), done[0], done[-1]}:
        entries = iter(_within(one.sides))
        inside = [np.array([next(entries) for _ in range(p[0].size)]).reshape(p[0].shape) for p in wide.values()]
        at = dict(zip(wide, inside, strict=True))
        found = found and confirmed(found, f, call, [at.get(k, a) for k, a in enumerate(arrays)], moving, bits, False)
    return found


def pair(x: Any) -> tuple[Any, Any] | None:
    """The ends of a box as NumPy arrays, if an argument is one."""
    if not (isinstance(x, tuple) and len(x) == 2):
        return None
    if not all(isinstance(v, (float, int, np.ndarray, np.generic, TensorBase)) for v in x):
        return None
    low, high = (np.asarray(v.array if isinstance(v, TensorBase) else v, np.float64) for v in x)
    if low.shape != high.shape or not (low <= high).all():
        raise ValueError(f"prove_on: expected a box (low, high) of one shape with low <= high, but got {x}")
    return low, high


def _number(x: Any) -> str:
    return f"{x.item():g}" if not x.ndim else np.array2string(x, separator=", ", precision=4)


def _within(sides: Sides) -> list[float]:
    """A point of a box that is not its middle, nor on a diagonal: there kinks are, and errors that change sign."""
    return [a + (k * _GOLDEN) % 1 * (b - a) for k, (a, b) in enumerate(sides, 1)]


class _Problem:
    """The error of a rule over boxes.

    Of an elementwise operation of numbers, all directions go through at once, as the entries of an array.
    """

    def __init__(self, call: Callable[..., Any], arrays: Sequence[Any], moving: Sequence[int],
                 shapes: dict[int, tuple[int, ...]], order: int, bits: int, elementwise: bool) -> None:  # fmt: skip
        self._call, self._arrays, self._moving, self._shapes = call, arrays, moving, shapes
        self._order, self._bits = order, bits
        self._at_once = elementwise and not any(a.ndim for a in arrays)

    def __call__(self, sides: Sides) -> Found:
        """On one box: the sum of phi_k t**k for k < n about the middle, and phi_n of all its points."""
        many = len(sides) > 1 and self._order == 1
        along, factor = (units(len(sides)), 1.0) if many else lines(len(sides), self._order)
        found: list[list[_Line]] = []
        try:
            with conditions() as left:
                for some in [along] if self._at_once else [[direction] for direction in along]:
                    found += self._lines(sides, some)
                    if left:
                        return Found(sides, np.inf, 0.0, False, f"{left[0]} is open")
        except NotProvedError as e:
            return Found(sides, np.inf, 0.0, False, why_not(e))
        terms = np.asarray([[[upper(abs(c).abs_upper()) for c in line.terms] for line in one] for one in found])
        if not np.isfinite(terms).all():
            return Found(sides, np.inf, 0.0, False, "there is a pole, or the balls are too wide")
        # terms: direction, entry, degree
        rest = terms[:, :, 1:].sum(0) if many else terms[:, :, 1:].max(0) * factor
        bound = float((terms[0, :, 0] + rest.sum(-1)).max()) * (1 + 1e-12)
        least, doubles = 0.0, False
        for line in found[0]:
            low = float(line.terms[0].abs_lower())
            constants = low <= DOUBLES * upper(abs(line.size).abs_upper())
            least, doubles = max(least, 0.0 if constants else low), doubles or (constants and low > 0)
        return Found(sides, bound, least, doubles, "")

    def linear(self, whole: Sides, done: Sequence[Found]) -> None:
        """Raise NotProvedError unless backward is linear in its cotangents: all over, or on each box with a bound."""
        try:
            self._linear(whole)
        except NotProvedError:
            for one in done:
                self._linear(one.sides, exact=False)

    def _linear(self, sides: Sides, exact: bool = True) -> None:
        with working(bits=self._bits), conditions() as left:
            linear(self._call, self._all_over(sides), self._moving, exact)
            if left:
                raise NotProvedError(f"not proved: {left[0]} is open")

    def left_is_narrow(self, left: Sequence[Found]) -> None:
        """Raise NotProvedError if, at a point of a box without a bound, the rule is no derivative there, either."""
        for one in left:
            at = tuple((x, x) for x in _within(one.sides))
            try:
                with working(bits=self._bits), conditions() as open_:
                    given, ones = self._all_over(at), lambda out: balls(np.ones(out.shape))
                    found = compared(self._call, given, self._moving, ones)
                    errors = [(p, q) for c in found for e, s in zip(c.error.flat, c.formula.flat, strict=True)
                              for p, q in zip(series.parts(e), series.parts(s), strict=True)]  # fmt: skip
                    fine = all(e.is_finite() and abs(e).lower() <= DOUBLES * abs(s).upper() for e, s in errors)
            except NotProvedError as e:
                open_.append(why_not(e))
            if open_ or not fine:
                why = open_[0] if open_ else "the rule or the formula's derivative is infinite, or they differ"
                raise NotProvedError(f"not proved: at {_shown(at)} within what is left, {why}: take a smaller box")

    def _all_over(self, sides: Sides) -> list[Any]:
        """The arguments, all over a box."""
        entries = iter([series.series([series.arb(a).union(series.arb(b))]) for a, b in sides])
        moving = {k: _filled(entries, shape) for k, shape in self._shapes.items()}
        return [moving[k] if k in moving else exactly(a) for k, a in enumerate(self._arrays)]

    def _lines(self, sides: Sides, along: list[Direction]) -> list[list[_Line]]:
        """By direction, and derivative."""
        with working(bits=self._bits, order=self._order - 1):
            near = self._errors(sides, along, True)
            terms = [[series.coefficients(e) for e, _ in one] for one in near]
        with working(bits=self._bits, order=self._order):
            last = [[series.coefficients(e)[self._order] for e, _ in one] for one in self._errors(sides, along, False)]
        return [[_Line([*cs, c], series.start(size)) for cs, c, (_, size) in zip(*three, strict=True)]
                for three in zip(terms, last, near, strict=True)]  # fmt: skip

    def _errors(self, sides: Sides, along: list[Direction], about_middle: bool) -> list[list[tuple[Any, Any]]]:
        """By direction and derivative the series of the error, and of the derivative by the formula."""
        if self._at_once:
            given = self._given([_stacked(sides, k, along, about_middle) for k in range(len(sides))])
            found = compared(self._call, given, self._moving, lambda out: balls(np.ones(out.shape)), elementwise=True)
            return [[(one.error[d], one.formula[d]) for one in found] for d in range(len(along))]
        ((direction),) = along
        entries = iter([_number_moving(s, share, about_middle) for s, share in zip(sides, direction, strict=True)])
        given = self._given([_filled(entries, shape) for shape in self._shapes.values()])
        generator = np.random.default_rng(5)
        found = compared(self._call, given, self._moving,
                         lambda out: balls(1.0) if not out.ndim else cotangent(generator, out))  # fmt: skip
        return [[(e, s) for one in found for e, s in zip(one.error.flat, one.formula.flat, strict=True)]]

    def _given(self, moving: Sequence[Balls]) -> list[Any]:
        each = iter(moving)
        shape = moving[0].shape if self._at_once else None
        still = [a if shape is None else np.broadcast_to(a, shape) for a in self._arrays]
        return [next(each) if k in self._shapes else exactly(a) for k, a in enumerate(still)]


@dataclass(frozen=True)
class _Line:
    """Along one direction: the coefficients of an error, and the size of the derivative in the middle."""

    terms: list[Any]
    size: Any


def _filled(entries: Iterator[Any], shape: tuple[int, ...]) -> Balls:
    held = np.empty(shape, object).reshape(-1)
    for k in range(held.size):
        held[k] = next(entries)
    return Balls(held.reshape(shape))


def _stacked(sides: Sides, k: int, along: list[Direction], about_middle: bool) -> Balls:
    return _filled((_number_moving(sides[k], d[k], about_middle) for d in along), (len(along),))


def _number_moving(side: tuple[float, float], share: float, about_middle: bool) -> Any:
    """A number: the middle, or the whole interval, and how it moves as t goes from -1 to 1."""
    low, high = side
    middle = (low + high) / 2
    radius = max(high - middle, middle - low)
    radius = float(np.nextafter(radius, np.inf)) if radius else 0.0
    at = series.arb(middle) if about_middle else series.arb(middle, radius)
    return series.series([at, series.arb(radius) * series.arb(share)])


def _divided(evaluate: Callable[[Sides], Found], sides: Sides, goal: float, boxes: int,
             ) -> tuple[list[Found], list[Found]]:  # fmt: skip
    """The boxes with a bound, and those where something stays open, after dividing what is worst again and again."""
    ticket, widths = count(), [b - a or 1.0 for a, b in sides]
    worst: list[tuple[float, int, Found]] = []
    open_: list[tuple[float, int, Found]] = []
    allowed = 2.0 ** -_KINK_BITS

    def enter(one: Found) -> None:
        if one.settled:
            heapq.heappush(worst, (-one.bound, next(ticket), one))
        else:
            heapq.heappush(open_, (-_size(one.sides, widths), next(ticket), one))

    enter(evaluate(sides))
    left_to_divide = boxes - 1
    while left_to_divide > 0:
        kinks = bool(open_) and -open_[0][0] > allowed
        rough = bool(worst) and -worst[0][0] > goal
        if kinks and (len(open_) < boxes // 2 or not rough):
            one = heapq.heappop(open_)[2]
        elif rough:
            one = heapq.heappop(worst)[2]
        else:
            break
        for half in _halves(one.sides, widths):
            enter(evaluate(half))
        left_to_divide -= 1
    return [one for _, _, one in worst], [one for _, _, one in open_]


_KINK_BITS = 16
"""A box around a kink is divided until its widest side is this power of 2 smaller than the whole."""


def _size(sides: Sides, widths: Sequence[float]) -> float:
    return max((b - a) / w for (a, b), w in zip(sides, widths, strict=True))


def _halves(sides: Sides, widths: Sequence[float]) -> list[Sides]:
    k = max(range(len(sides)), key=lambda k: (sides[k][1] - sides[k][0]) / widths[k])
    low, high = sides[k]
    middle = (low + high) / 2
    return [(*sides[:k], half, *sides[k + 1 :]) for half in ((low, middle), (middle, high))]


def _judged(name: str, where: str, done: Sequence[Found], left: Sequence[Found], whole: Sides) -> Proof:
    n = len(done) + len(left)
    wrong = max((one.least for one in done), default=0.0)
    if wrong:
        at = max(done, key=lambda one: one.least).sides
        return Proof(name, DISPROVED, where, None, wrong, f"on {_shown(at)}", boxes=n)
    if not done:
        return Proof(name, NOT_PROVED, where, reason=f"{left[0].left}: take a box away from there, or a smaller one",
                     boxes=n)  # fmt: skip
    bound = max(one.bound for one in done)
    if bound > 1e-2:
        return Proof(name, NOT_PROVED, where, reason=f"with {n} boxes the bound is {bound:.2g} still: allow more, or "
                     "take a smaller box", boxes=n)  # fmt: skip
    return Proof(name, PROVED, where, bound, doubles=any(one.doubles for one in done), boxes=n,
                 left=_regions(left, whole))  # fmt: skip


def _shown(sides: Sides) -> str:
    return " x ".join(f"[{a:.4g}, {b:.4g}]" for a, b in sides[:3]) + (" x ..." if len(sides) > 3 else "")


def _regions(left: Sequence[Found], whole: Sides) -> list[str]:
    """Where nothing is proved, in words: intervals that touch are one; of boxes, their share of the volume."""
    if not left:
        return []
    if len(whole) > 1:
        size = lambda sides: float(np.prod([b - a for (a, b), (c, d) in zip(sides, whole, strict=True) if d > c]))
        share = sum(size(one.sides) for one in left) / size(whole)
        return [f"on {100 * share:.2g} % of it, where {left[0].left}"]
    merged: list[tuple[float, float, str]] = []
    for one in sorted(left, key=lambda one: one.sides):
        low, high = one.sides[0]
        if merged and merged[-1][1] >= low:
            low, _, why = merged.pop()
            merged.append((low, high, why))
        else:
            merged.append((low, high, one.left))
    return [f"on [{a:.3g}, {b:.3g}], where {why}" for a, b, why in merged]


# ---- directions --------------------------------------------------------------------------------------------


Direction = tuple[float, ...]
_PARTS = 64


@cache
def lines(variables: int, order: int) -> tuple[list[Direction], float]:
    """Directions, with entries between -1 and 1, and the factor by which a term may be larger than along these."""
    if variables == 1:
        return [(1.0,)], 1.0
    nodes = [cos(pi * (2 * j + 1) / (2 * order + 2)) for j in range(order + 1)]
    found = [(*rest[:i], 1.0, *rest[i:]) for i in range(variables) for rest in product(nodes, repeat=variables - 1)]
    return found, _lebesgue(tuple(nodes)) ** (variables - 1)


def units(variables: int) -> list[Direction]:
    """The directions of the axes."""
    return [tuple(float(i == j) for j in range(variables)) for i in range(variables)]


@cache
def _lebesgue(nodes: tuple[float, ...]) -> float:
    """A bound on the sum of |l_j| over [-1, 1], of the polynomials that are 1 at one node and 0 at the others."""
    worst = 0.0
    with working(bits=64):
        for k in range(_PARTS):
            at = flint.arb((2 * k + 1) / _PARTS - 1, 1 / _PARTS)
            total = flint.arb(0)
            for j, a in enumerate(nodes):
                value = flint.arb(1)
                for i, b in enumerate(nodes):
                    value = value * (at - b) / (flint.arb(a) - b) if i != j else value
                total += abs(value)
            worst = max(worst, float(total.upper()))
    return worst * (1 + 2.0**-50)
