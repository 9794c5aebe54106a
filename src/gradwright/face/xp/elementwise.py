"""Functions that work entry by entry: of one tensor, and of two tensors or a tensor and a Python number."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

from gradwright.base import dtypes
from gradwright.engine.apply import apply, apply_one, binary, unary
from gradwright.engine.base import TensorBase
from gradwright.face.reading import standard
from gradwright.face.xp.creation import zeros_like
from gradwright.ops.declare import Op, op, table

FLOATING = [
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "expm1", "log", "log10", "log1p", "log2",
    "reciprocal", "sin", "sinh", "sqrt", "tan", "tanh",
]  # fmt: skip
SIMPLE = [
    "abs", "bitwise_invert", "ceil", "conj", "floor", "isfinite", "isinf", "isnan", "logical_not", "negative",
    "round", "sign", "signbit", "square", "trunc",
]  # fmt: skip
FLOATING_PAIRS = ["atan2", "copysign", "divide", "hypot", "logaddexp", "nextafter"]
PAIRS = [
    "add", "bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "equal",
    "floor_divide", "greater", "greater_equal", "less", "less_equal", "logical_and", "logical_or", "logical_xor",
    "maximum", "minimum", "multiply", "not_equal", "remainder", "subtract",
]  # fmt: skip

if TYPE_CHECKING:
    from gradwright.face.typing import Number, OfOne, Tensor

__all__ = ["clip", "imag", "positive", "pow", "real"]
__all__ += [name for names in (FLOATING, SIMPLE, FLOATING_PAIRS, PAIRS) for name in names]


def _signature(*names: str) -> Signature:
    return Signature([Parameter(n, Parameter.POSITIONAL_ONLY) for n in names])


_ONE, _TWO = _signature("x"), _signature("x1", "x2")


def _operation(name: str, inputs: int) -> Op:
    """The operation of this name; one without derivative that is in no table is the library's own function."""
    if name in table:
        return table[name]

    def one(xp: Any, x: Any) -> Any:
        return getattr(xp, name)(x)

    def two(xp: Any, x: Any, y: Any) -> Any:
        return getattr(xp, name)(x, y)

    forward = two if inputs == 2 else one
    forward.__name__ = name
    forward.__doc__ = f"{name}, entry by entry; without derivative."
    return op(kind="elementwise", complex="general")(forward)


def _function(name: str, *, floating: bool = False) -> Callable[[Any], Any]:
    made = _operation(name, 1)

    def slow(x: Any) -> Any:
        return apply_one(made, standard.floats(name, x) if floating else x, {})

    call: Any = unary(made, slow)
    call.__signature__ = _ONE
    return call


def _of_two(name: str, *, floating: bool = False) -> Callable[[Any, Any], Any]:
    made = _operation(name, 2)

    def slow(x: Any, y: Any) -> Any:
        return apply(made, standard.alike(name, x, y, floating=floating), {})

    quick: Any = binary(made, slow, floating=floating)

    def call(x1: Any, x2: Any, /) -> Any:
        return quick(x1, x2) if isinstance(x1, TensorBase) else slow(x1, x2)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = made.__doc__
    return call


globals().update({name: _function(name, floating=True) for name in FLOATING})
globals().update({name: _function(name) for name in SIMPLE})
globals().update({name: _of_two(name, floating=True) for name in FLOATING_PAIRS})
globals().update({name: _of_two(name) for name in PAIRS})

_pow = _of_two("pow")


def pow(x1: Tensor | Number, x2: Tensor | Number, /) -> Tensor:
    """Power, x1**x2."""
    number = x2 if isinstance(x1, TensorBase) else x1
    floating = isinstance(number, (int, float)) and not isinstance(number, bool)
    if not floating or standard.common_dtype("pow", x1, x2).category != dtypes.FLOAT:
        return _pow(x1, x2)
    if isinstance(x1, TensorBase) and dtypes.of(x1.array.dtype).is_floating_point:
        return apply_one(table["power"], x1, {"exponent": x2})
    return _pow(x1, x2)


def positive(x: Tensor, /) -> Tensor:
    """``x`` itself."""
    return standard.tensor("positive", x)


def _part(name: str) -> OfOne:
    def call(x: Any, /) -> Any:
        if dtypes.of(standard.tensor(name, x).array.dtype).is_complex:
            return apply_one(table[name], x, {})
        return x if name == "real" else zeros_like(x)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = table[name].__doc__
    return call


real, imag = _part("real"), _part("imag")


def clip(x: Tensor, /, min: Tensor | Number | None = None, max: Tensor | Number | None = None) -> Tensor:
    """x kept between bounds, which are numbers or tensors or left out."""
    have = dtypes.of(standard.tensor("clip", x).array.dtype)
    given = [b for b in (min, max) if b is not None]
    numbers = not any(isinstance(b, TensorBase) for b in given)
    if numbers and (not given or standard.common_dtype("clip", x, *given) is have):
        return apply_one(table["clip"], x, {"min": min, "max": max})
    for bound, name in ((min, "clamp_min"), (max, "clamp_max")):
        if bound is not None:
            x = apply(table[name], standard.alike("clip", x, bound), {})
    return x
