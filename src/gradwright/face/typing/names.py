"""Names for what annotations say again and again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from gradwright.backends.devices import device
from gradwright.base.dtypes import dtype
from gradwright.engine.base import TensorBase
from gradwright.engine.edges import GradientEdge
from gradwright.face.memory_format import memory_format
from gradwright.face.tensor import Tensor

Number: TypeAlias = int | float | complex
"""A number, or a bool."""
Value: TypeAlias = Tensor | int | float | complex
"""A parameter: a tensor, or a number."""
Ints: TypeAlias = int | Sequence[int]
"""One, for all dims that are meant, or one for each."""
Dims: TypeAlias = int | Sequence[int] | None
"""One dim, several, or None: all."""
DType: TypeAlias = dtype | type | np.dtype[Any] | str | None
"""What is taken for a dtype: ours, Python's, NumPy's, or a name; None for the usual one."""
DeviceLike: TypeAlias = device | str | int | None
MemoryFormat: TypeAlias = memory_format
Operand: TypeAlias = "Tensor | Number | np.ndarray[Any, Any] | np.generic"
"""What stands beside a tensor in arithmetic."""
Roots: TypeAlias = TensorBase | GradientEdge | Iterable[TensorBase | GradientEdge]
"""What a backward pass begins at, or ends at: tensors, or edges of the graph (`autograd.graph.get_gradient_edge`)."""
Index: TypeAlias = Any
"""What may stand in square brackets: ints, slices, None, ..., tensors, arrays and lists, or a tuple of them."""
TensorLike: TypeAlias = Any
"""What a tensor is made of: a tensor, an array of any library, a number, or lists of these."""
