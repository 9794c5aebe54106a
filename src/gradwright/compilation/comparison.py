"""A compiled run held against the eager one: each result, each write, each gradient, and the backward pass.

Numbers may differ by rounding: by `BOUND` units in the last place of the largest entry. Where that is not enough it is
measured what rounding does to them: the program is run with every value moved by a unit in the last place, and what
that changes is allowed ten times. (Adam makes a whole step of a gradient that is nothing but rounding.) Integers that
this changes may be any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from gradwright.backends import is_array, library
from gradwright.compilation.node import (
    CHECK,
    CONSTANT,
    HOST,
    INPUT,
    GuardFailed,
    Interpreted,
    Name,
    Node,
    Program,
    compute,
    on_host,
    same,
    taken,
)
from gradwright.compilation.race import clock
from gradwright.compilation.trace.history import arriving, standing
from gradwright.compilation.trace.units import outside
from gradwright.engine.base import TensorBase
from gradwright.transform.arguments import flatten

BOUND = 2000


def next_look(calls: int) -> int:
    """In how many calls a program is compared again, after so many: the calls 4, 16, 64, 256 ... of it are."""
    return 3 * calls


ALWAYS, SHARE = 64, 0.01
"""After so many calls a program is compared again only while that has taken less than this share of the time."""


class Looks:
    """When a program is compared, and what that costs.

    Attributes:
        until: in how many calls it is done again.
        calls: how many calls there were when that was done, or put off, last.
        seconds, start: how long all of it took, and when it began.
    """

    def __init__(self) -> None:
        self.until = self.calls = 0
        self.seconds, self.start = 0.0, clock()

    def wait(self) -> None:
        """The next one is some calls away."""
        self.calls = max(1, 4 * self.calls)
        self.until = next_look(self.calls)

    def took(self, start: float) -> None:
        """One has come to its end that began then."""
        self.seconds += clock() - start
        self.wait()

    def puts_off(self) -> bool:
        """Whether one that is due is put off, as it would take too large a share of the time."""
        dear = self.calls >= ALWAYS and self.seconds > SHARE * (clock() - self.start)
        if dear:
            self.wait()
        return dear


class Difference:
    """Two arrays that differ too much.

    Attributes:
        what: what they are, in words.
        node: the node that computes it.
        found, expected: the entry that differs most, compiled and eager.
        bound: by how much it may.
    """

    def __init__(self, what: str, node: Node, found: Any, expected: Any, bound: float) -> None:
        self.what, self.node, self.bound = what, node, bound
        self.found, self.expected = found, expected

    def __str__(self) -> str:
        line = f", computed at {self.node.line}" if self.node.line else ""
        return (f"{self.what} is {self.found} compiled and {self.expected} eagerly, which may differ by "
                f"{self.bound:.1e}{line}")  # fmt: skip


def difference(what: str, node: Node, found: Any, expected: Any, exact: bool, spread: float = 0.0) -> Difference | None:
    """How an array differs from the one expected; None if it does not, or by rounding alone."""
    a, b = on_host(found), on_host(expected)
    if a.shape != b.shape or a.dtype != b.dtype:
        return Difference(what, node, f"{a.dtype} {list(a.shape)}", f"{b.dtype} {list(b.shape)}", 0.0)
    if same(a, b):
        return None
    if exact or a.dtype.kind not in "fc":
        wrong, bound = ~((a == b) | ((a != a) & (b != b))) & (exact or spread == 0), 0.0
    else:
        size = np.abs(b[np.isfinite(b)])
        bound = float(size.max(initial=0)) * float(np.finfo(a.dtype).eps) * BOUND + 10 * spread
        with np.errstate(all="ignore"):
            wrong = ~((np.abs(a - b) <= bound) | (a == b) | ((a != a) & (b != b)))
    if not wrong.any():
        return None
    with np.errstate(all="ignore"):
        gap = np.where(wrong, np.nan_to_num(np.abs(a.astype(complex) - b), nan=np.inf), -1.0)
    at = np.unravel_index(int(gap.argmax()), a.shape)
    where = f"{what}[{', '.join(map(str, at))}]" if at else what
    return Difference(where, node, a[at], b[at], bound)


class Shaken(Interpreted):
    """Call by call, each value moved at random by what rounding may: eps times it, or what its terms add up to."""

    rng: Any

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        return super().__call__([a + self._noise(a) for a in arrays])

    def compute(self, node: Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The value of a node, moved; none of a check."""
        if node.op == CHECK:
            return None
        found = compute(node, args, kwargs)
        if node.op in (CONSTANT, HOST) or node.shape is None:
            return found
        if node.op not in _SUMS:
            return found + self._noise(found)
        sizes = [abs(a) if is_array(a) and a.dtype.kind in "fc" else a for a in args]
        return found + self._noise(compute(node, tuple(sizes), kwargs) * _spread(args, found), found.dtype)

    def _noise(self, size: Any, dtype: Any = None) -> Any:
        dtype = np.dtype(dtype or size.dtype)
        if dtype.kind not in "fc":
            return np.zeros((), dtype)
        xp = library(size).xp
        size = xp.where(xp.isfinite(size), size, xp.zeros_like(size))  # what is infinite stays
        return (size * (self.rng.choice([-1, 1], np.shape(size)) * np.finfo(dtype).eps)).astype(dtype)


def _spread(args: Sequence[Any], found: Any) -> float:
    """How often as large as of one term the rounding of a sum is: the root of how many there are, one after another."""
    given = [float(np.size(a)) for a in args if is_array(a)][:2]
    if len(given) == 2:  # (m, k) by (k, n): k
        return float(max(1.0, given[0] * given[1] / max(np.size(found), 1)) ** 0.25)
    return float(max(1.0, sum(given) / max(np.size(found), 1)) ** 0.5)


_SUMS = frozenset({"sum", "mean", "matmul", "cumulative_sum", "vecdot", "tensordot", "einsum"})


def spreads(program: Program, arrays: Sequence[Any], again: Callable[[], None]) -> list[float]:
    """By how much each output moves by rounding.

    ``again`` lets the same random numbers be drawn again.
    """
    whole = Program(program.nodes, program.inputs, program.outputs, [None] * len(program.outputs))
    plain = _values(program, arrays, again)
    found = [0.0] * len(program.outputs)
    for seed in range(3):
        again()
        moved = Shaken(whole)
        moved.rng = np.random.default_rng(seed)
        try:
            values = moved(arrays)
        except GuardFailed:  # another shape: nothing is learnt
            continue
        for k, (a, b) in enumerate(zip(values, plain, strict=True)):
            if a.dtype.kind in "fc" and a.size and a.shape == b.shape:
                with np.errstate(all="ignore"):
                    gap = np.abs(a - b)
                found[k] = max(found[k], float(gap[np.isfinite(gap)].max(initial=0)))
            elif not same(a, b):
                found[k] = np.inf
    return found


def _values(program: Program, arrays: Sequence[Any], again: Callable[[], None]) -> list[Any]:
    again()
    return Interpreted(Program(program.nodes, program.inputs, program.outputs, [None] * len(program.outputs)))(arrays)


def first_difference(make: Any, program: Program, arrays: Sequence[Any], exact: bool,
                     again: Callable[[], None]) -> Difference | None:  # fmt: skip
    """The first node that a way of running a program computes otherwise than NumPy, call by call."""
    nodes = [node for node in program.nodes if node.shape is not None]
    whole = Program(program.nodes, program.inputs, nodes, [None] * len(nodes))
    again()
    found = make(whole)([taken(a) for a in arrays])
    expected = _values(whole, [taken(a) for a in arrays], again)
    names = [f"%{node.number} = {node.op}" for node in nodes]
    return _first(enumerate(zip(names, nodes, found, expected, strict=True)), exact,
                  lambda: spreads(whole, arrays, again))  # fmt: skip


def changed(program: Program, nodes: Sequence[Node]) -> str:
    """The first node of a program that is another one among those of a later trace, for people; "" if all are alike.

    What Python reads goes into a program as a number or an array: so this says what has been read, and where.
    """
    mine, other = (_computing(found) for found in (program.nodes, nodes))
    for (a, said), (b, now) in zip(mine, other):  # noqa: B905 - the one that ends first is the same up to there
        if said != now:
            was, new = (f"{op}({', '.join(args)})" for op, *args in (said, now))
            return f"{was} is {new} now, at {b.line or a.line}"
    return ""


def _computing(nodes: Sequence[Node]) -> Iterator[tuple[Node, tuple[Any, ...]]]:
    """The nodes that compute, each with its operation and its arguments as text, in which they are counted anew."""
    number: dict[Node, str] = {}
    counted = 0
    for node in nodes:
        if node.op == INPUT:
            number[node] = f"input {node.dtype}{list(node.shape)}"
        elif node.op == CONSTANT:
            number[node] = repr(np.asarray(node.args[0]).tolist())
        elif node.op != CHECK:
            number[node], counted = f"#{counted}", counted + 1
            args, kwargs = node.with_args(lambda n: Name(number.get(n, "a check")))
            yield node, (node.op, *map(repr, args), *(f"{k}={v!r}" for k, v in kwargs.items()))


def _first(rows: Iterable[tuple[int, tuple[str, Node, Any, Any]]], exact: bool,
           spread: Callable[[], list[float]]) -> Difference | None:  # fmt: skip
    """The first difference among rows of what it is, its node, what was found and expected, each with its number.

    What rounding does to them is measured by ``spread`` where it matters.
    """
    measured: list[float] | None = None
    for k, row in rows:
        gap = difference(*row, exact)
        if gap and not exact:
            measured = measured or spread()
            gap = difference(*row, exact, measured[k])
        if gap:
            return gap
    return None


def of_run(entry: Any, found: Sequence[Any], result: Any, arrays: Sequence[Any], leaves: Sequence[Any], exact: bool,
           spread: Callable[[], list[float]]) -> Difference | None:  # fmt: skip
    """The first of the results and effects of a run that differs from those of the eager run that has followed.

    Args:
        found: the outputs, and what was to be written.
        result: what the eager run returned.
        arrays: the inputs, written by now.
        leaves: those of the arguments.
    """
    record = entry.record
    expected: dict[int, tuple[str, Any]] = {}
    for k, at in enumerate(record.program.writes):
        if at is not None:
            expected[k] = record.sources[at].what(), arrays[at]
    try:
        results = record.spec.flatten_up_to(result)
    except ValueError:
        return Difference("the tree of results", record.program.nodes[0], record.spec, flatten(result)[1], 0.0)
    for j, ((kind, k), x) in enumerate(zip(record.result, results, strict=True)):
        if (kind in ("value", "number")) is isinstance(x, TensorBase) or (kind == "value" and not _equal(k, x)):
            return Difference("a result", record.program.nodes[0], k, x, 0.0)
        what = f"result {j}" if len(results) > 1 else "the result"
        if kind == "made":
            expected[record.outputs[k]] = what, x.array
        elif kind == "number":
            a, b = found[k[0]], np.asarray(x)
            like = b.size == a.size and b.dtype.kind in "biufc"
            expected[k[0]] = what, b.astype(a.dtype).reshape(a.shape) if like else b
    for owner, leaf in record.grads:
        if owner[0] == "made":
            continue
        t = outside(owner, leaves)
        grad = t._grad
        if (grad is None) is not (leaf is None):
            return Difference("a .grad", record.program.nodes[0], leaf and "a tensor", grad and "a tensor", 0.0)
        if leaf is not None and leaf[0] == "made":
            expected[record.outputs[leaf[1]]] = f"the .grad of a tensor of shape {list(t.array.shape)}", grad.array
    nodes = record.program.outputs
    return _first(((k, (what, nodes[k], found[k], b)) for k, (what, b) in expected.items()), exact, spread)


def _equal(a: Any, b: Any) -> bool:
    """Whether two Python values are the same."""
    return type(a) is type(b) and (a == b or (a != a and b != b))


def of_backward(history: Any, found: Sequence[Any], result: Any, arrays: Sequence[Any], leaves: Sequence[Any],
                exact: bool) -> Difference | None:  # fmt: skip
    """The first of the gradients that differs from those of a pass through the graph of the eager run."""
    results = history.spec.flatten_up_to(result)
    rng = np.random.default_rng(0)
    cotangents = [rng.standard_normal(shape).astype(dtype) for _, shape, dtype in history.outputs]
    beside = next((x for x in found if library(x) is history.program.library), None)
    if beside is not None and beside.__class__ is not np.ndarray:
        by = history.program.library
        cotangents = [by.brought(c, None, by.place_of(beside)) for c in cotangents]
    tensors = [leaves[t] if isinstance(t, int) else t for t in history.tensors]
    made = [standing(place, results) for place in history.places]
    cotangents = [g if t is not None else g * 0 for t, g in zip(made, cotangents, strict=True)]
    roots = [(t._node, g) for t, g in zip(made, cotangents, strict=True) if t is not None]
    ends = [t._node for t in tensors]
    expected = arriving(roots, ends)
    saved = [arrays[s.at] if s.is_input else found[s.at] for s in history.saved]
    given = [*cotangents, *saved]
    ours = history.runner(given)
    wanted = [expected.get(end, np.zeros_like(a)) for a, end in zip(ours, ends, strict=True)]
    names = [f"the gradient by a tensor of shape {list(a.shape)}" for a in ours]
    rows = zip(names, history.program.outputs, ours, wanted, strict=True)
    return _first(enumerate(rows), exact, lambda: spreads(history.program, given, lambda: None))
