"""Complex numbers: their parts, conjugates, angles, and views as pairs of reals.

A cotangent g stands for dL = Re(conj(g) dy), so that a real loss goes down along -g.
"""

from __future__ import annotations

from gradwright.ops.declare import A, Sample, builtin, op
from gradwright.ops.shape import sum_to

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


@builtin(
    kind="linear", node="ComplexBackward0", samples=[Sample(A(3, 4), A(3, 4)), Sample(A(3, 1), A(4)), Sample(A(), A())]
)
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


def inverted(xp, x, y):
    """x/(x**2 + y**2) and y/(x**2 + y**2), 0 at the origin, without overflow."""
    size = xp.abs(x) + xp.abs(y)
    size = xp.where((size > 0) & (size < float("inf")), size, xp.zero(size) + 1)
    a, b = x / size, y / size
    square = a * a + b * b
    square = xp.where(square == 0, xp.zero(square) + float("inf"), square)
    p, q = a / square / size, b / square / size
    return _inverse(p, q, x, y), _inverse(q, p, y, x)


@op(direct=True, kind="elementwise", moves=True, samples=[Sample(A(3, 4), A(3, 4), A(3, 4), A(3, 4))])
def _inverse(xp, p, q, x, y):
    """p, known to be x/(x**2 + y**2), as a function of these; q is y/(x**2 + y**2). Its derivatives cancel nothing."""
    return p


def _other(p, q, x, y):
    return _inverse(q, p, y, x)


_inverse.vjp(
    x=lambda xp, g, p, q, x, y, out: g * ((r := _other(p, q, x, y)) - out) * (r + out),
    y=lambda xp, g, p, q, x, y, out: -2 * g * out * _other(p, q, x, y),
    p=lambda xp, g: xp.zeros_like(g),
    q=lambda xp, g: xp.zeros_like(g),
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
    p, q = inverted(xp, xp.real(x), xp.imag(x))
    return to_complex(-g * q, g * p)


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
