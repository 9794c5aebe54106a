"""Which functions C does line by line along an axis: running sums and extremes, places of extremes, sorting."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from gradwright.backends.order import selects
from gradwright.compilation.by_c.elements import castable, known
from gradwright.compilation.node import Node

RUNNING = frozenset({"sum", "prod", "max", "min"})
_LONG, _SHORT = 1024, 16
"""Longer lines NumPy sorts sooner: those of which an order is asked, and others."""


class Line(NamedTuple):
    """A function of the lines of an array.

    Attributes:
        kind: "sum", "prod", "max" or "min", running; "argmax" or "argmin"; "order" or "sort".
        operand: whose lines.
        axis: along which they go; None if all of it is one.
        falling: whether the largest come first.
    """

    kind: str
    operand: Node
    axis: int | None
    falling: bool = False


def line_of(node: Node, exact: bool) -> Line | None:
    """What C does for a node; None if it is none of these. ``exact``: only what is NumPy's to the last bit."""
    if len(node.args) != 1 or not isinstance(x := node.args[0], Node) or x.shape is None or node.shape is None:
        return None
    found = _found(node, x)
    if found is None or not castable(x.dtype, node.dtype if found.kind in RUNNING else x.dtype) or 0 in x.shape:
        return None
    if x.dtype.kind == "f" and exact and found.kind in ("max", "min", "sort"):  # of 0.0 and -0.0 either
        return None
    return found if known(node.dtype) and (x.shape or found.axis is None) else None


def _found(node: Node, x: Node) -> Line | None:
    kwargs = dict(node.kwargs)
    axis = kwargs.pop("axis", None if node.op in ("argmax", "argmin") else -1)
    if type(axis) is int and x.shape:
        axis %= len(x.shape)
    if node.op in ("argmax", "argmin") and kwargs.keys() <= {"keepdims"} and (axis is None or type(axis) is int):
        return Line(node.op, x, axis) if prod(x.shape) < 1 << 31 else None
    if type(axis) is not int or not x.shape:
        return None
    n = x.shape[axis]
    if node.op in ("cumulative_sum", "cumulative_prod") and not kwargs:
        return Line(node.op[11:], x, axis)
    if node.op == "running_extremum" and {*kwargs} == {"largest"}:
        return Line("max" if kwargs["largest"] else "min", x, axis)
    if node.op == "argsort" and kwargs == {"stable": True} and n <= _LONG:
        return Line("order", x, axis)
    if node.op == "sort" and not kwargs and n <= _SHORT:
        return Line("sort", x, axis)
    if node.op == "argtop" and {*kwargs} == {"k", "largest"} and n <= _LONG and node.shape[axis] == kwargs["k"]:
        return None if selects(kwargs["k"], n) else Line("order", x, axis, kwargs["largest"])
    return None
