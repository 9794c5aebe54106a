"""The functions of `gradwright.xp` that are made by their names, and its dtypes."""

from __future__ import annotations

from gradwright.base.dtypes import dtype as _dtype
from gradwright.face.typing.functions import OfOne as _One
from gradwright.face.typing.functions import OfTwo as _Two

abs: _One
acos: _One
acosh: _One
asin: _One
asinh: _One
atan: _One
atanh: _One
bitwise_invert: _One
ceil: _One
conj: _One
cos: _One
cosh: _One
exp: _One
expm1: _One
floor: _One
isfinite: _One
isinf: _One
isnan: _One
log: _One
log10: _One
log1p: _One
log2: _One
logical_not: _One
negative: _One
reciprocal: _One
round: _One
sign: _One
signbit: _One
sin: _One
sinh: _One
sqrt: _One
square: _One
tan: _One
tanh: _One
trunc: _One

add: _Two
atan2: _Two
bitwise_and: _Two
bitwise_left_shift: _Two
bitwise_or: _Two
bitwise_right_shift: _Two
bitwise_xor: _Two
copysign: _Two
divide: _Two
equal: _Two
floor_divide: _Two
greater: _Two
greater_equal: _Two
hypot: _Two
less: _Two
less_equal: _Two
logaddexp: _Two
logical_and: _Two
logical_or: _Two
logical_xor: _Two
maximum: _Two
minimum: _Two
multiply: _Two
nextafter: _Two
not_equal: _Two
remainder: _Two
subtract: _Two

bool: _dtype
int8: _dtype
int16: _dtype
int32: _dtype
int64: _dtype
uint8: _dtype
uint16: _dtype
uint32: _dtype
uint64: _dtype
float32: _dtype
float64: _dtype
complex64: _dtype
complex128: _dtype
