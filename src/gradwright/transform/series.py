"""How Taylor coefficients pass through the operations that others are made of: one table, `RULES`.

With x(t) = x[0] + x[1] t + ... + x[n] t**n a rule gives the coefficients of the operation's result in as many steps as
a product of series takes, n**2. What has no rule here needs none: `gradwright.transform.taylor` gets the series from
the operation's derivative.

A rule is called as ``rule(op, out, n, *series, **static)`` and returns the coefficients 0 to n, of which the first is
``out``, what the operation makes of the values. A series is a list of n + 1 tensors; a coefficient that is None is 0.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from gradwright.engine.apply import apply
from gradwright.op import Op
from gradwright.transform.transpose import zeros

Series = Sequence[Any]
Rule = Callable[..., list[Any]]
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """The rule of the operations of these names."""

    def enter(f: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, f))
        return f

    return enter


def of(op: Op) -> Rule | None:
    """The rule of an operation, if there is one: by its name, or as it is linear, or multilinear."""
    found = RULES.get(op.name) or (_linear if op.kind in ("linear", "view") else None)
    return found or (_multilinear if op.multilinear else None)


def times(x: Series, y: Series, k: int, product: Callable[[Any, Any], Any] = operator.mul, start: int = 0) -> Any:
    """Coefficient k of a product: the sum of x[j] y[k-j] for j from ``start`` to k, as far as there is a y."""
    return total([product(x[j], y[k - j]) for j in range(start, k + 1)
                  if k - j < len(y) and x[j] is not None and y[k - j] is not None])  # fmt: skip


def total(terms: Sequence[Any]) -> Any:
    """The sum of tensors; None of none, and those that are None are left out."""
    found = [t for t in terms if t is not None]
    return reduce(operator.add, found) if found else None


def less(x: Any, y: Any) -> Any:
    """x - y, where None is 0."""
    if y is None:
        return x
    return -y if x is None else x - y


def rates(x: Series) -> list[Any]:
    """The coefficients of the derivative x'(t)."""
    return [None if c is None else c * float(k) if k > 1 else c for k, c in enumerate(x)][1:]


@rule("add", "subtract", "negative", "where", "lerp_by", "conj", "doubled", "scatter_add", "fft_r2c", "fft_r2h")
def _linear(op: Op, out: Any, n: int, /, *series: Series, **static: Any) -> list[Any]:
    """The formula of each coefficient, lists of results if it has several; a condition or an index is that of all."""
    fixed = [name not in op.rules for name in op.names_of(len(series))]
    made = [out]
    for k in range(1, n + 1):
        given = [x[0] if constant else zeros(x[0]) if x[k] is None else x[k]
                 for x, constant in zip(series, fixed, strict=True)]  # fmt: skip
        moves = any(x[k] is not None for x in series)
        made.append(apply(op, given, static) if moves else None)
    return made


@rule("multiply")
def _multilinear(op: Op, out: Any, n: int, /, *series: Series, **static: Any) -> list[Any]:
    """Leibniz: the sum of the formula over all ways to share k among the inputs that may move."""
    fixed = [name not in op.rules for name in op.names_of(len(series))]
    moving = fixed.count(False)
    made = [out]
    for k in range(1, n + 1):
        terms = []
        for way in _ways(moving, k):
            shares = iter(way)
            xs = [x[0] if constant else x[next(shares)] for x, constant in zip(series, fixed, strict=True)]
            terms.append(apply(op, xs, static) if all(x is not None for x in xs) else None)
        made.append(total(terms))
    return made


def _ways(parts: int, k: int) -> list[tuple[int, ...]]:
    """The tuples of so many numbers from 0 that add up to k."""
    if parts == 1:
        return [(k,)]
    return [(j, *rest) for j in range(k + 1) for rest in _ways(parts - 1, k - j)]


@rule("linear")
def _affine(op: Op, out: Any, n: int, bias: Series, x: Series, weight: Series) -> list[Any]:
    turned = [None if w is None else w.t() for w in weight]
    return [out] + [total([times(x, turned, k, operator.matmul), bias[k]]) for k in range(1, n + 1)]


@rule("square")
def _square(op: Op, out: Any, n: int, x: Series) -> list[Any]:
    return [out] + [times(x, x, k) for k in range(1, n + 1)]


def quotient(z: Any, n: int, x: Series, y: Series) -> list[Any]:
    """z = x / y, from z y = x."""
    made = [z]
    for k in range(1, n + 1):
        rest = less(x[k], times(y, made, k, start=1))
        made.append(None if rest is None else rest / y[0])
    return made


@rule("divide")
def _divide(op: Op, out: Any, n: int, x: Series, y: Series) -> list[Any]:
    return quotient(out, n, x, y)


@rule("reciprocal")
def _reciprocal(op: Op, out: Any, n: int, x: Series) -> list[Any]:
    return quotient(out, n, [None] * (n + 1), x)


@rule("sqrt")
def _sqrt(op: Op, out: Any, n: int, x: Series) -> list[Any]:
    """From y y = x."""
    made = [out]
    for k in range(1, n + 1):
        inner = total([made[j] * made[k - j] for j in range(1, k) if made[j] is not None and made[k - j] is not None])
        rest = less(x[k], inner)
        made.append(None if rest is None else rest / (2.0 * out))
    return made


@rule("power")
def _power(op: Op, out: Any, n: int, x: Series, *, exponent: Any) -> list[Any]:
    """Products, if the exponent is a whole number from 0 to 64, which may be taken at x = 0; else `_fraction`."""
    if isinstance(exponent, complex) or not (float(exponent).is_integer() and 0 <= exponent <= 64):
        return _fraction(out, n, x, exponent)
    if exponent == 0:
        return [out] + [None] * n
    bits = bin(int(exponent))[3:]
    made = list(x)
    for bit in bits:
        made = [times(made, made, k) for k in range(n + 1)]
        if bit == "1":
            made = [times(made, x, k) for k in range(n + 1)]
    return [out, *made[1:]]


def _fraction(y: Any, n: int, x: Series, p: float) -> list[Any]:
    """y = x**p, from x y' = p y x'."""
    made = [y]
    for k in range(1, n + 1):
        found = total([x[j] * made[k - j] * ((p + 1.0) * j - k) for j in range(1, k + 1)
                       if x[j] is not None and made[k - j] is not None])  # fmt: skip
        made.append(None if found is None else found / (x[0] * float(k)))
    return made


@rule("rsqrt")
def _rsqrt(op: Op, out: Any, n: int, x: Series) -> list[Any]:
    return _fraction(out, n, x, -0.5)


def flow(y: Any, n: int, x: Series, slope: Callable[[Series, int], Any]) -> list[Any]:
    """y' = u x', where ``slope(y, m)`` is coefficient m of u, made of those of y up to m."""
    moved, made, us = rates(x), [y], []
    for k in range(1, n + 1):
        us.append(slope(made, k - 1))
        found = times(moved, us, k - 1)
        made.append(None if found is None else found / float(k) if k > 1 else found)
    return made


def _flows(slope: Callable[[Series, int], Any]) -> Rule:
    return lambda op, out, n, x: flow(out, n, x, slope)


def _and_one(x: Any, m: int) -> Any:
    """Coefficient m of 1 + x."""
    return x if m or x is None else 1.0 + x


def _scaled(x: Any, by: float) -> Any:
    return None if x is None else x * by


RULES |= {
    "exp": _flows(lambda y, m: y[m]),
    "exp2": _flows(lambda y, m: _scaled(y[m], math.log(2.0))),
    "expm1": _flows(lambda y, m: _and_one(y[m], m)),
    "sigmoid": _flows(lambda y, m: less(y[m], times(y, y, m))),
    "tanh": _flows(lambda y, m: _and_one(_scaled(times(y, y, m), -1.0), m)),
    "tan": _flows(lambda y, m: _and_one(times(y, y, m), m)),
}


def _log(base: float | None, shift: float) -> Rule:
    """y' = x' / ((x + shift) log base)."""

    def found(op: Op, out: Any, n: int, x: Series) -> list[Any]:
        given = [x[0] + shift if shift else x[0], *x[1:]]
        moved = rates(x)
        slopes = quotient(None if moved[0] is None else moved[0] / given[0], n - 1, moved, given)
        scale = 1.0 if base is None else math.log(base)
        return [out] + [None if s is None else s / (scale * k) for k, s in enumerate(slopes, 1)]

    return found


RULES |= {"log": _log(None, 0.0), "log1p": _log(None, 1.0), "log2": _log(2.0, 0.0), "log10": _log(10.0, 0.0)}


def _pair(first: bool, other: str, sign: float) -> Rule:
    """Sine and cosine together: s' = c x', c' = sign s x'; which one it is, and the method that makes the other."""

    def found(op: Op, out: Any, n: int, x: Series) -> list[Any]:
        partner = getattr(x[0], other)()
        s, c = ([out], [partner]) if first else ([partner], [out])
        moved = rates(x)
        for k in range(1, n + 1):
            up, down = times(moved, c, k - 1), times(moved, s, k - 1)
            s.append(_scaled(up, 1.0 / k))
            c.append(_scaled(down, sign / k))
        return s if first else c

    return found


RULES |= {
    "sin": _pair(True, "cos", -1.0),
    "cos": _pair(False, "sin", -1.0),
    "sinh": _pair(True, "cosh", 1.0),
    "cosh": _pair(False, "sinh", 1.0),
}
