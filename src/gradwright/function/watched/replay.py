"""Running forward again, recorded, so that what it kept for backward has its history.

A Function's forward is not recorded. What it keeps that is neither an input nor an output, an *intermediate*, has no
history, and a recorded backward that uses it would take it for a constant. So a node with intermediates also keeps what
forward was called with; a recorded backward runs forward again on that and gets the ctx that this leaves.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from gradwright.base.dtypes import FLOAT, of
from gradwright.base.errors import size
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.levels import below
from gradwright.engine.memory import unwritten
from gradwright.engine.mode import now, switch
from gradwright.engine.nodes_of_ops import freed, modified, pack, unpack
from gradwright.engine.saved_hooks import allow_mutation_on_saved_tensors
from gradwright.function.contract.containers import among
from gradwright.function.contract.reached import reachable
from gradwright.function.contract.signature import run_forward
from gradwright.function.watched import outside_ctx
from gradwright.function.watched.in_backward import Cut
from gradwright.function.watched.rerun import as_it_was, at_level

_TENSOR: Any = object()
"""The place of a tensor among the arguments."""


class Replay:
    """All it takes to run a node's forward again; the tensors among the arguments are with its saved tensors.

    Attributes:
        arguments: those that are no tensors, in their places.
        count: how many tensors `save_for_backward` was given; the arguments are saved after them.
        fresh: the numbers of those that forward writes in place, of which copies have been kept.
        random: the state that each source of random numbers had.
        level: at which forward ran, if it draws random numbers.
        outside: for each intermediate that forward has left outside of ctx, what gives it as long as it lives.
    """

    __slots__ = ("arguments", "count", "fresh", "level", "outside", "random")

    def __init__(self, arguments: list[Any], count: int, fresh: frozenset[int], random: dict[Any, bytes],
                 outside: list[Callable[[], Any]], level: Any) -> None:  # fmt: skip
        self.arguments, self.count, self.fresh, self.random, self.outside = arguments, count, fresh, random, outside
        self.level = level


def keep(node: Any, inside: Any, packs: list[Any], outputs: Sequence[Any], unknown: Sequence[Any]) -> Replay | None:
    """The `Replay` of ``node``, if it has intermediates; the arguments are added to ``packs``.

    They may be among the tensors ``unknown``, which forward has kept and which have no history from before; if values
    have left, numbers and arrays on ctx are such, too.
    """
    args, nodes, start = inside.args, inside.nodes, inside.start
    found, outside = any(_is_intermediate(t, node, start, args, outputs) for t in unknown), []
    if inside.left or inside.found is not None:
        known = (*args, *(o for o in outputs if not among(o, node._flat)))
        if inside.found is not None:
            outside = _left_outside(node, inside.found, start, inside.left, known)
        on_ctx = (p for n in _names(node) if not among(v := getattr(node, n), known) for _, p in reachable(n, v))
        found = found or (inside.left and any(_matters(p, start, True, known) for p in on_ctx))
    if not found and not outside:
        return None
    count = len(packs)
    written = getattr(inside, "written", {})
    arguments: list[Any] = []
    for k, (a, source) in enumerate(zip(args, nodes, strict=True)):
        if isinstance(a, TensorBase):
            packs.append((written[k], [0], 0, source) if k in written else (*pack(a)[:3], source))
            a = _TENSOR
        arguments.append(a)
    return Replay(arguments, count, frozenset(written), getattr(inside, "random", {}), outside,
                  getattr(inside, "level", None))


def _is_intermediate(t: Any, node: Any, start: int, args: Sequence[Any], outputs: Sequence[Any]) -> bool:
    """Whether ``t``, which forward has kept, has no history, being neither an argument nor an output."""
    made = t._node  # that of a view that was made without recording has been made inside, too
    if (made is not None and made._seq < start) or among(t, args):
        return False
    return of(t.array.dtype).category >= FLOAT and (not among(t, outputs) or among(t, node._flat))


def _left_outside(node: Any, before: dict[int, Any], start: int, left: bool, known: Sequence[Any]) -> list[Any]:
    """What gives the intermediates that backward would now find outside of ctx, and would not before."""
    now = outside_ctx.of(node._function).look()
    new = [part for k, (_, part, version) in now.items() if k not in before or before[k][2] != version]
    matter = [part for part in new if _matters(part, start, left, known)]
    return [weakref.ref(part) if isinstance(part, TensorBase) else _nothing for part in matter]


def _nothing() -> None:
    return None


def _matters(part: Any, start: int, left: bool, known: Sequence[Any]) -> bool:
    if isinstance(part, TensorBase):
        made = part._node
        history = made is not None and made._seq < start
        return not history and of(part.array.dtype).category >= FLOAT and not among(part, known)
    return left and not among(part, known)


def again(node: Any) -> Any:
    """The ctx that forward leaves when it is run again, recorded.

    Raises RuntimeError if an argument was changed in place since, or the result is another one.
    """
    replay, cls = node._replay, node._function
    if node._saved is None or len(node._saved) < replay.count:  # or cleared
        raise freed(node)
    guard = now().listener
    changed: list[RuntimeError] = []
    args = _arguments(node, replay, changed)
    ctx = cls._node_class.new(_seq=node._seq, _next=node._next, _ports=node._ports, _metas=node._metas,
                              _outputs=node._outputs, _needs=node.needs_input_grad)  # fmt: skip
    places = outside_ctx.of(cls)
    unchanged = outside_ctx.Unchanged(places)
    before = now()
    guard.outer = unchanged
    guard.replaying = ctx

    def run() -> Any:
        switch(now().but(records=before.records, listener=guard, stopped=before.stopped))
        copies = any(isinstance(w, allow_mutation_on_saved_tensors) for w in now().watches)
        # forward may write in place as it likes
        with nullcontext() if copies else allow_mutation_on_saved_tensors(), unchanged, as_it_was(replay.random):
            return run_forward(cls, ctx, args)

    try:
        result = at_level(replay.level, run) if replay.random else run()
    finally:
        switch(before)
        if isinstance(error := sys.exc_info()[1], Exception):
            error.add_note(
                f"raised while {cls.__name__}.forward was run again, recorded, for a backward with create_graph=True "
                "that needs the history of what forward kept: save only inputs and outputs instead, or mark backward "
                "with once_differentiable"
            )
        guard.replaying = None
        unchanged.ran()
    _hang(node, ctx, args, result if type(result) is tuple else (result,))
    try:
        _compare(node, ctx)
    except RuntimeError as error:
        raise (changed[0] if changed else error) from None
    if replay.outside:
        left = places.look()
        for t in [ref() for ref in replay.outside]:
            if id(t) in left:  # forward has found it, and has not made it again
                guard.doubt(t, left[id(t)][0], "an earlier run of forward")
    return ctx


def _arguments(node: Any, replay: Replay, changed: list[RuntimeError]) -> list[Any]:
    """What forward was called with. To ``changed`` goes an error for each buffer that was changed in place since.

    It may be that nothing depends on it. So it gets a history, and what does depend on it raises that error.
    """
    args, k = [], replay.count
    for i, a in enumerate(replay.arguments):
        if a is _TENSOR:
            packed = node._saved[k]
            array, counter, version, source = packed
            k += 1
            name = f"the argument {node._argument(i)!r}"
            if i in replay.fresh:
                a = wrap(unwritten(array), source)  # forward will change it again
            elif source is None and of(array.dtype).category >= FLOAT and counter[0] != version:
                changed.append(modified(node, name, packed))
                a = wrap(array, Cut(None, now().listener.inputs, str(changed[-1])))
            else:
                a = unpack(node, packed, name)
        args.append(a)
    return args


def _hang(node: Any, ctx: Any, args: Sequence[Any], outputs: Sequence[Any]) -> None:
    """Make outputs the outputs of ``node``: their derivative is the one that the user declares."""
    for k, out in enumerate(outputs):
        if not isinstance(out, TensorBase):
            continue
        if among(out, args) and not among(out, ctx._dirty):
            continue
        if of(out.array.dtype).category < FLOAT:
            out._node = None
        elif not among(out, ctx._flat):  # one that has no derivative is an intermediate to backward
            out._node = node._port(k)


def _on_ctx(node: Any, saved: Sequence[Any]) -> dict[str, Any]:
    """The values on a ctx, by name."""
    found = {f"saved_tensors[{k}]": t for k, t in enumerate(saved) if t is not None}
    return found | {n: v for name in _names(node) for n, v in reachable(name, getattr(node, name))}


def _names(node: Any) -> list[str]:
    return [*vars(node), *getattr(node, "_attributes", ())]


def _compare(node: Any, ctx: Any) -> None:
    """Raise RuntimeError if forward has not left what it left the first time; hand on what was added since."""
    before, after = node._read_saved(node._saved), ctx._to_save
    if len(before) != len(after):
        raise _differs(node, "saved_tensors", f"was {len(before)} tensors, and is {len(after)}")
    first, second = _on_ctx(node, before), _on_ctx(ctx, after)
    for name, value in second.items():
        if name not in first:
            raise _differs(node, name, "was not there the first time")
        a, b = _values(first[name]), _values(value)
        if a.shape != b.shape or a.dtype != b.dtype:
            raise _differs(node, name, f"was {size(a.shape)} of {a.dtype}, and is {size(b.shape)} of {b.dtype}")
        if a.dtype.kind in "fc":
            rough = float(np.finfo(a.dtype).eps) ** 0.5
            same = np.allclose(a, b, rough, rough * float(np.abs(a[np.isfinite(a)]).max(initial=0)), equal_nan=True)
        else:
            same = np.array_equal(a, b)
        if not same and isinstance(value, float) and name in vars(ctx) and not now().listener.values:
            setattr(ctx, name, first[name])  # it was not made of a tensor: the time, say
        elif not same:
            raise _differs(node, name, "has other values")
    for name in _names(node):
        if name not in vars(ctx):
            setattr(ctx, name, getattr(node, name))


def _values(value: Any) -> Any:
    array = np.asarray(below(value.array) if isinstance(value, TensorBase) else value)
    return array.astype(np.float32) if of(array.dtype).category >= FLOAT and array.dtype.kind not in "fc" else array


def _differs(node: Any, name: str, how: str) -> RuntimeError:
    return RuntimeError(
        f"{node._function.__name__}: forward gives another result when it is run again: ctx.{name} {how}. A recorded "
        "backward (create_graph=True) runs forward again, because it needs the history of what forward kept.\n"
        f"  forward is at {node._written()}\n"
        "Let forward depend on its arguments alone, and draw random numbers with gradwright's functions; or save only "
        "inputs and outputs, and compute the rest again in backward; or mark backward with once_differentiable."
    )
