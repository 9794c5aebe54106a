"""The functions that write into their first argument, which are made by their names: each takes what its twin takes."""

from __future__ import annotations

from typing import cast as _cast

from gradwright.face import typing as _typing
from gradwright.face.functions import arithmetic as _arithmetic
from gradwright.face.functions import elementwise as _elementwise
from gradwright.face.functions import special as _special
from gradwright.face.functions.algebra import linalg as _linalg

_unary = _cast(_typing.Unary, None)
abs_ = acos_ = acosh_ = arccos_ = arccosh_ = arcsin_ = arcsinh_ = arctan_ = arctanh_ = _unary
asin_ = asinh_ = atan_ = atanh_ = ceil_ = conj_physical_ = cos_ = cosh_ = deg2rad_ = _unary
detach_ = erf_ = erfc_ = exp2_ = exp_ = expm1_ = fix_ = floor_ = frac_ = i0_ = log10_ = _unary
log1p_ = log2_ = log_ = neg_ = negative_ = rad2deg_ = reciprocal_ = rsqrt_ = sigmoid_ = _unary
sin_ = sinc_ = sinh_ = sqrt_ = square_ = tan_ = tanh_ = trunc_ = _unary

addmv_ = _linalg.addmv
clamp_ = clip_ = _elementwise.clamp
clamp_max_, clamp_min_ = _elementwise.clamp_max, _elementwise.clamp_min
gcd_, lcm_ = _arithmetic.gcd, _arithmetic.lcm
ldexp_, nan_to_num_ = _arithmetic.ldexp, _arithmetic.nan_to_num
logit_, xlogy_ = _special.logit, _special.xlogy
round_ = _elementwise.round
