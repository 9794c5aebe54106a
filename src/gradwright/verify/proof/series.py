"""One number of a ball array: a power series in t whose coefficients are balls, and how functions act on such series.

A function is known by its Taylor coefficients about a ball, ``f(a, n)``: a list of n balls that hold f(x), f'(x),
f''(x)/2!, ... for every x in ``a``. python-flint has most of them, made by series arithmetic and not by rules of
derivatives; others are made of those here, and special functions in `gradwright.verify.proof.special`. Its balls, a
midpoint and a radius, are rounded outwards in every operation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

try:
    import flint
except ImportError as e:
    raise ImportError("gradwright.verify.proof needs python-flint: pip install python-flint", name="flint") from e

Taylor = Callable[[Any, int], list[Any]]

arb, acb = flint.arb, flint.acb
arb_series, acb_series = flint.arb_series, flint.acb_series


@contextmanager
def working(*, bits: int, order: int = 0) -> Iterator[None]:
    """Compute with so many bits, and with series up to t**``order``; python-flint keeps both for the whole process."""
    before = flint.ctx.prec, flint.ctx.cap
    flint.ctx.prec, flint.ctx.cap = bits, order + 1
    try:
        yield
    finally:
        flint.ctx.prec, flint.ctx.cap = before


def order() -> int:
    """The highest power of t that series have here."""
    return int(flint.ctx.cap) - 1


def series(coefficients: list[Any]) -> Any:
    """The series with these coefficients."""
    if any(isinstance(c, acb) for c in coefficients):
        return acb_series(coefficients)
    return arb_series(coefficients)


def constant(value: Any) -> Any:
    """The series of a number: a ball, or a Python number, which is taken as it is stored."""
    if isinstance(value, (complex, acb)):
        return acb_series([acb(value)])
    return arb_series([arb(value)])


def start(x: Any) -> Any:
    """The coefficient of t**0, a ball: what the number is."""
    return x[0]


def parts(x: Any) -> list[Any]:
    """The real balls that a number is: one, or two of a complex one."""
    a = x[0]
    return [a.real, a.imag] if isinstance(a, acb) else [a]


def coefficients(x: Any) -> list[Any]:
    """All coefficients, with the zeros at the end."""
    return [x[k] for k in range(order() + 1)]


def exact(x: Any) -> bool:
    """Whether a series does not move: it has no powers of t."""
    return bool(x.length() <= 1)


def finite(x: Any) -> bool:
    """Whether all coefficients are."""
    return all(c.is_finite() for c in coefficients(x))


def hull(x: Any, y: Any) -> Any:
    """The smallest balls that hold the coefficients of both."""
    return x if x is y else series([a.union(b) for a, b in zip(coefficients(x), coefficients(y), strict=True)])


def around(x: Any, power: int) -> Any:
    """The ball about what a number is with a radius of 2**``power``, or that part of it if it is large."""
    a = start(x)
    widths = arb(2) ** power * (1 + abs(a).upper() if a.is_finite() else 1)
    if isinstance(a, acb):
        return acb_series([acb(arb(a.real.mid(), widths.upper()), arb(a.imag.mid(), widths.upper()))])
    return arb_series([arb(a.mid(), widths.upper())])


def whole_power(x: Any, n: int) -> Any:
    """x**n by products: python-flint's own power takes a logarithm, which a ball around 0 has not."""
    out: Any = None
    while n:
        if n & 1:
            out = x if out is None else out * x
        n >>= 1
        x = x * x if n else x
    return 1 if out is None else out


def unknown() -> Any:
    """The series of which nothing is known, as at a pole."""
    return arb_series([arb.nan()] * (order() + 1))


def times(x: Any, y: Any) -> Any:
    """x y; python-flint takes 0 times what is not finite for 0, and it is unknown."""
    if (not x.length() and not finite(y)) or (not y.length() and not finite(x)):
        return unknown()
    return x * y


def divided(x: Any, y: Any) -> Any:
    """x / y; unknown if y may be 0, or is."""
    if not x.length() and not finite(y):
        return unknown()
    try:
        return x / y
    except (ValueError, ZeroDivisionError):
        return unknown()


def through(f: Taylor, x: Any, slope: Any = None) -> tuple[Any, Any]:
    """f of a series, and its slope, f' of the series times that of x, if x has one."""
    n = 1 if exact(x) else order() + 1
    found = f(start(x), n if slope is None else n + 1)
    risen = None if slope is None else [c * k for k, c in enumerate(found)][1:]
    if n == 1:
        return series(found[:1]), None if risen is None else times(series(risen), slope)
    rest = x - start(x)
    rest = series([0, *coefficients(rest)[1:]])
    return series(found[:n])(rest), None if risen is None else times(series(risen)(rest), slope)


def of_library(name: str) -> Taylor:
    """A function that python-flint's series have."""
    return made(lambda x: getattr(x, name)())


def made(f: Callable[[Any], Any]) -> Taylor:
    """A function written with python-flint's series: ``f`` is handed a + t."""

    def found(a: Any, n: int) -> list[Any]:
        cls = acb_series if isinstance(a, acb) else arb_series
        with working(bits=flint.ctx.prec, order=n - 1):
            try:
                y = f(cls([a, 1]))
                return [y[k] for k in range(n)]
            except (ValueError, ZeroDivisionError):  # a denominator that may be 0
                return [arb.nan()] * n

    return found


def _asinh(x: Any) -> Any:
    """log(x + sqrt(x**2 + 1)), for -x where x is negative, against cancellation."""
    if not isinstance(x, acb_series) and x[0] < 0:
        return -(-x + (x * x + 1).sqrt()).log()
    return (x + (x * x + 1).sqrt()).log()


def _asin(x: Any) -> Any:
    if isinstance(x, acb_series):
        return (x / (1 - x * x).sqrt()).atan()
    return x.asin()


ELEMENTARY: dict[str, Taylor] = {
    **{name: of_library(name) for name in ("exp", "sqrt", "sin", "cos", "tan", "atan")},
    "log": made(lambda x: x.log()),
    "asin": made(_asin),
    "acos": made(lambda x: arb.pi() / 2 - _asin(x)),
    "sinh": made(lambda x: (x.exp() - (-x).exp()) / 2),
    "cosh": made(lambda x: (x.exp() + (-x).exp()) / 2),
    "tanh": made(lambda x: 1 - 2 / ((2 * x).exp() + 1)),
    "asinh": made(_asinh),
    "acosh": made(lambda x: (x + (x - 1).sqrt() * (x + 1).sqrt()).log()),
    "atanh": made(lambda x: ((1 + x) / (1 - x)).log() / 2),
    "expm1": made(lambda x: x.exp() - 1),
    "log1p": made(lambda x: (1 + x).log()),
    "exp2": made(lambda x: (x * arb.const_log2()).exp()),
    "log2": made(lambda x: x.log() / arb.const_log2()),
    "log10": made(lambda x: x.log() / arb.const_log10()),
}
"""The elementary functions of the array API by name."""
