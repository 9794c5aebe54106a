"""Complex numbers: their parts, conjugates, angles, and views as pairs of reals.

A cotangent g stands for dL = Re(conj(g) dy), so that a real loss goes down along -g.
"""

from __future__ import annotations

from gradwright.ops.declare import A, Sample, builtin, op
from gradwright.ops.shape import sum_to

_INF = float("inf")
_COMPLEX = [Sample(A(3, 4, complex=True)), Sample(A(complex=True))]


def is_complex(xp, x):
    """Whether the dtype of x is a complex one."""
    return xp.isdtype(x.dtype, "complex floating")


def real_part(xp, x):
    """The real part of x, which is x itself if x is real."""
    return xp.real(x) if is_complex(xp, x) else x


@builtin(kind="elementwise", complex="general", node="ConjBackward0", samples=[*_COMPLEX, Sample(A(2, 3))])
def conj(xp, x):
    """The complex conjugate of x, dx = conj g."""
    return xp.conj(x) if is_complex(xp, x) else xp.asarray(x, copy=True)


conj.vjp(x=lambda xp, g: xp.conj(g))


@builtin(kind="linear", node="ComplexBackward0",
         samples=[Sample(A(3, 4), A(3, 4)), Sample(A(3, 1), A(4)), Sample(A(), A())])  # fmt: skip
def to_complex(xp, x, y):
    """The complex numbers x + i y, of x and y that broadcast: dx is the real part of g, dy the imaginary one."""
    return xp.to_complex(x, y)


to_complex.vjp(
    x=lambda xp, g, x_shape: sum_to(xp, xp.real(g), x_shape),
    y=lambda xp, g, y_shape: sum_to(xp, xp.imag(g), y_shape),
)


@builtin(kind="view", complex="general", node="RealBackward0", samples=_COMPLEX)
def real(xp, x):
    """A view of the real part of complex x."""
    return xp.real(x)


real.vjp(x=lambda xp, g: to_complex(g, xp.zeros_like(g)))


@builtin(kind="view", complex="general", node="ImagBackward0", samples=_COMPLEX)
def imag(xp, x):
    """A view of the imaginary part of complex x, dx = i g."""
    return xp.imag(x)


imag.vjp(x=lambda xp, g: to_complex(xp.zeros_like(g), g))


def out_of_range(xp, total):
    """Where a sum of powers has lost what was too large or too small."""
    return (total < float(xp.finfo(total.dtype).smallest_normal) / float(xp.finfo(total.dtype).eps)) | (total == _INF)


@op(direct=True, kind="elementwise", samples=[Sample(A(3, 4), A(3, 4)), Sample(A(3, 1), A(4))])
def over_square(xp, x, y):
    """z = x/(x**2 + y**2), 0 at the origin, without overflow; with w = y/(x**2 + y**2), dz/dx = (w - z)(w + z)."""
    square = x * x + y * y
    if not xp.may_hold(out_of_range(xp, square)):
        return x / square
    size = xp.abs(x) + xp.abs(y)
    size = xp.where((size > 0) & (size < _INF), size, xp.zero(size) + 1)
    a, b = x / size, y / size
    square = a * a + b * b
    return a / xp.where(square == 0, xp.zero(square) + _INF, square) / size


over_square.vjp(
    x=lambda xp, g, x, y, out: g * ((w := over_square(y, x)) - out) * (w + out),
    y=lambda xp, g, x, y, out: -2 * g * out * over_square(y, x),
)


@builtin(kind="elementwise", complex="general", node="AngleBackward0",
         samples=[Sample(A(3, 4, complex=True, avoid=[0.0])), Sample(A(3, 4, avoid=[0.0]))])  # fmt: skip
def angle(xp, x):
    """Angle of x in the complex plane in radians, in (-pi, pi]; dx = i x g / |x|**2, and 0 at 0.

    Of real x: 0, pi where x < 0, NaN where it is NaN, with slope 0.
    """
    if is_complex(xp, x):
        return xp.atan2(xp.imag(x), xp.real(x))
    return xp.where(xp.isnan(x), x, xp.where(x < 0, xp.ones_like(x) * 3.141592653589793, xp.zeros_like(x)))


def _angle_slope(xp, g, x):
    if not is_complex(xp, x):
        return xp.zeros_like(g)
    a, b = xp.real(x), xp.imag(x)
    return to_complex(-g * over_square(b, a), g * over_square(a, b))


angle.vjp(x=_angle_slope)


@builtin(kind="view", complex="general", node="ViewAsRealBackward0", samples=_COMPLEX)
def view_as_real(xp, x):
    """A view of complex x as pairs of real and imaginary parts, in a new last axis."""
    return xp.view_as_real(x)


@builtin(kind="view", complex="general", node="ViewAsComplexBackward0", samples=[Sample(A(3, 2)), Sample(A(2))])
def view_as_complex(xp, x):
    """A view of pairs in the last axis of x as complex numbers."""
    return xp.view_as_complex(x)


view_as_real.vjp(x=lambda xp, g: xp.view_as_complex(g))
view_as_complex.vjp(x=lambda xp, g: xp.view_as_real(g))
