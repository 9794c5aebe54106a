"""Tensor's array namespace: the array API standard (2024.12, with `linalg` and `fft`), made of the operations.

What a derivative calls on `xp` is here: the standard's functions, in the modules of this package, and every operation
of the table that the standard lacks, under its own name. So recording a backward pass needs no second set of formulas.
"""

from __future__ import annotations

from math import e, inf, nan, pi
from typing import Any

from gradwright import dtypes
from gradwright.op import table
from gradwright.reading import standard
from gradwright.xp import fft, info, linalg
from gradwright.xp.creation import *
from gradwright.xp.creation import zero
from gradwright.xp.data_types import *
from gradwright.xp.elementwise import *
from gradwright.xp.info import *
from gradwright.xp.linalg import matmul, matrix_transpose, tensordot, vecdot
from gradwright.xp.manipulation import *
from gradwright.xp.searching import *
from gradwright.xp.statistical import *

globals().update({_d.name: _d for _d in info.STANDARD})
float16, bfloat16 = dtypes.float16, dtypes.bfloat16
newaxis = None
__array_api_version__ = "2024.12"


def __getattr__(name: str) -> Any:
    """An operation that the standard lacks."""
    if name not in table:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = standard.bound(table[name])
    return globals()[name]
