"""`diagnose`: is a derivative right, and if not, why not?"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from gradwright.base.errors import CutError, GradientWarning
from gradwright.engine.base import wrap
from gradwright.engine.calls import grad
from gradwright.engine.grad_mode import enable_grad
from gradwright.engine.strict import strict
from gradwright.face.tensor import Tensor
from gradwright.verify.diagnosis.behaviour import overlap, telling
from gradwright.verify.diagnosis.case import Case, leaf
from gradwright.verify.diagnosis.context import Context
from gradwright.verify.diagnosis.grid_of_entries import WHOLE, fitting
from gradwright.verify.diagnosis.judge import described, explained, judge, undecided
from gradwright.verify.diagnosis.measure import measure
from gradwright.verify.diagnosis.probes import Probes, experiments, leftover, overlapping, repeat
from gradwright.verify.diagnosis.random_sums import search
from gradwright.verify.diagnosis.records import Diagnosis, Hypothesis, Verdict
from gradwright.verify.diagnosis.reproduction import Replay
from gradwright.verify.experiments import Conditions, Visit
from gradwright.verify.numeric.again import OfFunction
from gradwright.verify.numeric.budget import estimate
from gradwright.verify.numeric.differences import restored
from gradwright.verify.numeric.jacobian import exchanged, rounding, tensors
from gradwright.verify.numeric.on_host import on_host
from gradwright.verify.witness import Witness, second_witness

BUDGET = 5.0
"""How many seconds it may take to compare entries."""
NOT_GIVEN = "derivative not given"
"""The cause where an operation says that it has no second derivative: asking for one is an error, never a number."""


def diagnose(f: Callable[..., Any], inputs: Tensor | Sequence[Any], *, names: Sequence[str] | None = None,
             outputs: Sequence[str] | None = None, order: int = 1, budget: float = BUDGET) -> Diagnosis:
    """Compare the derivative of a function with finite differences, and say what is wrong with it.

    Args:
        f: a function of tensors, or a `Function` class, whose ``apply`` is then taken.
        inputs: its argument, or a tuple of its arguments. Tensors that require grad are looked at; best in float64, of
            few entries, and at no round values (many kinks lie at 0).
        names: what to call the arguments; by default as the signature does.
        outputs: what to call the outputs that require grad; by default ``out`` or ``out[0]``, ``out[1]``, ...
        order: 2 to look at the second derivative, if the first is right.
        budget: how many seconds it may take to compare entries. Where all of them would take longer, or more than
            128 MB, entries on a grid are compared, and random sums of all; where those are off, what makes them so
            is looked for, and compared, too. The diagnosis says so.

    Returns:
        A `Diagnosis`. VERIFIED if every entry compared agrees, within error bars narrow enough to tell, and
        backward also behaves: it is linear in its grad_output, the same when run again, right at a second point, and
        other calls in between do not disturb it, nor do other strides, the grad mode, or inputs that require no grad.
        Of a Function, custom_op or Op whose forward is made of recorded operations, the engine's own derivative of
        forward must agree, too, to rounding (`gradwright.verify.second_witness`).
        SURROGATE if the gradient is declared to be no derivative (see
        `surrogate`): then only that it behaves was looked at. WRONG if something of that is not so; the hypotheses say
        what it might be. INCONCLUSIVE if finite differences cannot tell: at a kink, at the edge of where the function
        is defined, with noise, with random results, in too low a precision.

    Raises:
        ValueError: no input requires grad, or ``names`` are too few or too many, or ``order`` is neither 1 nor 2.
        Whatever ``f`` or its backward raises.

    >>> import gradwright
    >>> class Cube(gradwright.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x**3
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (x,) = ctx.saved_tensors
    ...         return g * x**2
    >>> x = gradwright.tensor([1.0, 2.0], dtype=gradwright.float64, requires_grad=True)
    >>> print(gradwright.autograd.diagnose(Cube, x))
    WRONG: the gradient of Cube by `x` is wrong at 2 of 2 entries
    worst entry, by its error bar: d out[1] / d x[1]: analytic 4, numeric 12 ± ...
    likeliest: the gradient of `x` is 0.333333 times what it should be; 0.333333 = 1 / the 3 in forward
        mend: multiply the gradient of `x` in backward by the 3 in forward
    """
    if order not in (1, 2):
        raise ValueError(f"diagnose: order must be 1 or 2, got {order!r}")
    examination = Examination(f, inputs, names, outputs, budget)
    found = examination.first(order)
    return examination.second() if order == 2 and found.verdict is Verdict.VERIFIED else found


class Examination:
    """The diagnoses of both orders, one after the other; ``around``, of what they must not depend on, too."""

    def __init__(self, f: Any, inputs: Any, names: Sequence[str] | None = None, outputs: Sequence[str] | None = None,
                 budget: float = BUDGET, around: bool = True) -> None:
        given = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
        f, inputs = on_host(f, given)
        self.budget, self.around = budget, around
        with _quiet(), restored(tensors(inputs)):
            self.case = Case(f, inputs, names, outputs)
            self.replay = Replay(f, _copied(inputs), tuple(self.case.arguments),
                                 None if names is None else tuple(names), None if outputs is None else tuple(outputs),
                                 1)

    def first(self, order: int = 1) -> Diagnosis:
        """That of the gradient; it is replayed to this order."""
        with _quiet():
            return _examined(self.case, 1, None, replace(self.replay, order=order), self.budget, self.around)

    def second(self) -> Diagnosis:
        """That of the second derivative, for a gradient that is right."""
        replay = replace(self.replay, order=2)
        try:
            with _quiet():
                return _examined(second(self.case), 2, self.case, replay, self.budget, self.around)
        except RuntimeError as e:
            return undecided(self.case.name, 2, replay, _no_second(e))


@contextmanager
def _quiet() -> Iterator[None]:
    """Recording, and without complaints."""
    with enable_grad(), strict(False), np.errstate(all="ignore"):
        yield


def _no_second(error: RuntimeError) -> Hypothesis:
    """Why there is no second derivative, given the error that the attempt raised."""
    if isinstance(error, NotImplementedError):
        return Hypothesis(NOT_GIVEN, str(error), 1.0, "declare that derivative, if a second one is to be had")
    if isinstance(error, CutError) and error.how:
        return Hypothesis(
            "second derivative",
            f"there is no second derivative: backward cuts it off with {error.how}"
            + (f"\nat {error.place}" if error.place else ""),
            1.0,
            "compute that with gradwright's functions; or declare what is meant: once_differentiable, if there is no "
            'second derivative, or surrogate("reason"), if the value is a constant to it',
        )
    return Hypothesis("second derivative", f"there is no second derivative: {error}", 1.0,
                      "write backward with gradwright's functions of saved inputs and outputs")


def second(first: Case) -> Case:
    """The gradients of a case, as a function of its inputs and of cotangents."""
    random = np.random.default_rng(5)
    cotangents = [
        random.uniform(0.5, 1.5, o.array.shape) * (1 + (0.5j if c.is_complex else 0))
        for o, c in zip(first.outputs, first.columns, strict=True)
    ]
    n = len(first.inputs)
    known: list[int] = []

    def gradients(arguments: tuple[Any, ...], recorded: bool) -> Sequence[Any]:
        moved, given = arguments[:n], arguments[n:]
        returned = tensors(first.func(*moved))
        outs = [returned[i] for i in first.which]
        wanted = [t for _, t in dict.fromkeys((id(t), t) for t in tensors(moved) if t.requires_grad)]
        return grad(outs, wanted, given, create_graph=recorded, allow_unused=True)

    def gradient(*arguments: Any) -> tuple[Any, ...]:
        found = gradients(arguments, recorded=True)
        if not known:
            known.extend(i for i, g in enumerate(found) if g is not None)
        return tuple(_recorded(found[i]) for i in known)

    def for_values(*arguments: Any) -> tuple[Any, ...]:
        found = gradients(arguments, recorded=False)
        return tuple(found[i] for i in known)

    gradient.for_values = for_values  # type: ignore[attr-defined]
    gradient.first = lambda *arguments: first.func(*arguments[:n])  # type: ignore[attr-defined]

    leaves = [leaf(c, o) for c, o in zip(cotangents, first.outputs, strict=True)]
    case = Case(gradient, (*first.inputs, *leaves),
                [*first.arguments, *(f"cotangent of {c.name}" for c in first.columns)], None, first.name)
    case.function = first.function
    return case.on(WHOLE, [f"gradient of {first.names[i]}" for i in known])


def _recorded(g: Any) -> Any:
    """A gradient that was cut off from everything, as an output like any other."""
    return g if g.requires_grad else g + leaf(np.zeros(()), g)


def _examined(case: Case, order: int, first: Case | None, replay: Replay, budget: float, around: bool) -> Diagnosis:
    if any(overlapping(x) for x in case.varied):
        rest = Context(case, (), Probes(), order, first)
        cause = overlap(None, rest)  # type: ignore[arg-type]
        assert cause is not None
        return undecided(case.name, order, replay, cause)
    probes = repeat(case)
    unit = max(rounding(a.array.dtype) for a in (*case.varied, *case.outputs))
    with case.listening():
        cost = estimate(case.again())  # backward may leave traces on the graph
    outputs = [c.name for c in case.columns]
    case.on(fitting(cost, case.varied, case.outputs, budget), outputs)
    residuals, rungs = measure(case)
    if probes.drift <= 100 * unit:
        probes = experiments(case, residuals, probes)
        if not case.grid.whole and not any(r.wrong.any() for r in residuals):
            with case.listening():
                found_on = search(case)
            if found_on is not None:
                case.on(found_on, outputs)
                residuals, rungs = measure(case)
    context = Context(case, residuals, probes, order, first)
    verdict = judge(context)
    found = explained(context, verdict)
    coarse = [h.name for h in found[:1]] == ["precision"]
    if around and (verdict is Verdict.VERIFIED or coarse):
        tried = Conditions(Visit(OfFunction(case.func, case.inputs)), case, leftover(case), telling(context))
        fault = tried.fault(*("dtype",) if coarse else ())
        if fault is not None:
            context = replace(context, probes=replace(probes, fault=fault))
            verdict = Verdict.WRONG
    if around and order == 1 and verdict in (Verdict.VERIFIED, Verdict.INCONCLUSIVE):
        said = _witness(case)
        context = replace(context, probes=replace(context.probes, witness=said))
        if verdict is Verdict.VERIFIED and said is not None and said.agrees is False and not case.stops:
            verdict = Verdict.WRONG
    return described(context, verdict, explained(context, verdict), rungs, replay, cost)


def _witness(case: Case) -> Witness | None:
    """The verdict of the engine's own derivative of forward, if the case is a Function, a custom_op or an Op itself."""
    if case.whole is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GradientWarning)  # it has been told
        found = second_witness(case.whole, *case.inputs, order=1)
    k = int(found.at.rpartition(" ")[2]) if found.at else -1
    return replace(found, at=f"by `{case.arguments[k]}`") if found.at else found


def _copied(value: Any) -> Any:
    return exchanged(value, lambda t: leaf(t.array, t) if t.requires_grad else wrap(np.array(t.array)))
