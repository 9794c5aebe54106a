"""SciPy's solvers of differential equations: f(t, y) and its Jacobian by y."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from gradwright.verify.audit.doors.door import Call, Door, Pairs, door
from gradwright.verify.audit.doors.heard import Heard
from gradwright.verify.pairs import Pair, Point
from gradwright.verify.pairs.pair import JACOBIAN


@door("scipy.integrate", "solve_ivp")
def solve_ivp(call: Call) -> Pairs | None:
    """``solve_ivp``: ``jac`` is among its options."""
    options = call.given.get("options", {})
    fun = call.hear("fun", moving=2, at=1)
    jac = call.listen(options.get("jac"), fun, moving=2, at=1)
    if fun is None or jac is None:
        return None
    call.given["options"] = options | {"jac": jac}
    return lambda: call.vector(fun, jac)


@door("scipy.integrate", "odeint")
def odeint(call: Call) -> Pairs | None:
    """``odeint``: f(y, t), or f(t, y) with ``tfirst``; its Jacobian is transposed with ``col_deriv``."""
    at = 1 if call.get("tfirst") else 0
    fun = call.hear("func", moving=2, at=at)
    jac = call.hear("Dfun", of=fun, moving=2, at=at)
    if fun is None or jac is None or call.get("ml") is not None or call.get("mu") is not None:
        return None  # a banded Jacobian is one of rows of diagonals
    return lambda: call.vector(fun, jac, "Dfun", transposed=bool(call.get("col_deriv")))


@door("scipy.integrate", "ode.integrate")
def integrate(call: Call) -> Pairs | None:
    """``ode(f, jac).integrate(t)``."""
    solver = call.given["self"]
    fun, jac = call.listen(solver.f, moving=2, at=1), None
    jac = call.listen(solver.jac, fun, moving=2, at=1)
    inside = getattr(solver, "_integrator", None)
    if fun is None or jac is None or getattr(inside, "ml", None) is not None or getattr(inside, "mu", None) is not None:
        return None
    call.swap(solver, "f", fun)
    call.swap(solver, "jac", jac)
    return lambda: call.vector(fun, jac)


@door("scipy.integrate", "solve_bvp")
def solve_bvp(call: Call) -> Pairs | None:
    """``solve_bvp``: f(x, y[, p]) of all points of a mesh at once, and boundary conditions bc(ya, yb[, p])."""
    fun, bc = call.hear("fun", moving=3, at=1), call.hear("bc", moving=3)
    by_f, by_bc = call.hear("fun_jac", of=fun, moving=3, at=1), call.hear("bc_jac", of=bc, moving=3)
    if fun is None or bc is None or (by_f is None and by_bc is None):
        return None

    def pairs() -> Iterator[Pair]:
        if by_f is not None:
            yield from _mesh(call, fun, by_f)
        if by_bc is not None:
            yield from _ends(call, bc, by_bc)

    return pairs


def _mesh(call: Call, fun: Heard, jac: Heard) -> Iterator[Pair]:
    """df/dy and df/dp, at some points of the mesh, one by one."""
    def value(function: Any, y: Any, x: Any, p: Any) -> Any:
        return np.asarray(function(np.array([x]), y[:, None], *p))[:, 0]

    def by(function: Any, y: Any, x: Any, p: Any) -> Any:
        found = function(np.array([x]), y[:, None], *p)
        return np.asarray(found[0] if p else found)[..., 0]

    def value_p(function: Any, q: Any, x: Any, y: Any) -> Any:
        return np.asarray(function(np.array([x]), y[:, None], q))[:, 0]

    def by_p(function: Any, q: Any, x: Any, y: Any) -> Any:
        return np.asarray(function(np.array([x]), y[:, None], q)[1])[..., 0]

    points, more = [], []
    for k in jac.kept:
        y, x, *p = k.x, *k.extra
        for m in {0, len(x) // 2, len(x) - 1}:
            found = np.asarray(k.result[0] if p else k.result)
            points.append(Point(y[:, m].copy(), (x[m], tuple(p)), None, found[..., m], call=k.number))
            if p:
                more.append(Point(p[0], (x[m], y[:, m].copy()), None, np.asarray(k.result[1])[..., m], call=k.number))
    yield call.pair(JACOBIAN, fun, jac, "fun_jac", value=partial(value, fun.function), points=tuple(points[:9]),
                    derivative=partial(by, jac.function))  # fmt: skip
    if more:
        yield call.pair(JACOBIAN, fun, jac, "fun_jac", value=partial(value_p, fun.function), points=tuple(more[:9]),
                        derivative=partial(by_p, jac.function),
                        names=(f"{fun.name} by p", f"{jac.name}[1]"))  # fmt: skip


def _ends(call: Call, bc: Heard, jac: Heard) -> Iterator[Pair]:
    """The derivatives of the boundary conditions by each of their arguments."""
    for which, argument in enumerate(("ya", "yb", "p")):
        def value(x: Any, *rest: Any, which: int = which) -> Any:
            return bc.function(*rest[:which], x, *rest[which:])

        def by(x: Any, *rest: Any, which: int = which) -> Any:
            return jac.function(*rest[:which], x, *rest[which:])[which]

        args = [((k.x, *k.extra), k) for k in jac.kept]
        points = tuple(Point(a[which], a[:which] + a[which + 1 :], None, k.result[which], call=k.number)
                       for a, k in args if len(a) > which)  # fmt: skip
        if points:
            yield call.pair(JACOBIAN, bc, jac, "bc_jac", value=value, derivative=by, points=points,
                            names=(f"{bc.name} by {argument}", f"{jac.name}[{which}]"))  # fmt: skip


DOORS: list[Door] = [*solve_ivp, *odeint, *integrate, *solve_bvp]
