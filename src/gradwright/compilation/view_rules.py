"""Rules for copies, views, broadcasts and constants."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gradwright.backends.quiet import quietly
from gradwright.compilation.interpreted import compute
from gradwright.compilation.node import CHECK, CONSTANT, HOST, INDEX, INPUT, VARIABLE, Node
from gradwright.compilation.rewriting import Rewriting, elementwise, few, replaced, rule

_UNIFORM = {"zeros_like": 0, "ones_like": 1}


def _first(node: Node) -> Any:
    return node.args[0] if node.args and isinstance(node.args[0], Node) else None


@rule("asarray", "positive", "astype", "copy", "conj", "real", "broadcast_to", "reshape", "squeeze", "expand_dims",
      "permute_dims", INDEX)  # fmt: skip
def copies(new: Rewriting, node: Node) -> Node | None:
    """What has the values of its argument in the same order, dtype and shape is that."""
    x = _first(node)
    if x is None or x.dtype != node.dtype or x.shape != node.shape:
        return None
    if node.op in ("conj", "real") and x.dtype.kind == "c":
        return None
    if node.op == "permute_dims" and not _stay(x.shape, node.args[1]):
        return None
    if node.op == INDEX and any(isinstance(k, slice) and (k.step or 1) < 0 for k in _parts(node)):
        return None
    return x


def _stay(shape: Any, axes: Any) -> bool:
    """Whether a permutation keeps the order of the axes that are not of length 1."""
    long = [a % len(shape) for a in axes if shape[a] != 1]
    return long == sorted(long)


def _parts(node: Node) -> tuple[Any, ...]:
    key = node.args[1]
    return key if isinstance(key, tuple) else (key,)


@rule("asarray")
def casts(new: Rewriting, node: Node) -> Node | None:
    """An array asked for in another dtype is cast."""
    x = _first(node)
    return new.make(node, "astype", x, node.dtype) if x is not None and x.dtype != node.dtype else None


@rule("reshape", "squeeze", "expand_dims")
def reshapes(new: Rewriting, node: Node) -> Node | None:
    """What only changes the shape is a reshape, and of chains of reshapes the last is enough."""
    x = _first(node)
    if x is None or x.shape is None:
        return None
    if x.op == "reshape":
        return new.make(node, "reshape", x.args[0], node.shape)
    return None if node.op == "reshape" else new.make(node, "reshape", x, node.shape)


@rule("permute_dims")
def permutations(new: Rewriting, node: Node) -> Node | None:
    """Of two permutations of axes one after another one is enough."""
    x = _first(node)
    if x is None or x.op != "permute_dims":
        return None
    axes = [x.args[1][a] % len(x.shape) for a in _axes(node)]
    return new.make(node, "permute_dims", x.args[0], tuple(axes))


def _axes(node: Node) -> list[int]:
    return [a % len(node.shape) for a in node.args[1]]


@rule("broadcast_to")
def broadcasts(new: Rewriting, node: Node) -> Node | None:
    """Of two broadcasts one after another one is enough."""
    x = _first(node)
    return new.make(node, "broadcast_to", x.args[0], node.shape) if x is not None and x.op == "broadcast_to" else None


@rule("reshape", "permute_dims", INDEX)
def views_of_one_number(new: Rewriting, node: Node) -> Node | None:
    """A view of one number that is broadcast is that number, broadcast."""
    x = _first(node)
    if x is None or x.op != "broadcast_to" or prod(x.args[0].shape) != 1:
        return None
    one = new.make(node, "reshape", x.args[0], (), shape=())
    return new.make(node, "broadcast_to", one, node.shape)


@rule("zeros_like", "ones_like", "full_like", "zero")
def uniform(new: Rewriting, node: Node) -> Node | None:
    """An array of one number is that number, broadcast; where it is to lie in memory as it did, a constant."""
    if node.op == "full_like" and isinstance(node.args[1], Node):
        return None
    value = node.args[1] if node.op == "full_like" else _UNIFORM.get(node.op, 0)
    if new.exact and node.shape:
        return new.constant(node, np.full(node.shape, value, node.dtype)) if few(node.shape) else None
    one = new.number(node, value)
    return new.make(node, "broadcast_to", one, node.shape) if node.shape else one


@rule("")
def constants(new: Rewriting, node: Node) -> Node | None:
    """What follows from constants alone is one, if it is small."""
    if node.op in (INPUT, CONSTANT, HOST, CHECK) or node.op in VARIABLE or node.dtype is None or not few(node.shape):
        return None
    given = [*node.nodes()]
    if any(x.op != CONSTANT for x in given) or (node.op == "broadcast_to" and not new.exact):
        return None
    value = node.value
    if value is None:
        args, kwargs = node.with_args(lambda x: x.args[0])
        value = quietly(compute, node, args, kwargs)
    return new.constant(node, value) if value.dtype != object else None


@rule("")
def broadcast_operands(new: Rewriting, node: Node) -> Node | None:
    """A broadcast operand of an elementwise operation need not be, if another one has the shape of the result."""
    if not elementwise(node.op) or node.shape is None:
        return None
    wide = [x for x in dict.fromkeys(node.nodes()) if x.op == "broadcast_to"]
    for x in wide:
        source = x.args[0]
        rest = [v.shape for v in node.nodes() if v is not x]
        if rest and np.broadcast_shapes(source.shape, *rest) == node.shape and (source.shape or rest):
            changes = {x: source}
            return new.make(node, node.op, *replaced(node.args, changes), **replaced(node.kwargs, changes))
    return None


@rule("")
def broadcast_results(new: Rewriting, node: Node) -> Node | None:
    """An elementwise operation on broadcast operands alone is done before they are broadcast."""
    if not elementwise(node.op) or node.shape is None:
        return None
    given = [*dict.fromkeys(node.nodes())]
    if not any(x.op == "broadcast_to" for x in given):
        return None
    changes = {x: x.args[0] if x.op == "broadcast_to" else x for x in given}
    shape = np.broadcast_shapes(*(x.shape for x in changes.values()))
    if prod(shape) * 2 > prod(node.shape):
        return None
    narrow = new.make(node, node.op, *replaced(node.args, changes), shape=shape, **replaced(node.kwargs, changes))
    return new.make(node, "broadcast_to", narrow, node.shape)
