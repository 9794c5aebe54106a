"""The normal distribution function in NumPy: faster than SciPy's in float32, and there without it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwright.backends.select import where

# Chebyshev interpolants, written as polynomials in t = (c - a)/(c + a), of exp(a**2/2) (a + c) Phi(-a) for a >= 0.
_C, _FAR = 3.5, 40.0  # Phi(-40) is 0 in float64
_SINGLE = (
    0.74441597, 0.565561834, 0.31543004, 0.116050017, 0.0173665752, -0.00646868091, -0.0030691618, 0.000422316605,
    0.000327799301, -3.66408793e-05,
)  # fmt: skip
_DOUBLE = (
    0.7444160754359394, 0.5655618160537593, 0.3154249698876351, 0.11605092871573539, 0.017407832616521363,
    -0.006476218960419452, -0.003189101299196048, 0.00044501339939736925, 0.00047665929970410457,
    -6.703596807750253e-05, -7.559579235120232e-05, 1.8799004732025658e-05, 1.1541593780946089e-05,
    -5.6757744459901005e-06, -1.2353039378269937e-06, 1.516015997723393e-06, -5.263396103501966e-08,
    -3.3160208461239277e-07, 5.14783491582974e-08, 5.3925601684528814e-08, -3.583567297976945e-09,
    -5.010920374289803e-09, -1.498214576555335e-09,
)  # fmt: skip


def ndtr(x: Any) -> Any:
    """The share of the standard normal distribution that lies below x, without cancellation where that is small.

    Its relative error is below 1e-6 in float32 and 3e-14 in float64, wherever the share is above 1e-8.
    """
    a = np.minimum(np.abs(x), np.asarray(_FAR, x.dtype))
    r = np.asarray(a + _C)
    np.divide(1, r, out=r)
    t = np.asarray(_C - a)
    t *= r
    p = np.asarray(_polynomial(t, _DOUBLE if x.dtype == np.float64 else _SINGLE))
    p *= r
    np.multiply(a, a, out=t)
    t *= -0.5
    np.exp(t, out=t)
    p *= t
    return where(x < 0, p, 1 - p)


def _polynomial(t: Any, coefficients: tuple[float, ...]) -> Any:
    p = np.asarray(t * coefficients[-1])
    for c in coefficients[-2:0:-1]:
        p += c
        p *= t
    p += coefficients[0]
    return p
