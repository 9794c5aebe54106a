"""Special functions on balls: SciPy's names, python-flint's values, Taylor coefficients without a rule of derivatives.

Where python-flint has no series of a function, its coefficients at a point come from its values on a small circle, and
Cauchy's estimate with its largest value on a larger one bounds what that leaves out.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import comb
from typing import Any

from gradwright.verify.proof.series import Taylor, acb, arb, arb_series, flint, made, of_library, whole_power, working

_REACHES = (1, 0, -1, -3, -5, -8)  # radii of the larger circle, as powers of 2


def analytic(f: Callable[[Any], Any], *, right: bool = False) -> Taylor:
    """The Taylor coefficients of a function of a complex ball that is real on the real line.

    Args:
        f: the function; analytic everywhere, unless
        right: it is so where the real part is positive.
    """

    def found(a: Any, n: int) -> list[Any]:
        middle, spread = _middle(a)
        for power in _REACHES:
            reach = arb(2) ** power
            if (right and not reach < middle.real) or not spread * (n + 4) < 2 * reach:
                continue
            bound = arb(abs(f(acb(middle) + acb(arb(0, reach), arb(0, reach)))).upper())
            if bound.is_finite():
                known = _on_circle(f, middle, reach, bound, n + (1 if spread.is_zero() else 4))
                if not isinstance(a, acb):
                    known = [c.real for c in known]
                return _moved(known, spread, reach, bound, n)
        return [arb.nan()] * n

    return found


def _middle(a: Any) -> tuple[Any, Any]:
    """The middle of a ball, and how far it reaches from there."""
    if isinstance(a, acb):
        reach = arb(a.real.rad()) ** 2 + arb(a.imag.rad()) ** 2
        return acb(a.real.mid(), a.imag.mid()), arb(reach.upper()).sqrt() if reach > 0 else arb(0)
    return arb(a.mid()), arb(a.rad())


def _within(size: Any, like: Any) -> Any:
    """What is no further from 0 than this, complex if ``like`` is."""
    around = arb(0, size.upper())
    return acb(around, around) if isinstance(like, acb) else around


def _on_circle(f: Callable[[Any], Any], middle: Any, reach: Any, bound: Any, n: int) -> list[Any]:
    """n coefficients about a point: the means of f(middle + z) / z**k over equal steps of a small circle."""
    steps = n + 3
    bits = flint.ctx.prec
    halvings = -(-bits // steps) + 8
    with working(bits=bits + halvings * (n + 1) + 32):
        small = reach * arb(2) ** -halvings
        roots = [acb(arb(2 * j) / steps).exp_pi_i() for j in range(steps)]
        values = [f(acb(middle) + small * root) for root in roots]
        out = []
        for k in range(n):
            mean = sum((v * roots[-j * k % steps] for j, v in enumerate(values)), acb(0)) / steps
            left = bound / reach**k * arb(2) ** (-halvings * steps) * 2
            out.append(mean / whole_power(small, k) + _within(left, mean))
        return out


def _moved(known: list[Any], spread: Any, reach: Any, bound: Any, n: int) -> list[Any]:
    """n coefficients about every point within ``spread``, from more about the middle: the tail is at most geometric."""
    if spread.is_zero():
        return known[:n]
    delta, last = _within(spread, known[0]), len(known) - 1
    out = []
    for k in range(n):
        total = sum((comb(j, k) * known[j] * whole_power(delta, j - k) for j in range(k, last + 1)), arb(0))
        share = spread / reach
        first = comb(last + 1, k) * bound / reach**k * share ** (last + 1 - k)
        tail = first / (1 - share * (last + 2) / (last + 2 - k))
        out.append(total + _within(tail, known[0]) if tail > 0 else arb.nan())
    return out


def _inverse(at: Callable[[Any], Any], f: Taylor) -> Taylor:
    """The inverse of a function, by reversion of its series: ``at`` is the value."""

    def found(a: Any, n: int) -> list[Any]:
        y = at(a)
        forward = f(y, max(n, 2))
        if not y.is_finite() or not all(c.is_finite() for c in forward) or forward[1].contains(0):
            return [arb.nan()] * n
        with working(bits=flint.ctx.prec, order=max(n, 2) - 1):
            back = arb_series([0, *forward[1:]]).reversion()
            return [y, *[back[k] for k in range(1, n)]]

    return found


_erf, _erfc = of_library("erf"), of_library("erfc")


def _ndtr(x: Any) -> Any:
    return (x * -arb(0.5).sqrt()).erfc() / 2


def _gammaln(x: Any) -> Any:
    r = x.rgamma()
    return -(-r).log() if r[0] < 0 else -r.log()


def _psi(a: Any, n: int) -> list[Any]:
    """-(1/Gamma)' Gamma."""

    def ratio(x: Any) -> Any:
        r = x.rgamma()
        return -r.derivative() / r

    return made(ratio)(a, n + 1)[:n]


OF_ONE: dict[str, Taylor] = {
    "erf": _erf,
    "erfc": _erfc,
    "erfcx": made(lambda x: (x * x).exp() * x.erfc()),
    "erfinv": _inverse(lambda a: a.erfinv(), _erf),
    "ndtr": made(_ndtr),
    "log_ndtr": made(lambda x: _ndtr(x).log()),
    "ndtri": _inverse(lambda a: -(2 * a).erfcinv() / arb(0.5).sqrt(), made(_ndtr)),
    "psi": _psi,
    "gammaln": made(_gammaln),
}
"""Functions of one argument."""


def bessel(name: str) -> tuple[str, bool, int | None] | None:
    """The letter, whether it is scaled, and the order (None if it is an argument), of SciPy's name of a function."""
    body, scaled = (name[:-1], True) if name.endswith("e") else (name, False)
    if len(body) == 2 and body[0] in "jyik" and body[1] in "01v":
        return body[0], scaled, None if body[1] == "v" else int(body[1])
    return None


def of_order(letter: str, scaled: bool, order: int) -> Taylor:
    """A Bessel function of whole order; I without its scale, as |x| has a kink at 0."""
    if letter == "j":
        return analytic(lambda z: z.bessel_j(order))
    if letter == "y":
        return analytic(lambda z: z.bessel_y(order), right=True)
    if letter == "k":
        return analytic(lambda z: z.bessel_k(order) * (z.exp() if scaled else 1), right=True)
    return analytic(lambda z: z.bessel_i(order))


def spherical_jn(order: int) -> Taylor:
    """The spherical Bessel function: entire, and made of j of half order away from 0."""

    def value(z: Any) -> Any:
        return (z * z / -4).hypgeom_0f1(acb(order) + 1.5) * whole_power(z, order) * arb.pi().sqrt() / (
            arb(2) ** (order + 1) * arb(order + 1.5).gamma())  # fmt: skip

    return analytic(value)


def zeta(s: Any) -> Taylor:
    """Hurwitz' zeta function of order s, where its argument is positive."""
    return analytic(lambda z: acb(s).zeta(z), right=True)


def gammainc(a: Any, upper: bool) -> Taylor:
    """The regularised incomplete gamma function of order a, where its argument is positive."""
    name = "gamma_upper" if upper else "gamma_lower"
    return analytic(lambda z: getattr(z, name)(acb(a), 1), right=True)


def airy(derivative: int) -> Taylor:
    """Ai or its derivative."""
    return analytic(lambda z: z.airy_ai(derivative=derivative))


def polynomial(name: str, n: int, *parameters: Any) -> Taylor:
    """An orthogonal polynomial by SciPy's name, of degree n, by its recurrence; 0 of a negative degree."""
    return made(partial(_RECURRENCES[name], n, *parameters))


def _recurred(n: int, x: Any, first: Any, following: Callable[[int, Any, Any], Any]) -> Any:
    """The polynomial of degree n from those of degree 0, which is 1, and 1."""
    before, now = x * 0 + 1, first
    if n <= 0:
        return before if n == 0 else x * 0
    for k in range(1, n):
        before, now = now, following(k, now, before)
    return now


_RECURRENCES: dict[str, Callable[..., Any]] = {
    "chebyt": lambda n, x: _recurred(n, x, x, lambda k, p, q: 2 * x * p - q),
    "hermite": lambda n, x: _recurred(n, x, 2 * x, lambda k, p, q: 2 * x * p - 2 * k * q),
    "hermitenorm": lambda n, x: _recurred(n, x, x, lambda k, p, q: x * p - k * q),
    "gegenbauer": lambda n, a, x: _recurred(
        n, x, 2 * arb(a) * x, lambda k, p, q: (2 * (k + arb(a)) * x * p - (k + 2 * arb(a) - 1) * q) / (k + 1)),
    "genlaguerre": lambda n, a, x: _recurred(
        n, x, 1 + arb(a) - x, lambda k, p, q: ((2 * k + 1 + arb(a) - x) * p - (k + arb(a)) * q) / (k + 1)),
}  # fmt: skip
