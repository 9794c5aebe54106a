"""A trial, a subject with one sample call: run it, run it backward, and see what its backward is asked and says.

Written against the names that gradwright and PyTorch share, so that one set of probes serves both.
"""

from __future__ import annotations

import functools
import inspect
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

import gradwright
from gradwright.base.cpython.forks import cached_property
from gradwright.verify.check.calls import Call, array_of, flat, mapped, tensor_of
from gradwright.verify.check.discover import Subject
from gradwright.verify.experiments import Fault, Trying, Visit, fault
from gradwright.verify.numeric.again import UNASKED, USUAL, Calls, Change, Outcome, usual
from gradwright.verify.numeric.draws import drawn
from gradwright.verify.numeric.jacobian import is_floating, rounding


class Told(NamedTuple):
    """One run of a user's backward: its ctx's needs_input_grad, its grad_outputs, and what it returned."""

    needs: tuple[bool, ...]
    cotangents: tuple[Any, ...]
    returned: tuple[Any, ...]


@dataclass(eq=False)
class Run:
    """One call.

    Attributes:
        leaves: the tensors among the arguments that require grad. passed: what forward got for all of them.
        result: what came out. values: the tensors in it. outputs: those that require grad.
    """

    leaves: list[Any]
    passed: list[Any]
    result: Any
    values: list[Any]
    outputs: list[Any]

    @property
    def arrays(self) -> list[Any]:
        """Copies of the values."""
        return [array_of(v).copy() for v in self.values]

    @property
    def floats(self) -> list[Any]:
        """The same, None for one that is not of floating point."""
        return [a if is_floating(a.dtype) else None for a in self.arrays]


@dataclass(eq=False)
class Trial(Calls):
    """A subject and a call of it, made on fresh tensors each time."""

    subject: Subject
    call: Call
    cloned: bool = False
    """Whether it is given clones of its inputs, as it changes them (and says so)."""
    examined: tuple[Any, Any] | None = None
    """The `Examination` of its derivatives, and the diagnosis of the first order, once there are such."""
    own: Call | None = None
    """The call in the dtypes that its author gave, where it is made in wider ones."""
    doubt: str = ""
    """What backward raised of other made-up inputs, which forward takes."""
    told: list[Told] = field(default_factory=list)
    """What its backward was asked and said, call by call."""

    @property
    def T(self) -> Any:
        return self.subject.T

    @property
    def arrays(self) -> list[Any]:  # type: ignore[override]
        """The numbers of all tensors among the arguments."""
        return [a.array for a in self.call.args]

    @property
    def wanted(self) -> list[bool]:  # type: ignore[override]
        """The inputs that require grad, as bools."""
        return [a.grad for a in self.call.args]

    def other(self, call: Call) -> Trial:
        """The same subject with another call."""
        trial = Trial(self.subject, call, self.cloned, told=self.told)
        trial.__dict__["apply"] = self.apply
        return trial

    @cached_property
    def apply(self) -> Callable[..., Any]:
        """What runs the subject; of a Function, a subclass of it whose backward is listened to."""
        function = self.subject.function
        if function is None:
            return self.subject.target
        base = self.T.autograd.Function
        name = "vjp" if getattr(function, "vjp", None) is not getattr(base, "vjp", None) else "backward"
        backward, told = getattr(function, name), self.told

        @functools.wraps(backward)
        def listened(ctx: Any, *cotangents: Any) -> Any:
            result = backward(ctx, *cotangents)
            told.append(Told(ctx.needs_input_grad, cotangents, result if isinstance(result, tuple) else (result,)))
            return result

        body = {name: staticmethod(listened), "__module__": function.__module__, "__doc__": function.__doc__}
        return type(function)(function.__name__, (function,), body).apply

    def seed(self) -> None:
        """Seed every generator that a forward may draw from."""
        random.seed(0)
        np.random.seed(0)  # noqa: NPY002 - it is the user's, whatever they chose
        self.T.default_generator.manual_seed(0)  # torch.manual_seed seeds every device, and notes each time who asked

    def run(self, needed: Sequence[bool] | None = None, seeded: bool = True,
            same: tuple[int, int] | None = None) -> Run:  # fmt: skip
        """Call it on fresh tensors; ``needed`` says which of them are to require grad, ``same`` which two are one."""
        if seeded:
            self.seed()
        arguments, found = self.call.tensors(self.T, needed, same)
        leaves = [t for t in found if t.requires_grad]
        if self.cloned:
            arguments = mapped(arguments, lambda t: t.clone(), self.T.Tensor)
        result = self.apply(*arguments, **self.call.static)
        values = flat(result, self.T)
        return Run(leaves, flat(arguments, self.T), result, values, [v for v in values if v.requires_grad])

    def lines(self, part: str, pattern: str) -> tuple[int, ...]:
        """The numbers of the lines of forward, or of backward, that match a regular expression."""
        found = source(getattr(self.subject.function, part, None), self.subject.file)
        return tuple(n for n, text in found if re.search(pattern, text.partition("#")[0]))

    def cotangents(self, run: Run) -> list[Any]:
        """Random arrays for the outputs of a run: the same every time."""
        generator = np.random.default_rng(3)
        return [drawn(generator, array_of(o)) for o in run.outputs]

    def backward(self, run: Run, cotangents: Sequence[Any] | None = None, recorded: bool = False) -> list[Any]:
        """The gradients of the leaves, arrays or None, by one pass; None for a cotangent leaves the output out."""
        arrays = self.cotangents(run) if cotangents is None else cotangents
        pairs = [(o, tensor_of(v, self.T)) for o, v in zip(run.outputs, arrays, strict=True) if v is not None]
        found = self.T.autograd.grad([o for o, _ in pairs], run.leaves, [v for _, v in pairs], retain_graph=True,
                                     create_graph=recorded, allow_unused=True)
        return [None if g is None else array_of(g) for g in found]

    def outcome(self, change: Change = USUAL) -> Outcome:
        """The outcome of a run of its own."""
        arrays, asked = self.laid_out(change), self.asked(change)
        trial = self.other(self.call.with_arrays(lambda k, a: arrays[k]))
        if change.plain:
            with self.T.no_grad():
                return Outcome(trial.run(asked).floats, [])
        run = trial.run(asked, same=change.same)
        return Outcome(run.floats, self.pulled(run, change, asked))

    def pulled(self, run: Run, change: Change = USUAL, asked: Sequence[bool] | None = None) -> list[Any]:
        """The gradients of all inputs by a pass over the graph of a run."""
        given = self.given(change, {k: array_of(v) for k, v in enumerate(run.values) if v.requires_grad})
        found = iter(self.backward(run, given, change.recorded) if given and run.leaves else [None] * len(run.leaves))
        return [next(found) if a else UNASKED for a in asked or self.wanted]

    def fault(self, *names: str) -> Fault | None:
        """The first fault that these experiments find."""
        visit, run = Visit(self), self.run()
        right = Outcome(run.floats, self.pulled(run))
        silent = [k for k, a in enumerate(run.floats) if a is not None and not run.values[k].requires_grad]
        unit = max((rounding(a.dtype) for a in (*self.arrays, *run.arrays) if is_floating(a.dtype)), default=0.0)
        trying = Trying(self, right, self.call.labels(), 0.0, 1e3 * unit, visit, lambda: self.pulled(run),
                        silent if run.outputs else (), unit, usual, True, self.T is not gradwright)
        return fault(trying, *names)


def relative_error(a: Sequence[Any], b: Sequence[Any]) -> float:
    """How far two lists of arrays differ, as a part of the largest entry; None stands for zeros."""
    worst = 0.0
    for x, y in zip(a, b, strict=True):
        if x is None and y is None:
            continue
        x, y = (0 * y if x is None else x), (0 * x if y is None else y)
        if x.shape != y.shape:
            return float("inf")
        if not x.size or np.array_equal(x, y, equal_nan=is_floating(x.dtype)):
            continue
        with np.errstate(all="ignore"):
            size = max(np.abs(x).max(), np.abs(y).max())
            off = np.abs(x - y).max() / size
        worst = max(worst, float(off) if np.isfinite(off) else float("inf"))
    return worst


def close(a: Sequence[Any], b: Sequence[Any]) -> bool:
    """Whether two lists of arrays are the same up to rounding."""
    kinds = [x.dtype for x in (*a, *b) if x is not None and is_floating(x.dtype)]
    unit = max(map(rounding, kinds), default=0.0)
    return relative_error(a, b) <= 1e3 * unit


def source(function: Any, file: str) -> list[tuple[int, str]]:
    """The lines of a function's body, with their numbers; none if they are not to be had, or not from this file."""
    function = inspect.unwrap(function) if function is not None else None
    if getattr(function, "__code__", None) is None or function.__code__.co_filename != file:
        return []
    try:
        lines, first = inspect.getsourcelines(function)
    except OSError:
        return []
    numbered = list(enumerate(lines, first))
    head = next((k for k, (_, text) in enumerate(numbered) if text.lstrip().startswith("def ")), -1)
    return numbered[head + 1 :] or numbered[-1:]
