"""Elementwise functions under PyTorch's names, with its type promotion."""

from __future__ import annotations

import builtins
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast, overload

from gradwright.backends import to_host
from gradwright.base import dtypes
from gradwright.base.errors import kind
from gradwright.engine.apply import apply, apply_one, unary
from gradwright.engine.base import TensorBase
from gradwright.engine.levels import LevelArray, below, followed
from gradwright.engine.numbers import number
from gradwright.face.functions.forms import alike, counting, floating, function, logical, operator
from gradwright.face.reading.common import beside
from gradwright.face.reading.torch import (
    NUMBER,
    number_as,
    number_beside,
    older_form,
    result_type,
    tensor_arg,
    to_dtype,
)
from gradwright.ops import activation as _activation
from gradwright.ops import arithmetic as _arithmetic
from gradwright.ops import elementary as _elementary
from gradwright.ops import piecewise as _piecewise
from gradwright.ops import sets as _sets
from gradwright.ops import shape as _shape

if TYPE_CHECKING:
    from gradwright.face.typing import Number, Tensor

__all__ = [
    "abs", "absolute", "acos", "acosh", "add", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2",
    "arctanh", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor",
    "ceil", "clamp", "clamp_max", "clamp_min", "clip", "cos", "cosh", "div", "divide", "eq", "exp", "exp2", "expm1",
    "float_power", "floor", "floor_divide", "fmod", "ge", "greater", "greater_equal", "gt", "isfinite", "isinf",
    "isnan", "le", "less", "less_equal", "log", "log10", "log1p", "log2", "logical_and", "logical_not", "logical_or",
    "logical_xor", "lt", "masked_fill", "maximum", "minimum", "mul", "multiply", "ne", "neg", "negative", "not_equal",
    "pow", "reciprocal", "relu", "remainder", "round", "rsqrt", "rsub", "sgn", "sigmoid", "sign", "sin", "sinh",
    "sqrt", "square", "sub", "subtract", "tan", "tanh", "true_divide", "trunc", "where",
]  # fmt: skip


mul = multiply = function(_arithmetic.multiply, "mul")
true_divide = function(_arithmetic.divide, "true_divide", floating=True)
remainder = function(_arithmetic.remainder)
fmod = function(_arithmetic.fmod, numbers="other")
floor_divide = function(_piecewise.floor_divide)
_trunc_divide = function(_piecewise.trunc_divide)
maximum = function(_piecewise.maximum, numbers="none")
minimum = function(_piecewise.minimum, numbers="none")
atan2 = arctan2 = function(_elementary.atan2, floating=True, numbers="none")
eq = function(_piecewise.equal, "eq", numbers="other")
ne = not_equal = function(_piecewise.not_equal, "ne", numbers="other")
lt = less = function(_piecewise.less, "lt", numbers="other")
le = less_equal = function(_piecewise.less_equal, "le", numbers="other")
gt = greater = function(_piecewise.greater, "gt", numbers="other")
ge = greater_equal = function(_piecewise.greater_equal, "ge", numbers="other")
bitwise_and = function(_piecewise.bitwise_and)
bitwise_or = function(_piecewise.bitwise_or)
bitwise_xor = function(_piecewise.bitwise_xor)
logical_and = logical(_piecewise.bitwise_and, "logical_and")
logical_or = logical(_piecewise.bitwise_or, "logical_or")
logical_xor = logical(_piecewise.bitwise_xor, "logical_xor")
bitwise_not = unary(_piecewise.bitwise_invert)
bitwise_not.__name__ = "bitwise_not"


def invert(input: Tensor) -> Tensor:
    """``~input``: `bitwise_not`; TypeError for other than whole numbers and booleans."""
    try:
        return bitwise_not(input)
    except NotImplementedError as e:
        raise TypeError(f"~ (operator.invert) is only implemented on integer and Boolean-type tensors: {e}") from None


_add = function(_arithmetic.add)
_sub = function(_arithmetic.subtract)


def _scaled(function: str, input: Any, other: Any, alpha: Any) -> Any:
    """alpha other, for ``input`` + alpha ``other``; RuntimeError if ``alpha`` is of a higher kind than both."""
    if type(alpha) is int and alpha == 1:
        return other
    category = result_type(input, other).category
    if dtypes.BOOL < category < dtypes.FLOAT and isinstance(alpha, (bool, float)):
        raise RuntimeError(f"{function}(): For integral input tensors, argument alpha must not be {kind(alpha)}.")
    if category < dtypes.COMPLEX and isinstance(alpha, complex):
        raise RuntimeError(f"{function}(): For non-complex input tensors, argument alpha must not be a complex number.")
    if not isinstance(other, TensorBase):
        return other * alpha
    if dtypes.of(other.array.dtype).category < max(dtypes.FLOAT, category):
        return mul(cast("Tensor", other), alpha)
    return apply_one(_arithmetic.scale, other, {"by": alpha})


def add(input: Tensor | Number, other: Tensor | Number, last: Tensor | Number | None = None, *,
        alpha: Number = 1) -> Tensor:  # fmt: skip
    """input + alpha other; also in the older form ``add(input, alpha, other)``."""
    if last is not None:
        older_form("add", "alpha", alpha)
        alpha, other = cast("Number", other), last
    return _add(input, _scaled("add", input, other, alpha))


def sub(input: Tensor | Number, other: Tensor | Number, last: Tensor | Number | None = None, *,
        alpha: Number = 1) -> Tensor:  # fmt: skip
    """input - alpha other, also as ``sub(input, alpha, other)``; RuntimeError if one is a boolean."""
    if last is not None:
        older_form("sub", "alpha", alpha)
        alpha, other = cast("Number", other), last
    return _sub(input, _scaled("sub", input, other, alpha))


subtract = sub


def rsub(input: Tensor, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
    """other - alpha input."""
    return _sub(other, _scaled("rsub", other, tensor_arg("rsub", input), alpha))


def div(input: Tensor | Number, other: Tensor | Number, *, rounding_mode: str | None = None) -> Tensor:
    """Quotient; rounded towards 0 ("trunc") or down ("floor"), with slope 0, if a ``rounding_mode`` is named."""
    if rounding_mode is None:
        return true_divide(input, other)
    if rounding_mode == "floor":
        return floor_divide(input, other)
    if rounding_mode != "trunc":
        raise (RuntimeError if isinstance(rounding_mode, str) else TypeError)(
            f"div(): expected rounding_mode to be one of None, 'trunc', or 'floor' but found {rounding_mode!r}"
        )
    if result_type(input, other).category < dtypes.FLOAT:
        down = floor_divide(input, other)
        return add(down, logical_and(lt(down, 0), ne(remainder(input, other), 0)))
    return _trunc_divide(input, other)


divide = div
neg = negative = counting(_arithmetic.negative, "neg")
abs = absolute = counting(_piecewise.abs)
relu = counting(_piecewise.relu)
isnan = unary(_piecewise.isnan)
isinf = unary(_piecewise.isinf)
isfinite = unary(_piecewise.isfinite)
floor, ceil = counting(_piecewise.floor), counting(_piecewise.ceil)
_round, trunc = counting(_piecewise.round), counting(_piecewise.trunc)
reciprocal, sqrt, rsqrt = (floating(o) for o in (_arithmetic.reciprocal, _arithmetic.sqrt, _arithmetic.rsqrt))
exp, exp2, expm1 = (floating(o) for o in (_elementary.exp, _elementary.exp2, _elementary.expm1))
log, log1p = floating(_elementary.log), floating(_elementary.log1p)
log2, log10 = floating(_elementary.log2), floating(_elementary.log10)
sin, cos, tan = (floating(o) for o in (_elementary.sin, _elementary.cos, _elementary.tan))
asin, acos, atan = (floating(o) for o in (_elementary.asin, _elementary.acos, _elementary.atan))
sinh, cosh, tanh = (floating(o) for o in (_elementary.sinh, _elementary.cosh, _elementary.tanh))
asinh, acosh, atanh = (floating(o) for o in (_elementary.asinh, _elementary.acosh, _elementary.atanh))
sigmoid = floating(_activation.sigmoid)
arcsin, arccos, arctan, arcsinh, arccosh, arctanh = asin, acos, atan, asinh, acosh, atanh


def sgn(input: Tensor) -> Tensor:
    """Sign of each entry: -1, 0 or 1, NaN of NaN, with slope 0; of a complex number x / abs(x), and 0 at 0."""
    x = tensor_arg("sgn", input)
    return apply_one(_shape.copy if dtypes.of(x.array.dtype) is dtypes.boolean else _piecewise.sign, x, {})


def sign(input: Tensor) -> Tensor:
    """Sign of each entry: -1, 0 or 1, with slope 0; NotImplementedError for complex numbers, which have `sgn`."""
    if dtypes.of(tensor_arg("sign", input).array.dtype).is_complex:
        raise NotImplementedError("sign(): not implemented for complex numbers: use sgn()")
    return sgn(input)


def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """Each entry rounded, halves to even, to this number of decimals (of tens, if it is negative); slope 0."""
    decimals = number("round", "decimals", decimals)
    if decimals == 0:
        return _round(input)
    x = tensor_arg("round", input)
    if dtypes.of(x.array.dtype).category < dtypes.FLOAT:
        raise NotImplementedError(f"round(): decimals={decimals} is not implemented for {x.dtype}")
    scale = 10.0 ** builtins.abs(decimals)
    return _round(x * scale) / scale if decimals > 0 else _round(x / scale) * scale


def logical_not(input: Tensor) -> Tensor:
    """Whether each entry is zero."""
    return eq(input, 0)


_power = _arithmetic.power
_raise = operator(_arithmetic.pow)


@overload
def pow(input: Tensor, exponent: Tensor | Number) -> Tensor: ...
@overload
def pow(input: Number, exponent: Tensor) -> Tensor: ...
def pow(input: Any, exponent: Any) -> Any:
    """``input`` to the power of a number or a tensor; ``input`` may be the number and ``exponent`` the tensor."""
    if type(exponent) is int or type(exponent) is float:
        if not isinstance(input, TensorBase):
            tensor_arg("pow", input)
        if dtypes.of(input.array.dtype).category >= dtypes.FLOAT:
            return apply_one(_power, input, {"exponent": exponent})
        if type(exponent) is float:
            return pow(to_dtype(input, dtypes.default()), exponent)
        if exponent < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed.")
    elif isinstance(input, (bool, int, float, complex)) and isinstance(exponent, TensorBase):
        common = result_type(exponent, input)
        if common.is_floating_point:
            return apply_one(_arithmetic.exponential, to_dtype(exponent, common), {"base": input})
        input = to_dtype(beside(exponent.array, input, result_type(input)), common)
    common = result_type(tensor_arg("pow", input), exponent)
    if common is dtypes.boolean:
        raise RuntimeError("pow(): a power of booleans is not defined; convert 'input' with .to(dtype)")
    if isinstance(exponent, TensorBase) and common.category == dtypes.INT:
        x, n = to_dtype(input, common), to_dtype(exponent, common)
        return where(logical_and(lt(n, 0), ne(abs(x), 1)), 0, _raise(x, abs(n)))  # 1 / x**n is 0 but for 1 and -1
    out = _raise(input, exponent)
    if out is NotImplemented:
        raise TypeError(f"pow(): argument 'exponent' must be Tensor or number, not {kind(exponent)}")
    return out


def square(input: Tensor) -> Tensor:
    """``input`` to the power of 2."""
    return pow(input, 2)


@overload
def float_power(input: Tensor, exponent: Tensor | Number) -> Tensor: ...
@overload
def float_power(input: Number, exponent: Tensor) -> Tensor: ...
def float_power(input: Any, exponent: Any) -> Any:
    """`pow` in double precision."""
    if not isinstance(input, TensorBase):
        tensor_arg("float_power", exponent, "exponent", 2)
    wide = dtypes.complex128 if result_type(input, exponent).is_complex else dtypes.float64
    values = [to_dtype(v, wide) if isinstance(v, TensorBase) else v for v in (input, exponent)]
    return pow(values[0] if isinstance(input, TensorBase) else beside(exponent.array, input, wide), values[1])


_at_least = operator(_piecewise.clamp_min.variant("ClampBackward0"))
_at_most = operator(_piecewise.clamp_max.variant("ClampBackward0"))


def clamp(input: Tensor, min: Tensor | float | None = None, max: Tensor | float | None = None) -> Tensor:
    """``input`` kept between ``min`` and ``max``, numbers or tensors; either may be None.

    Where ``input`` equals a bound it gets the whole gradient. Raises RuntimeError if both are None.
    """
    x = tensor_arg("clamp", input)
    bounds = {"min": min, "max": max}
    given = {k: v for k, v in bounds.items() if v is not None}
    if not given:
        raise RuntimeError("clamp(): at least one of 'min' or 'max' must not be None")
    if x.dtype.is_floating_point and all(type(v) in (int, float) and -6e4 < v < 6e4 for v in given.values()):
        return apply_one(_piecewise.clip, x, bounds)  # the usual case: they fit every dtype
    for k, v in given.items():
        if not isinstance(v, (TensorBase, *NUMBER)):
            raise TypeError(f"clamp(): argument '{k}' must be Tensor or number, not {kind(v)}")
    d = result_type(x, *given.values())
    if d.is_complex:
        raise NotImplementedError("clamp(): not implemented for complex numbers, which have no order")
    if any(isinstance(v, TensorBase) for v in given.values()):
        x = x if min is None else _at_least(x, min)
        return x if max is None else _at_most(x, max)
    return apply(
        _piecewise.clip, (to_dtype(x, d),), bounds | {k: number_as("clamp", v, d).item() for k, v in given.items()}
    )


clip = clamp


def clamp_min(input: Tensor, min: Tensor | float) -> Tensor:
    """``clamp(input, min=min)``."""
    return clamp(input, min=min)


def clamp_max(input: Tensor, max: Tensor | float) -> Tensor:
    """``clamp(input, max=max)``."""
    return clamp(input, max=max)


@overload
def where(condition: Tensor) -> tuple[Tensor, ...]: ...
@overload
def where(condition: Tensor, input: Tensor | Number, other: Tensor | Number) -> Tensor: ...
def where(condition: Tensor, input: Tensor | Number | None = None,
          other: Tensor | Number | None = None) -> Tensor | tuple[Tensor, ...]:  # fmt: skip
    """``input`` where the condition holds, ``other`` elsewhere; with a condition alone, the indices of its Trues."""
    condition = tensor_arg("where", condition, "condition")
    if input is None and other is None:
        return tuple(apply(_sets.nonzero, (condition,), {}))
    if dtypes.of(condition.array.dtype) is dtypes.uint8:
        condition = to_dtype(condition, dtypes.boolean)
    if dtypes.of(condition.array.dtype) is not dtypes.boolean:
        raise RuntimeError(f"where(): expected condition to be a boolean tensor, but got {condition.dtype}")
    if not isinstance(input, TensorBase) and isinstance(input, NUMBER) and isinstance(other, NUMBER):
        near = beside(condition.array, 0, result_type(input, other))  # where the results are to be
        return apply(_piecewise.chosen, (condition, *alike(_piecewise.chosen, input, other, near)[:2]), {})
    return apply(_piecewise.chosen, (condition, *alike(_piecewise.chosen, input, other)), {})


def masked_fill(input: Tensor, mask: Tensor, value: Tensor | Number) -> Tensor:
    """``input`` with ``value`` (a number or 0-d tensor, which must fit its dtype) where ``mask`` is True."""
    x, mask = tensor_arg("masked_fill", input), tensor_arg("masked_fill", mask, "mask", 2)
    if dtypes.of(mask.array.dtype) is not dtypes.boolean:
        raise RuntimeError(f"masked_fill() only supports boolean masks, but got mask with dtype {mask.dtype}")
    if isinstance(value, NUMBER):
        value = number_beside("masked_fill", value, x)
    elif tensor_arg("masked_fill", value, "value", 3).array.ndim:
        raise RuntimeError(f"masked_fill only supports a 0-dimensional value tensor, but got {value.array.ndim} dims")
    elif not followed(value):
        many = isinstance(value.array, LevelArray)  # another one in each example
        for v in to_host(below(value.array)).reshape(-1).tolist() if many else [value.item()]:
            number_as("masked_fill", v, x.array.dtype)
    return apply(_masked, (mask, to_dtype(value, x.array.dtype), x), {})


_masked = replace(_piecewise.chosen, node="MaskedFillBackward0", rows=True)


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """log(1 + e**(beta x)) / beta; the line y = x where beta x > threshold.

    >>> gw.nn.functional.softplus(gw.tensor([-1000.0, 0.0, 1000.0]))
    tensor([0.0000e+00, 6.9315e-01, 1.0000e+03])
    """
    x = tensor_arg("softplus", input)
    if dtypes.kind(x.array.dtype) != "f":
        raise NotImplementedError(f"softplus(): not implemented for {x.dtype}; expected a floating-point tensor")
    return apply(_activation.softplus, (x,), {"beta": beta, "threshold": threshold})
