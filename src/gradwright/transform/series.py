"""Taylor coefficients of what operations make of series, each made when it is asked for.

With x(t) = x[0] + x[1] t + x[2] t**2 + ... three rules suffice. A linear operation is done to each coefficient. One
that is linear in each of its inputs, as a product is, sums over all ways to share k among them (Leibniz), and a
quotient follows from that. For any other y' = rule(x) x' holds, the tangent that the operation declares: it is run once
on series, and its coefficients, divided by 1, 2, 3, ..., are those of y from t on. The rule may name y itself: it reads
what is made already, so n coefficients take n**2 / 2 steps, as a product of series does.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from typing import Any

from gradwright.engine.apply import apply
from gradwright.ops import arithmetic, complex, fft, piecewise, scatter  # noqa: A004 - what the family is called
from gradwright.ops.declare import Op
from gradwright.transform.transpose import zeros


class Series:
    """Coefficients 0, 1, 2, ...: those that are ``known``, and what ``following(k)`` makes of k. None stands for 0."""

    def __init__(self, known: Sequence[Any], following: Callable[[int], Any] = lambda k: None) -> None:
        self.known, self._following = list(known), following

    def __getitem__(self, k: int) -> Any:
        while len(self.known) <= k:
            self.known.append(self._following(len(self.known)))
        return self.known[k]

    def rates(self) -> Series:
        """The series of the derivative."""
        return Series([], lambda k: scaled(self[k + 1], float(k + 1)))


def scaled(c: Any, by: float) -> Any:
    """A coefficient times a number."""
    return c if c is None or by == 1.0 else c * by


def of(op: Op, outs: Sequence[Any], xs: Sequence[Series], static: dict[str, Any]) -> list[Series] | None:
    """The series of the results, ``outs`` at t = 0, by the first two rules; None where neither holds."""
    fixed = [name not in op.rules for name in op.names_of(len(xs))]
    if op.kind in ("linear", "view") or op.forward in LINEAR:
        made = Series([outs], lambda k: _linear(op, k, xs, fixed, static))
        return [Series([out], partial(_part, made, i)) for i, out in enumerate(outs)]
    (out,) = outs if len(outs) == 1 else (None,)
    if op.multilinear or op.forward is arithmetic.multiply.forward:
        return [Series([out], lambda k: _multilinear(op, k, xs, fixed, static))]
    if op.forward is arithmetic.divide.forward:
        return [_quotient(out, *xs)]
    return None


LINEAR = frozenset(op.forward for op in (
    arithmetic.add, arithmetic.subtract, arithmetic.negative, arithmetic.lerp_by, arithmetic.doubled, piecewise.where,
    complex.conj, scatter.scatter_add, fft.fft_r2c, fft.fft_r2h,
))  # fmt: skip
"""The formulas that are linear beside those of that kind."""


def _linear(op: Op, k: int, xs: Sequence[Series], fixed: Sequence[bool], static: dict[str, Any]) -> Any:
    """The formula of coefficients k, a list of results; a condition or an index is that of all."""
    if all(x[k] is None for x in xs):
        return None
    given = [x[0] if constant else zeros(x[0]) if x[k] is None else x[k] for x, constant in zip(xs, fixed, strict=True)]
    found = apply(op, given, static)
    return found if op.several else [found]


def _part(made: Series, i: int, k: int) -> Any:
    return made[k] and made[k][i]


def _multilinear(op: Op, k: int, xs: Sequence[Series], fixed: Sequence[bool], static: dict[str, Any]) -> Any:
    """The sum of the formula over all ways to share k among the inputs that may move."""
    terms = []
    for way in _ways(fixed.count(False), k):
        shares = iter(way)
        given = [x[0 if constant else next(shares)] for x, constant in zip(xs, fixed, strict=True)]
        terms += [] if any(x is None for x in given) else [apply(op, given, static)]
    return _total(terms)


def _ways(parts: int, k: int) -> Iterator[tuple[int, ...]]:
    """The tuples of so many numbers from 0 that add up to k."""
    if parts == 1:
        yield (k,)
        return
    for j in range(k + 1):
        for rest in _ways(parts - 1, k - j):
            yield (j, *rest)


def _quotient(out: Any, x: Series, y: Series) -> Series:
    """z = x / y, from z y = x."""

    def following(k: int) -> Any:
        terms = [y[j] * z[k - j] for j in range(1, k + 1) if y[j] is not None and z[k - j] is not None]
        if terms:
            return (-_total(terms) if x[k] is None else x[k] - _total(terms)) / y[0]
        return None if x[k] is None else x[k] / y[0]

    z = Series([out], following)
    return z


def _total(terms: Sequence[Any]) -> Any:
    return reduce(operator.add, terms) if terms else None
