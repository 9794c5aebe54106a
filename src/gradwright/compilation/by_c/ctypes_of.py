"""NumPy's dtypes in C: names of types, numbers as literals, casts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

NAMES = {
    np.dtype(name): text
    for name, text in {
        "bool": "unsigned char", "int8": "signed char", "int16": "short", "int32": "int", "int64": "long long",
        "uint8": "unsigned char", "uint16": "unsigned short", "uint32": "unsigned", "uint64": "unsigned long long",
        "float32": "float", "float64": "double",
    }.items()
}  # fmt: skip
"""In memory. What has no name here stays in NumPy: halves, complex numbers, objects, another byte order."""
BOOL = np.dtype(bool)
_FROM_FLOAT = frozenset(map(np.dtype, ("bool", "int32", "int64", "float32", "float64")))


def known(dtype: Any) -> bool:
    """Whether C computes with a dtype."""
    return dtype in NAMES


def variable(dtype: Any) -> str:
    """The type of a variable."""
    return "_Bool" if dtype == BOOL else NAMES[dtype]


def suffix(dtype: Any) -> str:
    """What the functions of math.h that take a dtype end in."""
    return "f" if dtype == np.float32 else ""


def literal(value: Any, dtype: Any) -> str | None:
    """A number as it is in a dtype; None if that cannot hold it."""
    if dtype == BOOL:
        return "1" if value else "0"
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        if int(value) != value or not info.min <= value <= info.max:
            return None
        if int(value) == np.iinfo(np.int64).min:
            return "(-0x7fffffffffffffffLL - 1)"
        end = {"i8": "LL", "u8": "ULL"}.get(f"{dtype.kind}{dtype.itemsize}", "")
        return f"{int(value)}{end}"
    with np.errstate(all="ignore"):
        number = float(dtype.type(value))
    end = suffix(dtype)
    if math.isnan(number):
        return f'__builtin_nan{end}("")'
    if math.isinf(number):
        return f"{'-' * (number < 0)}__builtin_inf{end}()"
    return f"{number.hex()}{end}" if abs(number) > 1e6 or number != round(number) else f"{number!r}{end}"


def castable(old: Any, new: Any) -> bool:
    """Whether C casts every value as NumPy does: not floats beyond the range of a small or unsigned integer."""
    return known(old) and known(new) and (old.kind != "f" or new in _FROM_FLOAT)


def cast(text: str, old: Any, new: Any) -> str:
    """An expression in another dtype."""
    if old == new:
        return text
    if new == BOOL:
        return f"({text} != 0)"
    if old.kind == "f" and new.kind == "i":
        return f"WHOLE({NAMES[new]}, 0x1p{8 * new.itemsize - 1}{suffix(old)}, {text})"
    return f"(({NAMES[new]}) {text})"
