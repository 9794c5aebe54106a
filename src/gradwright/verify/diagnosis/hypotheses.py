"""The table of hypotheses. Each takes the residual of an input and the context, and returns a Hypothesis or None.

To add one, write such a function and put it in the table. What comes first wins a tie: experiments before fits, and the
more particular before the more general. Those that fit a formula to what was measured are held on fresh inputs: what
fits one sample by chance is not told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from gradwright.verify.diagnosis import absence, behaviour, layout, scaling, second
from gradwright.verify.diagnosis.case import Case
from gradwright.verify.diagnosis.context import Context
from gradwright.verify.diagnosis.measure import measure
from gradwright.verify.diagnosis.probes import Probes
from gradwright.verify.diagnosis.records import Hypothesis
from gradwright.verify.diagnosis.residual import Residual
from gradwright.verify.experiments import REFUSED

Fit = Callable[[Residual, Context], Hypothesis | None]
SMALL = "small error"
TABLE: tuple[Fit, ...] = (
    behaviour.overlap, behaviour.writes, behaviour.condition, behaviour.disowned, behaviour.stale, behaviour.random,
    absence.clipped, behaviour.cotangent, second.frozen, absence.not_a_number, layout.triangle, layout.missing_sum,
    layout.converted, absence.zero, absence.surrogate, scaling.sign, layout.swapped, layout.conjugate, scaling.factor,
    scaling.part, layout.exchanged, layout.transpose, layout.flipped, absence.region, scaling.missing_factor,
    scaling.missing_term, scaling.nearly, behaviour.elsewhere, behaviour.empty, behaviour.sums, behaviour.kink,
    behaviour.edge, behaviour.precision,
)  # fmt: skip
_CLOSE = 1e-3
"""How far a constant may be another one on fresh inputs, as a part of it."""
_NUMBER = re.compile(r"(?<![\w`\[])-?\d[\d.]*(e-?\d+)?")
FITTED: dict[str, Callable[..., Hypothesis | None]] = {
    "sign": scaling.sign, "factor": scaling.factor, "part": scaling.part, "region": absence.region,
    "missing factor": scaling.missing_factor, "missing term": scaling.missing_term,
}  # fmt: skip
"""What is held, by the name of what it finds."""


def hypotheses(context: Context, table: tuple[Fit, ...] = TABLE) -> tuple[Hypothesis, ...]:
    """All that fit, the likeliest first; that an error is small only where nothing else does."""
    found = [h for fit in table for r in context.residuals if (h := fit(r, context)) is not None]
    found = on_fresh_inputs(context, [*dict.fromkeys(found)])
    told = {h.argument for h in found if h.name != SMALL}
    found = [h for h in found if h.name != SMALL or not ({h.argument, ""} & told)]
    return tuple(sorted(found, key=lambda h: -round(h.evidence, 2)))


def on_fresh_inputs(c: Context, found: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Those of the hypotheses that are found again, with the same constants, where all inputs are other ones.

    Of one about a region that is found again with another constant, what is left is the region. Where the function
    cannot be measured with others, those are left that have no constant.
    """
    fitted = {h.name for h in found} & FITTED.keys()
    if not fitted:
        return [*found]
    mixed = _elsewhere(c, mixed=True) if fitted != {"region"} else None  # which may leave nothing in a region
    near = _elsewhere(c, mixed=False) if mixed is None or "region" in fitted else None
    kept = []
    for h in found:
        held = h if h.name not in FITTED else _held(h, near if h.name == "region" else mixed or near)
        kept += [held] if held is not None else []
    return kept


def _elsewhere(c: Context, mixed: bool) -> Context | None:
    """The same with each entry of the inputs moved by up to a quarter of it; ``mixed``: and drawn from all of them."""
    random = np.random.default_rng(17)
    points = [np.asarray(x.array) for x in c.case.varied]
    if mixed:
        points = [random.choice(a.reshape(-1), a.shape) if a.size else a for a in points]
    points = [(a * random.uniform(0.75, 1.25, a.shape)).astype(a.dtype) for a in points]
    try:
        case = Case(c.case.func, c.case.elsewhere(points).inputs, c.case.arguments)
        if not case.differentiable or [s for s, _ in case.shapes] != [s for s, _ in c.case.shapes]:
            return None
        case.on(c.case.grid, [o.name for o in c.case.columns])
        return Context(case, measure(case)[0], Probes(), c.order, c.first)
    except REFUSED:
        return None


def _held(h: Hypothesis, there: Context | None) -> Hypothesis | None:
    bare = replace(h, sentence=h.sentence.partition(": ")[0], constant=None) if h.name == "region" else None
    if there is None:
        return h if h.constant is None else bare
    again = (FITTED[h.name](r, there) for r in there.residuals if r.name == h.argument)
    same = next((a for a in again if a is not None and _text(a) == _text(h)), None)
    if same is not None and (h.constant is None or (
            same.constant is not None and abs(h.constant - same.constant) <= _CLOSE * abs(h.constant))):
        return h
    return bare


def _text(h: Hypothesis) -> str:
    """Its advice, whatever the numbers."""
    return _NUMBER.sub("#", h.mend)
