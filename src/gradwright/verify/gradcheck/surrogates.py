"""Gradients that are declared to be no derivatives: held to everything but their values."""

from __future__ import annotations

import warnings

import numpy as np

from gradwright.base.errors import GradcheckError, GradientWarning
from gradwright.engine.backward import walk
from gradwright.function.contract.surrogate import reasons
from gradwright.verify.gradcheck.passes import check_undefined, jacobians
from gradwright.verify.gradcheck.settings import Settings
from gradwright.verify.numeric.jacobian import Subject


def surrogates(subject: Subject) -> dict[str, str]:
    """The nodes between inputs and outputs whose gradients are declared untrue, by name, with the reasons."""
    return reasons(walk([o._node for o in subject.outputs if o._node is not None]))


def check_surrogate(subject: Subject, settings: Settings, declared: dict[str, str]) -> None:
    """Raise GradcheckError for a shape, a dtype or a result that changes; warn that values were not compared."""
    before = [np.array(o.array) for o in subject.outputs]
    for i in range(len(before)):
        jacobians(subject, i, settings)
    if settings.undefined and len(before) > 1:
        check_undefined(subject)
    for i, (was, now) in enumerate(zip(before, subject.values(), strict=True)):
        if not np.allclose(was, now, rtol=0, atol=settings.nondet_tol, equal_nan=True):
            raise GradcheckError(f"the function is not deterministic: output {i} is another when it is run again")
    said = ", ".join(f"{name} ({reason})" for name, reason in declared.items())
    warnings.warn(f"SURROGATE: {said} is declared to be no derivative, so gradients were not compared with finite "
                  "differences", GradientWarning, stacklevel=4)
