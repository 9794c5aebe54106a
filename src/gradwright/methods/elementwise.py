"""Methods that work entry by entry."""

from __future__ import annotations

from typing import Any

from gradwright.face import compare as c
from gradwright.face import elementwise as e
from gradwright.face.forms import inplace


class Elementwise:
    """Methods that work entry by entry."""

    __slots__ = ()

    add, sub, mul, div, remainder, floor_divide = e.add, e.sub, e.mul, e.div, e.remainder, e.floor_divide
    subtract, multiply, divide, true_divide = e.sub, e.mul, e.div, e.div
    add_, sub_, mul_, div_, pow_ = map(inplace, (e.add, e.sub, e.mul, e.div, e.pow))
    neg, negative, square, abs, sign, relu = e.neg, e.neg, e.square, e.abs, e.sign, e.relu
    neg_, square_, abs_, relu_ = map(inplace, (e.neg, e.square, e.abs, e.relu))
    floor, ceil, round, trunc = e.floor, e.ceil, e.round, e.trunc
    pow, sqrt, rsqrt, reciprocal = e.pow, e.sqrt, e.rsqrt, e.reciprocal
    exp, exp2, expm1, log, log1p, log2, log10 = e.exp, e.exp2, e.expm1, e.log, e.log1p, e.log2, e.log10
    sqrt_, exp_, log_, sigmoid_, tanh_ = map(inplace, (e.sqrt, e.exp, e.log, e.sigmoid, e.tanh))
    sin, cos, tan, asin, acos, atan, atan2 = e.sin, e.cos, e.tan, e.asin, e.acos, e.atan, e.atan2
    sin_, cos_ = map(inplace, (e.sin, e.cos))
    sinh, cosh, tanh, asinh, acosh, atanh = e.sinh, e.cosh, e.tanh, e.asinh, e.acosh, e.atanh
    sigmoid, clamp, clip, clamp_min, clamp_max = e.sigmoid, e.clamp, e.clamp, e.clamp_min, e.clamp_max
    clamp_, reciprocal_, masked_fill_ = inplace(e.clamp), inplace(e.reciprocal), inplace(e.masked_fill)
    maximum, minimum, masked_fill, isnan, isinf = e.maximum, e.minimum, e.masked_fill, e.isnan, e.isinf
    isfinite, logical_not, logical_and, logical_or = e.isfinite, e.logical_not, e.logical_and, e.logical_or
    eq, ne, lt, le, gt, ge = e.eq, e.ne, e.lt, e.le, e.gt, e.ge

    def where(self, condition: Any, other: Any) -> Any:
        """This tensor where the condition holds, ``other`` elsewhere."""
        return e.where(condition, self, other)

    equal, isclose, allclose = c.equal, c.isclose, c.allclose
