"""Programs made simpler: fewer nodes and less work, the same results.

The rules are for copies, views, broadcasts and constants; then for signs, ones and zeros, powers, factors, sums and
products of matrices. Beside them, what is computed twice is computed once, and what nothing needs not at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from math import prod
from typing import Any

import numpy as np

from gradwright.backends.quiet import quietly
from gradwright.compilation.node import CHECK, CONSTANT, HOST, INDEX, INPUT, VARIABLE, Node, Program, compute
from gradwright.compilation.rewriting import RULES, Rewriting, elementwise, everywhere, few, number, replaced, rule

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


_LARGEST_MASK = 1 << 16


@rule("tril", "triu")
def triangles(new: Rewriting, node: Node) -> Node | None:
    """A triangle of a matrix is a choice by a mask, for which there is a loop."""
    x = _first(node)
    if x is None or x.shape is None or len(x.shape) < 2 or len(node.args) > 1 or prod(x.shape[-2:]) > _LARGEST_MASK:
        return None
    lower = node.op == "tril"
    rows, columns = x.shape[-2:]
    mask = new.constant(node, np.tri(rows, columns, k=node.kwargs.get("k", 0) - (not lower), dtype=np.bool))
    zero = new.number(node, 0)
    return new.make(node, "where", mask, *((x, zero) if lower else (zero, x)))


@rule("roll")
def rolls(new: Rewriting, node: Node) -> Node | None:
    """What is rolled along one axis is its two parts, the other way round."""
    x, shift, axis = _first(node), node.kwargs.get("shift", node.args[-1]), node.kwargs.get("axis")
    if x is None or not x.shape or type(shift) is not tuple or type(axis) is not tuple or len(shift) != 1 or (
            len(axis) != 1 or not prod(x.shape)):  # fmt: skip
        return None
    at, n = axis[0] % len(x.shape), x.shape[axis[0]]
    first = n - shift[0] % n
    if first == n:
        return None
    parts = []
    for part, length in ((slice(first, None), n - first), (slice(None, first), first)):
        shape = (*x.shape[:at], length, *x.shape[at + 1 :])
        parts.append(new.make(node, INDEX, x, (*(slice(None),) * at, part), shape=shape))
    return new.make(node, "concat", parts, axis=at)


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


_LARGEST, _SMALL, _MANY = 2.0**20, 16.0, 64


def _floats(node: Node, *kinds: str) -> bool:
    """Whether a node is of floating-point numbers, and all arrays that it takes are of the same."""
    dtype = node.dtype
    return dtype is not None and dtype.char in (kinds or "fd") and all(x.dtype == dtype for x in node.nodes())


def _split(node: Any, op: str) -> tuple[Any, Any] | None:
    """For an operation on an array and a number, in either order, these."""
    if isinstance(node, Node) and node.op == op and len(node.args) == 2 and not node.kwargs:
        for x, c in (node.args, node.args[::-1]):
            if isinstance(x, Node) and number(x) is None and number(c) is not None:
                return x, number(c)
    return None


def _negated(x: Any) -> Any:
    """The node whose negative a node is; None if it is none."""
    return x.args[0] if isinstance(x, Node) and x.op == "negative" else None


def _moderate(c: Any, most: float = _LARGEST) -> bool:
    return 1 / most <= abs(c) <= most


_BY_NUMBER = (
    "add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "less", "less_equal", "greater",
    "greater_equal", "equal", "not_equal",
)  # fmt: skip


@rule(*_BY_NUMBER)
def numbers(new: Rewriting, node: Node) -> Node | None:
    """Python's numbers are constants of the dtype that NumPy would give them beside floating-point ones."""
    x, y = node.args[:2]
    array, n = (x, y) if isinstance(x, Node) else (y, x)
    if node.kwargs or type(n) not in (int, float) or array.dtype is None or array.dtype.char not in "fd":
        return None
    with np.errstate(over="ignore"):
        made = new.number(array, n)
    return new.make(node, node.op, *((array, made) if array is x else (made, array)))


# -- signs --


@rule("negative")
def twice_negative(new: Rewriting, node: Node) -> Node | None:
    """-(-x) is x, and -(x c) is x (-c)."""
    if (x := _negated(node.args[0])) is not None:
        return x
    if (found := _split(node.args[0], "multiply")) and _floats(node) and new.once(node.args[0]):
        return new.make(node, "multiply", found[0], new.number(node, -found[1]))
    return None


@rule("add", "subtract")
def add_negative(new: Rewriting, node: Node) -> Node | None:
    """x + (-y) is x - y, and x - (-y) is x + y; (-x) + y is y - x."""
    x, y = node.args[:2]
    if node.kwargs or not _floats(node):
        return None
    if (other := _negated(y)) is not None:
        return new.make(node, "subtract" if node.op == "add" else "add", x, other)
    if node.op == "add" and (other := _negated(x)) is not None:
        return new.make(node, "subtract", y, other)
    return None


@rule("multiply", "divide")
def signs_outside(new: Rewriting, node: Node) -> Node | None:
    """(-x) y is -(x y), x (-y) too, and so with quotients; (-x) c is x (-c)."""
    x, y = node.args[:2]
    if node.kwargs or not _floats(node):
        return None
    if (found := _negated(x)) is not None:
        if number(y) is not None:
            return new.make(node, node.op, found, new.number(node, -number(y)))
        return new.make(node, "negative", new.make(node, node.op, found, y))
    if (found := _negated(y)) is not None:
        if number(x) is not None:
            return new.make(node, node.op, new.number(node, -number(x)), found)
        return new.make(node, "negative", new.make(node, node.op, x, found))
    return None


@rule("subtract", "sum", exact=False)
def signs_through(new: Rewriting, node: Node) -> Node | None:
    """(-x) - y is -(x + y), and the sum of -x is minus that of x."""
    if not _floats(node) or (x := _negated(node.args[0])) is None or not new.once(node.args[0]):
        return None
    op = "add" if node.op == "subtract" else "sum"
    return new.make(node, "negative", new.make(node, op, x, *node.args[1:], **node.kwargs))


# -- ones and zeros --


@rule("multiply", "divide", "power")
def times_one(new: Rewriting, node: Node) -> Node | None:
    """x 1, 1 x, x / 1 and x**1 are x; x (-1) is -x."""
    x, y = node.args[:2]
    if node.kwargs or node.dtype.kind == "b":
        return None
    if isinstance(x, Node) and everywhere(y) == 1 and x.dtype == node.dtype and x.shape == node.shape:
        return x
    if node.op == "multiply" and isinstance(y, Node) and everywhere(x) == 1 and y.shape == node.shape:
        return y if y.dtype == node.dtype else None
    if node.op == "multiply" and (found := _split(node, "multiply")) and found[1] == -1 and _floats(node):
        return new.make(node, "negative", found[0]) if found[0].shape == node.shape else None
    return None


@rule("add", "subtract")
def plus_zero(new: Rewriting, node: Node) -> Node | None:
    """x - 0 is x, and so is x + 0 for whole numbers; for others x + (-0.0) is: -0.0 + 0.0 is 0.0."""
    x, y = node.args[:2]
    zeros = [(x, y), (y, x)] if node.op == "add" else [(x, y)]
    for kept, c in zeros:
        zero = everywhere(c)
        if not isinstance(kept, Node) or zero is None or zero != 0 or node.dtype.kind not in "iuf":
            continue
        negative = math.copysign(1, zero) < 0
        if node.dtype.kind == "f" and negative != (node.op == "add"):
            continue
        if kept.dtype == node.dtype and kept.shape == node.shape and not node.kwargs:
            return kept
    return None


@rule("power")
def power_zero(new: Rewriting, node: Node) -> Node | None:
    """x**0 is 1, for every x."""
    if number(node.args[1]) is None or number(node.args[1]) != 0 or node.kwargs or not node.shape:
        return None
    one = new.number(node, 1)
    return new.make(node, "broadcast_to", one, node.shape)


# -- powers --


@rule("multiply")
def squares(new: Rewriting, node: Node) -> Node | None:
    """x x is a square."""
    x, y = node.args[:2]
    return new.make(node, "square", x) if x is y and _floats(node) and not node.kwargs else None


@rule("power", exact=False)
def powers(new: Rewriting, node: Node) -> Node | None:
    """x**2, x**3, x**4 and x**-1 are products and a reciprocal."""
    x, n = node.args[:2]
    n = number(n)
    if n is None or node.kwargs or not isinstance(x, Node) or not _floats(node) or n not in (2, 3, 4, -1):
        return None
    if n == -1:
        return new.make(node, "reciprocal", x)
    square = new.make(node, "square", x)
    return square if n == 2 else new.make(node, "multiply", square, x if n == 3 else square)


@rule("divide")
def reciprocals(new: Rewriting, node: Node) -> Node | None:
    """1 / x is a reciprocal, and x / c is x (1/c) for a power of two."""
    x, y = node.args[:2]
    if not _floats(node) or node.kwargs:
        return None
    if isinstance(y, Node) and number(x) is not None and number(x) == 1 and y.shape == node.shape:
        return new.make(node, "reciprocal", y)
    c = number(y)
    if isinstance(x, Node) and x.shape == node.shape and c and _moderate(c) and math.frexp(abs(c))[0] == 0.5:
        return new.make(node, "multiply", x, new.number(node, 1 / c))
    return None


# -- factors: numbers to the outside, where they meet --


@rule("add")
def doubles(new: Rewriting, node: Node) -> Node | None:
    """x + x is 2 x."""
    x, y = node.args[:2]
    if x is not y or node.kwargs or not _floats(node):
        return None
    return new.make(node, "multiply", x, new.number(node, 2))


def _factor(x: Any) -> tuple[Any, Any] | None:
    """For the product or quotient of an array by a number the array and the factor."""
    found = _split(x, "multiply")
    if found is None and isinstance(x, Node) and x.op == "divide" and not x.kwargs and number(x.args[0]) is None:
        found = (x.args[0], 1 / float(number(x.args[1]))) if number(x.args[1]) else None
    return found if found and _floats(x) and _moderate(found[1]) else None


@rule("multiply", "divide", exact=False)
def factors(new: Rewriting, node: Node) -> Node | None:
    """(x c) d is x (c d), (x c) / d is x (c / d), and ((x c) y) d is (x y) (c d)."""
    x, d = node.args[:2]
    if node.op == "multiply" and number(x) is not None:
        x, d = d, x
    if node.kwargs or not _floats(node) or number(d) is None or not _moderate(number(d)) or not isinstance(x, Node):
        return None
    d = float(number(d))
    found = _factor(x) or _factor_within(new, x)
    if found is None or found[0].shape != node.shape:
        return None
    c = float(found[1]) * d if node.op == "multiply" else float(found[1]) / d
    return new.make(node, "multiply", found[0], new.number(node, c)) if _moderate(c) else None


def _factor_within(new: Rewriting, node: Node) -> tuple[Node, Any] | None:
    """For a product that is used once, one of whose factors is one of an array and a number: the rest, the number."""
    if node.op != "multiply" or node.kwargs or not new.once(node) or not _floats(node):
        return None
    for x, y in (node.args, node.args[::-1]):
        if (found := _factor(x)) and number(y) is None:
            pair = (found[0], y) if x is node.args[0] else (y, found[0])
            return new.make(node, "multiply", *pair), found[1]
    return None


@rule("multiply", exact=False)
def factors_outside(new: Rewriting, node: Node) -> Node | None:
    """(x c) (y d) is (x y) (c d)."""
    x, y = node.args[:2]
    first, second = _factor(x), _factor(y)
    if node.kwargs or not _floats(node) or not first or not second or not (new.once(x) and new.once(y)):
        return None
    c = float(first[1]) * float(second[1])
    if not _moderate(c) or np.broadcast_shapes(first[0].shape, second[0].shape) != node.shape:
        return None
    return new.make(node, "multiply", new.make(node, "multiply", first[0], second[0]), new.number(node, c))


@rule("multiply", exact=False)
def factors_to_few(new: Rewriting, node: Node) -> Node | None:
    """(x c) s and (x s) c are x (s c) for an array s of one entry, of which nothing is known, and an x of many."""
    if node.kwargs or not _floats(node) or prod(node.shape) < _MANY:
        return None
    for x, y in (node.args, node.args[::-1]):
        if not isinstance(x, Node) or x.shape != node.shape or not new.once(x):
            continue
        if _single(y) and (found := _factor(x)) and _moderate(found[1], _SMALL):
            (x, c), s = found, y
        elif number(y) is not None and _moderate(number(y), _SMALL) and (pair := _split_single(x)):
            (x, s), c = pair, number(y)
        else:
            continue
        if x.shape == node.shape:
            return new.make(node, "multiply", x, new.make(s, "multiply", s, new.number(node, c)))
    return None


def _single(x: Any) -> bool:
    return isinstance(x, Node) and x.shape == () and number(x) is None


def _split_single(x: Node) -> tuple[Any, Any] | None:
    """For the product of an array and one of one entry, in either order, these."""
    if x.op != "multiply" or x.kwargs or not _floats(x):
        return None
    return next(((a, s) for a, s in (x.args, x.args[::-1]) if _single(s) and isinstance(a, Node)), None)


@rule("multiply", exact=False)
def shared_factors(new: Rewriting, node: Node) -> Node | None:
    """(x y) c is (x c) y, if x c is computed as well."""
    found = _split(node, "multiply")
    if found is None or not _floats(node) or not _moderate(c := found[1]) or not new.once(x := found[0]):
        return None
    if x.op != "multiply" or x.kwargs or not _floats(x) or x.shape != node.shape:
        return None
    for a, b in (x.args, x.args[::-1]):
        if isinstance(a, Node) and a.shape == node.shape and number(b) is None and new.scaled(a, c):
            return new.make(node, "multiply", new.make(node, "multiply", a, new.number(node, c)), b)
    return None


@rule("sum", exact=False)
def factors_of_sums(new: Rewriting, node: Node) -> Node | None:
    """The sum of x c is that of x, times c."""
    x = node.args[0]
    if not isinstance(x, Node) or not _floats(node):
        return None
    found = _factor(x) or _factor_within(new, x)
    if found is None or found[0].shape != x.shape:
        return None
    total = new.make(node, "sum", found[0], *node.args[1:], **node.kwargs)
    return new.make(node, "multiply", total, new.number(node, found[1]))


# -- sums --


@rule("sum", exact=False)
def sums_of_one(new: Rewriting, node: Node) -> Node | None:
    """A sum over axes of length 1 is a reshape; that of one number, broadcast, is that times how many there are."""
    x = node.args[0]
    if not isinstance(x, Node) or x.dtype != node.dtype or not prod(x.shape):
        return None
    if prod(x.shape) == prod(node.shape):
        return new.make(node, "reshape", x, node.shape)
    if x.op != "broadcast_to" or prod(x.args[0].shape) != 1 or not _floats(node):
        return None
    one = new.make(node, "reshape", x.args[0], (), shape=())
    total = new.make(node, "multiply", one, new.number(node, prod(x.shape) // prod(node.shape)), shape=())
    return new.make(node, "broadcast_to", total, node.shape)


# -- products of matrices --


@rule("permute_dims", exact=False)
def transposed_products(new: Rewriting, node: Node) -> Node | None:
    """The transpose of x y is that of y times that of x, so that no transposed result is met."""
    x = node.args[0]
    if not isinstance(x, Node) or x.op != "matmul" or x.kwargs or len(x.shape) != 2 or not new.once(x):
        return None
    a, b = x.args
    if len(a.shape) != 2 or len(b.shape) != 2 or tuple(axis % 2 for axis in node.args[1]) != (1, 0):
        return None
    left = new.make(b, "permute_dims", b, (1, 0), shape=b.shape[::-1])
    right = new.make(a, "permute_dims", a, (1, 0), shape=a.shape[::-1])
    return new.make(node, "matmul", left, right)


@rule("matmul", exact=False)
def products_at_once(new: Rewriting, node: Node) -> Node | None:
    """A stack of matrices times one matrix is one product."""
    x, w = node.args[:2]
    if node.kwargs or not isinstance(x, Node) or not isinstance(w, Node):
        return None
    if len(x.shape) < 3 or len(w.shape) != 2 or not prod(x.shape):
        return None
    rows = prod(x.shape[:-1])
    flat = new.make(node, "reshape", x, (rows, x.shape[-1]), shape=(rows, x.shape[-1]), dtype=x.dtype)
    return new.make(node, "reshape", new.make(node, "matmul", flat, w, shape=(rows, w.shape[1])), node.shape)


_ROUNDS = 6


def passes() -> list[str]:
    """The names of all passes: the rules, "common" (what is computed twice), "dead" (what nothing needs; always)."""
    return [*dict.fromkeys(f.__name__ for rules in RULES.values() for f, _ in rules), "common", "dead"]


def simplified(program: Program, exact: bool = False, only: Iterable[str] | None = None) -> Program:
    """A program with the same inputs, outputs, checks and host calls, and fewer nodes.

    Args:
        program: stays as it is.
        exact: every result is to have the same bits. Then nothing is added up in another order, and no array that is
            added up or multiplied as a matrix lies otherwise in memory; for that, the values of the traced run are
            looked at (`Node.value`), and where they are gone little is done. Without it, sums and products may be
            rounded otherwise, as exactly as before, and a zero may have the other sign.
        only: the names of `passes` that are to be made; all, if None.
    """
    chosen = None if only is None else frozenset(only)
    for _ in range(_ROUNDS):
        before = len(program.nodes)
        program = Rewriting(program, exact, chosen).program
        if len(program.nodes) == before:
            break
    return program
