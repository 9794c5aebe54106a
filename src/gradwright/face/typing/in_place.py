"""The functions that write into their first argument, which are made by their names: each takes what its twin takes."""

from __future__ import annotations

from gradwright.face import arithmetic as _arithmetic
from gradwright.face import elementwise as _elementwise
from gradwright.face import special as _special
from gradwright.face.algebra import linalg as _linalg
from gradwright.face.typing.functions import Unary

abs_: Unary
acos_: Unary
acosh_: Unary
arccos_: Unary
arccosh_: Unary
arcsin_: Unary
arcsinh_: Unary
arctan_: Unary
arctanh_: Unary
asin_: Unary
asinh_: Unary
atan_: Unary
atanh_: Unary
ceil_: Unary
conj_physical_: Unary
cos_: Unary
cosh_: Unary
deg2rad_: Unary
detach_: Unary
erf_: Unary
erfc_: Unary
exp2_: Unary
exp_: Unary
expm1_: Unary
fix_: Unary
floor_: Unary
frac_: Unary
i0_: Unary
log10_: Unary
log1p_: Unary
log2_: Unary
log_: Unary
neg_: Unary
negative_: Unary
rad2deg_: Unary
reciprocal_: Unary
rsqrt_: Unary
sigmoid_: Unary
sin_: Unary
sinc_: Unary
sinh_: Unary
sqrt_: Unary
square_: Unary
tan_: Unary
tanh_: Unary
trunc_: Unary

addmv_ = _linalg.addmv
clamp_ = clip_ = _elementwise.clamp
clamp_max_, clamp_min_ = _elementwise.clamp_max, _elementwise.clamp_min
gcd_, lcm_ = _arithmetic.gcd, _arithmetic.lcm
ldexp_, nan_to_num_ = _arithmetic.ldexp, _arithmetic.nan_to_num
logit_, xlogy_ = _special.logit, _special.xlogy
round_ = _elementwise.round
