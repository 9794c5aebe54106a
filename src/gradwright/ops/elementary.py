"""Exponentials, logarithms, trigonometric and hyperbolic functions."""

from __future__ import annotations

from gradwright.ops.arithmetic import root_of_square
from gradwright.ops.complex import is_complex, over_square
from gradwright.ops.declare import A, Sample, builtin, op

_LOG2, _LOG10, _INF = 0.6931471805599453, 2.302585092994046, float("inf")
_REAL = [Sample(A(3, 4)), Sample(A())]
_POSITIVE = [Sample(A(3, 4, low=0.3, high=3.0)), Sample(A(low=0.5))]
_UNIT = [Sample(A(3, 4, low=-0.9, high=0.9))]


@builtin(complex="holomorphic", kind="elementwise", node="ExpBackward0", samples=_REAL)
def exp(xp, x):
    """Exponential, y = e**x, dy/dx = y."""
    return xp.exp(x)


exp.vjp(x=lambda xp, g, out: g * out)


@builtin(complex="holomorphic", kind="elementwise", node="Exp2Backward0", samples=_REAL)
def exp2(xp, x):
    """Power of two, y = 2**x, dy/dx = y log 2."""
    return xp.pow(2.0, x) if is_complex(xp, x) else xp.exp2(x)


exp2.vjp(x=lambda xp, g, out: g * (out * _LOG2))


@builtin(complex="holomorphic", kind="elementwise", node="Expm1Backward0", samples=_REAL)
def expm1(xp, x):
    """y = e**x - 1 without cancellation near 0, dy/dx = y + 1."""
    return xp.expm1(x)


expm1.vjp(x=lambda xp, g, out: g * (out + 1))


@builtin(complex="holomorphic", kind="elementwise", node="LogBackward0", samples=_POSITIVE)
def log(xp, x):
    """Natural logarithm, dy/dx = 1/x; -inf at 0, NaN below."""
    return xp.log(x)


log.vjp(x=lambda xp, g, x: g / x)


@builtin(complex="holomorphic", kind="elementwise", node="Log1PBackward0", samples=_POSITIVE)
def log1p(xp, x):
    """y = log(1 + x) without cancellation near 0, dy/dx = 1/(1 + x)."""
    return xp.log1p(x)


log1p.vjp(x=lambda xp, g, x: g / (x + 1))


@builtin(complex="holomorphic", kind="elementwise", node="Log2Backward0", samples=_POSITIVE)
def log2(xp, x):
    """Logarithm to base 2, dy/dx = 1/(x log 2)."""
    return xp.log2(x)


log2.vjp(x=lambda xp, g, x: g / (x * _LOG2))


@builtin(complex="holomorphic", kind="elementwise", node="Log10Backward0", samples=_POSITIVE)
def log10(xp, x):
    """Logarithm to base 10, dy/dx = 1/(x log 10)."""
    return xp.log10(x)


log10.vjp(x=lambda xp, g, x: g / (x * _LOG10))


@builtin(complex="holomorphic", kind="elementwise", node="LogaddexpBackward0",
         samples=[Sample(A(3, 4), A(3, 4)), Sample(A(3, 1), A(2)), Sample(A(3, complex=True), A(3, complex=True))],
         )  # fmt: skip
def logaddexp(xp, x, y):
    """z = log(e**x + e**y) without overflow; dz/dx = e**x/(e**x + e**y), 0 where both are -inf."""
    if not is_complex(xp, x):
        return xp.logaddexp(x, y)
    above = xp.real(x) >= xp.real(y)
    return xp.where(above, x, y) + xp.log1p(xp.exp(xp.where(above, y - x, x - y)))


@op(direct=True, complex="holomorphic", kind="elementwise", samples=logaddexp.samples)
def _share(xp, x, y):
    """e**x/(e**x + e**y), 0 where both are -inf."""
    lowest = -float(xp.finfo(y.dtype).max)
    y = xp.where(xp.real(y) == -_INF, xp.zero(y) + lowest, y) if is_complex(xp, y) else xp.maximum(y, lowest)
    return 1 / (1 + xp.exp(y - x))


_share.vjp(
    x=lambda xp, g, x, y: g * _share(x, y) * _share(y, x), y=lambda xp, g, x, y: -g * _share(x, y) * _share(y, x)
)
logaddexp.vjp(x=lambda xp, g, x, y: g * _share(x, y), y=lambda xp, g, x, y: g * _share(y, x))


@builtin(complex="holomorphic", kind="elementwise", node="SinBackward0", samples=_REAL)
def sin(xp, x):
    """Sine of x in radians, dy/dx = cos x."""
    return xp.sin(x)


sin.vjp(x=lambda xp, g, x: g * xp.cos(x))


@builtin(complex="holomorphic", kind="elementwise", node="CosBackward0", samples=_REAL)
def cos(xp, x):
    """Cosine of x in radians, dy/dx = -sin x."""
    return xp.cos(x)


cos.vjp(x=lambda xp, g, x: -g * xp.sin(x))


@builtin(complex="holomorphic", kind="elementwise", node="TanBackward0", samples=[Sample(A(3, 4, low=-1.2, high=1.2))])
def tan(xp, x):
    """Tangent of x in radians, dy/dx = 1 + y**2; poles at odd multiples of pi/2."""
    return xp.tan(x)


tan.vjp(x=lambda xp, g, out: g * (1 + out * out))


@builtin(complex="holomorphic", kind="elementwise", node="AsinBackward0", samples=_UNIT)
def asin(xp, x):
    """Inverse sine in radians, dy/dx = (1 - x**2)**(-1/2): infinite at -1 and 1, NaN beyond."""
    return xp.asin(x)


asin.vjp(x=lambda xp, g, x: g / xp.sqrt(1 - x) / xp.sqrt(1 + x) if is_complex(xp, x) else g / xp.sqrt(1 - x * x))


@builtin(complex="holomorphic", kind="elementwise", node="AcosBackward0", samples=_UNIT)
def acos(xp, x):
    """Inverse cosine in radians, dy/dx = -(1 - x**2)**(-1/2): infinite at -1 and 1, NaN beyond."""
    return xp.acos(x)


acos.vjp(x=lambda xp, g, x: -g / xp.sqrt(1 - x) / xp.sqrt(1 + x) if is_complex(xp, x) else -g / xp.sqrt(1 - x * x))


@builtin(complex="holomorphic", kind="elementwise", node="AtanBackward0", samples=_REAL)
def atan(xp, x):
    """Inverse tangent in radians, dy/dx = 1/(1 + x**2)."""
    return xp.atan(x)


atan.vjp(x=lambda xp, g, x: g / (1 + x * 1j) / (1 - x * 1j) if is_complex(xp, x) else g / (x * x + 1))


@builtin(kind="elementwise", node="Atan2Backward0",
         samples=[Sample(A(3, 4), A(3, 4, low=0.3)), Sample(A(3, 1), A(4, low=0.3))])  # fmt: skip
def atan2(xp, x, y):
    """Angle of the point (y, x) in radians; d/dx = y/(x**2 + y**2), d/dy = -x/(x**2 + y**2); 0 at the origin."""
    return xp.atan2(x, y)


atan2.vjp(x=lambda xp, g, x, y: g * over_square(y, x), y=lambda xp, g, x, y: -g * over_square(x, y))


@builtin(complex="holomorphic", kind="elementwise", node="SinhBackward0", samples=_REAL)
def sinh(xp, x):
    """Hyperbolic sine, dy/dx = cosh x."""
    return xp.sinh(x)


sinh.vjp(x=lambda xp, g, x: g * xp.cosh(x))


@builtin(complex="holomorphic", kind="elementwise", node="CoshBackward0", samples=_REAL)
def cosh(xp, x):
    """Hyperbolic cosine, dy/dx = sinh x."""
    return xp.cosh(x)


cosh.vjp(x=lambda xp, g, x: g * xp.sinh(x))


@builtin(complex="holomorphic", kind="elementwise", node="TanhBackward0", samples=_REAL)
def tanh(xp, x):
    """Hyperbolic tangent, dy/dx = 1 - y**2."""
    return xp.tanh(x)


tanh.vjp(x=lambda xp, g, out: g * (1 - out * out))


@builtin(complex="holomorphic", kind="elementwise", node="AsinhBackward0", samples=_REAL)
def asinh(xp, x):
    """Inverse hyperbolic sine, dy/dx = (x**2 + 1)**(-1/2), without overflow."""
    return xp.asinh(x)


asinh.vjp(
    x=lambda xp, g, x: (
        g / (xp.sqrt(1 + x * 1j) * xp.sqrt(1 - x * 1j) if is_complex(xp, x) else root_of_square(x, plus=1))
    )
)


@builtin(complex="holomorphic", kind="elementwise", node="AcoshBackward0", samples=[Sample(A(3, 4, low=1.3, high=3.0))])
def acosh(xp, x):
    """Inverse hyperbolic cosine, dy/dx = (x - 1)**(-1/2) (x + 1)**(-1/2): infinite at 1, NaN below."""
    return xp.acosh(x)


acosh.vjp(x=lambda xp, g, x: g / (xp.sqrt(x - 1) * xp.sqrt(x + 1) if is_complex(xp, x) else root_of_square(x, plus=-1)))


@builtin(complex="holomorphic", kind="elementwise", node="AtanhBackward0", samples=_UNIT)
def atanh(xp, x):
    """Inverse hyperbolic tangent, dy/dx = 1/(1 - x**2): infinite at -1 and 1, NaN beyond."""
    return xp.atanh(x)


atanh.vjp(x=lambda xp, g, x: g / (1 - x) / (1 + x) if is_complex(xp, x) else g / (1 - x * x))
