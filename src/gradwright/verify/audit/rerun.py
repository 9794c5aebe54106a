"""A call that was recorded, made again as often as wanted: at other points, in another precision, with its gradient."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from copy import copy
from dataclasses import dataclass
from io import StringIO
from typing import Any

import numpy as np

from gradwright.base import dtypes
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.mode import PLAIN, now, switch
from gradwright.engine.strict import strict
from gradwright.verify.audit.recorded import Recorded, copied, is_moving, numbers
from gradwright.verify.check.attempt import Attempt
from gradwright.verify.check.calls import Arg, flat, mapped
from gradwright.verify.numeric.again import USUAL, Calls, Change, Outcome
from gradwright.verify.numeric.jacobian import WIDER, wider
from gradwright.verify.numeric.streams import State, Streams


@dataclass(eq=False)
class Leaf:
    """An input whose gradient is looked at.

    Attributes:
        name: what it is called. base: its numbers, in float64 or complex128.
        size: the root of the mean of their squares, 1 if they are all 0.
    """

    name: str
    base: Any
    size: float


class Rerun(Calls):
    """A call, and its leaves, which are its inputs, in float64 or complex128.

    Attributes:
        wide: whether it is made in float64. unit: the relative distance of neighbouring numbers in its dtype.
        leaves: the inputs whose gradients are looked at.
    """

    def __init__(self, recorded: Recorded, apply: Callable[..., Any], names: Sequence[str], state: State,
                 wide: bool = False) -> None:  # fmt: skip
        self.recorded, self.apply, self.state, self.wide = recorded, apply, state, wide
        self.T = recorded.met.T
        self.cloned = False
        held = [a for a in recorded.args if a.grad]
        self.leaves = [Leaf(n, x := numbers(a.array), _size(x)) for n, a in zip(names, held, strict=True)]
        self.unit = max((_unit(a.array, wide) for a in held), default=0.0)
        self.arrays = [x.base for x in self.leaves]
        self.wanted = [True] * len(self.leaves)

    def run(self, points: Sequence[Any] | None = None) -> tuple[list[Any], list[Any]]:
        """The tensors that come out, and the leaves: at other points, if those are given."""
        self.state.put_back()
        self.recorded.streams.put_back()
        given: list[Any] = []
        known: dict[int, Any] = {}

        def tensor(a: Arg) -> Any:
            if id(a) not in known:
                known[id(a)] = fresh(a)
            return known[id(a)]

        def fresh(a: Arg) -> Any:
            if not is_moving(a.array):
                return copied(a.array)
            moved = numbers(a.array) if points is None or not a.grad else points[len(given)]
            t = made(self.T, a.array, moved, self.wide)
            if a.grad:
                given.append(t.requires_grad_())
                return t.clone() if self.cloned else t
            return t

        arguments, static = mapped((self.recorded.arguments, self.recorded.static), tensor)
        outs = flat(self.apply(*mapped(arguments, copy, (np.ndarray, set)), **static), self.T)
        return outs, given

    def settle(self) -> list[Any]:
        """What comes out; whether it needs clones of its inputs, as it changes them, is found out first.

        Raises what it raises.
        """
        with Attempt() as attempt:
            return self.run()[0]
        self.cloned = "leaf" in attempt.said()
        if not self.cloned:
            raise attempt.error
        return self.run()[0]

    def values(self, points: Sequence[Any] | None, which: Sequence[int]) -> list[Any]:
        """The numbers of some of the outputs, at other points."""
        outs, _ = self.run(points)
        return [numbers(outs[k]) for k in which]

    def outcome(self, change: Change = USUAL) -> Outcome:
        """The numbers that come out, and the gradients of the leaves, zeros for None."""
        outs, leaves = self.run(change.arrays)
        values = [numbers(o) if is_moving(o) else None for o in outs]
        live = {k: v for k, (o, v) in enumerate(zip(outs, values, strict=True)) if o.requires_grad}
        if change.plain or not live:
            return Outcome(values, [])
        given = [made(self.T, _bare(outs[k]), g, False)
                 for k, g in zip(live, self.given(change, live), strict=True)]  # fmt: skip
        found = self.T.autograd.grad([outs[k] for k in live], leaves, given, allow_unused=True)
        return Outcome(values, [np.zeros_like(x) if g is None else numbers(g).reshape(x.shape)
                                for g, x in zip(found, self.arrays, strict=True)])  # fmt: skip

    def rounded(self, points: Sequence[Any]) -> list[Any]:
        """The points as they are once they are in the dtype of the call."""
        held = [a.array for a in self.recorded.args if a.grad]
        return [numbers(made(self.T, a, p, self.wide)) for a, p in zip(held, points, strict=True)]


def _bare(tensor: Any) -> Any:
    return tensor if isinstance(tensor, TensorBase) else tensor.detach()


def _size(array: Any) -> float:
    with np.errstate(all="ignore"):
        finite = np.abs(array[np.isfinite(array)])
        return float(np.sqrt(np.mean(finite**2))) or 1.0 if finite.size else 1.0


def _unit(tensor: Any, wide: bool) -> float:
    name = str(tensor.dtype).rpartition(".")[2]
    name = WIDER.get(name, name) if wide else name
    return float(dtypes.finfo(getattr(dtypes, name)).eps)


def made(T: Any, like: Any, array: Any, wide: bool) -> Any:
    """A tensor of these numbers, of the dtype, the device and, if it is dense, the strides of another."""
    if isinstance(like, TensorBase):
        was = np.asarray(like.array)
        found = np.empty_like(was, dtype=wider(was.dtype) if wide else was.dtype)
        with np.errstate(all="ignore"):
            found[...] = np.asarray(array if found.dtype.kind == "c" else np.real(array)).astype(found.dtype)
        return wrap(found)
    name = str(like.dtype).rpartition(".")[2]
    t = T.empty_like(like, dtype=getattr(T, WIDER.get(name, name)) if wide else like.dtype)
    return t.copy_(T.from_numpy(np.array(array if t.is_complex() else np.real(array))))


@contextmanager
def alone(T: Any) -> Iterator[None]:
    """Within this, what the program has switched on is off, what it prints is dropped, and random numbers stay."""
    mode, streams = now(), Streams.now()
    with ExitStack() as stack:
        stack.callback(streams.put_back)
        stack.callback(switch, mode)
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        stack.enter_context(redirect_stdout(StringIO()))
        stack.enter_context(redirect_stderr(StringIO()))
        switch(PLAIN)
        stack.enter_context(strict(False))
        if hasattr(T, "_C"):
            stack.enter_context(T.inference_mode(False))
            stack.enter_context(T.enable_grad())
            stack.enter_context(T.autograd.set_detect_anomaly(False))
        yield
