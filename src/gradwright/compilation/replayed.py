"""The nodes of a program as calls of JAX's functions, inside ``jax.jit``: with NumPy's dtypes, and its numbers."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from gradwright.backends.numpy import NUMPY
from gradwright.compilation.interpreted import function
from gradwright.compilation.node import CONSTANT, INDEX, MOVE, PICK, Node

_ADDS = frozenset({"add", "operator.add"})
_SUMS = _ADDS | {"subtract", "operator.sub"}
_FILLED = {"zeros_like": 0, "ones_like": 1, "zero": 0}
_LIKE_WHERE = {"where": 1}
"""Functions that promote their arguments as ufuncs do, from which argument on."""


def value(node: Node, args: tuple[Any, ...], kwargs: dict[str, Any], library: Any) -> Any:
    """What a node makes of arrays of JAX; ``library`` is `gradwright.backends.jax.JAX`."""
    jax, space = import_module("jax"), library.xp
    if node.op in (INDEX, PICK, "at_index"):
        return args[0][args[1]]
    if node.op == MOVE:
        place = args[1].native
        meshed = isinstance(place, jax.sharding.NamedSharding)
        return jax.lax.with_sharding_constraint(args[0], place) if meshed else args[0]
    if node.op == "may_hold":
        return space.any(args[0])
    if node.op in _ADDS and not kwargs and args[0] is args[1] and node.dtype.kind == "f":
        return args[0] * 2  # the same number, and a factor is folded into others
    if _sums_twice(node):  # XLA would make z of (1 + z) - 1, which says how z was rounded
        args = tuple(jax.lax.optimization_barrier(space.asarray(a, dtype=node.dtype)) if _is_number(x) else a
                     for x, a in zip(node.args, args, strict=True))  # fmt: skip
    if node.library is not NUMPY:
        return function(node.op, node.library)(*args, **kwargs)
    if node.op in _FILLED:
        return space.full(node.shape, _FILLED[node.op], dtype=node.dtype)
    out = function(node.op, library)(*_promoted(node.op, args), **kwargs)
    return out if node.dtype is None or out.dtype == node.dtype else out.astype(node.dtype)


def _promoted(op: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments in the dtype in which NumPy computes: JAX has other rules."""
    first = _LIKE_WHERE.get(op, 0 if isinstance(getattr(np, op, None), np.ufunc) else len(args))
    arrays = [a for a in args[first:] if hasattr(a, "dtype")]
    if len({a.dtype for a in arrays}) < 2:
        return args
    common = np.result_type(*(a.dtype if hasattr(a, "dtype") else a for a in args[first:]))
    return (*args[:first], *(a.astype(common) if hasattr(a, "dtype") else a for a in args[first:]))


def _sums_twice(node: Node) -> bool:
    """Whether a node adds a number, or takes it away, where that was done to what it is given."""
    return _sums(node) and any(isinstance(x, Node) and _sums(x) for x in node.args)


def _sums(node: Node) -> bool:
    return (node.op in _SUMS and node.dtype is not None and node.dtype.kind in "fc" and not node.kwargs
            and any(map(_is_number, node.args)))  # fmt: skip


def _is_number(x: Any) -> bool:
    return x.op == CONSTANT if isinstance(x, Node) else isinstance(x, (int, float, complex))
