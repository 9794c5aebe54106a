"""lmfit: residuals of Parameters, and their Jacobian by those that vary."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from gradwright.verify.audit.doors.door import Call, Door, Pairs, door


@door("lmfit", "Minimizer.minimize", "Minimizer.leastsq", "Minimizer.least_squares", "Minimizer.scalar_minimize")
def fit(call: Call) -> Pairs | None:
    """A fit with ``Dfun=`` (or ``jac=`` of a scalar minimizer), which is given the Parameters, too."""
    fitter = call.given["self"]
    own = call.given.get("kws", {})
    name = next((k for k in ("Dfun", "jac") if callable({**fitter.kws, **own}.get(k))), None)
    params = call.get("params") or fitter.params
    if name is None or params is None:
        return None
    varied = [p.name for p in params.values() if p.vary and p.expr is None]

    def see(args: Any) -> Any:
        return np.array([args[0][n].value for n in varied], float), *args[1:]

    def put(x: Any, *extra: Any) -> Any:
        moved = copy.deepcopy(params)
        for n, v in zip(varied, np.asarray(x).tolist(), strict=True):
            moved[n].value = v
        return moved, *extra

    given = {**fitter.kws, **own}
    fun = call.listen(fitter.userfcn, see=see, put=put)
    jac = call.listen(given[name], fun, see=see, put=put)
    call.swap(fitter, "userfcn", fun)
    if name in own:
        call.given["kws"] = own | {name: jac}
    else:
        call.swap(fitter, "kws", fitter.kws | {name: jac})
    box = (np.array([params[n].min for n in varied]), np.array([params[n].max for n in varied]))
    transposed = bool(given.get("col_deriv"))
    if name == "jac":
        return lambda: (replace(p, parameters=tuple(varied)) for p in call.scalar(fun, jac, bounds=box))
    return lambda: call.vector(fun, jac, "Dfun", bounds=box, transposed=transposed, parameters=tuple(varied))


DOORS: list[Door] = [*fit]
