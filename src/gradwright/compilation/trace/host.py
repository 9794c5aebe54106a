"""What is run anew at every call of a program, at its place in it: Functions that compute in Python, random numbers.

Forward and backward are an eager run each, on copies, with all that Functions are checked for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from gradwright.base import dtypes
from gradwright.compilation.node import HOST, PICK, GuardFailed, same, taken
from gradwright.compilation.node import Node as Call
from gradwright.compilation.trace.traced import Notes, Traced, Untraceable
from gradwright.engine.base import TensorBase, ticket, wrap
from gradwright.engine.calls import grad
from gradwright.engine.memory import same as same_memory
from gradwright.engine.mode import PLAIN, UNRECORDED, now, switch
from gradwright.engine.node import Bundle, Node, Output
from gradwright.function.contract.trees import tree_flatten, tree_unflatten


def unobserved(f: Callable[..., Any], *args: Any) -> Any:
    """What ``f`` returns, whose Python code is run at every call of a program, so that nobody need look at it."""
    tracing = sys.gettrace()
    try:
        sys.settrace(None)
        return f(*args)
    finally:
        sys.settrace(tracing)


class Forward:
    """The forward of a Function as a call of arrays: the arrays of its results, behind which the graph is kept.

    Attributes:
        cls: the Function.
        leaves, spec: its arguments; those at ``places`` are tensors.
        needs: which of these require grad.
    """

    def __init__(self, cls: Any, args: Sequence[Any]) -> None:
        self.cls = cls
        self.leaves, self.spec = tree_flatten(list(args))
        self.places = [k for k, x in enumerate(self.leaves) if isinstance(x, TensorBase)]
        self.tensors = [self.leaves[k] for k in self.places]
        self.needs = [t.requires_grad for t in self.tensors]
        self.records = now().records and any(self.needs)
        self.expected: tuple[Any, ...] | None = None
        self.node: Any = None
        for k in self.places:
            self.leaves[k] = None

    def alike(self, other: Any) -> bool:
        """Whether another is the same call."""
        return (self.cls, self.leaves, self.spec, self.needs) == (other.cls, other.leaves, other.spec, other.needs)

    def __call__(self, *arrays: Any) -> Run:
        leaves = list(self.leaves)
        given = []
        for k, array, needs in zip(self.places, arrays, self.needs, strict=True):
            leaves[k] = t = wrap(taken(array))
            if needs and self.records:
                t.requires_grad = True
            given.append(t)
        result = _in_mode(PLAIN if self.records else UNRECORDED, self.cls.apply, *tree_unflatten(leaves, self.spec))
        run = Run(given, *tree_flatten(result))
        if self.expected is not None and not _alike(self.expected, run.rest()):
            raise GuardFailed(self.node, run.rest())
        return run

    def __repr__(self) -> str:
        return f"<{self.cls.__name__}.forward>"


class Run:
    """One run of a Function: its arguments, the leaves of its results and their tree."""

    def __init__(self, given: list[Any], leaves: list[Any], spec: Any) -> None:
        self.given, self.leaves, self.spec = given, leaves, spec
        self.tensors = [x for x in leaves if isinstance(x, TensorBase)]

    def rest(self) -> tuple[Any, ...]:
        """Its result beside the values of tensors."""
        return self.spec, [x.requires_grad if isinstance(x, TensorBase) else x for x in self.leaves]

    def __getitem__(self, k: int) -> Any:
        return taken(self.tensors[k].array)


class Backward:
    """Its backward, as a call of a run and of the cotangents of some of its results: a gradient, or None, each."""

    def __init__(self, cls: Any, needs: Sequence[bool], outputs: Sequence[int]) -> None:
        self.cls, self.needs, self.outputs = cls, needs, outputs
        self.absent: list[bool] | None = None

    def alike(self, other: Any) -> bool:
        """Whether another is the same call."""
        return (self.cls, self.needs, self.outputs) == (other.cls, other.needs, other.outputs)

    def __call__(self, run: Run, *cotangents: Any) -> list[Any]:
        leaves = [t for t, needs in zip(run.given, self.needs, strict=True) if needs]
        given = [wrap(taken(c)) for c in cotangents]
        outs = [run.tensors[k] for k in self.outputs]
        found = _in_mode(UNRECORDED, grad, outs, leaves, given, True, False, True, True)
        absent = [g is None for g in found]
        if self.absent not in (None, absent):
            raise RuntimeError(f"{self.cls.__name__}.backward: returns None for other inputs than when compiled")
        self.absent = absent
        return [None if g is None else taken(g.array) for g in found]

    def __repr__(self) -> str:
        return f"<{self.cls.__name__}.backward>"


def _in_mode(mode: Any, f: Any, *args: Any) -> Any:
    before = now()
    try:
        switch(mode)
        return f(*args)
    finally:
        switch(before)


class HostBackward(Node):
    """The node of such a Function in a trace."""

    __slots__ = ("_forward", "_metas", "_notes", "_outputs", "_run_of")
    _metas: list[tuple[tuple[int, ...], Any]]

    def __init__(self, notes: Notes, forward: Forward, run: Call, outputs: list[int]) -> None:
        self._seq, self._hooks, self._saved = ticket(), None, ()
        self._next = tuple([t._node for t in forward.tensors if t._node is not None])
        self._notes, self._forward, self._run_of, self._outputs = notes, forward, run, outputs

    @property
    def _edge_mask(self) -> Sequence[bool]:  # type: ignore[override]
        return (True,) * len(self._next)

    @property
    def _several(self) -> int | None:  # type: ignore[override]
        return len(self._outputs) if len(self._outputs) > 1 else None

    def name(self) -> str:
        """As the Function's own."""
        return f"{self._forward.cls.__name__}Backward"

    def _run(self, xp: Any, g: Any) -> Sequence[Any]:
        given = g if isinstance(g, Bundle) else {0: g}
        if any(isinstance(c, TensorBase) for c in given.values()):
            raise Untraceable(f"the second derivative of {self._forward.cls.__name__}, which computes in Python")
        call = Backward(self._forward.cls, self._forward.needs, [self._outputs[k] for k in given])
        values = [c.node.value if isinstance(c, Traced) else c for c in given.values()]
        found = unobserved(call, self._run_of.value, *values)
        node = self._notes.enter(HOST, (call, self._run_of, *map(self._notes.noted, given.values())), {}, found)
        return [None if x is None else self._notes.traced(self._notes.enter(PICK, (node, k), {}, x))
                for k, x in enumerate(found)]  # fmt: skip


def _alike(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    return bool(a[0] == b[0]) and len(a[1]) == len(b[1]) and all(
        x is y or (type(x) is type(y) and bool(x == y)) for x, y in zip(a[1], b[1], strict=True))  # fmt: skip


def applied(trace: Any, cls: Any, args: Sequence[Any]) -> Any:
    """The result of a Function in a trace, which is run in Python.

    Raises `Untraceable` where its results are its arguments, written or not, or views of them.
    """
    notes, forward = trace.notes, Forward(cls, args)
    trace.used(forward.tensors)
    run = forward(*[t.array.node.value for t in forward.tensors])
    for t in run.given:
        if int(t._counter[0]) or any(o is t or same_memory(o, t) for o in run.tensors):
            what = "returns or writes an argument, or a view of it"
            raise Untraceable(f"{cls.__name__}, which computes in Python, {what}")
    for t, own in zip(run.given, forward.tensors, strict=True):
        if not same(t.array, own.array.node.value):
            raise Untraceable(f"{cls.__name__}, which computes in Python, writes its argument through NumPy")
    node = notes.enter(HOST, (forward, *[t.array.node for t in forward.tensors]), {}, run)
    forward.expected, forward.node = run.rest(), node
    outs: list[Any] = []
    recorded: list[int] = []
    for k, o in enumerate(run.tensors):
        value = run[k]
        part = notes.enter(PICK, (node, k), {}, value)
        notes.check_shape(part)
        outs.append(wrap(notes.traced(part)))
        if o._node is not None and dtypes.of(value.dtype).category >= dtypes.FLOAT:
            recorded.append(k)
    if recorded:
        history = HostBackward(notes, forward, node, recorded)
        history._metas = [(outs[k].array.shape, outs[k].array.dtype) for k in recorded]
        for j, k in enumerate(recorded):
            outs[k]._node = history if len(recorded) == 1 else Output(history, j)
    rest = iter(outs)
    return tree_unflatten([next(rest) if isinstance(x, TensorBase) else x for x in run.leaves], run.spec)


class Drawing:
    """NumPy's generator in a trace: what it draws is drawn anew at every call.

    ``left`` are the states in which sources were after their last draw. In another state the next one is a draw of the
    same numbers once more, as a checkpointed function's: `Untraceable`.
    """

    def __init__(self, notes: Notes, source: Any, left: dict[Any, Any]) -> None:
        self._notes, self._source, self._left = notes, source, left

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)

        def draw(*args: Any, **kwargs: Any) -> Any:
            source, left = self._source, self._left
            if source.get_state() != left.get(source, source.get_state()):
                raise Untraceable("random numbers are drawn from a state that was set in the step, as those of a "
                                  "checkpointed function are in its second run")  # fmt: skip
            values = [self._notes.noted(a) for a in args]
            call = Draw(self._source, name, kwargs)
            value = call(*[v.value if hasattr(v, "value") else v for v in values])
            left[source] = source.get_state()
            return self._notes.hold(self._notes.enter(HOST, (call, *values), {}, value), value)

        return draw


class Draw:
    """One draw of random numbers."""

    def __init__(self, source: Any, name: str, kwargs: dict[str, Any]) -> None:
        self.source, self.name, self.kwargs = source, name, kwargs

    def __call__(self, *args: Any) -> Any:
        return getattr(self.source.generator(), self.name)(*args, **self.kwargs)

    def __repr__(self) -> str:
        return f"<draw {self.name}>"
