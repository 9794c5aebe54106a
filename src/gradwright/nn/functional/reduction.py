"""What every loss does at its end: the mean, the sum, or all entries."""

from __future__ import annotations

from functools import cache
from typing import Any

from gradwright.base.source_line import warn
from gradwright.engine.apply import apply_one
from gradwright.face.functions import reduce as _reduce
from gradwright.ops import reduce as _ops
from gradwright.ops.declare import Op

_BY_NUMBER = ("none", "mean", "sum")


def mode(reduction: Any, size_average: bool | None = None, reduce: bool | None = None) -> str:
    """The name of a reduction; PyTorch's old flags ``size_average`` and ``reduce``, if given, win, with a warning.

    Raises ValueError for an unknown name.
    """
    if size_average is not None or reduce is not None:
        reduction = "none" if reduce is False else "sum" if size_average is False else "mean"
        warn(f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.")
    if reduction in (0, 1, 2):
        return _BY_NUMBER[reduction]
    if reduction not in _BY_NUMBER:
        raise ValueError(f"{reduction} is not a valid value for reduction: expected 'mean', 'sum' or 'none'")
    return str(reduction)


def reduced(losses: Any, reduction: Any, size_average: bool | None = None, reduce: bool | None = None,
            node: str | None = None) -> Any:  # fmt: skip
    """The mean or the sum of ``losses``, or themselves; ``node`` is what the node of the former is called."""
    how = mode(reduction, size_average, reduce)
    if how == "none":
        return losses
    if node is None:
        return _reduce.mean(losses) if how == "mean" else _reduce.sum(losses)
    return apply_one(_called(_ops.mean if how == "mean" else _ops.sum, node), losses, {"axis": None, "keepdims": False})


@cache
def _called(op: Op, node: str) -> Op:
    return op.variant(node)
