"""How the tensors that a run has made lie in memory, and whether a call can make them so."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwright.backends.steps import read
from gradwright.base.upward import slots
from gradwright.compilation.trace.untraceable import Untraceable
from gradwright.engine.memory import layout, overlaps
from gradwright.engine.node import AccumulateGrad
from gradwright.engine.version import Untracked


def kind(t: Any) -> tuple[Any, bool, tuple[int, ...] | None]:
    """Of a tensor that is made, its version, whether it is a leaf that requires grad, and how it lies in memory."""
    if type(t) is not slots.tensor:
        raise Untraceable(f"it makes a {type(t).__name__}, and keeps it")
    if getattr(t, "_part", None) is not None and overlaps(t):
        raise Untraceable("it returns a tensor with several entries in one place of memory: return a clone() of it")
    version = t._counter[0]
    return (version if isinstance(version, Untracked) else int(version), type(t._node) is AccumulateGrad,
            _order(np.empty_like(layout(t))))  # fmt: skip


def _order(array: Any) -> tuple[int, ...] | None:
    """The axes of an array without gaps in the order in which they lie in memory; None of one in row-major order."""
    return None if array.flags.c_contiguous else tuple(sorted(range(array.ndim), key=lambda k: -array.strides[k]))


def lies_as(x: Any, of: Any, steps: tuple[Any, ...]) -> bool:
    """Whether ``x`` lies in memory as a view of ``of`` by these steps does."""
    mine, its = getattr(x, "_part", None), getattr(of, "_part", None)
    if mine is None or its is None:
        return mine is its
    return mine.memory is its.memory and _where(mine.layout) == _where(read(its.layout, steps))


def _where(array: Any) -> tuple[Any, ...]:
    return array.__array_interface__["data"], array.shape, array.strides
