"""The functions that write into their first argument: each takes what its twin takes.

Made by ``python -m docs.generator.stubs``.
"""
# ruff: noqa: I001

from gradwright.face.functions.algebra.linalg import addmv as addmv_
from gradwright.face.functions.arithmetic import deg2rad as deg2rad_
from gradwright.face.functions.arithmetic import fix as fix_
from gradwright.face.functions.arithmetic import frac as frac_
from gradwright.face.functions.arithmetic import gcd as gcd_
from gradwright.face.functions.arithmetic import lcm as lcm_
from gradwright.face.functions.arithmetic import ldexp as ldexp_
from gradwright.face.functions.arithmetic import nan_to_num as nan_to_num_
from gradwright.face.functions.arithmetic import rad2deg as rad2deg_
from gradwright.face.functions.complex import conj_physical as conj_physical_
from gradwright.face.functions.elementwise import abs as abs_
from gradwright.face.functions.elementwise import acos as acos_
from gradwright.face.functions.elementwise import acosh as acosh_
from gradwright.face.functions.elementwise import arccos as arccos_
from gradwright.face.functions.elementwise import arccosh as arccosh_
from gradwright.face.functions.elementwise import arcsin as arcsin_
from gradwright.face.functions.elementwise import arcsinh as arcsinh_
from gradwright.face.functions.elementwise import arctan as arctan_
from gradwright.face.functions.elementwise import arctanh as arctanh_
from gradwright.face.functions.elementwise import asin as asin_
from gradwright.face.functions.elementwise import asinh as asinh_
from gradwright.face.functions.elementwise import atan as atan_
from gradwright.face.functions.elementwise import atanh as atanh_
from gradwright.face.functions.elementwise import ceil as ceil_
from gradwright.face.functions.elementwise import clamp as clamp_
from gradwright.face.functions.elementwise import clamp_max as clamp_max_
from gradwright.face.functions.elementwise import clamp_min as clamp_min_
from gradwright.face.functions.elementwise import clip as clip_
from gradwright.face.functions.elementwise import cos as cos_
from gradwright.face.functions.elementwise import cosh as cosh_
from gradwright.face.functions.elementwise import exp2 as exp2_
from gradwright.face.functions.elementwise import exp as exp_
from gradwright.face.functions.elementwise import expm1 as expm1_
from gradwright.face.functions.elementwise import floor as floor_
from gradwright.face.functions.elementwise import log10 as log10_
from gradwright.face.functions.elementwise import log1p as log1p_
from gradwright.face.functions.elementwise import log2 as log2_
from gradwright.face.functions.elementwise import log as log_
from gradwright.face.functions.elementwise import neg as neg_
from gradwright.face.functions.elementwise import negative as negative_
from gradwright.face.functions.elementwise import reciprocal as reciprocal_
from gradwright.face.functions.elementwise import round as round_
from gradwright.face.functions.elementwise import rsqrt as rsqrt_
from gradwright.face.functions.elementwise import sigmoid as sigmoid_
from gradwright.face.functions.elementwise import sin as sin_
from gradwright.face.functions.elementwise import sinh as sinh_
from gradwright.face.functions.elementwise import sqrt as sqrt_
from gradwright.face.functions.elementwise import square as square_
from gradwright.face.functions.elementwise import tan as tan_
from gradwright.face.functions.elementwise import tanh as tanh_
from gradwright.face.functions.elementwise import trunc as trunc_
from gradwright.face.functions.special import erf as erf_
from gradwright.face.functions.special import erfc as erfc_
from gradwright.face.functions.special import i0 as i0_
from gradwright.face.functions.special import logit as logit_
from gradwright.face.functions.special import sinc as sinc_
from gradwright.face.functions.special import xlogy as xlogy_
from gradwright.face.functions.views import detach as detach_

__all__ = [
    "abs_", "acos_", "acosh_", "addmv_", "arccos_", "arccosh_", "arcsin_", "arcsinh_", "arctan_", "arctanh_",
    "asin_", "asinh_", "atan_", "atanh_", "ceil_", "clamp_", "clamp_max_", "clamp_min_", "clip_", "conj_physical_",
    "cos_", "cosh_", "deg2rad_", "detach_", "erf_", "erfc_", "exp2_", "exp_", "expm1_", "fix_", "floor_", "frac_",
    "gcd_", "i0_", "lcm_", "ldexp_", "log10_", "log1p_", "log2_", "log_", "logit_", "nan_to_num_", "neg_",
    "negative_", "rad2deg_", "reciprocal_", "round_", "rsqrt_", "sigmoid_", "sin_", "sinc_", "sinh_", "sqrt_",
    "square_", "tan_", "tanh_", "trunc_", "xlogy_",
]  # fmt: skip
