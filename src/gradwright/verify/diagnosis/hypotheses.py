"""The table of hypotheses. Each takes the residual of an input and the context, and returns a Hypothesis or None.

To add one, write such a function and put it in the table. What comes first wins a tie: experiments before fits, and the
more particular before the more general.
"""

from __future__ import annotations

from collections.abc import Callable

from gradwright.verify.diagnosis import absence, behaviour, layout, scaling, second
from gradwright.verify.diagnosis.context import Context
from gradwright.verify.diagnosis.fresh import on_fresh_inputs
from gradwright.verify.diagnosis.records import Hypothesis
from gradwright.verify.diagnosis.residual import Residual

Fit = Callable[[Residual, Context], Hypothesis | None]

SMALL = "small error"

TABLE: tuple[Fit, ...] = (
    behaviour.overlap,
    behaviour.writes,
    behaviour.circumstance,
    behaviour.disowned,
    behaviour.stale,
    behaviour.random,
    absence.clipped,
    behaviour.cotangent,
    second.frozen,
    absence.not_a_number,
    layout.triangle,
    layout.missing_sum,
    layout.converted,
    absence.zero,
    absence.surrogate,
    scaling.sign,
    layout.swapped,
    layout.conjugate,
    scaling.factor,
    scaling.part,
    layout.exchanged,
    layout.transpose,
    layout.flipped,
    absence.region,
    scaling.missing_factor,
    scaling.missing_term,
    scaling.nearly,
    behaviour.elsewhere,
    behaviour.empty,
    behaviour.sums,
    behaviour.kink,
    behaviour.edge,
    behaviour.precision,
)


def hypotheses(context: Context, table: tuple[Fit, ...] = TABLE) -> tuple[Hypothesis, ...]:
    """All that fit, the likeliest first; that an error is small only where nothing else does."""
    found = [h for fit in table for r in context.residuals if (h := fit(r, context)) is not None]
    found = on_fresh_inputs(context, [*dict.fromkeys(found)])
    told = {h.argument for h in found if h.name != SMALL}
    found = [h for h in found if h.name != SMALL or not ({h.argument, ""} & told)]
    return tuple(sorted(found, key=lambda h: -round(h.evidence, 2)))
