"""Functions of numbers in C that math.h lacks, or has otherwise than they are needed here."""

from __future__ import annotations

import re
from math import factorial
from typing import NamedTuple

from gradwright.backends.approximations import NDTR, NDTR_CENTRE, NDTR_END

_KINDS = (("", "double", "long long"), ("f", "float", "int"))


class _Exp(NamedTuple):
    """How e**x is computed: between which x, log 2 in two parts, how many terms, and where the exponent is in bits."""

    least: str
    most: str
    high: str
    low: str
    terms: int
    bias: int
    at: int


_EXP = {
    "double": _Exp("-746.0", "710.0", "0x1.62e42feep-1", "0x1.a39ef35793c76p-33", 13, 1023, 52),
    "float": _Exp("-104.0f", "89.0f", "0x1.62e4p-1f", "0x1.7f7d1cp-20f", 7, 127, 23),
}


def _horner(coefficients: tuple[float, ...], end: str) -> str:
    *rest, text = [f"{c!r}{end}" for c in coefficients]
    for c in reversed(rest):
        text = f"{c} + t * ({text})"
    return text


def _taylor(terms: int, end: str) -> str:
    """(e**r - 1 - r) / r**2."""
    text = f"{1 / factorial(terms)!r}{end}"
    for k in range(terms - 1, 1, -1):
        text = f"fused{end}(r, {text}, {1 / factorial(k)!r}{end})"
    return text


# e**x is 2**n e**r, r being at most log(2) / 2, by its Taylor series; 2**n comes in two factors, each of which is a
# number. It is nearer to exact than the C library's for whole vectors, and needs no call.
#
# A remainder is fmod's, moved on by y if its sign is the other one; a quotient is rounded down as NumPy does it. In
# single precision fmod goes by way of double, which is as exact for quotients below 2**29.
_IN_DOUBLE = """
  double by = __builtin_floor((double) x / y);
  if (by > -0x1p29 && by < 0x1p29 && fabsf(y) < __builtin_inff()) return by;"""
_TEXTS = {
    name + end: text.replace("@", end)
    for end, kind, bits in _KINDS
    for e in (_EXP[kind],)
    for name, text in {
        "exponential": f"""
static inline {kind} exponential@({kind} x) {{
  {kind} at = x < {e.least} ? {e.least} : x > {e.most} ? {e.most} : x;
  {kind} n = __builtin_rint@(at * 0x1.71547652b82fep+0@), r = fused@(n, -{e.low}, fused@(n, -{e.high}, at));
  {kind} s = fused@(r * r, {_taylor(e.terms, end)}, r) + 1;
  {bits} k = n == n ? ({bits}) n : 0, half = k >> 1;
  union {{ {bits} bits; {kind} number; }} a, b;
  a.bits = (half + {e.bias}) << {e.at}; b.bits = (k - half + {e.bias}) << {e.at};
  return s * a.number * b.number;
}}
""",
        "below": f"""
static inline {kind} below@({kind} x) {{
  {kind} a = fabs@(x) > {NDTR_END}@ ? {NDTR_END}@ : fabs@(x), r = 1 / (a + {NDTR_CENTRE}@);
  {kind} t = ({NDTR_CENTRE}@ - a) * r;
  return fabs@((x >= 0) - ({_horner(NDTR[kind], end)}) * r * exponential@(a * a * -0.5@));
}}
""",
        "left": """
static inline double left(double x, double y) { return fmod(x, y); }
""" if kind == "double" else """
static inline float leftf(float x, float y) {
  double times = __builtin_trunc((double) x / y);
  return times > -0x1p29 && times < 0x1p29 && fabsf(y) < __builtin_inff()
         ? copysignf((float) (x - times * y), x) : fmodf(x, y);
}
""",
        "rest": f"""
static inline {kind} rest@({kind} x, {kind} y) {{
  {kind} r = left@(x, y);
  return (r < 0) != (y < 0) && r != 0 ? r + y : r;
}}
""",
        "whole": f"""
static inline {kind} whole@({kind} x, {kind} y) {{
  if (y == 0) return x / y;{_IN_DOUBLE * (kind == "float")}
  {kind} r = left@(x, y), q = (x - r) / y - ((r < 0) != (y < 0) && r != 0), n = floor@(q);
  return q == 0 ? copysign@(0, x / y) : n + (q - n > 0.5@);
}}
""",
    }.items()
}  # fmt: skip


def needed(body: str) -> str:
    """Those that a text calls, and that these call, each after what it calls."""
    found = ""
    for name, text in reversed(_TEXTS.items()):
        if re.search(rf"\b{name}\(", found + body):
            found = text + found
    return found
