"""What operations make of batches: by their kind, by a rule for each of the others, or one example after another.

A rule gets the operation, its tensors, which of them have the batch as their first dim, its static arguments and the
number of examples; it returns the result, or the list of several, with the batch first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradwright.engine.apply import apply
from gradwright.engine.strict import warn
from gradwright.op import Op, table

Rule = Callable[[Op, list[Any], Sequence[bool], dict[str, Any], int], Any]
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """The rule of the operations of these names."""

    def enter(f: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, f))
        return f

    return enter


def batched(op: Op, xs: list[Any], which: Sequence[bool], static: dict[str, Any], size: int) -> Any:
    """What ``op`` makes of these tensors for each example; ``which`` of them have the batch as their first dim."""
    found = RULES.get(op.name) or _OF_KIND.get(op.kind)
    return (found or one_by_one)(op, xs, which, static, size)


def rank(x: Any, batch: bool) -> int:
    """How many dims one example has."""
    return int(x.array.ndim) - batch


def first(x: Any, batch: bool, size: int) -> Any:
    """``x`` with the batch as its first dim, in the same memory if it had none."""
    return x if batch else x.expand(size, *x.array.shape)


def _elementwise(op: Op, xs: list[Any], which: Sequence[bool], static: dict[str, Any], size: int) -> Any:
    """Their dims are lined up from the last, so the batch comes before all of them."""
    most = max(map(rank, xs, which))
    given = [x.reshape(x.array.shape[0], *(1,) * (most - rank(x, b)), *x.array.shape[1:])
             if b and rank(x, b) < most else x for x, b in zip(xs, which, strict=True)]  # fmt: skip
    return apply(op, given, static)


def _reduction(op: Op, xs: list[Any], which: Sequence[bool], static: dict[str, Any], size: int) -> Any:
    """The axes are one further on; all of them are all but the first."""
    (x,) = xs
    n = rank(x, True)
    axis = static["axis"]
    axes = range(n) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if not n:  # of one number: there is an axis to reduce
        out = apply(op, [x.reshape(size, 1)], static | {"axis": (1,), "keepdims": False})
        return out
    return apply(op, xs, static | {"axis": tuple([a % n + 1 for a in axes])})


_OF_KIND: dict[str, Rule] = {"elementwise": _elementwise, "reduction": _reduction}


def one_by_one(op: Op, xs: list[Any], which: Sequence[bool], static: dict[str, Any], size: int) -> Any:
    """One example after another."""
    warn(f"vmap: there is no batching rule for {op.name}(), so it is done for one example after another, which is slow")
    made = [apply(op, [x[k] if b else x for x, b in zip(xs, which, strict=True)], static) for k in range(size)]
    if op.several:
        return [apply(table["stack"], list(outs), {"axis": 0}) for outs in zip(*made, strict=True)]
    return apply(table["stack"], made, {"axis": 0})


@rule("reshape", "broadcast_to")
def _shaped(op: Op, xs: list[Any], which: Sequence[bool], static: dict[str, Any], size: int) -> Any:
    (x,) = xs
    if op.name == "broadcast_to":
        lead = len(static["shape"]) - rank(x, True)
        x = x.reshape(size, *(1,) * lead, *x.array.shape[1:])
    return apply(op, [x], static | {"shape": (size, *static["shape"])})


@rule("permute_dims")
def _permuted(op: Op, xs: list[Any], which: Sequence[bool], static: dict[str, Any], size: int) -> Any:
    n = rank(xs[0], True)
    return apply(op, xs, static | {"axes": (0, *[a % n + 1 for a in static["axes"]])})
