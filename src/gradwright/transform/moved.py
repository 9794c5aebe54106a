"""Users' Functions in forward mode: the jvp that they declare, or what follows from their backward.

Forward is only a value there: its operations have no tangents, so it may compute with anything. What it hands to jvp by
save_for_forward has a history, and tangents of levels outside, if it is an input or an output. If it is neither, and
those matter, forward is run again for it, with its operations differentiated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from functools import partial
from typing import Any

from gradwright import backends
from gradwright.base import dtypes
from gradwright.engine.apply import apply
from gradwright.engine.base import TensorBase, ticket, wrap
from gradwright.engine.grad_mode import enable_grad
from gradwright.engine.levels import latest, of_arguments
from gradwright.engine.mode import inside, now, recording, resumed, switch
from gradwright.function.contract.containers import flatten, unflatten
from gradwright.function.contract.reached import reachable
from gradwright.function.outputs import unrecorded
from gradwright.function.pushforward import begun, finished
from gradwright.function.saved import contents
from gradwright.function.watched import in_motion, outside_ctx
from gradwright.function.watched.in_backward import Guard, unequal
from gradwright.ops.shape import alias
from gradwright.ops.shape import copy as copied
from gradwright.transform.arguments import differentiable
from gradwright.transform.functions import Again, tensors_in
from gradwright.transform.transpose import gradients, pruned, transposed

halted: ContextVar[float] = ContextVar("the number of the innermost level where nothing moves", default=-1)
"""Levels up to this number compute values alone: for them a Function's forward is only a value."""


@contextmanager
def values_alone() -> Iterator[None]:
    """Inside, nothing has a tangent of the levels that have been entered."""
    token = halted.set(latest())
    try:
        yield
    finally:
        halted.reset(token)


def moved(cls: Any, values: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, list[Any]]:
    """The result of a Function, and the tangents of the tensors in it: by its jvp, or the derivative of its backward.

    Raises what jvp or backward raises; RuntimeError if the tangent of a view, or of what forward has written in place,
    is not what that would be.
    """
    if not cls._has_jvp():
        return _by_backward(cls, values, tangents)
    if of_arguments(values) is None and not (now().records and any(_has_history(v) for v in values)):
        ctx, result = begun(cls, values)
        found, _ = finished(cls, ctx, values, result, tangents)
        result = unrecorded(ctx, values, result)
    else:
        again = Again(cls, values)
        result = cls.apply(*values)
        ctx, second = _context(cls, again, values, result)
        found = _guarded(cls, ctx, values, second, tangents)
    outs = tensors_in(result)
    for o, t in zip(outs, found, strict=True):
        _check(o, t, values, tangents)
    return result, [_in_own_memory(o, t, values, tangents) for o, t in zip(outs, found, strict=True)]


def _guarded(cls: Any, ctx: Any, values: Sequence[Any], result: Any, tangents: Sequence[Any],
             looks: bool = True) -> list[Any]:  # fmt: skip
    """The result of jvp, and what is known of its cuts, as of a backward's.

    Raises CutError if something that moves in a level outside is missing in how that moves.
    """
    given = [t for t in (*tangents, *tensors_in(vars(ctx)), *ctx._to_save) if isinstance(t, TensorBase)]
    nodes = [t._node for t in given if t._node is not None]
    before, held = now(), contents(ctx)
    guard = Guard(f"{cls.__name__}.jvp", nodes, getattr(cls._node_class, "surrogate", None), before.records)
    try:
        switch(before.but(listener=guard))
        found = finished(cls, ctx, values, result, tangents)[0]
    finally:
        switch(before)
        guard.done()
    if not looks:
        guard.check()
    if not (looks and guard.halted):
        return guard.settled(found)

    def again(still: Callable[[Any], Any]) -> Any:
        own = copy(ctx)
        own._to_save = tuple(map(still, ctx._to_save))
        kept: list[Any] = []
        rest = flatten(vars(ctx), kept)
        vars(own).update(unflatten(rest, map(still, kept)))
        return _guarded(cls, own, values, result, [*map(still, tangents)], False)

    look = partial(in_motion.passed, again)
    return guard.settled(in_motion.compared(look, [t.array for t in given], guard, found, held))


def _has_history(v: Any) -> bool:
    return isinstance(v, TensorBase) and v._node is not None


def _context(cls: Any, again: Again, values: Sequence[Any], result: Any) -> tuple[Any, Any]:
    """The ctx that forward leaves on copies, with the inputs and outputs themselves where it has saved those."""
    first = again.args
    again.renew()  # of what the second run, if there is one, begins with
    with values_alone():
        ctx, second = inside(partial(recording, False), resumed, again.run, partial(begun, cls))
    copies = again.args
    pairs = [*zip(tensors_in(second), tensors_in(result), strict=True), *zip(copies, values, strict=True)]
    kept = [*ctx._to_save, *[part for name, value in vars(ctx).items() for _, part in reachable(name, value)]]
    replaced = {id(t) for t in [*ctx._to_save, *tensors_in(vars(ctx))] if _of(pairs, t) is not t}
    if any(_moves(part) and id(part) not in replaced for part in kept):
        copies = again.args = first
        try:
            ctx, second = again.run(partial(begun, cls))
        except RuntimeError as error:
            error.add_note(
                f"raised while {cls.__name__}.forward was run again, with its operations differentiated, because its "
                "jvp needs the derivatives of what forward kept: give save_for_forward inputs and outputs alone, and "
                "compute the rest again in jvp"
            )
            raise
        pairs = [*zip(tensors_in(second), tensors_in(result), strict=True), *zip(copies, values, strict=True)]
    ctx._to_save = tuple([_of(pairs, t) for t in ctx._to_save])
    leaves: list[Any] = []
    rest = flatten(vars(ctx), leaves)
    vars(ctx).update(unflatten(rest, iter([_of(pairs, t) for t in leaves])))
    return ctx, second


def _of(pairs: Sequence[tuple[Any, Any]], value: Any) -> Any:
    """The stand-in for a value; the original of a copy."""
    return next((own for t, own in pairs if t is value), value)


def _moves(value: Any) -> bool:
    """Whether a value that forward has kept may move."""
    if isinstance(value, TensorBase):
        return differentiable(value)
    return backends.is_array(value) and dtypes.of(value.dtype).category >= dtypes.FLOAT


def _check(o: Any, t: Any, values: Sequence[Any], tangents: Sequence[Any]) -> None:
    """Raise RuntimeError if the tangent of an output in the memory of an input is not in that of the input's."""
    given = next((s for v, s in zip(values, tangents, strict=True)
                  if isinstance(v, TensorBase) and v._counter is o._counter), None)  # fmt: skip
    if t is None or given is None:
        return
    if any(o is v for v in values):
        if t._counter is not given._counter:
            raise RuntimeError(
                "An inplace custom Function is not modifying the forward mode gradients inplace while it is modifying "
                "the original Tensor inplace: write the tangent in place, too, and return it."
            )
        return
    says = "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view"
    if t._view is None:
        raise RuntimeError(f"{says}. Return the same view of the input's tangent; view_as of it for an input as-is.")
    if t._counter is not given._counter:
        whose = "the given tangent" if given._view is None else "the same base as the given tangent"
        raise RuntimeError(f"{says} of {whose}.")


def _in_own_memory(o: Any, t: Any, values: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """The tangent of an output that may be written to: in memory of its own, if the output is."""
    shared = any(s is not None and t is not None and s._counter is t._counter for s in tangents)
    same = any(isinstance(v, TensorBase) and v._counter is o._counter for v in values)
    return t.clone() if shared and not same else t


def _by_backward(cls: Any, values: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, list[Any]]:
    """`moved` by the rule of the rule. What forward writes in place is written once, and followed on copies."""
    writes = outside_ctx.of(cls).marks
    again = Again(cls, values) if writes else None
    result = cls.apply(*values) if writes else None
    start = ticket()
    leaves = [_followed(v) if t is not None else v
              for v, t in zip(again.args if again else values, tangents, strict=True)]  # fmt: skip
    given = [copied(x) if again and isinstance(x, TensorBase) else x for x in leaves]
    run = enable_grad()(cls.apply)
    outs = again.run(lambda _: run(*given)) if again else run(*given)
    many = tensors_in(outs)
    own = [o for o in many if differentiable(o) and o._node is not None]
    moving = [(x, t) for x, t in zip(leaves, tangents, strict=True) if t is not None]
    ts: list[Any] = [None] * len(many)
    if own:
        try:
            pull = partial(gradients, own, [x for x, _ in moving], create_graph=True)
            found = transposed(pull, own, [t for _, t in moving], unequal)
        except RuntimeError as error:
            error.add_note(
                f"raised while the backward of {cls.__name__} was differentiated, because {cls.__name__} has no jvp: "
                "declare jvp(ctx, *tangents), or compute in backward with tensors alone"
            )
            raise
        each = iter([pruned(t if t._view is None else t.clone(), start) for t in found])
        ts = [next(each) if any(o is mine for mine in own) else None for o in many]
    if result is None:
        result = unflatten(flatten(outs, []), iter([pruned(o, start) for o in many]))
    return result, [_in_own_memory(o, t, values, tangents) for o, t in zip(many, ts, strict=True)]


def _followed(x: Any) -> Any:
    """What shows the same, with a history of its own: two inputs may be one tensor, or made of one another."""
    if x._node is None or not now().records:
        return wrap(x.array, None, x._counter).requires_grad_()
    return wrap(x.array, apply(alias, (x,), {})._node, x._counter)
