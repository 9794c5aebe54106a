"""Functions made of pieces: absolute value, rounding, clamping, choosing, comparing, the rectified activations.

At a kink each takes the slope that PyTorch takes; the docstring says which.
"""

from __future__ import annotations

from dataclasses import replace

from gradwright.ops.complex import is_complex
from gradwright.ops.declare import A, Sample, builtin, op


def unless(xp, condition, g):
    """``g`` where the condition does not hold, else 0."""
    return xp.where(condition, xp.zero(g), g)


_OFF_KINKS = [Sample(A(3, 4, avoid=[0.0])), Sample(A(avoid=[0.0]))]
_ANY = [*_OFF_KINKS, Sample(A(3, complex=True, avoid=[0.0]))]
_PAIR = [Sample(A(3, 4, distinct=True), A(3, 4, distinct=True)), Sample(A(3, 1, distinct=True), A(2, distinct=True))]


@builtin(kind="elementwise", complex="general", node="AbsBackward0", samples=_ANY)
def abs(xp, x):
    """Absolute value, dy/dx = sign x; slope 0 at the kink 0 (y**2 has second slope 0), NaN at NaN. Of complex x |x|."""
    return xp.abs(x)


abs.vjp(x=lambda xp, g, x: g * xp.sign(x))


@builtin(kind="elementwise", complex="general", node="SignBackward0", samples=_ANY)
def sign(xp, x):
    """-1, 0 or 1, with slope 0 everywhere; of complex x, x / |x|, and 0 at 0, with slope 0 there.

    Of NaN it is NaN, as the array API standard has it; PyTorch gives 0.
    """
    return xp.sign(x)


def _sign_slope(xp, g, x):
    if not is_complex(xp, x):
        return xp.zeros_like(g)
    size, out = xp.abs(x), xp.sign(x)
    around = g - out * xp.real(xp.conj(out) * g)
    return around * (xp.sign(size) / xp.where(size == 0, xp.ones_like(size), size))


sign.vjp(x=_sign_slope)


@builtin(kind="elementwise", node="FloorBackward0", samples=[Sample(A(3, 4, avoid=[-2, -1, 0, 1, 2]))])
def floor(xp, x):
    """The largest whole number not above x; slope 0."""
    return xp.floor(x)


@builtin(kind="elementwise", node="CeilBackward0", samples=[Sample(A(3, 4, avoid=[-2, -1, 0, 1, 2]))])
def ceil(xp, x):
    """The smallest whole number not below x; slope 0."""
    return xp.ceil(x)


@builtin(kind="elementwise", node="RoundBackward0", samples=[Sample(A(3, 4, avoid=[-1.5, -0.5, 0.5, 1.5]))])
def round(xp, x):
    """The nearest whole number, halves to even; slope 0."""
    return xp.round(x)


@builtin(kind="elementwise", node="TruncBackward0", samples=[Sample(A(3, 4, avoid=[-1, 0, 1]))])
def trunc(xp, x):
    """x with its fraction cut off; slope 0."""
    return xp.trunc(x)


for _flat in (floor, ceil, round, trunc):
    _flat.vjp(x=lambda xp, g: xp.zeros_like(g))


@builtin(kind="elementwise", node="ClampBackward1",
         samples=[Sample(A(3, 4, avoid=[-0.5, 0.7]), min=-0.5, max=0.7),
                  Sample(A(3, 4, avoid=[0.0]), min=0.0, max=None), Sample(A(3, 4, avoid=[0.5]), min=None, max=0.5)],
         )  # fmt: skip
def clip(xp, x, *, min, max):
    """x kept between two numbers; slope 1 inside and at the bounds, 0 outside."""
    return xp.clip(x, min, max)


def _clip_slope(xp, g, x, min, max):
    inside = None
    if min is not None:
        inside = x >= min
    if max is not None:
        inside = x <= max if inside is None else inside & (x <= max)
    return g if inside is None else xp.where(inside, g, xp.zero(g))


clip.vjp(x=_clip_slope)


@builtin(kind="elementwise", node="ClampMinBackward1", samples=_PAIR)
def clamp_min(xp, x, low):
    """The larger of x and a bound; where they are equal x gets the cotangent."""
    return xp.maximum(x, low)


@builtin(kind="elementwise", node="ClampMaxBackward1", samples=_PAIR)
def clamp_max(xp, x, high):
    """The smaller of x and a bound; where they are equal x gets the cotangent."""
    return xp.minimum(x, high)


clamp_min.vjp(
    x=lambda xp, g, x, low: unless(xp, x < low, g),
    low=lambda xp, g, x, low: xp.where(x < low, g, xp.zero(g)),
)
clamp_max.vjp(
    x=lambda xp, g, x, high: unless(xp, x > high, g),
    high=lambda xp, g, x, high: xp.where(x > high, g, xp.zero(g)),
)


@builtin(complex="general", kind="elementwise", node="WhereBackward0",
         samples=[Sample(A(values=[[True, False], [False, True]]), A(2, 2), A(2, 2)),
                  Sample(A(values=[True, False, True]), A(2, 1), A(3))])  # fmt: skip
def where(xp, condition, x, y):
    """x where the condition holds, y elsewhere."""
    return xp.where(condition, x, y)


where.vjp(
    x=lambda xp, g, condition: xp.where(condition, g, xp.zero(g)),
    y=lambda xp, g, condition: unless(xp, condition, g),
)
chosen = replace(where, selects=True, samples=())
"""`where` in a program of the user's; in a rule, NaN that comes through it is meant."""


def _share(xp, g, lost, ties):
    """The part of g that goes to one of two arguments: none where it lost, half where they tie, else all."""
    return xp.where(ties, g * 0.5, unless(xp, lost, g))


@builtin(kind="elementwise", node="MaximumBackward0", samples=_PAIR)
def maximum(xp, x, y):
    """The larger of two; where they are equal each gets half of the cotangent, where one is NaN each gets all."""
    return xp.maximum(x, y)


maximum.vjp(
    x=lambda xp, g, x, y: _share(xp, g, x < y, x == y),
    y=lambda xp, g, x, y: _share(xp, g, y < x, x == y),
)


@builtin(kind="elementwise", node="MinimumBackward0", samples=_PAIR)
def minimum(xp, x, y):
    """The smaller of two; where they are equal each gets half of the cotangent, where one is NaN each gets all."""
    return xp.minimum(x, y)


minimum.vjp(
    x=lambda xp, g, x, y: _share(xp, g, x > y, x == y),
    y=lambda xp, g, x, y: _share(xp, g, y > x, x == y),
)


@builtin(kind="elementwise", node="ReluBackward0", samples=_OFF_KINKS, switch="out")
def relu(xp, x):
    """Rectifier, y = max(x, 0); the slope at the kink x = 0 is taken as 0."""
    return xp.maximum(x, xp.zero(x))


relu.vjp(x=lambda xp, g, out: unless(xp, out <= 0, g))  # at NaN: g


@op(direct=True, kind="elementwise", complex="general", moves=True, samples=[Sample(A(3, 4), A(3, 4))])
def switched(xp, y, x):
    """y, which x enters only by comparisons: slope 1 in y, 0 in x."""
    return y


switched.vjp(y=lambda xp, g: g, x=lambda xp, g: xp.zeros_like(g))


# Comparisons and logic: results are bool and carry no derivative.


@builtin(complex="general", kind="elementwise", samples=_PAIR)
def equal(xp, x, y):
    """Whether x = y."""
    return x == y


@builtin(complex="general", kind="elementwise", samples=_PAIR)
def not_equal(xp, x, y):
    """Whether x differs from y."""
    return x != y


@builtin(kind="elementwise", samples=_PAIR)
def less(xp, x, y):
    """Whether x < y."""
    return x < y


@builtin(kind="elementwise", samples=_PAIR)
def less_equal(xp, x, y):
    """Whether x <= y."""
    return x <= y


@builtin(kind="elementwise", samples=_PAIR)
def greater(xp, x, y):
    """Whether x > y."""
    return x > y


@builtin(kind="elementwise", samples=_PAIR)
def greater_equal(xp, x, y):
    """Whether x >= y."""
    return x >= y


_BITS = [Sample(A(values=[True, False, True]), A(values=[True, True, False]))]


@builtin(kind="elementwise", samples=_BITS)
def bitwise_and(xp, x, y):
    """x & y for booleans and whole numbers."""
    return x & y


@builtin(kind="elementwise", samples=_BITS)
def bitwise_or(xp, x, y):
    """x | y for booleans and whole numbers."""
    return x | y


@builtin(kind="elementwise", samples=_BITS)
def bitwise_xor(xp, x, y):
    """x ^ y for booleans and whole numbers."""
    return x ^ y


@builtin(kind="elementwise", samples=[Sample(A(values=[True, False]))])
def bitwise_invert(xp, x):
    """~x for booleans and whole numbers."""
    return ~x


@builtin(complex="general", kind="elementwise", samples=[Sample(A(3, 4))])
def isnan(xp, x):
    """Whether x is NaN."""
    return xp.isnan(x)


@builtin(complex="general", kind="elementwise", samples=[Sample(A(3, 4))])
def isfinite(xp, x):
    """Whether x is neither infinite nor NaN."""
    return xp.isfinite(x)


@builtin(complex="general", kind="elementwise", samples=[Sample(A(3, 4))])
def isinf(xp, x):
    """Whether x is infinite."""
    return xp.isinf(x)


@builtin(kind="elementwise", samples=_PAIR)
def floor_divide(xp, x, y):
    """Quotient rounded down; slope 0. A whole number divided by 0 is an error in NumPy's arrays."""
    return xp.floor_divide(x, y)


@builtin(kind="elementwise", node="DivBackward2", samples=[Sample(A(values=[2.5, -1.2]), A(values=[2.0, 0.7]))])
def trunc_divide(xp, x, y):
    """Quotient with its fraction cut off; slope 0, at a pole too."""
    return xp.trunc(x / y)


for _quotient in (floor_divide, trunc_divide):
    _quotient.vjp(x=lambda xp, g: xp.zeros_like(g), y=lambda xp, g: xp.zeros_like(g))


@builtin(kind="elementwise", node="CopysignBackward0", samples=[Sample(A(3, 4, avoid=[0.0]), A(3, 4, avoid=[0.0]))])
def copysign(xp, x, y):
    """|x| with the sign of y, which a zero has too; the slope at the kink x = 0 is taken as 0."""
    return xp.copysign(x, y)


copysign.vjp(x=lambda xp, g, x, out: g * (xp.sign(x) * xp.sign(out)), y=lambda xp, g: xp.zeros_like(g))


@builtin(kind="elementwise", node="HeavisideBackward0", samples=_PAIR)
def heaviside(xp, x, y):
    """0 where x < 0, 1 where x > 0, y where x = 0."""
    return xp.where(x == 0, y, xp.astype(x > 0, y.dtype))


@builtin(kind="elementwise", node="NextafterBackward0", samples=_PAIR)
def nextafter(xp, x, y):
    """The next floating-point number after x towards y; its slope is 1 in x, 0 where x = y, and 0 in y."""
    return xp.nextafter(x, y)


nextafter.vjp(x=lambda xp, g, x, y: unless(xp, x == y, g), y=lambda xp, g: xp.zeros_like(g))


@builtin(kind="elementwise", samples=[Sample(A(3, 4))])
def signbit(xp, x):
    """Whether x is negative; -0.0 is."""
    return xp.signbit(x)


_WHOLE = [Sample(A(values=[1, 5, -7]), A(values=[0, 2, 1]))]


@builtin(kind="elementwise", samples=_WHOLE)
def bitwise_left_shift(xp, x, y):
    """x 2**y for whole numbers, without what does not fit."""
    return x << y


@builtin(kind="elementwise", samples=_WHOLE)
def bitwise_right_shift(xp, x, y):
    """x / 2**y, rounded down, for whole numbers."""
    return x >> y


@builtin(kind="elementwise", complex="general", samples=[Sample(A(3), A(3), rtol=0.5, atol=0.1, equal_nan=False)])
def isclose(xp, x, y, *, rtol, atol, equal_nan):
    """Whether |x - y| <= atol + rtol |y|; equal infinities are close, and NaN are if ``equal_nan``.

    The difference of whole numbers is theirs, not that of the nearest float64.
    """
    same = x == y
    if xp.isdtype(x.dtype, ("bool", "integral")):
        if rtol == 0 == atol:
            return same
        if xp.isdtype(x.dtype, "bool"):
            x, y = xp.astype(x, xp.uint8), xp.astype(y, xp.uint8)
        high, low = (xp.astype(n, xp.uint64) for n in (xp.where(x > y, x, y), xp.where(x > y, y, x)))
        gap = xp.astype(high - low, xp.float64)  # right though int64 wraps: modulo 2**64, and less than that
        return same | (gap <= atol + rtol * xp.abs(xp.astype(y, xp.float64)))
    near = xp.isfinite(y) & (xp.abs(x - y) <= atol + rtol * xp.abs(y))
    return near | same | (xp.isnan(x) & xp.isnan(y)) if equal_nan else near | same
