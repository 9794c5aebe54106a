"""Functions of numbers in C that math.h lacks, or has otherwise than they are needed here."""

from __future__ import annotations

import re

from gradwright.backends.approximations import NDTR, NDTR_CENTRE, NDTR_END

_KINDS = (("", "double", "long long", "-746.0"), ("f", "float", "int", "-104.0"))


def _horner(coefficients: tuple[float, ...], end: str) -> str:
    *rest, text = [f"{c!r}{end}" for c in coefficients]
    for c in reversed(rest):
        text = f"{c} + t * ({text})"
    return text


# The vector form of exp takes its entries one by one if one of them is -inf, as what is masked is. So it gets 0 where
# e**x is 0, by bits: a choice the compiler would make after the call.
#
# A remainder is fmod's, moved on by y if its sign is the other one; a quotient is rounded down as NumPy does it. In
# single precision fmod goes by way of double, which is as exact for quotients below 2**29.
_IN_DOUBLE = """
  double by = __builtin_floor((double) x / y);
  if (by > -0x1p29 && by < 0x1p29 && fabsf(y) < __builtin_inff()) return by;"""
_TEXTS = {
    name + end: text.replace("@", end)
    for end, kind, bits, least in _KINDS
    for name, text in {
        "exponential": f"""
static inline {kind} exponential@({kind} x) {{
  union {{ {kind} number; {bits} bits; }} at = {{ x }}, e;
  {bits} held = -({bits}) !(x < {least}@);
  at.bits &= held; e.number = exp@(at.number); e.bits &= held;
  return e.number;
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
