"""Arithmetic and powers."""

from __future__ import annotations

import math

from gradwright.ops.complex import real_part
from gradwright.ops.declare import A, Sample, builtin, op

_PAIR = [Sample(A(3, 4), A(3, 4)), Sample(A(3, 1), A(4)), Sample(A(), A(2, 3))]
_POSITIVE_SECOND = [Sample(A(3, 4), A(3, 4, low=0.5)), Sample(A(3, 1), A(4, low=0.5)), Sample(A(), A(2, low=0.5))]


@builtin(complex="general", kind="elementwise", node="AddBackward0", samples=_PAIR)
def add(xp, x, y):
    """Sum, z = x + y."""
    return x + y


add.vjp(x=lambda xp, g: g, y=lambda xp, g: g)


@builtin(complex="general", kind="elementwise", node="SubBackward0", samples=_PAIR)
def subtract(xp, x, y):
    """Difference, z = x - y."""
    return x - y


subtract.vjp(x=lambda xp, g: g, y=lambda xp, g: -g)


@builtin(complex="holomorphic", kind="elementwise", node="MulBackward0", samples=_PAIR)
def multiply(xp, x, y):
    """Product, z = x y; dz/dx = y, dz/dy = x."""
    return x * y


multiply.vjp(x=lambda xp, g, y: g * y, y=lambda xp, g, x: g * x)


@builtin(complex="holomorphic", kind="linear", node="MulBackward0", samples=[Sample(A(2, 3), by=-0.5)])
def scale(xp, x, *, by):
    """A number times x: ``by`` x. Unlike the product with a tensor it saves nothing."""
    return x * by


scale.vjp(x=lambda xp, g, by: scale(g, by=by))


@builtin(complex="holomorphic", kind="elementwise", node="DivBackward0", samples=_POSITIVE_SECOND)
def divide(xp, x, y):
    """Quotient, z = x / y; dz/dx = 1/y, dz/dy = -x/y**2. A pole at y = 0 gives infinities or NaN."""
    return x / y


divide.vjp(x=lambda xp, g, y: g / y, y=lambda xp, g, x, y: -g * (x / y) / y)


@builtin(kind="elementwise", node="RemainderBackward0", samples=_POSITIVE_SECOND)
def remainder(xp, x, y):
    """Remainder with the sign of y: z = x - y floor(x/y); dz/dx = 1, dz/dy = -floor(x/y)."""
    return xp.remainder(x, y)


remainder.vjp(x=lambda xp, g: g, y=lambda xp, g, x, y: -g * xp.floor_divide(x, y))


@builtin(kind="elementwise", node="FmodBackward0", samples=_POSITIVE_SECOND)
def fmod(xp, x, y):
    """Remainder with the sign of x: z = x - y trunc(x/y); dz/dx = 1, dz/dy = -trunc(x/y)."""
    return xp.fmod(x, y)


fmod.vjp(x=lambda xp, g: g, y=lambda xp, g, x, y: -g * xp.trunc(x / y))


@builtin(complex="holomorphic", kind="elementwise", node="LerpBackward1",
         samples=[Sample(A(3, 4), A(3, 4), A(3, 4)), Sample(A(3, 1), A(4), A())])  # fmt: skip
def lerp(xp, x, y, weight):
    """The point a share ``weight`` of the way from x to y: z = x + w (y - x)."""
    return x + weight * (y - x)


lerp.vjp(
    x=lambda xp, g, weight: g * (1 - weight),
    y=lambda xp, g, weight: g * weight,
    weight=lambda xp, g, x, y: g * (y - x),
)


@builtin(complex="holomorphic", kind="elementwise", node="LerpBackward0",
         samples=[Sample(A(3, 4), A(3, 4), weight=0.25), Sample(A(3, 1), A(4), weight=0.75)])  # fmt: skip
def lerp_by(xp, x, y, *, weight):
    """`lerp` with a number for weight; exactly y where that is 1."""
    return x + weight * (y - x) if abs(weight) < 0.5 else y - (1 - weight) * (y - x)


lerp_by.vjp(x=lambda xp, g, weight: g * (1 - weight), y=lambda xp, g, weight: g * weight)

_THREE = [
    Sample(A(3, 4), A(3, 4), A(3, 4, low=0.5), value=2.0),
    Sample(A(3, 1), A(4), A(low=0.5), value=1),
]


@builtin(complex="holomorphic", kind="elementwise", node="AddcmulBackward0", samples=_THREE)
def addcmul(xp, x, y, z, *, value):
    """x + value y z."""
    return x + (y * z if value == 1 else value * y * z)


addcmul.vjp(
    x=lambda xp, g: g,
    y=lambda xp, g, z, value: g * z * value,
    z=lambda xp, g, y, value: g * y * value,
)


@builtin(complex="holomorphic", kind="elementwise", node="AddcdivBackward0", samples=_THREE)
def addcdiv(xp, x, y, z, *, value):
    """x + value y / z."""
    return x + (y / z if value == 1 else value * y / z)


addcdiv.vjp(
    x=lambda xp, g: g,
    y=lambda xp, g, z, value: g / z * value,
    z=lambda xp, g, y, z, value: -g * (y / z) / z * value,
)


@builtin(kind="elementwise", node="HypotBackward0", samples=_POSITIVE_SECOND)
def hypot(xp, x, y):
    """Length of the hypotenuse, z = sqrt(x**2 + y**2), without overflow; dz/dx = x/z, NaN at the origin."""
    return xp.hypot(x, y)


@op(direct=True, kind="elementwise", samples=[Sample(A(3, 4), A(3, 4), A(3, 4, low=0.5))])
def _share(xp, x, y, r):
    """x/r where r is known to be hypot(x, y), as a function of these: d/dx = y**2/r**3, d/dy = -x y/r**3."""
    return x / r


_share.vjp(
    x=lambda xp, g, x, y, r: g * _share(y, x, r) * _share(y, x, r) / r,
    y=lambda xp, g, x, y, r, out: -g * out * _share(y, x, r) / r,
    r=lambda xp, g: xp.zeros_like(g),
)
hypot.vjp(x=lambda xp, g, x, y, out: g * _share(x, y, out), y=lambda xp, g, x, y, out: g * _share(y, x, out))


@builtin(kind="elementwise", samples=[Sample(A(3, 4), plus=1), Sample(A(3, 4, low=1.3, high=3.0), plus=-1)])
def root_of_square(xp, x, *, plus):
    """sqrt(x**2 + plus) for ``plus`` of 1 or -1, without overflow; dy/dx = x/y."""
    out = xp.sqrt(x * x + plus)
    lost = out == float("inf")
    return xp.where(lost, xp.abs(x), out) if xp.may_hold(lost) else out


root_of_square.vjp(x=lambda xp, g, x, out: g * (x / out))


@builtin(complex="general", kind="elementwise", node="NegBackward0", samples=[Sample(A(3, 4)), Sample(A())])
def negative(xp, x):
    """Negation, y = -x."""
    return -x


negative.vjp(x=lambda xp, g: -g)


def _power(xp, x, n):
    """x**n for a number n: products for small whole n, which NumPy's power computes far slower."""
    if n == 2:
        return x * x
    if n == 3:
        return x * x * x
    if n == 4:
        square = x * x
        return square * square
    if n == 1:
        return xp.asarray(x, copy=True)
    if n == 0.5:
        return xp.sqrt(x)
    if n == -0.5:
        return 1 / xp.sqrt(x)
    if n == -1:
        return 1 / x
    return xp.pow(x, n)


@builtin(complex="holomorphic", kind="elementwise", node="PowBackward0",
         samples=[Sample(A(3, 4), exponent=n) for n in (2, 3, 4, 5, 1, 0)]
         + [Sample(A(3, 4, low=0.3), exponent=n) for n in (0.5, -1, -2, 2.5)] + [Sample(A(), exponent=2)])  # fmt: skip
def power(xp, x, *, exponent):
    """Power with a number as exponent: y = x**n, dy/dx = n x**(n-1). The derivative is 0 everywhere when n = 0."""
    return _power(xp, x, exponent)


def _power_slope(xp, g, x, exponent):
    if exponent == 2:
        return g * doubled(x)
    return g * (exponent * power(x, exponent=exponent - 1)) if exponent else g * xp.zeros_like(x)


power.vjp(x=_power_slope)


@builtin(complex="holomorphic", kind="elementwise", node="MulBackward0", samples=[Sample(A(3, 4))])
def doubled(xp, x):
    """Twice, y = 2x, as the slope of a square; dy/dx = 2 x**0, which has a derivative, too: it is 0."""
    return x + x


doubled.vjp(x=lambda xp, g, x: g * (2 * power(x, exponent=0)))


@builtin(complex="holomorphic", kind="elementwise", node="PowBackward1", samples=[Sample(A(3, 4, low=0.3), A(3, 4)),
         Sample(A(3, 1, low=0.3), A(4)), Sample(A(low=0.3), A())])  # fmt: skip
def pow(xp, x, y):
    """Power, z = x**y; dz/dx = y x**(y-1), 0 at 0**0 and NaN**0; dz/dy = z log x, taken as 0 where x = 0 and y >= 0."""
    return xp.pow(x, y)


def _base_slope(xp, g, x, y):
    flat = (y == 0) & ((x == 0) | (x != x))
    return g * xp.where(flat, xp.zero(y), y * xp.pow(xp.where(flat, xp.zero(x) + 1, x), y - 1))


pow.vjp(
    x=_base_slope,
    y=lambda xp, g, x, y, out: g * (out * xp.log(xp.where((x == 0) & (real_part(xp, y) >= 0), xp.zero(x) + 1, x))),
)


@builtin(complex="holomorphic", kind="elementwise", node="PowBackward2",
         samples=[Sample(A(3, 4), base=2.0), Sample(A(), base=0.5), Sample(A(2, low=0.5), base=0)])  # fmt: skip
def exponential(xp, x, *, base):
    """Power of a number: y = b**x, dy/dx = y log b (0 where b = 0 and x >= 0)."""
    return xp.pow(base, x)


exponential.vjp(
    x=lambda xp, g, x, out, base: g * (out * (math.log(base) if base > 0 else math.nan))
    if base
    else g * xp.where(real_part(xp, x) >= 0, xp.zeros_like(out), -out)
)


@builtin(complex="holomorphic", kind="elementwise", node="SquareBackward0", samples=[Sample(A(3, 4))])
def square(xp, x):
    """Square, y = x**2, dy/dx = 2x."""
    return x * x


square.vjp(x=lambda xp, g, x: g * doubled(x))


@builtin(complex="holomorphic", kind="elementwise", node="ReciprocalBackward0", samples=[Sample(A(3, 4, low=0.5))])
def reciprocal(xp, x):
    """Reciprocal, y = 1/x, dy/dx = -y**2. Infinite at x = 0."""
    return 1 / x


reciprocal.vjp(x=lambda xp, g, out: -g * (out * out))


@builtin(complex="holomorphic", kind="elementwise", node="SqrtBackward0", samples=[Sample(A(3, 4, low=0.3))])
def sqrt(xp, x):
    """Square root, dy/dx = 1/(2y): infinite at 0; NaN below 0."""
    return xp.sqrt(x)


sqrt.vjp(x=lambda xp, g, out: g / (2 * out))


@builtin(complex="holomorphic", kind="elementwise", node="RsqrtBackward0", samples=[Sample(A(3, 4, low=0.3))])
def rsqrt(xp, x):
    """Reciprocal square root, y = x**(-1/2), dy/dx = -y**3 / 2."""
    return 1 / xp.sqrt(x)


rsqrt.vjp(x=lambda xp, g, out: g * (-0.5 * (out * out * out)))

_WHOLE = [Sample(A(values=[4, -6, 0]), A(values=[6, 9, 0]))]


@builtin(kind="elementwise", samples=_WHOLE)
def gcd(xp, x, y):
    """Greatest common divisor of whole numbers."""
    return xp.gcd(x, y)


@builtin(kind="elementwise", samples=_WHOLE)
def lcm(xp, x, y):
    """Least common multiple of whole numbers."""
    return xp.lcm(x, y)


@builtin(kind="elementwise", samples=[Sample(A(3, low=0.5, high=9.0))])
def exponent(xp, x):
    """The n for which x = m 2**n with 0.5 <= abs(m) < 1; 0 for 0."""
    return xp.frexp(x)[1]


@builtin(kind="elementwise", samples=[Sample(A(3), A(values=[1, -2, 40]))])
def ldexp(xp, x, n):
    """x 2**n for whole n."""
    return xp.ldexp(x, n)
