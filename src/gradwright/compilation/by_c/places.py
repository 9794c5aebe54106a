"""Where values lie: views of others, as strides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gradwright.backends.numpy import namespace
from gradwright.compilation.by_c import symbols
from gradwright.compilation.node import INDEX, Node, function

Strides = tuple[int, ...]


class Place(NamedTuple):
    """A value in the memory of another.

    Attributes:
        root: the node whose memory it is.
        shape: of the value.
        strides, start: where its entries lie, counted in entries of the root's memory.
    """

    root: Node
    shape: tuple[int, ...]
    strides: Strides
    start: int

    def over(self, shape: tuple[int, ...]) -> Strides:
        """Its strides in a space that it is broadcast to, whose axes of length 1 are left out."""
        lead = len(shape) - len(self.shape)
        own = (0,) * lead + tuple(0 if n == 1 else s for n, s in zip(self.shape, self.strides, strict=True))
        return tuple(s for n, s in zip(shape, own, strict=True) if n != 1)

    @property
    def contiguous(self) -> bool:
        """Whether its entries lie one after another, in their order."""
        return 0 in self.shape or self.over(self.shape) == in_order(short(self.shape))


def short(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape without the axes of length 1."""
    return tuple(n for n in shape if n != 1)


def in_order(shape: tuple[int, ...]) -> Strides:
    """The strides of an array in row-major order."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return tuple(reversed(strides))


def _reshaped(x: Any, shape: Any) -> Any:
    return np.reshape(x, shape, copy=False)


def _expanded(x: Any, *, axis: int = 0) -> Any:
    return np.expand_dims(x, axis)


def _indexed(x: Any, key: Any) -> Any:
    key = key if isinstance(key, tuple) else (key,)
    return x[key if any(k is ... for k in key) else (*key, ...)]  # a view, even of one entry


def _flipped(x: Any, axis: Any = None) -> Any:
    return np.flip(x, axis) if x.ndim else x  # NumPy copies one number


_VIEWS: dict[str, Callable[..., Any]] = {
    "reshape": _reshaped, "permute_dims": namespace.permute_dims, "broadcast_to": np.broadcast_to,
    "expand_dims": _expanded, "squeeze": np.squeeze, "flip": _flipped, "transpose": np.transpose,
    "matrix_transpose": np.matrix_transpose, "moveaxis": np.moveaxis, "swapaxes": np.swapaxes,
    "linalg.diagonal": namespace.linalg.diagonal, INDEX: _indexed,
}  # fmt: skip
_SAME = frozenset({"positive", "real", "conj", "conjugate", "asarray"})


def is_view(node: Node) -> bool:
    """Whether a node may be a view of its first argument."""
    if not node.args or not isinstance(x := node.args[0], Node) or x.dtype is None or x.dtype != node.dtype:
        return False
    if node.op in _SAME:
        return x.dtype.kind in "fiu" + "b" * (node.op != "positive") and x.shape == node.shape
    return node.op in _VIEWS and not any(True for _ in Node(INDEX, node.args[1:], node.kwargs, None).nodes())


def view(node: Node, of: Place) -> Place | None:
    """Where a view of a place lies; None if it is not one, but a copy."""
    if node.op in _SAME:
        return of
    size = node.dtype.itemsize
    bytes_ = tuple(s * size for s in of.strides)
    like = np.lib.stride_tricks.as_strided(np.empty(1, node.dtype), of.shape, bytes_)  # only looked at, never read
    try:
        seen = _VIEWS[node.op](like, *node.args[1:], **node.kwargs)
    except ValueError:  # a reshape that cannot be a view
        return None
    if not isinstance(seen, np.ndarray) or (seen.size and not np.may_share_memory(seen, like)):
        return None
    strides, start = lies(seen, like)
    return Place(of.root, node.shape, strides, of.start + start)


def lies(part: Any, whole: Any) -> tuple[Strides, int]:
    """The strides and the start of a view of an array, in entries."""
    size = whole.itemsize
    moved = part.__array_interface__["data"][0] - whole.__array_interface__["data"][0] if part.size else 0
    known = symbols.known()
    return tuple(known(s // size) for s in part.strides), known(moved // size)


def shown(node: Node, array: Any) -> Any:
    """The view of an array that a node is."""
    return array if node.op in _SAME else function_of(node)(array, *node.args[1:], **node.kwargs)


def function_of(node: Node) -> Any:
    """The function that makes it."""
    return _VIEWS[INDEX] if node.op == INDEX else function(node.op)
