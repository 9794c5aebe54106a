"""SciPy's optimisers, solvers of equations and fits."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from gradwright.verify.audit.doors.door import Call, Door, Pairs, door
from gradwright.verify.audit.doors.heard import Heard, parameters
from gradwright.verify.pairs import Pair
from gradwright.verify.pairs.pair import HESSIAN

_KEEPING = ("bfgs", "cg", "trust-krylov")
"""Methods that keep the array that the gradient returned, and compare it with the next."""


def bounds_of(given: Any) -> Any:
    """The lowest and the highest x: from a Bounds, pairs with None, or two arrays; None if there are none."""
    if given is None:
        return None
    if hasattr(given, "lb"):
        return np.asarray(given.lb, float), np.asarray(given.ub, float)
    low, high = zip(*given, strict=True)
    as_array = lambda side, none: np.array([none if v is None else v for v in side], float)
    return as_array(low, -np.inf), as_array(high, np.inf)


def _minimized(call: Call, fun: Any, jac: Any, hess: Any, hessp: Any, constraints: Any, bounds: Any,
               names: tuple[str, str, str] = ("jac", "hess", "hessp"),
               keeps: bool = False) -> Pairs | None:  # fmt: skip
    """The pairs of an objective and of constraints, some of which were heard."""
    held = [*constraints]
    if fun is None or (jac is None and hess is None and hessp is None and not held):
        return None

    def pairs() -> Iterator[Pair]:
        with np.errstate(all="ignore"):
            box = bounds_of(bounds)
        reused = keeps and getattr(jac, "reused", False)
        yield from (replace(p, reused=reused) for p in call.scalar(fun, jac, hess, hessp, names, box))
        for value, derivative, second in held:
            if derivative is not None:
                yield from call.vector(value, derivative, "constraints: jac", rows=True, bounds=box)
            if second is not None:
                yield from _weighted(call, value, derivative, second, box)

    return pairs


def _weighted(call: Call, value: Any, derivative: Any, second: Any, box: Any) -> Iterator[Pair]:
    """The Hessian of a nonlinear constraint, hess(x, v), is that of v @ fun(x)."""
    def along(x: Any, v: Any) -> Any:
        return np.dot(np.atleast_1d(value.again(x)), v)

    def slope(x: Any, v: Any) -> Any:
        return np.asarray(v) @ np.atleast_2d(np.asarray(derivative.again(x)))

    if second.kept:
        yield call.pair(HESSIAN, value, second, "constraints: hess", value=along, bounds=box, points=second.points(),
                        gradient=None if derivative is None else slope)  # fmt: skip


def _constraints(call: Call, given: Any) -> tuple[Any, list[tuple[Any, Any, Any]]]:
    """Constraints with their functions heard, and for those with derivatives the functions."""
    several = isinstance(given, (list, tuple))
    made: list[Any] = []
    heard = []
    for one in given if several else [given]:
        get = one.get if isinstance(one, dict) else partial(getattr, one)
        derivative, second = (get(name, None) for name in ("jac", "hess"))
        if not (callable(derivative) or callable(second)) or not callable(get("fun", None)):
            made.append(one)
            continue
        value = call.listen(get("fun", None))
        parts = value, call.listen(derivative, value), call.listen(second, value, moving=2)
        put = {n: h for n, h in zip(("fun", "jac", "hess"), parts, strict=True) if h is not None}
        if isinstance(one, dict):
            made.append(one | put)
        else:
            new = copy.copy(one)
            vars(new).update(put)
            made.append(new)
        heard.append(parts)
    return (type(given)(made) if several else made[0]), heard


def _both(call: Call, name: str, fun: Heard | None, flag: Any) -> Any:
    """The derivative: an argument; True if the function returns that, too."""
    return True if flag is True and fun is not None else call.hear(name, of=fun)


@door("scipy.optimize", "minimize")
def minimize(call: Call) -> Pairs | None:
    """``minimize`` with ``jac=``, ``hess=``, ``hessp=`` and derivatives of constraints."""
    fun = call.hear("fun")
    jac = _both(call, "jac", fun, call.get("jac"))
    hess, hessp = call.hear("hess", of=fun), call.hear("hessp", of=fun, moving=2)
    given = call.get("constraints")
    heard: list[Any] = []
    if given is not None and given != ():
        call.given["constraints"], heard = _constraints(call, given)
    bounds, method = call.get("bounds"), call.get("method")
    keeps = (method is None and bounds is None and not heard) or str(method).lower() in _KEEPING
    return _minimized(call, fun, jac, hess, hessp, heard, bounds, keeps=keeps)


@door("scipy.optimize", "fmin_bfgs", "fmin_cg", "fmin_ncg", "fmin_l_bfgs_b", "fmin_tnc")
def old(call: Call) -> Pairs | None:
    """The functions that ``minimize`` has taken the place of."""
    names = call.plain_parameters
    fun = call.hear("f" if "f" in names else "func")
    alone = call.get("fprime") is None and "approx_grad" in names and not call.get("approx_grad")
    jac = _both(call, "fprime", fun, alone or None)
    hess = call.hear("fhess", of=fun) if "fhess" in names else None
    hessp = call.hear("fhess_p", of=fun, moving=2) if "fhess_p" in names else None
    bounds = call.get("bounds") if "bounds" in names else None
    return _minimized(call, fun, jac, hess, hessp, [], bounds, ("fprime", "fhess", "fhess_p"),
                      keeps=call.door.path in ("fmin_bfgs", "fmin_cg"))  # fmt: skip


@door("scipy.optimize", "fmin_slsqp")
def slsqp(call: Call) -> Pairs | None:
    """``fmin_slsqp``, with derivatives of the constraints that are arrays."""
    fun = call.hear("func")
    jac = call.hear("fprime", of=fun)
    heard = []
    for value, derivative in (("f_eqcons", "fprime_eqcons"), ("f_ieqcons", "fprime_ieqcons")):
        if call.get(derivative) is not None and (f := call.hear(value)) is not None:
            heard.append((f, call.hear(derivative, of=f), None))
    return _minimized(call, fun, jac, None, None, heard, call.get("bounds") or None, ("fprime", "", ""))


@door("scipy.optimize", "basinhopping", "dual_annealing", "shgo")
def within(call: Call) -> Pairs | None:
    """Global optimisers, whose ``minimizer_kwargs`` has the derivative; and ``shgo``'s ``options``."""
    fun = call.hear("func")
    heard: dict[str, Any] = {"jac": None, "hess": None, "hessp": None}
    kwargs: Any = None
    for name in ("minimizer_kwargs", "options"):
        given = call.get(name) if name in call.plain_parameters else None
        if not isinstance(given, dict):
            continue
        kwargs = kwargs or given
        put: dict[str, Any] = {}
        for k in heard:
            if k in given and (found := _own(call, k, fun, given[k])) is not None:
                heard[k] = found
                put |= {} if found is True else {k: found}
        call.given[name] = given | put
    constraints: Any = (call.get("constraints") if "constraints" in call.plain_parameters else None) or ()
    held: list[Any] = []
    if constraints:
        call.given["constraints"], held = _constraints(call, constraints)
    bounds = call.get("bounds") if "bounds" in call.plain_parameters else (kwargs or {}).get("bounds")
    return _minimized(call, fun, heard["jac"], heard["hess"], heard["hessp"], held, bounds)


def _own(call: Call, name: str, fun: Heard | None, given: Any) -> Any:
    if name == "jac" and given is True:
        return True
    return call.listen(given, fun, moving=2 if name == "hessp" else 1)


@door("scipy.optimize", "differential_evolution")
def evolution(call: Call) -> Pairs | None:
    """``differential_evolution``: its polish takes derivatives of constraints."""
    fun = call.hear("func")
    held: list[Any] = []
    if given := call.get("constraints"):
        call.given["constraints"], held = _constraints(call, given)
    return _minimized(call, fun, None, None, None, held, call.get("bounds"))


@door("scipy.optimize", "least_squares")
def least_squares(call: Call) -> Pairs | None:
    """``least_squares``: residuals and their Jacobian."""
    fun = call.hear("fun")
    jac = call.hear("jac", of=fun)
    if fun is None or jac is None:
        return None
    bounds = call.get("bounds")
    box = (bounds.lb, bounds.ub) if hasattr(bounds, "lb") else tuple(bounds)
    return lambda: call.vector(fun, jac, rows=True, bounds=box)


@door("scipy.optimize", "leastsq")
def leastsq(call: Call) -> Pairs | None:
    """``leastsq``, whose Jacobian may be transposed: ``col_deriv``."""
    fun = call.hear("func")
    jac = call.hear("Dfun", of=fun)
    return None if fun is None or jac is None else lambda: call.vector(fun, jac, "Dfun", transposed=_flag(call))


@door("scipy.optimize", "fsolve")
def fsolve(call: Call) -> Pairs | None:
    """``fsolve``, likewise."""
    fun = call.hear("func")
    jac = call.hear("fprime", of=fun)
    return None if fun is None or jac is None else lambda: call.vector(fun, jac, "fprime", transposed=_flag(call))


def _flag(call: Call) -> bool:
    return bool(call.get("col_deriv"))


@door("scipy.optimize", "root")
def root(call: Call) -> Pairs | None:
    """``root``, where ``jac=True`` says that the function returns both."""
    fun = call.hear("fun")
    jac = _both(call, "jac", fun, call.get("jac"))
    transposed = bool((call.get("options") or {}).get("col_deriv"))
    return None if fun is None or jac is None else lambda: call.vector(fun, jac, transposed=transposed)


@door("scipy.optimize", "newton")
def newton(call: Call) -> Pairs | None:
    """``newton``: of a number, or of each entry of an array by itself."""
    fun = call.hear("func")
    first = call.hear("fprime", of=fun)
    second = call.hear("fprime2", of=first)
    if fun is None or first is None:
        return None
    return lambda: _slopes(call, fun, first, second)


@door("scipy.optimize", "root_scalar")
def root_scalar(call: Call) -> Pairs | None:
    """``root_scalar``: ``fprime=True`` says that the function returns its derivative, too."""
    fun = call.hear("f")
    first: Any = call.get("fprime")
    if fun is None or first is None or first is False:
        return None
    both = first is True
    first = call.hear("fprime", of=fun)
    second = call.hear("fprime2", of=first)

    def pairs() -> Iterator[Pair]:
        if both:
            yield from call.vector(fun, True, "fprime", elementwise=True)
        else:
            yield from _slopes(call, fun, first, second)

    return pairs


def _slopes(call: Call, fun: Heard, first: Heard, second: Heard | None) -> Iterator[Pair]:
    yield from call.vector(fun, first, "fprime", elementwise=True)
    if second is not None:
        yield from call.vector(first, second, "fprime2", elementwise=True)


@door("scipy.optimize", "curve_fit")
def curve_fit(call: Call) -> Pairs | None:
    """``curve_fit``: a model f(xdata, *parameters) and its Jacobian by the parameters."""
    see = lambda args: (np.array(args[1:], float), args[0])
    put = lambda x, data: (data, *np.asarray(x).tolist())
    fun = call.hear("f", see=see, put=put)
    jac = call.hear("jac", of=fun, see=see, put=put)
    if fun is None or jac is None:
        return None
    bounds = call.get("bounds")
    box = (bounds.lb, bounds.ub) if hasattr(bounds, "lb") else tuple(bounds)
    return lambda: call.vector(fun, jac, bounds=box, parameters=parameters(fun.function)[1:])


DOORS: list[Door] = [*minimize, *old, *slsqp, *within, *evolution, *least_squares, *leastsq, *fsolve, *root, *newton,
                     *root_scalar, *curve_fit]
