"""``torch.types``: names for annotations."""

from __future__ import annotations

import builtins
import os
from collections.abc import Sequence
from typing import Any, TypeAlias

from gradwright.backends.devices import device as _device
from gradwright.base.dtypes import Size, dtype
from gradwright.face.tensor import Tensor

__all__ = ["Device", "FileLike", "IntLikeType", "FloatLikeType", "BoolLikeType", "Number", "Storage"]

Number: TypeAlias = int | float | bool
Device: TypeAlias = _device | str | int | None
FileLike: TypeAlias = str | os.PathLike[str] | Any
IntLikeType: TypeAlias = int
FloatLikeType: TypeAlias = float
BoolLikeType: TypeAlias = bool
PySymType: TypeAlias = int | float | bool
Storage: TypeAlias = Any

_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]
_dtype = dtype
_size: TypeAlias = Size | list[int] | tuple[int, ...]
_symsize = _size
_int, _float, _bool, _complex = builtins.int, builtins.float, builtins.bool, builtins.complex
