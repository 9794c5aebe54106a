"""Elementwise functions under PyTorch's names, with its type promotion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradwright import dtypes
from gradwright.autograd.apply import apply, apply_one, binary, unary
from gradwright.autograd.base import TensorBase, wrap
from gradwright.autograd.view import assign
from gradwright.errors import kind
from gradwright.face.arguments import operands, result_type, tensor_arg, to_dtype
from gradwright.op import Op
from gradwright.ops import activation as _activation
from gradwright.ops import arithmetic as _arithmetic
from gradwright.ops import elementary as _elementary
from gradwright.ops import piecewise as _piecewise


def operator(op: Op, *, floating: bool = False, reflected: bool = False) -> Callable[[Any, Any], Any]:
    """The operator method of ``op``: promotes its operands, and returns NotImplemented for what it cannot take."""

    def slow(x: Any, y: Any) -> Any:
        pair = operands(op, (x, y), floating=floating)
        return NotImplemented if pair is None else call(*pair)

    call = binary(op, slow, floating=floating)
    return (lambda x, y: slow(y, x)) if reflected else call


def _function(op: Op, *, floating: bool = False) -> Callable[[Any, Any], Any]:
    method = operator(op, floating=floating)
    swapped = operator(op, floating=floating, reflected=True)

    def call(input: Any, other: Any) -> Any:
        out = method(input, other) if isinstance(input, TensorBase) else swapped(other, input)
        if out is NotImplemented:
            wrong = other if isinstance(input, TensorBase) else input
            raise TypeError(f"{op.name}(): arguments must be Tensors or numbers, but got {kind(wrong)}")
        return out

    call.__name__ = call.__qualname__ = op.name
    call.__doc__ = op.__doc__
    return call


def _floating(op: Op) -> Callable[[Any], Any]:
    """A function that computes in floating point: integers and booleans become the default dtype first."""
    call = unary(op, lambda x: call(to_dtype(x, dtypes.default())))
    return call


def _counting(op: Op) -> Callable[[Any], Any]:
    """A function of numbers, which refuses booleans."""

    def slow(x: Any) -> Any:
        if dtypes.of(x.array.dtype) is dtypes.boolean:
            raise RuntimeError(
                f"{op.name}(): argument 'input' must hold numbers, but its dtype is torch.bool; to invert a mask "
                "use ~ or logical_not(), else convert it with .to(dtype)"
            )
        return apply_one(op, x, {})

    return unary(op, slow)


def _logical(op: Op, name: str) -> Callable[[Any, Any], Any]:
    method = operator(op)

    def call(input: Any, other: Any) -> Any:
        return method(ne(tensor_arg(name, input), 0), ne(tensor_arg(name, other, "other", 2), 0))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{name} of what is nonzero in two tensors: of bool dtype."
    return call


mul = multiply = _function(_arithmetic.multiply)
div = divide = true_divide = _function(_arithmetic.divide, floating=True)
remainder = _function(_arithmetic.remainder)
floor_divide = _function(_piecewise.floor_divide)
maximum = _function(_piecewise.maximum)
minimum = _function(_piecewise.minimum)
atan2 = arctan2 = _function(_elementary.atan2, floating=True)
eq = _function(_piecewise.equal)
ne = not_equal = _function(_piecewise.not_equal)
lt = less = _function(_piecewise.less)
le = less_equal = _function(_piecewise.less_equal)
gt = greater = _function(_piecewise.greater)
ge = greater_equal = _function(_piecewise.greater_equal)
bitwise_and = _function(_piecewise.bitwise_and)
bitwise_or = _function(_piecewise.bitwise_or)
bitwise_xor = _function(_piecewise.bitwise_xor)
logical_and = _logical(_piecewise.bitwise_and, "logical_and")
logical_or = _logical(_piecewise.bitwise_or, "logical_or")
logical_xor = _logical(_piecewise.bitwise_xor, "logical_xor")
bitwise_not = unary(_piecewise.bitwise_invert)
_add = _function(_arithmetic.add)
_sub = _function(_arithmetic.subtract)


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


neg = negative = _counting(_arithmetic.negative)
abs = absolute = _counting(_piecewise.abs)
sign, relu = _counting(_piecewise.sign), _counting(_piecewise.relu)
isnan = unary(_piecewise.isnan)
isinf = unary(_piecewise.isinf)
isfinite = unary(_piecewise.isfinite)
floor, ceil = _counting(_piecewise.floor), _counting(_piecewise.ceil)
round, trunc = _counting(_piecewise.round), _counting(_piecewise.trunc)
reciprocal, sqrt, rsqrt = (_floating(o) for o in (_arithmetic.reciprocal, _arithmetic.sqrt, _arithmetic.rsqrt))
exp, exp2, expm1 = (_floating(o) for o in (_elementary.exp, _elementary.exp2, _elementary.expm1))
log, log1p = _floating(_elementary.log), _floating(_elementary.log1p)
log2, log10 = _floating(_elementary.log2), _floating(_elementary.log10)
sin, cos, tan = (_floating(o) for o in (_elementary.sin, _elementary.cos, _elementary.tan))
asin, acos, atan = (_floating(o) for o in (_elementary.asin, _elementary.acos, _elementary.atan))
sinh, cosh, tanh = (_floating(o) for o in (_elementary.sinh, _elementary.cosh, _elementary.tanh))
asinh, acosh, atanh = (_floating(o) for o in (_elementary.asinh, _elementary.acosh, _elementary.atanh))
sigmoid = _floating(_activation.sigmoid)
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


def inplace(function: Callable[..., Any]) -> Callable[..., Any]:
    """The in-place form of a function: its result is written into its first argument, history and all."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return store(self, function(self, *args, **kwargs))

    call.__name__ = call.__qualname__ = f"{function.__name__}_"
    call.__doc__ = f"In-place form of `{function.__name__}`."
    return call


def inplace_operator(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """`inplace` for an operator of two arguments."""

    def call(self: Any, other: Any) -> Any:
        out = method(self, other)
        return out if out is NotImplemented else store(self, out)

    return call


def store(x: Any, out: Any) -> Any:
    """Write a result into ``x``; RuntimeError if its dtype is of a higher category than that of ``x``."""
    if out.array.dtype is not x.array.dtype:
        have, got = dtypes.of(x.array.dtype), dtypes.of(out.array.dtype)
        if got.category > have.category:
            names = [dtypes.LEGACY.get(d.name, d.name).removesuffix("Tensor") for d in (got, have)]
            raise RuntimeError(f"result type {names[0]} can't be cast to the desired output type {names[1]}")
        out = to_dtype(out, have)
    return assign(x, out)
