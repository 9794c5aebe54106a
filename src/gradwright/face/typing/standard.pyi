"""The functions of `gradwright.xp` that are made by their names, and its dtypes.

Made by ``python -m docs.generator.stubs``.
"""

from __future__ import annotations

from typing import cast as _cast

from gradwright.base.dtypes import dtype as _dtype
from gradwright.face import typing as _typing

_one = _cast(_typing.OfOne, None)
abs = acos = acosh = asin = asinh = atan = atanh = bitwise_invert = ceil = conj = cos = cosh = exp = expm1 = _one
floor = isfinite = isinf = isnan = log = log10 = log1p = log2 = logical_not = negative = reciprocal = _one
round = sign = signbit = sin = sinh = sqrt = square = tan = tanh = trunc = _one

_two = _cast(_typing.OfTwo, None)
add = atan2 = bitwise_and = bitwise_left_shift = bitwise_or = bitwise_right_shift = _two
bitwise_xor = copysign = divide = equal = floor_divide = greater = greater_equal = hypot = less = _two
less_equal = logaddexp = logical_and = logical_or = logical_xor = maximum = minimum = multiply = _two
nextafter = not_equal = remainder = subtract = _two

_any = _cast(_dtype, None)
bool = complex128 = complex64 = float32 = float64 = int16 = int32 = int64 = int8 = uint16 = uint32 = _any
uint64 = uint8 = _any
