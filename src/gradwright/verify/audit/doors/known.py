"""The doors that are known here."""

from __future__ import annotations

from gradwright.verify.audit.doors import (
    autograd,
    boosting,
    iminuit,
    lmfit,
    nlopt,
    operators,
    pymanopt,
    scikit_learn,
    scipy_integrate,
    scipy_optimize,
    statsmodels,
)
from gradwright.verify.audit.doors.door import Door

DOORS: list[Door] = [
    d
    for library in (scipy_optimize, scipy_integrate, operators, lmfit, iminuit, nlopt, statsmodels, scikit_learn,
                    boosting, autograd, pymanopt)
    for d in library.DOORS
]  # fmt: skip
