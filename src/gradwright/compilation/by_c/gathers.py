"""Which reading and writing by index C does: ``x[index]``, entries along an axis, views, and their gradients."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gradwright.backends.generic import HERE
from gradwright.backends.steps import read
from gradwright.compilation.by_c.elements import known
from gradwright.compilation.by_c.places import lies, shown
from gradwright.compilation.node import INDEX, Node

_ALL = slice(None)
_SCATTERED = {"scatter_add": "add", "scatter": "put", "scatter_prod": "prod", "scatter_max": "max"}


class Gather(NamedTuple):
    """Entries ``x[..., index, ...]``, read for each of ``shape``, or added to there.

    Attributes:
        kind: "take"; "add", to a copy of an array, or "put", "prod" or "max" into one; "zeros", added to zeros.
        operands: the array that is read or copied, if there is one, what is added, if something is, and the indices.
        shape: of what is read, or added.
        whole: of the array that is indexed.
        lines: for each axis of ``shape`` the axis of ``whole`` along which it goes, or -1 for one of an index.
        axes: for each index its axis of ``whole``.
        at: for each index its axes among those of ``shape``.
    """

    kind: str
    operands: tuple[Node, ...]
    shape: tuple[int, ...]
    whole: tuple[int, ...]
    lines: tuple[int, ...]
    axes: tuple[int, ...]
    at: tuple[tuple[int, ...], ...]

    @property
    def indices(self) -> tuple[Node, ...]:
        """The nodes of the indices."""
        return self.operands[-len(self.axes) :]


class Spread(NamedTuple):
    """An array, but for a view of it that holds an operand: what is written there, or a gradient, zeros elsewhere.

    Attributes:
        operand: what is there.
        base: the array; None for zeros.
        strides, start: how the view lies, in entries.
    """

    operand: Node
    base: Node | None
    strides: tuple[int, ...]
    start: int


def spread_of(node: Node) -> Spread | None:
    """What C does for what is written to a view, or for its gradient; None if it is neither."""
    kwargs, args = node.kwargs, node.args
    if node.op == "unindex" and len(args) == 1 and {*kwargs} == {"shape", "key"}:
        base, x = None, args[0]
    elif (node.op, {*kwargs}) in (("put", {"key"}), ("write_view", {"steps"})) and len(args) == 2:
        base, x = args
    else:
        return None
    if not known(node.dtype) or any(y.dtype != node.dtype for y in args):
        return None
    whole = np.empty(node.shape, node.dtype)
    if node.op == "write_view":
        part = read(whole, kwargs["steps"])
    else:
        part = shown(node.like(INDEX, (node, kwargs["key"])), whole)
    if not np.may_share_memory(part, whole) or part.shape != x.shape or part.dtype != whole.dtype:
        return None
    if any(step == 0 for n, step in zip(part.shape, part.strides, strict=True) if n > 1):
        return None
    return Spread(x, base, *lies(part, whole))


def gather_of(node: Node, exact: bool) -> Gather | None:
    """What C does for a node; None if that is no reading by index, or none of these. A sum is NumPy's if ``exact``."""
    found = _found(node)
    if found is None or not all(isinstance(x, Node) and x.shape is not None for x in found.operands):
        return None
    values = found.operands[: -len(found.axes)]
    if found.kind not in ("take", "put") and (exact or node.dtype.kind != "f"):
        return None
    if not known(node.dtype) or any(x.dtype != node.dtype for x in values):
        return None
    if any(i.dtype.kind not in "iu" or not known(i.dtype) for i in found.indices) or 0 in (*found.shape, *found.whole):
        return None
    return found


def _found(node: Node) -> Gather | None:
    args, kwargs = node.args, node.kwargs
    if node.op == "take_along_axis" and len(args) == 2 and {*kwargs} == {"axis"}:
        return _along("take", args, args[1], args[0].shape, kwargs["axis"])
    kind = _SCATTERED.get(node.op)
    if kind and len(args) == 3 and {*kwargs} == {"axis"} and args[2].shape == args[1].shape:
        return _along(kind, (args[0], args[2], args[1]), args[1], args[0].shape, kwargs["axis"])
    if node.op == "take" and len(args) == 2 and {*kwargs} == {"axis"} and type(kwargs["axis"]) is int:
        lead = kwargs["axis"] % len(args[0].shape) if args[0].shape else 0
        return _keyed("take", args, args[0].shape, (*[_ALL] * lead, HERE), node.shape)
    if node.op == "at" and {*kwargs} == {"key"}:
        return _keyed("take", args, args[0].shape, kwargs["key"], node.shape)
    if node.op == "put" and len(args) > 2 and {"key"} <= {*kwargs} <= {"key", "accumulate"}:
        kind = "add" if kwargs.get("accumulate") else "put"
        return _keyed(kind, args, args[0].shape, kwargs["key"], args[1].shape)
    if node.op == "unindex" and {*kwargs} == {"shape", "key"} and isinstance(args[0], Node):
        return _keyed("zeros", args, tuple(kwargs["shape"]), kwargs["key"], args[0].shape)
    return None


def _along(kind: str, operands: tuple[Node, ...], index: Node, whole: tuple[int, ...], axis: int) -> Gather | None:
    """An index for each entry, along one axis."""
    n = len(whole)
    if not n or len(index.shape) != n:
        return None
    axis %= n
    lines = tuple(-1 if k == axis else k for k in range(n))
    return Gather(kind, operands, index.shape, whole, lines, (axis,), (tuple(range(n)),))


def _keyed(kind: str, args: tuple[Node, ...], whole: tuple[int, ...], key: tuple[object, ...],
           shape: tuple[int, ...]) -> Gather | None:  # fmt: skip
    """Indices of one shape for axes side by side, before which all of each axis is taken."""
    places = args[len(args) - sum(k == HERE for k in key) :]
    lead = len(key) - len(places)
    if any(type(k) is not slice or k != _ALL for k in key[:lead]) or any(k != HERE for k in key[lead:]):
        return None
    if not places or len({p.shape for p in places}) > 1:
        return None
    m, k = len(places[0].shape), len(places)
    tail = tuple(range(lead + k, len(whole)))
    lines = (*range(lead), *(-1,) * m, *tail)
    if shape != (*whole[:lead], *places[0].shape, *(whole[j] for j in tail)):
        return None
    return Gather(kind, args, shape, whole, lines, tuple(range(lead, lead + k)), (tuple(range(lead, lead + m)),) * k)
