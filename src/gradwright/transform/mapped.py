"""Users' Functions under vmap: by the ``vmap`` that they declare, or by their forward and backward, mapped.

Forward and backward run on tensors that stand for the whole batch. Where the tensors outside have histories or
tangents, the batch as a whole is a `Mapped`, whose derivative is the user's backward, mapped. A forward that asks for
numbers is run on one example after another, with a GradientWarning.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any, NamedTuple

from gradwright.engine.apply import apply
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.grad_mode import enable_grad
from gradwright.engine.levels import followed
from gradwright.engine.mode import is_grad_enabled, now, switch
from gradwright.engine.strict import warn
from gradwright.function import of_containers
from gradwright.function.contract.containers import (
    TENSOR,
    TENSORLESS,
    Tree,
    flatten,
    holds_tensors,
    shaped,
    unflatten,
)
from gradwright.function.contract.trees import broadcast_to_and_flatten, tree_flatten, tree_structure
from gradwright.function.function import Function
from gradwright.function.watched import outside_ctx
from gradwright.ops.shape import stack
from gradwright.transform.arguments import differentiable
from gradwright.transform.batching.rules import first
from gradwright.transform.transpose import gradients, zeros


class BatchedValueError(RuntimeError):
    """A number was asked for that is another one in each example."""


class Info(NamedTuple):
    """The first argument of a declared vmap."""

    batch_size: int
    randomness: str


def called(level: Any, cls: Any, args: Sequence[Any]) -> Any:
    """The result of ``cls.apply(*args)``, with some of the tensors of a `Batches` level."""
    if any(a.__class__ not in TENSORLESS and holds_tensors(a) and type(a) is not Tree for a in args):
        return of_containers.apply(cls, tuple(args))
    if cls is OneByOne:  # which sees to levels outside by itself
        return here(cls, args)
    own_history = now().records and any(isinstance(a, TensorBase) and a._node is not None for a in args)
    xs, which = _unpacked(level, args)
    declares = cls.vmap is not Function.vmap
    made = level.outside(_declared, level, cls, xs, which) if declares else None
    try:
        if not declares:
            if not level.outside(_follows, xs):
                return here(cls, args)
            made = level.outside(_mapped, level, cls, xs, which)
        return _recorded(level, cls, args, made, own_history)
    except BatchedValueError:
        mend = (
            "Save on ctx in a setup_context, and what vmap returned is saved"
            if declares
            else "Declare a vmap staticmethod, or compute with operations on tensors"
        )
        warn(
            f"vmap: forward of {cls.__name__} asks for numbers, so it is run on one example after another, which is "
            f"slow. {mend}."
        )
    if own_history:
        run = _Run(level, cls.apply, which, args)
        outs = here(OneByOne, [run, *[a for a in args if isinstance(a, TensorBase)]])
        return unflatten(run.rest, iter(outs))
    return _batches(level, level.outside(_one_by_one, level, cls, xs, which))


def _unpacked(level: Any, args: Sequence[Any]) -> tuple[list[Any], list[bool]]:
    pairs = [level.unpack(a) if isinstance(a, TensorBase) else (a, False) for a in args]
    return [x for x, _ in pairs], [b for _, b in pairs]


def _follows(xs: Sequence[Any]) -> bool:
    """Whether what is made of these tensors has a history, or a tangent."""
    return any(isinstance(x, TensorBase) and followed(x) for x in xs)


def here(cls: Any, args: Sequence[Any], made: Any = None) -> Any:
    """The Function itself, on tensors of the level that runs; with outputs of that level that are there already."""
    before = now()
    token = _running.set((before.level, made))
    try:
        switch(before.but(level=None))  # so that it is not handed to the level
        return _alone(cls).apply(*args)
    finally:
        switch(before)
        _running.reset(token)


_running: ContextVar[Any] = ContextVar("the level of the Function whose forward is next, and its outputs", default=None)


def _batches(level: Any, made: Any) -> Any:
    """Outputs with the batch first, as tensors of the level."""
    leaves: list[Any] = []
    rest = flatten(made, leaves)
    return unflatten(rest, map(level.batch, leaves))


def _recorded(level: Any, cls: Any, args: Sequence[Any], made: Any, own_history: bool) -> Any:
    """Outputs at the level, with a history there if the arguments have one."""
    outs = _batches(level, made)
    if not own_history:
        return outs
    return here(cls, args, outs)


def _alone(cls: Any) -> Any:
    """The Function, whose forward runs at the level, and whose outputs are those that are there, if any; made once."""
    if "_at_level" not in cls.__dict__:
        made = cls._at_level = type(cls)(cls.__name__, (cls,), {
            "__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__,
            "forward": staticmethod(functools.wraps(cls.forward)(partial(_forward, cls))),
            "_places": outside_ctx.of(cls),
        })  # fmt: skip
        made._node_class = type(cls._node_class.__name__, (cls._node_class,), {"_function": made})
    return cls._at_level


def _forward(cls: Any, *args: Any) -> Any:
    running = _running.get()
    if running is None:  # it is run again, where its intermediates have to have a history
        return cls.forward(*args)
    level, made = running
    if made is not None and cls.setup_context is not Function.setup_context:
        return made
    before, token = now(), _running.set(None)
    try:
        switch(before.but(level=level))
        outs = cls.forward(*args)
    finally:
        switch(before)
        _running.reset(token)
    if made is not None:  # what it saved on ctx has the values that are there
        mine: list[Any] = []
        theirs: list[Any] = []
        flatten(outs, mine)
        flatten(made, theirs)
        for own, other in zip(mine, theirs, strict=True):
            if all(own is not a for a in args):
                own.array = other.array
    return outs


def _declared(level: Any, cls: Any, xs: Sequence[Any], which: Sequence[bool]) -> Any:
    """The outputs by the user's vmap, each with the batch first."""
    dims: Any = tuple([0 if b else None for b in which])
    args: Any = tuple(xs)
    if args and type(args[0]) is Tree:
        rest = args[0]
        args, dims = unflatten(rest, iter(args[1:])), shaped(rest, iter(dims[1:]), None)
    found = cls.vmap(Info(level.size, level.randomness), dims, *args)
    if not isinstance(found, tuple) or len(found) != 2:
        raise RuntimeError(
            f"Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure "
            f"compatible with the output: {cls.__name__}.vmap returned {type(found).__name__}"
        )
    outs, out_dims = found
    spec = tree_structure(outs, open_dataclasses=True)
    each = broadcast_to_and_flatten(out_dims, spec, open_dataclasses=True)
    if each is None:
        raise RuntimeError(
            f"{cls.__name__}.vmap: out_dims is not compatible with the structure of `outputs`. out_dims has structure "
            f"{tree_structure(out_dims, open_dataclasses=True)} but outputs has structure {spec}."
        )
    leaves = tree_flatten(outs, open_dataclasses=True)[0]
    return spec.unflatten([_first(o, d, level.size) for o, d in zip(leaves, each, strict=True)])


def _first(out: Any, dim: int | None, size: int) -> Any:
    """An output with the batch first."""
    if not hasattr(out, "movedim"):
        return out
    return out.expand(size, *out.array.shape) if dim is None else out.movedim(dim, 0)


class _Run:
    """A Function that is mapped, with those arguments that are no tensors."""

    def __init__(self, level: Any, call: Any, which: Sequence[bool], args: Sequence[Any]) -> None:
        self.level, self.call, self.rest = level, call, None
        self.which = [b for b, a in zip(which, args, strict=True) if isinstance(a, TensorBase)]
        self.args = [TENSOR if isinstance(a, TensorBase) else a for a in args]

    here: Any = None
    """The runner of the Function itself."""
    writer: str = ""
    """Its name, if it may mark inputs dirty."""

    def __call__(self, *xs: Any, here: bool = False) -> tuple[Any, ...]:
        """The tensors among the outputs for these; the structure of the outputs is kept."""
        given = iter(xs)
        leaves: list[Any] = []
        self.rest = flatten(
            (self.here if here else self.call)(*[next(given) if a is TENSOR else a for a in self.args]), leaves
        )
        return tuple(leaves)

    def another(self, drawn: Any = None) -> Any:
        """A level like that of the Function; with random numbers that are ``drawn`` already."""
        before = now()
        try:
            switch(before.but(listener=None))
            return self.level.another(drawn)
        finally:
            switch(before)


def _mapped(level: Any, cls: Any, xs: Sequence[Any], which: Sequence[bool]) -> Any:
    run = _Run(level, cls.apply, which, xs)
    run.here = lambda *args: here(cls, args)
    run.writer = cls.__name__ if outside_ctx.of(cls).marks else ""
    outs = Mapped.apply(run, *[x for x in xs if isinstance(x, TensorBase)])
    return unflatten(run.rest, iter(outs))


class _Graph:
    """What a Function records at a level; through the levels outside, too, if it is what another did ``before``."""

    def __init__(self, run: _Run, xs: Sequence[Any], needs: Sequence[bool], before: Any = None) -> None:
        self.run, self.level = run, run.another(before and before.level.draws)
        through_levels = self.again = before is not None
        self.leaves = [self._leaf(x, b, n, through_levels) for x, b, n in zip(xs, run.which, needs, strict=True)]
        versions = [int(x._counter[0]) for x in xs] if run.writer else []
        try:
            self.outs = self._inside(partial(run, *self.leaves, here=not through_levels))
        finally:
            if run.writer and versions != [int(x._counter[0]) for x in xs]:  # how they move now is not told outside
                raise RuntimeError(
                    f"vmap: {run.writer} writes to its input (ctx.mark_dirty) under vmap, while the whole batch is "
                    "differentiated outside of that vmap. Return a new tensor instead, such as x * 2 for x.mul_(2)."
                )

    def _leaf(self, x: Any, batch: bool, needs: bool, through_levels: bool) -> Any:
        if needs and through_levels and not batch:  # it has a history outside, which a leaf here has not
            x, batch = first(x, False, self.level.size), True
        t = self.level.batch(x) if batch else wrap(x.array, None, x._counter)
        return t.requires_grad_() if needs else t

    def _inside(self, f: Callable[[], Any]) -> Any:
        before = now()
        try:
            switch(before.but(level=self.level, records=True, listener=None))
            return f()
        finally:
            switch(before)

    def values(self) -> tuple[Any, ...]:
        """The outputs, with the batch first."""
        pairs = [self.level.unpack(o) for o in self.outs]
        return tuple([first(x, own, self.level.size) for x, own in pairs])

    def pulled(self, gs: Sequence[Any], needs: Sequence[bool]) -> list[Any]:
        """The gradients by those inputs that need one, for cotangents of the outputs."""
        pairs = [(o, self.level.batch(g)) for o, g in zip(self.outs, gs, strict=True) if g is not None]
        wanted = [x for x, n in zip(self.leaves, needs, strict=True) if n]
        outs, seeds = [o for o, _ in pairs], [g for _, g in pairs]
        found = iter(self._inside(partial(gradients, outs, wanted, seeds, True, self.again)))
        return [self._of_input(next(found), b) if n else None for n, b in zip(needs, self.run.which, strict=True)]

    def _of_input(self, g: Any, batch: bool) -> Any:
        """The gradient by a batch, or the sum of those by what is the same for all examples."""
        if g is None:
            return None
        g, own = self.level.unpack(g)
        if batch:
            return first(g, own, self.level.size)
        return g.sum(0) if own else g * self.level.size


class Mapped(Function):
    """A Function of a whole batch: its derivative is that of each example, mapped."""

    @staticmethod
    def forward(ctx: Any, run: Any, *xs: Any) -> Any:
        needs = ctx.needs_input_grad[1:]
        ctx.run, ctx.graph = run, _Graph(run, xs, needs)
        ctx.save_for_backward(*xs)
        ctx.set_materialize_grads(False)
        return ctx.graph.values()

    @staticmethod
    def backward(ctx: Any, *gs: Any) -> Any:
        xs, needs, graph = ctx.saved_tensors, ctx.needs_input_grad[1:], ctx.graph
        if is_grad_enabled() or _follows(gs):  # to be differentiated again
            graph = _Graph(ctx.run, xs, needs, graph)
        return (None, *graph.pulled(gs, needs))


def _examples(xs: Sequence[Any], which: Sequence[bool], k: int) -> list[Any]:
    return [x[k] if b else x for x, b in zip(xs, which, strict=True)]


def _stacked(rows: Sequence[Any]) -> tuple[Any, ...]:
    """The tensors of one example after another."""
    return tuple([apply(stack, column, {"axis": 0}) for column in zip(*rows, strict=True)])


def _one_by_one(level: Any, cls: Any, xs: Sequence[Any], which: Sequence[bool]) -> Any:
    run = _Run(level, cls.apply, which, xs)
    given = [x for x in xs if isinstance(x, TensorBase)]
    rows = [run(*_examples(given, run.which, k)) for k in range(level.size)]
    return unflatten(run.rest, iter(_stacked(rows)))


def _leaf(x: Any) -> Any:
    """A tensor by which can be differentiated."""
    if not differentiable(x) or x._node is not None:
        return x
    return wrap(x.array, None, x._counter).requires_grad_()


def _rows(run: _Run, xs: Sequence[Any]) -> list[tuple[Any, Any]]:
    """For each example the inputs, and the outputs with their history from there."""
    rows = []
    for k in range(run.level.size):
        leaves = [_leaf(x) for x in _examples(xs, run.which, k)]
        rows.append((leaves, enable_grad()(run)(*leaves)))
    return rows


def _pull(leaves: Sequence[Any], outs: Sequence[Any], gs: Sequence[Any], create_graph: bool) -> tuple[Any, ...]:
    """The gradients by inputs, zeros where there are none."""
    found = iter(gradients(outs, [x for x in leaves if x._node is not None], gs, True, create_graph))
    return tuple([zeros(x) if x._node is None or (g := next(found)) is None else g for x in leaves])


class OneByOne(Function):
    """A Function of one example after another, whose tensors have histories at the level itself."""

    @staticmethod
    def forward(ctx: Any, run: Any, *xs: Any) -> Any:
        level = run.level
        outside, run.which = _unpacked(level, xs)
        rows = level.outside(_rows, run, outside)
        ctx.run, ctx.rows = run, Rows(rows)
        ctx.save_for_backward(*xs)
        outs = level.outside(_stacked, [outs for _, outs in rows])
        return tuple([level.batch(o if _follows(outside) else o.detach()) for o in outs])

    @staticmethod
    def backward(ctx: Any, *gs: Any) -> Any:
        run, xs, level = ctx.run, ctx.saved_tensors, ctx.run.level
        if is_grad_enabled():  # to be differentiated again, at the level

            def pulled(*given: Any) -> Any:
                leaves = [_leaf(x) for x in given[: len(xs)]]
                return _pull(leaves, enable_grad()(run)(*leaves), given[len(xs) :], True)

            given = (*xs, *gs)
            return (None, *OneByOne.apply(_Run(level, pulled, [True] * len(given), given), *given))
        outside, which = _unpacked(level, gs)
        follows = _follows([*_unpacked(level, xs)[0], *outside])
        return (None, *_batches(level, level.outside(_pulled_rows, ctx.rows.rows, outside, which, follows)))


class Rows:
    """The values saved for each example."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows


def _pulled_rows(rows: Sequence[Any], gs: Sequence[Any], which: Sequence[bool], follows: bool) -> Any:
    record = follows and now().records
    found = [_pull(leaves, outs, _examples(gs, which, k), record) for k, (leaves, outs) in enumerate(rows)]
    return _stacked(found)
