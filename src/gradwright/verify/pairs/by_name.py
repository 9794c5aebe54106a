"""Pairs in a module, found by how they are called: ``f`` and ``f_prime``, ``fun`` and ``jac`` of a class."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from gradwright.verify.experiments import REFUSED

FIRST = ("{}_prime", "d{}", "d_{}", "grad_{}", "{}_grad", "{}_gradient", "gradient_{}", "{}_der", "{}_derivative",
         "{}_jac", "jac_{}", "{}_jacobian", "jacobian_{}", "D{}")  # fmt: skip
SECOND = ("{}_hess", "hess_{}", "{}_hessian", "hessian_{}", "d2{}", "{}_prime2", "{}_hess_full")
PRODUCT = ("{}_hessp", "hessp_{}", "{}_hess_p", "{}_hvp", "hvp_{}")
"""What derivatives of a function are called, by its name."""
VALUES = ("fun", "func", "f", "objective", "cost", "loss", "energy", "loglike", "nloglike", "residual", "residuals",
          "value", "model", "rhs")  # fmt: skip
GRADIENTS = ("jac", "jacobian", "grad", "gradient", "der", "derivative", "fprime", "score", "df", "g")
HESSIANS = ("hess", "hessian", "d2f")
PRODUCTS = ("hessp", "hvp")
"""What a function and its derivatives are called where there is one of each: in a class, in a small module."""
STARTS = ("x0", "x_0", "p0", "theta0", "beta0", "w0", "params0", "start", "start_params", "initial_guess", "x_start")
"""What an x to begin with is called."""


@dataclass(frozen=True, eq=False)
class Named:
    """Functions that are called as a function and its derivatives are.

    Attributes:
        name: of the function. f, jac, hess, hessp: what is called so; None for what there is not.
        at: an x that the module has; None if it has none.
    """

    name: str
    f: Callable[..., Any]
    jac: Callable[..., Any] | None
    hess: Callable[..., Any] | None = None
    hessp: Callable[..., Any] | None = None
    at: Any = None


def named(module: ModuleType) -> list[Named]:
    """What there is in a module of its own; functions that take one array beside what has defaults."""
    own = {n: v for n, v in vars(module).items() if getattr(v, "__module__", None) == module.__name__}
    at = next((v for n in STARTS if (v := _numbers(getattr(module, n, None))) is not None), None)
    functions = {n: v for n, v in own.items() if isinstance(v, FunctionType) and _takes(v, 1)}
    products = {n: v for n, v in own.items() if isinstance(v, FunctionType) and _takes(v, 2)}
    found = [Named(n, f, _by(n, FIRST, functions), _by(n, SECOND, functions), _by(n, PRODUCT, products), at)
             for n, f in functions.items()]  # fmt: skip
    found = [p for p in found if p.jac or p.hess or p.hessp]
    taken = {id(f) for p in found for f in (p.f, p.jac, p.hess, p.hessp) if f is not None}
    free = {n: v for n, v in functions.items() if id(v) not in taken}
    if len(found) == 1 and not any(n in free for n in VALUES):  # what else there is can only belong to it
        p, others = found[0], free if found[0].jac is None else {n: v for n, v in free.items() if n not in GRADIENTS}
        jac, hess, hessp = _nameless(others, products)
        found = [replace(p, jac=p.jac or jac, hess=p.hess or hess, hessp=p.hessp or hessp)]
    found += _one_of_each("", free, products, at)
    for name, cls in own.items():
        if isinstance(cls, type) and (made := _made(cls)) is not None:
            methods = {n: getattr(made, n) for n in dir(cls) if n[0] != "_" and callable(getattr(made, n))}
            one, two = ({n: m for n, m in methods.items() if _takes(m, k)} for k in (1, 2))
            found += _one_of_each(f"{name}.", one, two, at)
    return found


def _one_of_each(prefix: str, functions: Mapping[str, Any], products: Mapping[str, Any], at: Any) -> Iterator[Named]:
    """A function and its derivatives, where no other could be meant."""
    values = [n for n in VALUES if n in functions]
    derivatives = _nameless(functions, products)
    if len(values) == 1 and any(derivatives):
        yield Named(prefix + values[0], functions[values[0]], *derivatives, at)


def _nameless(functions: Mapping[str, Any], products: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """Gradient, Hessian and product that are called by no function's name; all None where there are two gradients."""
    gradients = [n for n in GRADIENTS if n in functions]
    if len(gradients) > 1:
        return None, None, None
    jac = functions[gradients[0]] if gradients else None
    seconds = (*HESSIANS, "h") if gradients == ["g"] else HESSIANS  # the letters g and h go together
    hess = next((functions[n] for n in seconds if n in functions), None)
    return jac, hess, next((products[n] for n in PRODUCTS if n in products), None)


def _by(name: str, forms: tuple[str, ...], functions: Mapping[str, Any]) -> Any:
    return next((functions[n] for form in forms if (n := form.format(name)) in functions), None)


def _takes(f: Any, n: int) -> bool:
    """Whether a function takes so many arguments by position, and needs no more."""
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return False
    needed = [p for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return len(needed) == n and not any(p.kind is p.KEYWORD_ONLY and p.default is p.empty for p in parameters)


def _made(cls: type) -> Any:
    """An object of a class that needs nothing to be made; None of others."""
    if not any(n in dir(cls) for n in GRADIENTS + HESSIANS + PRODUCTS) or not any(n in dir(cls) for n in VALUES):
        return None
    try:
        return cls()
    except REFUSED:
        return None


def _numbers(value: Any) -> Any:
    """An array of real numbers of one axis; None of anything else."""
    if not isinstance(value, (np.ndarray, list, tuple)):
        return None
    try:
        array = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        return None
    return array if array.ndim == 1 and array.size and np.isfinite(array).all() else None
