"""Forward mode by hand, under PyTorch's names: levels, and tensors made of a value and its tangent."""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

from gradwright import dtypes
from gradwright.engine.apply import apply
from gradwright.engine.levels import LevelArray
from gradwright.engine.mode import now
from gradwright.errors import kind, size
from gradwright.op import table
from gradwright.reading.torch import tensor_arg
from gradwright.transform.tangent import Dual, Tangents
