"""``torch.nn._reduction``: the numbers of the reductions of losses, and what old flags mean."""

from __future__ import annotations

from gradwright.nn.functional.reduction import mode

_NUMBERS = {"none": 0, "mean": 1, "elementwise_mean": 1, "sum": 2}


def get_enum(reduction: str) -> int:
    """0 for "none", 1 for "mean", 2 for "sum"; ValueError for any other."""
    if reduction not in _NUMBERS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return _NUMBERS[reduction]


def legacy_get_string(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> str:
    """The reduction that the flags of old, ``size_average`` and ``reduce``, mean; each is True if None."""
    if emit_warning:
        return mode("mean", True if size_average is None else size_average, reduce)
    return "none" if reduce is False else "sum" if size_average is False else "mean"


def legacy_get_enum(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> int:
    """The number of `legacy_get_string`."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
