"""What every loss does at its end: the mean, the sum, or all entries."""

from __future__ import annotations

from typing import Any

from gradwright.engine.source_line import warn
from gradwright.face import reduce as _reduce

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


def reduced(losses: Any, reduction: Any, size_average: bool | None = None, reduce: bool | None = None) -> Any:
    """The mean or the sum of ``losses``, or themselves."""
    how = mode(reduction, size_average, reduce)
    return losses if how == "none" else _reduce.mean(losses) if how == "mean" else _reduce.sum(losses)
