"""Elementwise functions under PyTorch's names, with its type promotion."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwright import dtypes
from gradwright.autograd.apply import apply, apply_one, unary
from gradwright.autograd.base import TensorBase, wrap
from gradwright.errors import kind
from gradwright.face.arguments import operands, result_type, tensor_arg, to_dtype
from gradwright.face.forms import counting, floating, function, logical, operator
from gradwright.ops import activation as _activation
from gradwright.ops import arithmetic as _arithmetic
from gradwright.ops import elementary as _elementary
from gradwright.ops import piecewise as _piecewise

__all__ = [
    "abs", "absolute", "acos", "acosh", "add", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2",
    "arctanh", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor",
    "ceil", "clamp", "clamp_max", "clamp_min", "clip", "cos", "cosh", "div", "divide", "eq", "exp", "exp2", "expm1",
    "float_power", "floor", "floor_divide", "ge", "greater", "greater_equal", "gt", "isfinite", "isinf", "isnan",
    "le", "less", "less_equal", "log", "log10", "log1p", "log2", "logical_and", "logical_not", "logical_or",
    "logical_xor", "lt", "masked_fill", "maximum", "minimum", "mul", "multiply", "ne", "neg", "negative", "not_equal",
    "pow", "reciprocal", "relu", "remainder", "round", "rsqrt", "rsub", "sigmoid", "sign", "sin", "sinh", "sqrt",
    "square", "sub", "subtract", "tan", "tanh", "true_divide", "trunc", "where",
]  # fmt: skip


mul = multiply = function(_arithmetic.multiply)
div = divide = true_divide = function(_arithmetic.divide, floating=True)
remainder = function(_arithmetic.remainder)
floor_divide = function(_piecewise.floor_divide)
maximum = function(_piecewise.maximum)
minimum = function(_piecewise.minimum)
atan2 = arctan2 = function(_elementary.atan2, floating=True)
eq = function(_piecewise.equal)
ne = not_equal = function(_piecewise.not_equal)
lt = less = function(_piecewise.less)
le = less_equal = function(_piecewise.less_equal)
gt = greater = function(_piecewise.greater)
ge = greater_equal = function(_piecewise.greater_equal)
bitwise_and = function(_piecewise.bitwise_and)
bitwise_or = function(_piecewise.bitwise_or)
bitwise_xor = function(_piecewise.bitwise_xor)
logical_and = logical(_piecewise.bitwise_and, "logical_and")
logical_or = logical(_piecewise.bitwise_or, "logical_or")
logical_xor = logical(_piecewise.bitwise_xor, "logical_xor")
bitwise_not = unary(_piecewise.bitwise_invert)
_add = function(_arithmetic.add)
_sub = function(_arithmetic.subtract)


def add(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """input + alpha other."""
    return _add(input, other if alpha == 1 else mul(other, alpha))


def sub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """input - alpha other."""
    return _sub(input, other if alpha == 1 else mul(other, alpha))


subtract = sub


def rsub(input: Any, other: Any) -> Any:
    """other - input."""
    return _sub(other, input)


neg = negative = counting(_arithmetic.negative)
abs = absolute = counting(_piecewise.abs)
sign, relu = counting(_piecewise.sign), counting(_piecewise.relu)
isnan = unary(_piecewise.isnan)
isinf = unary(_piecewise.isinf)
isfinite = unary(_piecewise.isfinite)
floor, ceil = counting(_piecewise.floor), counting(_piecewise.ceil)
round, trunc = counting(_piecewise.round), counting(_piecewise.trunc)
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


def logical_not(input: Any) -> Any:
    """Whether each entry is zero."""
    return eq(input, 0)


_power = _arithmetic.power
_raise = operator(_arithmetic.pow)


def pow(input: Any, exponent: Any) -> Any:
    """``input`` to the power of a number or a tensor; ``input`` may be the number and ``exponent`` the tensor."""
    if type(exponent) is int or type(exponent) is float:
        if not isinstance(input, TensorBase):
            tensor_arg("pow", input)
        if getattr(input.array.dtype, "kind", "f") in "fc":
            return apply_one(_power, input, {"exponent": exponent})
        if type(exponent) is float:
            return pow(to_dtype(input, dtypes.default()), exponent)
        if exponent < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed.")
    elif isinstance(input, (bool, int, float)) and isinstance(exponent, TensorBase):
        common = result_type(exponent, input)
        if common.is_floating_point:
            return apply_one(_arithmetic.exponential, to_dtype(exponent, common), {"base": input})
        input = to_dtype(wrap(np.array(input)), common)
    if result_type(tensor_arg("pow", input), exponent) is dtypes.boolean:
        raise RuntimeError("pow(): a power of booleans is not defined; convert 'input' with .to(dtype)")
    out = _raise(input, exponent)
    if out is NotImplemented:
        raise TypeError(f"pow(): argument 'exponent' must be Tensor or number, not {kind(exponent)}")
    return out


def square(input: Any) -> Any:
    """``input`` to the power of 2."""
    return pow(input, 2)


def float_power(input: Any, exponent: Any) -> Any:
    """`pow` in double precision."""
    return pow(*(to_dtype(x, dtypes.float64) if isinstance(x, TensorBase) else x for x in (input, exponent)))


_at_least = operator(_piecewise.clamp_min.variant("ClampBackward0"))
_at_most = operator(_piecewise.clamp_max.variant("ClampBackward0"))


def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """``input`` kept between ``min`` and ``max``, numbers or tensors; either may be None.

    Where ``input`` equals a bound it gets the whole gradient. Raises RuntimeError if both are None.
    """
    x = tensor_arg("clamp", input)
    if min is None and max is None:
        raise RuntimeError("clamp(): at least one of 'min' or 'max' must not be None")
    if isinstance(min, TensorBase) or isinstance(max, TensorBase):
        x = x if min is None else _at_least(x, min)
        return x if max is None else _at_most(x, max)
    d = result_type(x, *(b for b in (min, max) if b is not None))
    return apply(_piecewise.clip, (to_dtype(x, d),), {"min": min, "max": max})


clip = clamp


def clamp_min(input: Any, min: Any) -> Any:
    """``clamp(input, min=min)``."""
    return clamp(input, min=min)


def clamp_max(input: Any, max: Any) -> Any:
    """``clamp(input, max=max)``."""
    return clamp(input, max=max)


def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """``input`` where the condition holds, ``other`` elsewhere; with a condition alone, the indices of its Trues."""
    condition = tensor_arg("where", condition, "condition")
    if input is None and other is None:
        return tuple(wrap(i) for i in np.nonzero(condition.array))
    if condition.array.dtype != bool:
        raise RuntimeError(f"where(): expected condition to be a boolean tensor, but got {condition.array.dtype}")
    pair = operands(_piecewise.where, (input, other))
    if pair is None:
        raise TypeError(f"where(): arguments must be Tensors or numbers, but got {kind(input)} and {kind(other)}")
    return apply(_piecewise.where, (condition, *pair), {})


def masked_fill(input: Any, mask: Any, value: Any) -> Any:
    """``input`` with ``value`` (a number or 0-d tensor) where ``mask`` is True."""
    x = tensor_arg("masked_fill", input)
    if not isinstance(value, TensorBase):
        value = wrap(np.array(value, x.array.dtype))
    elif value.array.ndim:
        raise RuntimeError(f"masked_fill only supports a 0-dimensional value tensor, but got {value.array.ndim} dims")
    return where(tensor_arg("masked_fill", mask, "mask", 2), to_dtype(value, x.array.dtype), x)


def softplus(input: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    """log(1 + e**(beta x)) / beta; the line y = x where beta x > threshold."""
    x = tensor_arg("softplus", input)
    if x.array.dtype.kind != "f":
        raise NotImplementedError(f"softplus(): not implemented for {x.dtype}; expected a floating-point tensor")
    return apply(_activation.softplus, (x,), {"beta": beta, "threshold": threshold})
