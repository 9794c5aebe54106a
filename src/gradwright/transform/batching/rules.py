"""What operations make of batches: by their kind, by a rule for each of the others, or one example after another.

A rule gets a `Call` and returns the result, or the list of several, with the batch first. It only says where the batch
goes: what is computed is an operation again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from gradwright import backends
from gradwright.base.source_line import Place, here
from gradwright.engine.apply import apply
from gradwright.engine.strict import warn
from gradwright.ops.declare import Op, table


class Call(NamedTuple):
    """An operation on tensors of which some have a batch.

    Attributes:
        op: the operation.
        xs: its tensors.
        which: which of them have the batch as their first dim.
        static: its static arguments.
        level: the vmap.
    """

    op: Op
    xs: list[Any]
    which: Sequence[bool]
    static: dict[str, Any]
    level: Any

    @property
    def size(self) -> int:
        """The number of examples."""
        return int(self.level.size)

    def named(self, name: str, xs: Sequence[Any], which: Sequence[bool], **static: Any) -> Any:
        """The result of any other operation for batches."""
        return batched(table[name], list(xs), which, static, self.level)

    def of(self, xs: Sequence[Any], **static: Any) -> Any:
        """The operation on these tensors, with these static arguments in place of its own."""
        return apply(self.op, xs, self.static | static)

    def ranks(self) -> list[int]:
        """How many dims one example of each tensor has."""
        return [int(x.array.ndim) - b for x, b in zip(self.xs, self.which, strict=True)]

    def all_first(self) -> list[Any]:
        """The tensors, all with the batch as their first dim."""
        return [first(x, b, self.size) for x, b in zip(self.xs, self.which, strict=True)]

    def lined_up(self, all_first: bool = True) -> list[Any]:
        """The tensors, or those with a batch, of as many dims each: their dims are lined up from the last."""
        xs = self.all_first() if all_first else self.xs
        ranks = self.ranks()
        most = max(ranks)
        return [padded(x, most - n) if n < most and (b or all_first) else x
                for x, n, b in zip(xs, ranks, self.which, strict=True)]  # fmt: skip


Rule = Callable[[Call], Any]
RULES: dict[Any, Rule] = {}
"""By formula, which the variants of an operation share."""


def rule(*ops: str | Op) -> Callable[[Rule], Rule]:
    """The rule of these operations."""

    def enter(f: Rule) -> Rule:
        RULES.update({(table[o] if isinstance(o, str) else o).forward: f for o in ops})
        return f

    return enter


def batched(op: Op, xs: list[Any], which: Sequence[bool], static: dict[str, Any], level: Any) -> Any:
    """The result of ``op`` for these tensors, for each example; ``which`` of them have the batch as their first dim."""
    found = RULES.get(op.forward)
    if found is None:
        found = one_by_one
        if op.kind == "elementwise":
            ndims = list(map(_ndim, xs))
            if list(map(max(ndims).__eq__, ndims)) == list(which):  # the batch comes before all dims as it is
                return apply(op, xs, static)
            found = elementwise
        elif op.kind == "reduction" and ("axis" in op.defaults or "axis" in static):
            found = along
    return found(Call(op, xs, which, op.defaults | static, level))


_ndim = attrgetter("array.ndim")


def first(x: Any, batch: bool, size: int) -> Any:
    """``x`` with the batch as its first dim, in the same memory if it had none."""
    return x if batch else x.expand(size, *x.array.shape)


def padded(x: Any, count: int) -> Any:
    """``x`` with so many dims of length 1 after its first."""
    return x.reshape(x.array.shape[0], *(1,) * count, *x.array.shape[1:]) if count else x


def elementwise(call: Call) -> Any:
    """Their dims are lined up from the last, so the batch comes before all of them."""
    return call.of(call.lined_up(all_first=False))


def along(call: Call) -> Any:
    """The axis, or each of the axes, is one further on; all of them are all but the first."""
    key = "axes" if "axes" in call.static else "axis"
    axis, n, xs = call.static[key], call.ranks()[0], call.all_first()
    if n:
        axis = range(n) if axis is None else axis
        return call.of(xs, **{key: axis % n + 1 if isinstance(axis, int) else tuple([a % n + 1 for a in axis])})
    static: dict[str, Any] = {key: (1,) * len(axis) if key == "axes" else 1 if isinstance(axis, int) else (1,)}
    if "keepdims" in call.static:
        static["keepdims"] = False
    out = call.of([x.reshape(call.size, 1) for x in xs], **static)  # of one number each: there is an axis to go along
    return [o.reshape(call.size) for o in out] if call.op.several else out.reshape(call.size)


def by_formula(call: Call) -> Any:
    """By the formula of the operation, run on tensors of the level: where its derivatives are those of its formula."""
    xs = [call.level.batch(x) if b else x for x, b in zip(call.xs, call.which, strict=True)]
    out = call.op.forward(backends.namespace(xs[0]), *xs, **call.static)
    found = []
    for o in out if call.op.several else [out]:
        tensor, batch = call.level.unpack(o)
        found.append(first(tensor, batch, call.size))
    return found if call.op.several else found[0]


def one_by_one(call: Call) -> Any:
    """One example after another."""
    op = call.op
    warn(f"vmap: there is no batching rule for {op.name}(), so it is done for one example after another, which is slow")
    if not call.size:
        return of_none(call)
    pairs = list(zip(call.xs, call.which, strict=True))
    made = [call.of([x[k] if b else x for x, b in pairs]) for k in range(call.size)]
    outs = zip(*made, strict=True) if op.several else [made]
    joined = [apply(table["stack"], list(values), {"axis": 0}) for values in outs]
    return joined if op.several else joined[0]


def of_none(call: Call) -> Any:
    """The result for no example, whose shape an example of ones shows."""
    ones = [x.new_ones(x.array.shape[1:]) if b else x for x, b in zip(call.xs, call.which, strict=True)]
    out = call.of(ones)
    none = [o.detach().new_zeros(0, *o.array.shape) for o in (out if call.op.several else [out])]
    return none if call.op.several else none[0]


def refused(call: Call) -> Any:
    """Raise RuntimeError: of an operation whose result is of a shape that depends on values."""
    found = here(2)
    line = Place(*found) if found else "a line that is not known"
    does = "support" if call.op.name == "at" else "output"
    raise RuntimeError(
        f"vmap: We do not support batching operators that can {does} dynamic shape: the shape "
        f"of what {call.op.name}() returns depends on values, so it is another one in each example ({line}). Use "
        "operations whose results are of one shape, such as where(condition, x, y) for a mask."
    )
