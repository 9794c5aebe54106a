"""Tensor's array namespace: the array API standard (2024.12, with `linalg` and `fft`), made of the operations.

What a derivative calls on `xp` is here: the standard's functions, in the modules of this package, and every operation
of the table that the standard lacks, under its own name. So recording a backward pass needs no second set of formulas.
"""

from __future__ import annotations

from math import e, inf, nan, pi
from typing import TYPE_CHECKING, Any

from gradwright.base import dtypes
from gradwright.base.lazy import lazy
from gradwright.face.reading import standard
from gradwright.face.xp import (
    creation,
    data_types,
    elementwise,
    fft,
    info,
    linalg,
    manipulation,
    searching,
    statistical,
)
from gradwright.face.xp.creation import *
from gradwright.face.xp.creation import zero
from gradwright.face.xp.data_types import *
from gradwright.face.xp.elementwise import *
from gradwright.face.xp.info import *
from gradwright.face.xp.linalg import matmul, matrix_transpose, tensordot, vecdot
from gradwright.face.xp.manipulation import *
from gradwright.face.xp.searching import *
from gradwright.face.xp.statistical import *
from gradwright.ops.declare import table

if TYPE_CHECKING:
    from gradwright.face.typing.standard import *

globals().update({_d.name: _d for _d in info.STANDARD})
float16, bfloat16 = dtypes.float16, dtypes.bfloat16
newaxis = None
__array_api_version__ = "2024.12"

__all__ = ["bfloat16", "e", "fft", "inf", "linalg", "matmul", "matrix_transpose", "nan", "newaxis", "pi", "tensordot"]
__all__ += ["vecdot", *(_d.name for _d in info.STANDARD)]  # noqa: PLE0604 - they are strings
for _part in (creation, data_types, elementwise, manipulation, searching, statistical):
    __all__ += _part.__all__
_lacking = lazy(__name__)


def __getattr__(name: str) -> Any:
    """An operation that the standard lacks."""
    if name not in table:
        return _lacking(name)
    globals()[name] = standard.bound(table[name])
    return globals()[name]
