"""statsmodels: score and Hessian of log-likelihoods, of its models and of users'."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from gradwright.verify.audit.doors.door import Call, Door, Pairs, door
from gradwright.verify.audit.doors.heard import place
from gradwright.verify.pairs import Pair, Point
from gradwright.verify.pairs.pair import GRADIENT, HESSIAN, JACOBIAN


@door("statsmodels.base.model", "LikelihoodModel.fit", "GenericLikelihoodModel.fit")
def fit(call: Call) -> Pairs | None:
    """A fit of a model; and what a fit by other means (GLM's) begins with is not heard."""
    model = call.given["self"]
    return _of(call, model)


@door("statsmodels.genmod.generalized_linear_model", "GLM.fit")
def glm(call: Call) -> Pairs | None:
    """GLM, whose scale is estimated beside: its score and Hessian are those at a scale that stays."""
    return _of(call, call.given["self"], scale=1.0)


@door("statsmodels.regression.linear_model", "RegressionModel.fit")
def linear(call: Call) -> Pairs | None:
    """OLS, WLS and GLS."""
    return _of(call, call.given["self"])


@door("statsmodels.discrete.discrete_model", "NegativeBinomial.fit", "NegativeBinomialP.fit", "GeneralizedPoisson.fit",
      "Poisson.fit", "MNLogit.fit", "Logit.fit", "Probit.fit")  # fmt: skip
def discrete(call: Call) -> Pairs | None:
    """Discrete models: their parameters are transformed in some within fit, and not after."""
    return _of(call, call.given["self"])


def _of(call: Call, model: Any, **fixed: Any) -> Pairs | None:
    kind = type(model)
    if not callable(getattr(model, "loglike", None)):
        return None
    call.about = [kind.loglike, *(getattr(kind, n) for n in ("score", "hessian") if hasattr(kind, n))]
    start = call.given.get("start_params")
    before = None if start is None else np.array(start, float)

    def pairs() -> Iterator[Pair]:
        found = getattr(call.result, "params", None)
        end = None if found is None else np.array(found, float)
        points = [] if before is None else [before]
        if end is not None and end.ndim == 1:
            points += [0.9 * end + 0.01, 1.2 * end - 0.02]  # at the maximum itself the score is lost in rounding
        at = tuple(Point(p) for p in points)
        if not at:
            return
        call_of = lambda name: partial(getattr(model, name), **fixed)
        more: Any = {"points": at, "door": call.door.name}
        value = call_of("loglike")
        with_score = _own(model, "score")
        if with_score:
            yield Pair(GRADIENT, value, call_of("score"), names=_names(kind, "loglike", "score"),
                       where=place(model.score), notes=_note(fixed), **more)  # fmt: skip
        if _own(model, "hessian"):
            yield Pair(HESSIAN, value, call_of("hessian"), names=_names(kind, "loglike", "hessian"),
                       gradient=call_of("score") if with_score else None, where=place(model.hessian),
                       notes=_note(fixed), **more)  # fmt: skip
        if _own(model, "score_obs") and _own(model, "loglikeobs"):
            yield Pair(JACOBIAN, model.loglikeobs, model.score_obs, names=_names(kind, "loglikeobs", "score_obs"),
                       where=place(model.score_obs), **more)  # fmt: skip

    return pairs


def _note(fixed: dict[str, Any]) -> tuple[str, ...]:
    return tuple(f"at {k}={v:g}" for k, v in fixed.items())


def _names(kind: Any, value: str, derivative: str) -> tuple[str, str]:
    return f"{kind.__name__}.{value}", f"{kind.__name__}.{derivative}"


def _own(model: Any, name: str) -> bool:
    """Whether a model has this written, and does not take it by differences of the value."""
    kind = type(model)
    if name in vars(model):  # NegativeBinomial chooses among its own
        return True
    written: Any = next((c for c in kind.__mro__ if name in vars(c)), None)
    return written is not None and written.__module__ != "statsmodels.base.model" and "state" not in written.__module__


DOORS: list[Door] = [*discrete, *glm, *linear, *fit]
