"""Arithmetic beyond the operators, under PyTorch's names: fused products, remainders, signs, binary exponents."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from gradwright import backends
from gradwright.base import dtypes
from gradwright.base.errors import kind
from gradwright.engine.apply import apply, unary
from gradwright.engine.base import TensorBase
from gradwright.face.functions import elementwise as e
from gradwright.face.functions.complex import view_as_complex, view_as_real
from gradwright.face.functions.forms import TAKES, alike, function, without_slope
from gradwright.face.functions.reduce import norm
from gradwright.face.functions.returns import return_type
from gradwright.face.reading.common import beside
from gradwright.face.reading.torch import number_as, older_form, result_type, tensor_arg, to_dtype
from gradwright.ops import arithmetic as _arithmetic
from gradwright.ops import elementary as _elementary
from gradwright.ops import piecewise as _piecewise
from gradwright.ops.declare import Op

if TYPE_CHECKING:
    from gradwright.face.typing import Binary, MantissaExponent, Number, Tensor

__all__ = [
    "addcdiv", "addcmul", "bitwise_left_shift", "bitwise_right_shift", "copysign", "deg2rad", "dist", "fix", "fmax",
    "fmin", "frac", "frexp", "gcd", "heaviside", "hypot", "isneginf", "isposinf", "lcm", "ldexp", "lerp", "logaddexp",
    "logaddexp2", "nan_to_num", "nextafter", "positive", "rad2deg", "signbit",
]  # fmt: skip

_frexp = return_type("frexp", "mantissa", "exponent")

fix = e.trunc
copysign = function(_piecewise.copysign, floating=True, numbers="other")
bitwise_left_shift = function(_piecewise.bitwise_left_shift)
bitwise_right_shift = function(_piecewise.bitwise_right_shift)


def _category(x: Any) -> int:
    return dtypes.of(x.array.dtype).category


def _real(name: str, x: Any, *, floating: bool = False) -> Any:
    """``x``, if it is a tensor of real (or of floating-point) numbers."""
    category = _category(tensor_arg(name, x))
    if category == dtypes.COMPLEX or (floating and category < dtypes.FLOAT):
        raise (NotImplementedError if floating else RuntimeError)(f"{name}(): not implemented for {x.dtype}")
    return x


def _of_two(op: Op) -> Binary:
    """The function of two floating-point tensors."""
    compute = function(op, numbers="none")

    def call(input: Any, other: Any) -> Any:
        tensor_arg(op.name, other, "other", 2)
        if result_type(tensor_arg(op.name, input), other).category < dtypes.FLOAT:
            raise NotImplementedError(f"{op.name}(): not implemented for {input.dtype}; convert with .float()")
        return compute(input, other)

    call.__name__ = call.__qualname__ = op.name
    call.__annotations__ = TAKES["none"]
    call.__doc__ = op.__doc__
    return call


hypot, logaddexp, nextafter = _of_two(_arithmetic.hypot), _of_two(_elementary.logaddexp), _of_two(_piecewise.nextafter)


def logaddexp2(input: Tensor, other: Tensor) -> Tensor:
    """log2(2**input + 2**other), computed without overflow."""
    log2 = math.log(2)
    return e.div(logaddexp(e.mul(input, log2), e.mul(other, log2)), log2)


def fmax(input: Tensor, other: Tensor) -> Tensor:
    """The larger of two tensors' entries, and the other one where one is NaN; of equals ``input``."""
    x, y = _real("fmax", input), _real("fmax", tensor_arg("fmax", other, "other", 2))
    return e.where(e.ge(x, y) | e.isnan(y), x, y)


def fmin(input: Tensor, other: Tensor) -> Tensor:
    """The smaller of two tensors' entries, and the other one where one is NaN; of equals ``input``."""
    x, y = _real("fmin", input), _real("fmin", tensor_arg("fmin", other, "other", 2))
    return e.where(e.le(x, y) | e.isnan(y), x, y)


_step = without_slope(_piecewise.heaviside, "x", "y")


def heaviside(input: Tensor, values: Tensor) -> Tensor:
    """0 where ``input`` is negative, 1 where it is positive, ``values`` where it is 0; of one dtype."""
    x, y = _real("heaviside", input), _real("heaviside", tensor_arg("heaviside", values, "values", 2))
    if backends.differ("heaviside", x.array, y.array):
        raise RuntimeError(f"heaviside(): not implemented for tensors of different dtypes, {x.dtype} and {y.dtype}")
    return apply(_step, (x, y), {})


def lerp(input: Tensor, end: Tensor, weight: Tensor | Number) -> Tensor:
    """input + weight (end - input), for a ``weight`` that is a number or a tensor; all of one dtype."""
    x, y = tensor_arg("lerp", input), tensor_arg("lerp", end, "end", 2)
    d = dtypes.of(x.array.dtype)
    given = isinstance(weight, TensorBase)
    number = None if given else number_as("lerp", weight, d).item()
    for name, t in (("end", y), *((("weight", weight),) if given else ())):
        if t.dtype is not d and not (name == "weight" and t.array.ndim == 0 and _category(t) >= dtypes.FLOAT):
            raise RuntimeError(f"lerp(): expected dtype {d.name} for `{name}` but got dtype {t.dtype.name}")
    if d.category < dtypes.FLOAT:
        raise NotImplementedError(f"lerp(): not implemented for {d}")
    if not given:
        return apply(_arithmetic.lerp_by, (x, y), {"weight": number})
    return apply(_arithmetic.lerp, (x, y, to_dtype(weight, d)), {})


def _fused(op: Op, x: Any, y: Any, z: Any, value: Any) -> Any:
    for k, (name, t) in enumerate((("input", x), ("tensor1", y), ("tensor2", z)), 1):
        tensor_arg(op.name, t, name, k)
    tensors = alike(op, x, y, z)
    d = dtypes.of(tensors[0].array.dtype)
    if d is dtypes.boolean:
        raise NotImplementedError(f"{op.name}(): not implemented for {d}")
    return apply(op, tensors, {"value": number_as(op.name, value, d).item()})


def addcmul(input: Tensor, tensor1: Tensor | Number, tensor2: Tensor | Number, last: Tensor | None = None, *,
            value: Number = 1) -> Tensor:  # fmt: skip
    """input + value tensor1 tensor2; also in the older form ``addcmul(input, value, tensor1, tensor2)``."""
    if last is not None:
        older_form("addcmul", "value", value)
        value, tensor1, tensor2 = cast("Number", tensor1), tensor2, last
    return _fused(_arithmetic.addcmul, input, tensor1, tensor2, value)


def addcdiv(input: Tensor, tensor1: Tensor | Number, tensor2: Tensor | Number, last: Tensor | None = None, *,
            value: Number = 1) -> Tensor:  # fmt: skip
    """input + value tensor1 / tensor2, also as ``addcdiv(input, value, tensor1, tensor2)``.

    RuntimeError if both tensors are of whole numbers.
    """
    if last is not None:
        older_form("addcdiv", "value", value)
        value, tensor1, tensor2 = cast("Number", tensor1), tensor2, last
    tensors = [t for t in (tensor1, tensor2) if isinstance(t, TensorBase)]
    if len(tensors) == 2 and all(_category(t) < dtypes.FLOAT for t in tensors):
        raise RuntimeError("addcdiv(): integer division is not supported: convert with .float(), or use addcmul with a "
                           "rounded quotient")  # fmt: skip
    return _fused(_arithmetic.addcdiv, input, tensor1, tensor2, value)


def frac(input: Tensor) -> Tensor:
    """What `trunc` cuts off: x - trunc(x); slope 1."""
    x = _real("frac", input, floating=True)
    return e.sub(x, e.trunc(x.detach()))


def positive(input: Tensor) -> Tensor:
    """``input`` itself; RuntimeError if it is boolean."""
    if dtypes.of(tensor_arg("positive", input).array.dtype) is dtypes.boolean:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


def deg2rad(input: Tensor) -> Tensor:
    """Angles in degrees as radians."""
    return e.mul(_real("deg2rad", input), math.pi / 180)


def rad2deg(input: Tensor) -> Tensor:
    """Angles in radians as degrees."""
    return e.mul(_real("rad2deg", input), 180 / math.pi)


signbit = unary(_piecewise.signbit)


def isposinf(input: Tensor) -> Tensor:
    """Whether each entry is positive infinity."""
    x = _real("isposinf", input)
    return e.eq(x, math.inf)


def isneginf(input: Tensor) -> Tensor:
    """Whether each entry is negative infinity."""
    x = _real("isneginf", input)
    return e.eq(x, -math.inf)


def nan_to_num(input: Tensor, nan: float | None = None, posinf: float | None = None,
               neginf: float | None = None) -> Tensor:  # fmt: skip
    """NaN replaced by ``nan`` (0), infinities by ``posinf`` and ``neginf`` (the largest numbers); slope 0 there."""
    x = tensor_arg("nan_to_num", input)
    for name, v in (("nan", nan), ("posinf", posinf), ("neginf", neginf)):
        if not (v is None or isinstance(v, (int, float, np.floating))):
            raise TypeError(f"nan_to_num(): argument '{name}' must be float, not {kind(v)}")
    if _category(x) < dtypes.FLOAT:
        return x.clone()
    if _category(x) == dtypes.COMPLEX:
        return view_as_complex(nan_to_num(view_as_real(x), nan, posinf, neginf))
    top = float(dtypes.finfo(x.array.dtype).max)
    given = ((nan, 0.0), (posinf, top), (neginf, -top))
    zero, high, low = (beside(x.array, _held(d if v is None else v, top), x.dtype) for v, d in given)
    return e.where(e.isfinite(x), x, e.where(e.isnan(x), zero, e.where(e.gt(x, 0), high, low)))


def _held(number: float, top: float) -> float:
    """A number as a dtype whose largest is ``top`` holds it."""
    return number if abs(number) <= top or number != number else math.copysign(math.inf, number)


def ldexp(input: Tensor, other: Tensor) -> Tensor:
    """input times 2**other."""
    return e.mul(tensor_arg("ldexp", input), e.pow(2.0, tensor_arg("ldexp", other, "other", 2)))


def frexp(input: Tensor) -> MantissaExponent:
    """``input`` as mantissa times 2**exponent, with 0.5 <= abs(mantissa) < 1, or both 0."""
    x = tensor_arg("frexp", input)
    if not x.dtype.is_floating_point:
        raise RuntimeError("frexp() only supports floating-point dtypes")
    exponent = apply(_arithmetic.exponent, (x,), {})
    half = -exponent // 2  # in two steps, because 2**-exponent may be too large or too small for the dtype
    one = beside(x.array, 1.0, x.dtype)
    first, second = (apply(_arithmetic.ldexp, (one, n), {}) for n in (half, -exponent - half))
    return _frexp(e.mul(e.mul(x, first), second), exponent)


def _of_integers(name: str, op: Any) -> Binary:
    def call(input: Any, other: Any) -> Any:
        x, y = alike(_arithmetic.add, tensor_arg(name, input), tensor_arg(name, other, "other", 2))
        if _category(x) != dtypes.INT:
            raise NotImplementedError(f"{name}(): not implemented for {x.dtype}; expected whole numbers")
        return apply(op, (x, y), {})

    call.__name__ = call.__qualname__ = name
    call.__annotations__ = TAKES["none"]
    return call


gcd, lcm = _of_integers("gcd", _arithmetic.gcd), _of_integers("lcm", _arithmetic.lcm)
gcd.__doc__ = "Greatest common divisor of whole numbers."
lcm.__doc__ = "Least common multiple of whole numbers."


def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The p-norm of input - other."""
    return norm(e.sub(tensor_arg("dist", input), tensor_arg("dist", other, "other", 2)), p)
