"""Products that are added before they are rounded: one operation for two, where only the last digits of sums see it.

A fused x y - z is not 0 where the rounded x y is z. So a product is fused into a sum over entries, and into x y + z for
a single number z, if all that comes of it in the program are sums over entries, sums and products: no root, logarithm,
denominator or comparison may meet what was 0. And never into a sum with another product: x x - y y stays 0 for equal
x and y.
"""

from __future__ import annotations

from collections.abc import Set
from math import prod

from gradwright.compilation.by_c.ctypes_of import suffix
from gradwright.compilation.by_c.elements import Element
from gradwright.compilation.by_c.lowered import Lowered, Reduction
from gradwright.compilation.by_c.memory import Memory
from gradwright.compilation.by_c.steps import Step, operands
from gradwright.compilation.node import Node

MACROS = """
#if defined(__FMA__) || defined(__aarch64__)
#define fused(a, b, c) __builtin_fma(a, b, c)
#define fusedf(a, b, c) __builtin_fmaf(a, b, c)
#else
#define fused(a, b, c) ((a) * (b) + (c))
#define fusedf(a, b, c) ((a) * (b) + (c))
#endif
"""
_TAME = frozenset({"add", "subtract", "multiply", "negative", "square", "copy", "astype", "positive"})


def tame(lowered: Lowered) -> set[Node]:
    """What ends in results by nothing but sums and products, as far as the program goes."""
    wild = [node for node in lowered.nodes if not lowered.rounds(node)]
    for user in lowered.nodes:
        wild += [root for operand in operands(lowered, user)
                 if not _takes(lowered, user, root := lowered.root(operand))]  # fmt: skip
    found = set(lowered.nodes) - set(wild)
    while wild:
        node = wild.pop()
        if node in lowered.how:
            before = {lowered.root(operand) for operand in operands(lowered, node)} & found
            found -= before
            wild += before
    return found


def fused_in(step: Step, lowered: Lowered, memory: Memory, tame: Set[Node]) -> set[Node]:
    """The products of a loop that are computed only within what takes them: a sum, a difference, or a reduction."""
    users: dict[Node, list[Node]] = {}
    for node in step.nodes:
        for operand in operands(lowered, node):
            users.setdefault(lowered.root(operand), []).append(node)
    ends: set[Node] = set()  # in sums of this loop, and only there
    for node in reversed(step.nodes):
        within = all(_sum(lowered, user) or user in ends for user in users.get(node, ()))
        if within and node not in memory.kept and node in tame:
            ends.add(node)
    found: set[Node] = set()
    for node in step.nodes:
        if not is_product(lowered, node) or node not in ends or len(users[node]) != 1:
            continue
        (user,) = users[node]
        if _sum(lowered, user):
            found.add(node)
        elif user.op in ("add", "subtract") and user.dtype == node.dtype:
            others = [o for o in operands(lowered, user) if lowered.root(o) is not node]
            if all(prod(o.shape) == 1 and not is_product(lowered, lowered.root(o)) for o in others):
                found.add(node)
    return found


def is_product(lowered: Lowered, node: Node) -> bool:
    """Whether a node is a product of two of its own floating-point numbers, entry by entry."""
    way = lowered.how.get(node)
    floats = isinstance(way, Element) and node.dtype.kind == "f" and all(d == node.dtype for d in way.dtypes)
    return floats and node.op in ("multiply", "square")


def _takes(lowered: Lowered, user: Node, node: Node) -> bool:
    """Whether what takes a node is a sum, a product, or a quotient of which it is the numerator."""
    way = lowered.how[user]
    if isinstance(way, Reduction):
        return way.kind == "sum"
    if not isinstance(way, Element):
        return False
    if user.op in ("divide", "true_divide"):
        return not any(isinstance(o, Node) and lowered.root(o) is node for o in way.operands[1:])
    return user.op in _TAME


def _sum(lowered: Lowered, node: Node) -> bool:
    way = lowered.how[node]
    return isinstance(way, Reduction) and way.kind == "sum" and node.dtype == way.operand.dtype


def fused(op: str, product: tuple[str, str], other: str, first: bool, dtype: object) -> str:
    """The expression for a product and what it is added to or subtracted from; ``first``: the product stands first."""
    x, y = product
    if op == "subtract":
        x, other = (x, f"-({other})") if first else (f"-({x})", other)
    return f"fused{suffix(dtype)}({x}, {y}, {other})"
