"""Methods that work entry by entry."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradwright.face.functions import activation as v
from gradwright.face.functions import arithmetic as a
from gradwright.face.functions import compare as c
from gradwright.face.functions import elementwise as e
from gradwright.face.functions.forms import aside, inplace, store
from gradwright.face.reading import overwrite
from gradwright.face.reading.torch import tensor_arg

if TYPE_CHECKING:
    from gradwright.face.typing import Number, Tensor


def _each(name: str, function: Callable[..., Any], *tensors: Any) -> Any:
    if any(tensor_arg(name, t).requires_grad for t in tensors):
        raise RuntimeError(f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead.")
    first = tensors[0]
    lists = [t.broadcast_to(first.shape).reshape(-1).tolist() for t in tensors]
    out = first.new_tensor([function(*values) for values in zip(*lists, strict=True)])
    return store(first, out.reshape(first.shape))


class Elementwise:
    """Methods that work entry by entry."""

    __slots__ = ()

    hardshrink, prelu = v.hardshrink, v.prelu

    add, sub, mul, div, remainder, floor_divide = e.add, e.sub, e.mul, e.div, e.remainder, e.floor_divide
    add_, sub_ = inplace(add, overwrite.add), inplace(sub, overwrite.subtract)
    mul_, div_ = inplace(mul, overwrite.multiply), inplace(div, overwrite.divide)
    remainder_, floor_divide_ = inplace(remainder), inplace(floor_divide)
    true_divide, fmod, neg, reciprocal, square, pow = e.true_divide, e.fmod, e.neg, e.reciprocal, e.square, e.pow
    true_divide_, fmod_, neg_, reciprocal_, square_ = (
        inplace(true_divide), inplace(fmod), inplace(neg), inplace(reciprocal), inplace(square),
    )  # fmt: skip
    subtract, multiply, divide, negative = sub, mul, div, neg
    subtract_, multiply_, divide_, negative_ = sub_, mul_, div_, neg_
    sqrt, rsqrt, exp, exp2, expm1 = e.sqrt, e.rsqrt, e.exp, e.exp2, e.expm1
    sqrt_, rsqrt_, exp_, exp2_, expm1_, pow_ = (
        inplace(sqrt), inplace(rsqrt), inplace(exp), inplace(exp2), inplace(expm1), inplace(pow),
    )  # fmt: skip
    log, log1p, log2, log10, sigmoid, relu = e.log, e.log1p, e.log2, e.log10, e.sigmoid, e.relu
    log_, log1p_, log2_, log10_, sigmoid_, relu_ = (
        inplace(log), inplace(log1p), inplace(log2), inplace(log10), inplace(sigmoid), inplace(relu),
    )  # fmt: skip

    sin, cos, tan, asin, acos, atan, atan2 = e.sin, e.cos, e.tan, e.asin, e.acos, e.atan, e.atan2
    sin_, cos_, tan_, asin_, acos_, atan_, atan2_ = (
        inplace(sin), inplace(cos), inplace(tan), inplace(asin), inplace(acos), inplace(atan),
        inplace(atan2),
    )  # fmt: skip
    sinh, cosh, tanh, asinh, acosh, atanh = e.sinh, e.cosh, e.tanh, e.asinh, e.acosh, e.atanh
    sinh_, cosh_, tanh_, asinh_, acosh_, atanh_ = (
        inplace(sinh), inplace(cosh), inplace(tanh), inplace(asinh), inplace(acosh), inplace(atanh),
    )  # fmt: skip
    arcsin, arccos, arctan, arctan2, arcsinh, arccosh, arctanh = asin, acos, atan, atan2, asinh, acosh, atanh
    arcsin_, arccos_, arctan_, arctan2_ = asin_, acos_, atan_, atan2_
    arcsinh_, arccosh_, arctanh_ = asinh_, acosh_, atanh_

    abs, sign, sgn, floor, ceil, round, trunc = e.abs, e.sign, e.sgn, e.floor, e.ceil, e.round, e.trunc
    abs_, sign_, sgn_, floor_, ceil_, round_, trunc_ = (
        inplace(abs), inplace(sign), inplace(sgn), inplace(floor), inplace(ceil), inplace(round),
        inplace(trunc),
    )  # fmt: skip
    absolute, absolute_, fix, fix_ = abs, abs_, trunc, trunc_
    clamp, clamp_min, clamp_max, masked_fill = e.clamp, e.clamp_min, e.clamp_max, e.masked_fill
    clamp_, clamp_min_, clamp_max_, masked_fill_ = (
        inplace(clamp), inplace(clamp_min), inplace(clamp_max), inplace(masked_fill),
    )  # fmt: skip
    clip, clip_, maximum, minimum = clamp, clamp_, e.maximum, e.minimum

    eq, ne, lt, le, gt, ge = e.eq, e.ne, e.lt, e.le, e.gt, e.ge
    eq_, ne_, lt_, le_, gt_, ge_ = inplace(eq), inplace(ne), inplace(lt), inplace(le), inplace(gt), inplace(ge)
    not_equal, less, less_equal, greater, greater_equal = ne, lt, le, gt, ge
    not_equal_, less_, less_equal_, greater_, greater_equal_ = ne_, lt_, le_, gt_, ge_
    logical_and, logical_or, logical_xor, logical_not = e.logical_and, e.logical_or, e.logical_xor, e.logical_not
    logical_and_, logical_or_, logical_xor_ = inplace(logical_and), inplace(logical_or), inplace(logical_xor)
    logical_not_ = inplace(logical_not)
    bitwise_and, bitwise_or, bitwise_xor, bitwise_not = e.bitwise_and, e.bitwise_or, e.bitwise_xor, e.bitwise_not
    bitwise_and_, bitwise_or_, bitwise_xor_ = inplace(bitwise_and), inplace(bitwise_or), inplace(bitwise_xor)
    bitwise_not_ = inplace(bitwise_not)
    bitwise_left_shift, bitwise_right_shift = a.bitwise_left_shift, a.bitwise_right_shift
    bitwise_left_shift_, bitwise_right_shift_ = inplace(bitwise_left_shift), inplace(bitwise_right_shift)
    isnan, isinf, isfinite, signbit = e.isnan, e.isinf, e.isfinite, a.signbit
    isposinf, isneginf = a.isposinf, a.isneginf

    lerp, addcmul, addcdiv, hypot, copysign, dist = a.lerp, a.addcmul, a.addcdiv, a.hypot, a.copysign, a.dist
    lerp_, addcmul_, addcdiv_, hypot_, copysign_ = (
        inplace(lerp), inplace(addcmul), inplace(addcdiv), inplace(hypot), inplace(copysign),
    )  # fmt: skip
    frac, deg2rad, rad2deg, nan_to_num, heaviside = a.frac, a.deg2rad, a.rad2deg, a.nan_to_num, a.heaviside
    frac_, deg2rad_, rad2deg_, nan_to_num_, heaviside_ = (
        inplace(frac), inplace(deg2rad), inplace(rad2deg), inplace(nan_to_num), inplace(heaviside),
    )  # fmt: skip
    gcd, lcm, ldexp, nextafter, frexp, positive = a.gcd, a.lcm, a.ldexp, a.nextafter, a.frexp, a.positive
    gcd_, lcm_, ldexp_, nextafter_ = inplace(gcd), inplace(lcm), inplace(ldexp), inplace(nextafter)
    fmax, fmin, logaddexp, logaddexp2, float_power = a.fmax, a.fmin, a.logaddexp, a.logaddexp2, e.float_power

    def float_power_(self, exponent: Tensor | Number) -> Tensor:
        """In-place form of `float_power`; RuntimeError unless this tensor is of double precision."""
        out = e.float_power(aside(self), exponent)
        if out.dtype is not self.dtype:  # type: ignore[attr-defined]
            raise RuntimeError(f"float_power_(): the base is of {self.dtype}, but the result of {out.dtype}")  # type: ignore[attr-defined]
        return store(self, out)

    def apply_(self, callable: Callable[[Any], Any]) -> Tensor:
        """Replace each element by what a Python function makes of it; RuntimeError if the tensor requires grad.

        >>> gw.tensor([1.0, 2.0]).apply_(lambda v: v + 10)
        tensor([11., 12.])
        """
        return _each("apply_", callable, self)

    def map_(self, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
        """Replace each element by what a function makes of it and that of another tensor; not differentiable.

        >>> gw.tensor([1.0, 2.0]).map_(gw.tensor([3.0, 4.0]), lambda a, b: a * b)
        tensor([3., 8.])
        """
        return _each("map_", callable, self, tensor)

    def map2_(self, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
        """Replace each element by what a function makes of it and those of two other tensors; not differentiable."""
        return _each("map2_", callable, self, x, y)

    def where(self: Any, condition: Tensor, other: Tensor | Number) -> Tensor:
        """This tensor where the condition holds, ``other`` elsewhere.

        >>> x = gw.tensor([1.0, -2.0])
        >>> x.where(x > 0, gw.zeros(2))
        tensor([1., 0.])
        """
        return e.where(condition, self, other)

    equal, isclose, allclose = c.equal, c.isclose, c.allclose

    def __rdiv__(self, other: Any) -> Any:
        return e.true_divide(other, tensor_arg("__rdiv__", self))

    __lshift__, __rshift__ = bitwise_left_shift, bitwise_right_shift
    __ilshift__, __irshift__ = bitwise_left_shift_, bitwise_right_shift_

    def __rlshift__(self: Any, other: Any) -> Any:
        return a.bitwise_left_shift(other, self)

    def __rrshift__(self: Any, other: Any) -> Any:
        return a.bitwise_right_shift(other, self)
