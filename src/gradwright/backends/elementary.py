"""Elementary functions of float32 arrays, where NumPy takes the C library's, a number at a time, for want of its own.

Each is off by at most a few units in the last place, and has NumPy's infinities, NaN and -0.0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradwright.backends.chunks import horner, in_single, with_sign

__all__ = ["atan", "atan2", "atanh", "cosh", "expm1", "log1p", "sinh", "tan"]

# Chebyshev interpolants, written as polynomials.
_EXPM1 = (1.00000001, 0.500000005, 0.16666505, 0.0416663524, 0.00836917717, 0.00139411491)  # (e**r - 1)/r
_ATAN = (
    0.999999984, -0.333330668, 0.199924836, -0.142025705, 0.106367541, -0.0749544544, 0.0425876075, -0.0160050305,
    0.0028340643,
)  # fmt: skip # of r**2
_LOG2_HIGH, _LOG2_LOW = 0.693359375, -2.12194440e-4  # their sum is log 2; products of the first with n are exact


def _two_to(n: Any) -> Any:
    """2**n for whole numbers from -126 to 127."""
    n += 127
    n <<= 23
    return n.view(np.float32)


def _quarter_expm1(x: Any) -> Any:
    """(e**x - 1)/4, finite wherever sinh x is: with x = n log 2 + r, 2**n (e**r - 1) + (2**n - 1)."""
    x = np.clip(x, -30.0, 89.7)
    n = np.rint(x * (1 / math.log(2)))
    scale = _two_to(n.astype(np.int32) - 2)
    x -= n * _LOG2_HIGH
    x -= n * _LOG2_LOW
    p = horner(x, _EXPM1)
    p *= x
    p *= scale
    scale -= 0.25
    p += scale
    return p


@in_single(np.expm1)
def expm1(x: Any) -> Any:
    """e**x - 1 without cancellation near 0."""
    out = _quarter_expm1(x)
    out *= 4
    return with_sign(out, x)


@in_single(np.sinh)
def sinh(x: Any) -> Any:
    """(h + h/(2 h + 1)) with h = (e**|x| - 1)/2, and the sign of x."""
    h = _quarter_expm1(np.abs(x))
    h *= 2
    return with_sign(h + np.fmin(h / (2 * h + 1), np.float32(0.5)), x)  # NaN at inf


@in_single(np.cosh)
def cosh(x: Any) -> Any:
    """c + 1/(4 c) with c = e**|x|/2."""
    c = _quarter_expm1(np.abs(x))
    c *= 2
    c += 0.5
    return c + 0.25 / c


@in_single(np.log1p)
def log1p(x: Any) -> Any:
    """log u with u = 1 + x, and the rounding error of that sum, divided by u, put back."""
    u = 1 + x
    lost = x - (u - 1)
    lost /= u
    np.fmax(lost, np.float32(-1), out=lost)  # NaN at -1 and inf, where nothing is lost beside an infinity
    lost += np.log(u)
    return with_sign(lost, x)


@in_single(np.arctanh)
def atanh(x: Any) -> Any:
    """log1p(2 a/(1 - a))/2 with a = |x|, and the sign of x."""
    a = np.abs(x)
    out = log1p((a + a) / (1 - a))
    out *= 0.5
    return with_sign(out, x)


@in_single(np.tan)
def tan(x: Any) -> Any:
    """sin x / cos x."""
    out = np.sin(x)
    out /= np.cos(x)
    return out


def _angle(ratio: Any, steep: Any) -> Any:
    """The angle whose tangent, or cotangent if that is below 1, is ``ratio``."""
    angle = horner(ratio * ratio, _ATAN)
    angle *= ratio
    return np.abs(steep * np.float32(math.pi / 2) - angle)


@in_single(np.arctan)
def atan(x: Any) -> Any:
    """A polynomial of |x| or of its reciprocal, which must then be taken from pi/2; with the sign of x."""
    a = np.abs(x)
    return with_sign(_angle(np.minimum(a, 1 / a), a > 1), x)


@in_single(np.arctan2)
def atan2(x: Any, y: Any) -> Any:
    """The angle of the point (|y|, |x|) moved to its quadrant."""
    a, b = np.abs(x), np.abs(y)
    longer = np.maximum(a, b)
    if not longer.max() < math.inf or not longer.min() > 1e-30:
        return np.arctan2(x, y)
    angle = _angle(np.minimum(a, b) / longer, a > b)
    return with_sign(np.abs((y.view(np.int32) < 0) * np.float32(math.pi) - angle), x)
