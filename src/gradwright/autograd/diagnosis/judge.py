"""`diagnose`: is a derivative right, and if not, why not?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradwright.autograd.base import wrap
from gradwright.autograd.containers import put_together, take_apart
from gradwright.autograd.cost import Cost, estimate
from gradwright.autograd.diagnosis.behaviour import TELLING, doubtful, overlap, rough, telling
from gradwright.autograd.diagnosis.capsule import Replay
from gradwright.autograd.diagnosis.case import Case, leaf
from gradwright.autograd.diagnosis.context import Context
from gradwright.autograd.diagnosis.grid import WHOLE, fitting, memory_of, time_of
from gradwright.autograd.diagnosis.hypotheses import hypotheses
from gradwright.autograd.diagnosis.measure import Rungs, measure
from gradwright.autograd.diagnosis.probes import Probes, experiments, overlapping, repeat
from gradwright.autograd.diagnosis.records import Block, Entry, Hypothesis, Verdict
from gradwright.autograd.diagnosis.report import Diagnosis
from gradwright.autograd.diagnosis.sums import search
from gradwright.autograd.grad_mode import enable_grad
from gradwright.autograd.jacobian import tensors
from gradwright.autograd.public import grad
from gradwright.autograd.strict import strict
from gradwright.errors import CutError

_UNSETTLED = {"doubtful sums", "empty", "kink", "edge", "precision", "noise", "overlap"}
"""Causes that leave a derivative undecided; they say nothing of one that is wrong elsewhere."""


BUDGET = 5.0
"""How many seconds it may take to compare entries."""


def diagnose(
    f: Any, inputs: Any, *, names: Sequence[str] | None = None, outputs: Sequence[str] | None = None, order: int = 1,
    budget: float = BUDGET,
) -> Diagnosis:  # fmt: skip
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
        other calls in between do not disturb it. SURROGATE if the gradient is declared to be no derivative (see
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
    worst entry: d out[1] / d x[1]: analytic 4, numeric 12 ± ...
    likeliest: the gradient of `x` is 0.333333 times what it should be; 0.333333 = 1 / the 3 in forward
        mend: multiply the gradient of `x` in backward by the 3 in forward
    """
    if order not in (1, 2):
        raise ValueError(f"diagnose: order must be 1 or 2, got {order!r}")
    inputs = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    with enable_grad(), strict(False), np.errstate(all="ignore"):
        case = Case(f, inputs, names, outputs)
        replay = Replay(
            f,
            _copied(inputs),
            tuple(case.arguments),
            None if names is None else tuple(names),
            None if outputs is None else tuple(outputs),
            order,
        )
        found = _examined(case, 1, None, replay, budget)
        if order == 1 or found.verdict is not Verdict.VERIFIED:
            return found
        try:
            return _examined(second(case), 2, case, replay, budget)
        except RuntimeError as e:
            return _undecided(case.name, 2, replay, _no_second(e))


def _no_second(error: RuntimeError) -> Hypothesis:
    """Why there is no second derivative, given the error that the attempt raised."""
    if isinstance(error, CutError) and error.how:
        return Hypothesis(
            "second derivative",
            f"there is no second derivative: backward cuts it off with {error.how}"
            + (f"\nat {error.place}" if error.place else ""),
            1.0,
            "compute that with gradwright's functions; or declare what is meant: once_differentiable, if there is no "
            'second derivative, or surrogate("reason"), if the value is a constant to it',
        )
    return Hypothesis(
        "second derivative",
        f"there is no second derivative: {error}",
        1.0,
        "write backward with gradwright's functions of saved inputs and outputs",
    )


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
        outs = [returned[i] for i in first._which]
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

    leaves = [leaf(c, o) for c, o in zip(cotangents, first.outputs, strict=True)]
    case = Case(
        gradient,
        (*first.inputs, *leaves),
        [*first.arguments, *(f"cotangent of {c.name}" for c in first.columns)],
        None,
        first.name,
    )
    case.function = first.function
    return case.on(WHOLE, [f"gradient of {first.names[i]}" for i in known])


def _recorded(g: Any) -> Any:
    """A gradient that was cut off from everything, as an output like any other."""
    return g if g.requires_grad else g + leaf(np.zeros(()), g)


def _examined(case: Case, order: int, first: Case | None, replay: Replay, budget: float) -> Diagnosis:
    if any(overlapping(x) for x in case.varied):
        rest = Context(case, (), Probes(), order, first)
        cause = overlap(None, rest)  # type: ignore[arg-type]
        assert cause is not None
        return _undecided(case.name, order, replay, cause)
    probes = repeat(case)
    unit = max(np.finfo(a.array.dtype).eps for a in (*case.varied, *case.outputs))
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
    found = () if verdict in (Verdict.VERIFIED, Verdict.SURROGATE) else hypotheses(context)
    if probes.written:
        found = tuple(h for h in found if h.name == "changed input")
    elif verdict is Verdict.WRONG:
        found = tuple(h for h in found if h.name not in _UNSETTLED)
    elif probes.drift > 100 * unit:
        found = tuple(h for h in found if h.name in ("non-determinism", "stale state"))
    else:
        found = tuple(h for h in found if h.name in _UNSETTLED)
    return _described(context, verdict, found, rungs, replay, _sampled(case, cost))


def judge(c: Context) -> Verdict:
    """The verdict, from what was measured."""
    p = c.probes
    unit = max(r.unit for r in c.residuals)
    if p.drift > 100 * unit:
        return Verdict.WRONG if p.written else Verdict.INCONCLUSIVE
    kinks, edges = (any(m(r).any() for r in c.residuals) for m in (lambda r: r.kinks, lambda r: ~r.known))
    unsteady = max(p.backward_drift, p.renewed, p.interleaved, p.at_zero) > max(TELLING, unit**0.5)
    if c.case.surrogates and not (p.written or unsteady or c.case.misfits()):
        return Verdict.SURROGATE
    bent = max(p.at_random, p.at_large) > telling(c)
    misplaced = p.elsewhere is not None and p.elsewhere[0] > p.elsewhere[1] and not kinks and not edges
    if any(r.wrong.any() for r in c.residuals) or p.written or unsteady or bent or misplaced or c.case.misfits():
        return Verdict.WRONG
    empty = not any(r.numeric.size for r in c.residuals)
    unclear = empty or kinks or edges or any(rough(r, c) for r in c.residuals) or doubtful(c)
    return Verdict.INCONCLUSIVE if unclear else Verdict.VERIFIED


def _described(
    c: Context, verdict: Verdict, found: tuple[Hypothesis, ...], rungs: Sequence[Rungs], replay: Replay, sampled: str
) -> Diagnosis:
    j, row, column = _worst(c, verdict)
    entry, steps, ladder = None, np.empty(0), np.empty(0)
    if j is not None:
        r = c.residuals[j]
        out = next(o for o in r.outputs if column < o.start + o.size)
        (part, index), (of, output_index) = r.input.at(row), out.at(column)
        parts = f"{of or 'real'} by {part or 'real'}" if of or part else ""
        entry = Entry(
            r.name,
            index,
            out.name,
            output_index,
            parts,
            float(r.analytic[row, column]),
            float(r.numeric[row, column]),
            float(r.bar[row, column]),
        )
        steps, ladder = rungs[j].steps[:, row], rungs[j].slopes[:, row, column]
    settle = found[0].mend if verdict is Verdict.INCONCLUSIVE and found else ""
    return Diagnosis(
        c.case.name,
        c.order,
        verdict,
        found[0].name if found else "",
        _summary(c, verdict, found, entry),
        settle,
        entry,
        abs(entry.analytic - entry.numeric) if entry else 0.0,
        entry.bar if entry else 0.0,
        found,
        tuple(_blocks(c)),
        steps,
        ladder,
        replay,
        sampled,
    )


def _sampled(case: Case, cost: Cost) -> str:
    """What was compared, if it was not all."""
    if case.grid.whole:
        return ""
    rows, columns = sum(r.size for r in case.rows), sum(c.size for c in case.columns)
    seconds, room = time_of(cost, cost.rows, cost.columns), memory_of(cost.rows, cost.columns)
    return (
        f"compared are {rows:,} of {cost.rows:,} coordinates of the inputs for {columns:,} of {cost.columns:,} of the "
        f"outputs, on a grid, and random sums of all; all one by one would take about {_scaled(seconds, _TIMES)} "
        f"and {_scaled(room, _SIZES)}"
    )


_TIMES = ((1, "s"), (60, "min"), (3600, "h"), (86400, "days"))
_SIZES = ((1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB"), (1e15, "PB"))


def _scaled(value: float, units: tuple[tuple[float, str], ...]) -> str:
    size, unit = next(((s, u) for s, u in reversed(units) if value >= s), units[0])
    return f"{value / size:,.2g} {unit}" if value < 100 * size else f"{value / size:,.0f} {unit}"


def _worst(c: Context, verdict: Verdict) -> tuple[Any, int, int]:
    best: tuple[Any, int, int] = (None, 0, 0)
    most = -1.0
    for j, r in enumerate(c.residuals):
        if not r.numeric.size:
            continue
        with np.errstate(all="ignore"):
            off = np.abs(r.analytic - r.numeric) / r.allowed
        off = np.where(np.isnan(off), np.where(r.wrong, np.inf, 0), off)
        off = np.where(r.usable, off, 0) if verdict is not Verdict.INCONCLUSIVE else np.where(r.kinks, 1e9 + off, off)
        k = int(np.argmax(off))
        if off.flat[k] > most:
            row, column = (int(i) for i in np.unravel_index(k, off.shape))
            best, most = (j, row, column), float(off.flat[k])
    return best


def _summary(c: Context, verdict: Verdict, found: tuple[Hypothesis, ...], entry: Entry | None) -> str:
    which = "second derivative" if c.order == 2 else "gradient"
    if verdict is Verdict.SURROGATE:
        declared = " and ".join(f"{reason} ({name})" for name, reason in c.case.surrogates.items())
        return f"the {which} of {c.case.name} is declared to be no derivative: {declared}"
    if verdict is Verdict.VERIFIED:
        n = sum(r.numeric.size for r in c.residuals)
        error = max((float(np.abs(r.error).max(initial=0.0)) for r in c.residuals), default=0.0)
        bar = max((float(r.bar.max(initial=0.0)) for r in c.residuals), default=0.0)
        return (
            f"the {which} of {c.case.name}: {'all' if c.case.grid.whole else 'the'} {n} entries "
            f"{'' if c.case.grid.whole else 'compared '}agree to {error:.1g}, with error bars of at most {bar:.1g}"
        )
    if verdict is Verdict.INCONCLUSIVE:
        return f"the {which} of {c.case.name} ({found[0].name if found else 'unknown'})"
    wrong = [r for r in c.residuals if r.wrong.any()]
    if not wrong:
        return f"the {which} of {c.case.name} agrees entry by entry, but backward does not behave"
    names = " and ".join(f"`{r.name}`" for r in wrong)
    rows, of = sum(int(r.wrong.any(1).sum()) for r in wrong), sum(len(r.wrong) for r in wrong)
    where = "entries" if c.case.grid.whole else "entries compared"
    return f"the {which} of {c.case.name} by {names} is wrong at {rows} of {of} {where}"


def _blocks(c: Context) -> Any:
    for r in c.residuals:
        for o in r.outputs:
            cut: Callable[[Any], Any] = lambda m, o=o: m[:, o.slice]  # type: ignore[misc]
            matrices = map(cut, (r.analytic, r.numeric, r.bar, r.wrong, r.kinks, r.left, r.right))
            yield Block(r.name, o.name, *matrices, r.input.coordinates, o.coordinates)


def _undecided(name: str, order: int, replay: Replay, cause: Hypothesis) -> Diagnosis:
    which = "second derivative" if order == 2 else "gradient"
    return Diagnosis(
        name,
        order,
        Verdict.INCONCLUSIVE,
        cause.name,
        f"the {which} of {name} ({cause.name})" if cause.name != which else f"{name} has no second derivative",
        cause.mend,
        None,
        0.0,
        0.0,
        (cause,),
        (),
        np.empty(0),
        np.empty(0),
        replay,
    )


def _copied(value: Any) -> Any:
    found: list[Any] = []
    rest = take_apart(value, found)
    return put_together(rest, iter([leaf(t.array, t) if t.requires_grad else wrap(np.array(t.array)) for t in found]))
