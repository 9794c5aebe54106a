"""Special functions of many numbers at once, where SciPy computes them one at a time, or slower, or is not there.

In float32 they are off by less than 5e-7 of their size; the trigamma function is as exact as SciPy's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwright.backends.chunks import horner, in_chunks, in_single
from gradwright.backends.scipy import Special

__all__ = ["erf", "erfc", "i0", "i1", "ndtr", "zeta"]

_scipy = Special()

# Least-squares fits. erf x = x P(x**2)/Q(x**2) up to x = 4; the others in t = (c - a)/(c + a) with a = |x|:
_ERF_ABOVE = (1.12837914, 0.193132861, 0.0530448737, 0.00386524664, 0.000284091824, 1.98894578e-06)
_ERF_BELOW = (1.0, 0.504492168, 0.11517755, 0.015170767, 0.00118107495, 3.74180443e-05)
_ERFC = (  # exp(a**2) erfc(a) (a + 3)
    1.07400691, 0.883394491, 0.590228352, 0.310465911, 0.119528485, 0.0268405697, -0.00122462564, -0.00308247755,
    -0.000484500658, 0.000326890559,
)  # fmt: skip
_I0 = (  # exp(-a) I0(a) (a + 6)**(1/2)
    0.5773182795, 0.3184998982, 0.2710028581, 0.2679465314, 0.2924146308, 0.327148787, 0.3209777917, 0.203636463,
    -0.008355732837, -0.1408067955, -0.06167405164, 0.07335723095, 0.05368398706, -0.03414053403, -0.02988590261,
    0.01156705434, 0.01043118532, -0.001934908563, -0.001697035473,
)  # fmt: skip
_I1 = (  # exp(-a) I1(a) (a + 6)**(3/2)/a
    1.053443416, 1.419290692, 1.544440462, 1.482197781, 1.22401353, 0.7655818585, 0.1994720514, -0.2231656862,
    -0.2494983406, 0.02568344936, 0.1677006337, 0.01237318741, -0.1039801678, -0.01030596718, 0.05365153225,
    0.003676536746, -0.01859267271, -0.0005683780178, 0.003055314108,
)  # fmt: skip
_TRIGAMMA = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)  # Bernoulli's numbers


@in_single(lambda x: _scipy.erf(x))
def erf(x: Any) -> Any:
    """Error function."""
    x = np.clip(x, -4.0, 4.0)
    square = x * x
    x *= horner(square, _ERF_ABOVE)
    x /= horner(square, _ERF_BELOW)
    return np.clip(x, -1.0, 1.0, out=x)


@in_single(lambda x: _scipy.erfc(x))
def erfc(x: Any) -> Any:
    """1 - erf x: with exp(-a**2) taken apart into an exact square of few bits and what that leaves."""
    a = np.minimum(np.abs(x), np.float32(10.6))
    short = (a.view(np.int32) & np.int32(-4096)).view(np.float32)
    p = horner((3 - a) / (3 + a), _ERFC)
    p /= a + 3
    p *= np.exp(-(short * short))
    p *= np.exp((short - a) * (short + a))
    return np.abs((x < 0) * np.float32(2) - p)


def _bessel(a: Any, coefficients: tuple[float, ...]) -> Any:
    """e**a times the polynomial in (6 - a)/(6 + a)."""
    p = horner((6 - a) / (6 + a), coefficients)
    p *= np.exp(a)
    return p


@in_single(lambda x: _scipy.i0(x))
def i0(x: Any) -> Any:
    """Modified Bessel function of the first kind, of order 0."""
    a = np.abs(x, dtype=np.float64)
    p = _bessel(a, _I0)
    a += 6
    p /= np.sqrt(a)
    return p.astype(np.float32)


@in_single(lambda x: _scipy.i1(x))
def i1(x: Any) -> Any:
    """Modified Bessel function of the first kind, of order 1."""
    a = np.abs(x, dtype=np.float64)
    p = _bessel(a, _I1)
    p *= x + 0.0  # which makes 0 of -0.0
    a += 6
    p /= a * np.sqrt(a)
    return p.astype(np.float32)


@in_single(lambda x: _scipy.zeta(2.0, x), "fd")
def _trigamma(x: Any) -> Any:
    """The sum of (x + k)**-2: its first terms, and the asymptotic series for the rest."""
    terms = 4 if x.dtype.char == "f" else 10
    y = x.astype(np.float64)
    total: Any = 0.0
    for _ in range(terms):
        total = total + 1 / (y * y)
        y += 1
    r = 1 / y
    square = r * r
    out = (total + r + square * (0.5 + r * horner(square, _TRIGAMMA))).astype(x.dtype)
    low = x <= 0
    if low.any():
        out[low] = _scipy.zeta(2.0, x[low])
    return out


def zeta(order: Any, x: Any) -> Any:
    """Hurwitz zeta function, the sum of (x + k)**-order."""
    return _trigamma(x) if type(order) is float and order == 2 else _scipy.zeta(order, x)


# Chebyshev interpolants, written as polynomials in t = (c - a)/(c + a), of exp(a**2/2) (a + c) Phi(-a) for a >= 0.
NDTR_CENTRE, NDTR_END = 3.5, 40.0  # Phi(-40) is 0 in float64
_SINGLE = (
    0.74441597, 0.565561834, 0.31543004, 0.116050017, 0.0173665752, -0.00646868091, -0.0030691618, 0.000422316605,
    0.000327799301, -3.66408793e-05,
)  # fmt: skip
_DOUBLE = (
    0.7444160754359381, 0.5655618160537756, 0.3154249698879487, 0.11605092871437102, 0.017407832602389744,
    -0.006476218927643261, -0.0031891010571184087, 0.00044501304648164553, 0.00047665720479395985,
    -6.703390538930291e-05, -7.55853189865464e-05, 1.8791813939775615e-05, 1.1509173211516434e-05,
    -5.660153226983406e-06, -1.1711918205883623e-06, 1.494691663262839e-06, -1.3372048540090635e-07,
    -3.1382974572407185e-07, 1.149168552174176e-07, 4.56663175592812e-08, -3.153671572603387e-08,
    -3.3712599699778165e-09, 3.804705887649613e-09,
)  # fmt: skip
NDTR = {"float": _SINGLE, "double": _DOUBLE}


@in_chunks
def ndtr(x: Any) -> Any:
    """The share of the standard normal distribution that lies below x, without cancellation where that is small.

    Its relative error is below 1e-6 in float32 and 3e-15 in float64, wherever the share is above 1e-8.
    """
    a = np.minimum(np.abs(x), np.asarray(NDTR_END, x.dtype))
    r = np.asarray(a + NDTR_CENTRE)
    np.divide(1, r, out=r)
    t = np.asarray(NDTR_CENTRE - a)
    t *= r
    p = np.asarray(horner(t, NDTR["double" if x.dtype == np.float64 else "float"]))
    p *= r
    np.multiply(a, a, out=t)
    t *= -0.5
    np.exp(t, out=t)
    p *= t
    return np.abs((x >= 0) - p)
