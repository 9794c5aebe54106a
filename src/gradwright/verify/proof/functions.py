"""Functions of balls: signs and sizes, the elementary functions, SciPy's special ones; order, and rounding.

What depends on which of two is larger is certain, or NotProvedError.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gradwright.base.errors import NotProvedError
from gradwright.verify.proof import series, special
from gradwright.verify.proof.balls import (
    Balls,
    Truths,
    balls,
    chosen,
    common,
    compared,
    each,
    paired,
    quotient,
    settled,
    through,
)
from gradwright.verify.proof.shapes import (
    asarray,
    broadcast_arrays,
    broadcast_to,
    expand_dims,
    folded,
    reshape,
    take_along_axis,
    uncertain,
)


def absolute(x: Any) -> Any:
    """|x|: at 0, where it has a kink, the hull of both sides."""
    if not uncertain(x):
        return np.abs(x)
    if x.dtype.kind == "c":
        a, b = x.real, x.imag
        return sqrt(a * a + b * b)
    return chosen(x < 0, -x, x)


def sign(x: Any) -> Any:
    """-1, 0 or 1."""
    if not uncertain(x):
        return np.sign(x)
    if x.dtype.kind == "c":
        return x / absolute(x)
    return chosen(x == 0, chosen(x < 0, balls(-1.0), balls(1.0)) * 0.0, chosen(x < 0, balls(-1.0), balls(1.0)))


def signbit(x: Any) -> Any:
    """Whether x is negative; a ball has no negative zero."""
    return x < 0 if uncertain(x) else np.signbit(x)


def copysign(x: Any, y: Any) -> Any:
    """|x| with the sign of y."""
    return chosen(compared("<", y, 0.0), -absolute(balls(x)), absolute(balls(x)))


def _of_finite(value: bool) -> Callable[[Any], Any]:
    def call(x: Any) -> Any:
        if not uncertain(x):
            return (np.isfinite if value else np.isnan)(x)
        known = each(lambda e: float(value) if series.start(e).is_finite() else 0.5, balls(x).value)
        return settled(known.astype(float), "whether a ball is finite")

    return call


isfinite, isnan = _of_finite(True), _of_finite(False)


def isinf(x: Any) -> Any:
    """Whether x is infinite."""
    return ~isfinite(x) if uncertain(x) else np.isinf(x)


def conj(x: Any) -> Any:
    """The complex conjugate."""
    if not uncertain(x) or x.dtype.kind != "c":
        return x
    return x.real + x.imag * balls(-1j)


# Functions of one and of two.


def elementary(name: str) -> Callable[[Any], Any]:
    """An elementary function by its name in the array API."""
    f = series.ELEMENTARY[name]
    return lambda x: through(f, balls(x))


sqrt, _log, _exp = map(elementary, ("sqrt", "log", "exp"))


def atan2(y: Any, x: Any) -> Any:
    """The angle of the point (x, y): by the sign that is certain of one of them."""
    y, x = broadcast_arrays(balls(y), balls(x))

    def one(a: Any, da: Any, b: Any, db: Any) -> tuple[Any, Any]:
        half = series.arb.pi() / 2
        s, c = series.start(a), series.start(b)
        if c > 0:
            top, under, sign, offset = (a, da), (b, db), 1, half * 0
        elif s > 0 or s < 0:
            top, under, sign, offset = (b, db), (a, da), -1, half if s > 0 else -half
        else:
            return series.unknown(), series.unknown()
        q = series.divided(top[0], under[0])
        dq = series.divided(top[1] - series.times(q, under[1]), under[0])
        value, slope = series.through(series.ELEMENTARY["atan"], q, dq)
        return value * sign + offset, slope * sign

    return paired(one, y.value, y.slopes(), x.value, x.slopes(), dtype=common(y, x))


def hypot(x: Any, y: Any) -> Any:
    """sqrt(x**2 + y**2)."""
    return sqrt(balls(x) * x + balls(y) * y)


def logaddexp(x: Any, y: Any) -> Any:
    """log(e**x + e**y)."""
    return _log(_exp(balls(x)) + _exp(balls(y)))


class Special:
    """SciPy's special functions of balls; parameters (orders, degrees) are numbers, or whole-number arrays."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        kind = special.bessel(name)
        if kind is not None:
            letter, scaled, order = kind
            if order is None:
                return lambda order, x: _bessel(letter, scaled, int(order), x)
            return lambda x: _bessel(letter, scaled, order, x)
        if name in special.OF_ONE:
            return lambda x: through(special.OF_ONE[name], balls(x))
        if name.startswith("eval_"):
            return partial(_polynomial, name.removeprefix("eval_"))
        if name in _SPECIAL:
            return _SPECIAL[name]
        raise NotProvedError(f"not proved: the special function {name} has no balls here")


def _bessel(letter: str, scaled: bool, order: int, x: Any) -> Any:
    out = through(special.of_order(letter, scaled, order), balls(x))
    return out * _exp(-absolute(balls(x))) if letter == "i" and scaled else out


def _polynomial(name: str, n: Any, *rest: Any) -> Any:
    *parameters, x = rest
    degrees = np.broadcast_to(np.asarray(n), np.broadcast_shapes(np.shape(n), x.shape))
    x = broadcast_to(x, degrees.shape)
    one = lambda k, v, s: series.through(special.polynomial(name, int(k), *parameters), v, s)
    return paired(one, degrees, x.value, x.slopes(), dtype=x.dtype)


def _with_parameter(f: Callable[[Any], series.Taylor]) -> Callable[[Any, Any], Any]:
    """A function of a parameter, which may not move, and x."""

    def call(parameter: Any, x: Any) -> Any:
        p, x = broadcast_arrays(balls(parameter), balls(x))
        if p.moves().any():
            raise NotProvedError("not proved: the derivative by the order of a special function")
        one = lambda a, v, s: series.through(f(series.start(a)), v, s)
        return paired(one, p.value, x.value, x.slopes(), dtype=x.dtype)

    return call


_SPECIAL: dict[str, Callable[..., Any]] = {
    "airy": lambda x: tuple(through(special.airy(k), balls(x)) for k in (0, 1)),
    "zeta": _with_parameter(special.zeta),
    "gammainc": _with_parameter(lambda a: special.gammainc(a, False)),
    "gammaincc": _with_parameter(lambda a: special.gammainc(a, True)),
    "spherical_jn": lambda order, x: through(special.spherical_jn(int(order)), balls(x)),
}


# ---- order and rounding ------------------------------------------------------------------------------------


def maximum(x: Any, y: Any) -> Any:
    """The larger of two; the hull of both where that is open."""
    return chosen(compared("<", x, y), y, x) if uncertain([x, y]) else asarray(np.maximum(x, y))


def minimum(x: Any, y: Any) -> Any:
    """The smaller of two; the hull of both where that is open."""
    return chosen(compared("<", y, x), y, x) if uncertain([x, y]) else asarray(np.minimum(x, y))


def largest(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The largest over axes."""
    return folded(maximum, x, axis, keepdims) if uncertain(x) else np.max(x, axis=axis, keepdims=keepdims)


def smallest(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The smallest over axes."""
    return folded(minimum, x, axis, keepdims) if uncertain(x) else np.min(x, axis=axis, keepdims=keepdims)


def clip(x: Any, low: Any = None, high: Any = None) -> Any:
    """x between two bounds."""
    x = x if low is None else maximum(x, low)
    return x if high is None else minimum(x, high)


def argsort(x: Any, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """The order of each line, if the balls of no two entries meet."""
    if not uncertain(x):
        return np.argsort(-x if descending else x, axis=axis, kind="stable")
    middles = each(lambda e: float(series.start(e).mid()), x.value).astype(float)
    order = np.argsort(middles, axis=axis, kind="stable")
    lines = take_along_axis(x, order, axis=axis)
    n, front = x.shape[axis], (slice(None),) * (axis % x.ndim)
    rises = compared("<", lines[(*front, slice(0, n - 1))], lines[(*front, slice(1, n))])
    if isinstance(rises, Truths) or not rises.all():
        raise NotProvedError("not proved: an order (a sort, an argmax) of entries that are equal, or whose balls meet")
    return np.flip(order, axis) if descending else order


def sort(x: Any, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Each line in order, if the balls of no two entries meet."""
    return take_along_axis(x, argsort(x, axis=axis, descending=descending), axis=axis)


def _place(end: int) -> Callable[..., Any]:
    def call(x: Any, *, axis: int | None = None, keepdims: bool = False) -> Any:
        flat = reshape(x, (-1,)) if axis is None else x
        along = 0 if axis is None else axis % x.ndim
        order = argsort(flat, axis=along)
        out = np.take(order, [end], axis=along)
        return out if keepdims and axis is not None else np.squeeze(out, along)

    return call


argmin, argmax = _place(0), _place(-1)


def searchsorted(x: Any, y: Any, *, side: str = "left", sorter: Any = None) -> Any:
    """The place of y in x, which is in order, if that is certain."""
    before = compared("<" if side == "left" else "<=", expand_dims(x, axis=0), expand_dims(reshape(y, (-1,)), axis=-1))
    if isinstance(before, Truths):
        raise NotProvedError("not proved: a place among entries that are equal, or whose balls meet")
    return np.reshape(before.sum(axis=-1), y.shape)


# Rounding: whole numbers, if there is one in the ball and its neighbours are not.


def _whole(rounding: Callable[[Any], Any], jumps: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def call(x: Any) -> Any:
        if not uncertain(x):
            return rounding_of_numpy[call](x)

        def one(e: Any, moves: bool) -> Any:
            a = series.start(e)
            found = rounding(a).unique_fmpz() if a.is_finite() else None
            if found is None or (moves and jumps(a).contains_integer()):
                raise NotProvedError(f"not proved: rounding to a whole number at a jump, {a.str(5)}")
            return series.constant(int(found))

        return Balls(each(one, x.value, x.moves()), None, x.dtype)

    return call


def _to_even(a: Any) -> Any:
    up = (a + 0.5).floor()
    found = (a + 0.5).unique_fmpz()
    return up if found is None or not (a + 0.5).is_exact() or found % 2 == 0 else up - 1


floor = _whole(lambda a: a.floor(), lambda a: a)
ceil = _whole(lambda a: a.ceil(), lambda a: a)
round_ = _whole(_to_even, lambda a: a + 0.5)
trunc = _whole(lambda a: a.ceil() if a < 0 else a.floor(), lambda a: a)
rounding_of_numpy: dict[Any, Callable[..., Any]] = {floor: np.floor, ceil: np.ceil, round_: np.round, trunc: np.trunc}


def floor_divide(x: Any, y: Any) -> Any:
    """The quotient rounded down."""
    return floor(quotient(x, y)) if uncertain([x, y]) else np.floor_divide(x, y)


def remainder(x: Any, y: Any) -> Any:
    """What is left, with the sign of y."""
    return x - y * floor_divide(x, y) if uncertain([x, y]) else np.remainder(x, y)


def fmod(x: Any, y: Any) -> Any:
    """What is left, with the sign of x."""
    return x - y * trunc(quotient(x, y)) if uncertain([x, y]) else np.fmod(x, y)
