"""A door: a function or method of a library that derivatives are handed to, and what is heard there.

    @door("scipy.optimize", "minimize")
    def minimize(call):
        fun, jac = call.hear("fun"), call.hear("jac", of="fun")
        return None if jac is None else lambda: call.gradient(fun, jac)

What is returned yields pairs; it is called when the library has returned, in a copy of the process. A library declares
doors of its own as an entry point of the group ``gradwright.doors``, which leads to a function without arguments that
returns a list of `Door`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from gradwright.base.cpython import redirected
from gradwright.verify.audit.doors.heard import Heard
from gradwright.verify.pairs import Pair, Point
from gradwright.verify.pairs.pair import GRADIENT, HESSIAN, HVP, JACOBIAN

Pairs = Callable[[], Iterable[Pair]]
STRANGERS = {
    "cyipopt": "IPOPT", "casadi": "CasADi", "openmdao": "OpenMDAO", "pyoptsparse": "pyOptSparse",
    "catboost": "CatBoost", "pytensor": "PyTensor", "sigpy": "SigPy", "odl": "ODL",
}  # fmt: skip
"""Libraries that derivatives are handed to, and that have no door."""


def _nothing() -> Iterable[Pair]:
    return ()


HANDED: Pairs = _nothing
"""What a door returns that only puts something in the place of an argument: nothing has ended with it."""


signature = lru_cache(1024)(inspect.signature)


@dataclass(frozen=True)
class Door:
    """A function of a library.

    Attributes:
        module: the module by whose import it is met, ``scipy.optimize``. path: where in it: ``minimize``,
            ``ode.integrate``.
        enter: from a `Call` to what yields its pairs when it has ended; None if no derivative is handed over.
        once: whether it is a method of an object that is looked at once, whatever is called of it after that.
    """

    module: str
    path: str
    enter: Callable[[Call], Pairs | None]
    once: bool = False

    @property
    def name(self) -> str:
        """``scipy.optimize.minimize``."""
        return f"{self.module}.{self.path}"

    @property
    def library(self) -> str:
        """``scipy``."""
        return self.module.partition(".")[0]


def door(module: str, *paths: str, once: bool = False) -> Callable[[Callable[[Call], Pairs | None]], list[Door]]:
    """Declare doors that are entered alike; the name then is the list of them."""
    return lambda enter: [Door(module, path, enter, once) for path in paths]


class Call:
    """A call of a door, before and after the library has run.

    Attributes:
        door: which. given: the arguments by name. defaults: of those that were not given.
        result: what the library returned; None if it raised.
        where: file and line that the door was called at.
        heard: all functions that are listened to. about: others that it is about.
        lasts: whether what was handed over is called until the program ends.
    """

    result: Any = None
    lasts = False

    def __init__(self, door: Door, plain: Any, args: tuple[Any, ...], kwargs: dict[str, Any], where: Any) -> None:
        self.door, self.plain, self.where = door, plain, where
        self.bound = signature(plain).bind(*args, **kwargs)
        self.given = self.bound.arguments
        self.heard: list[Heard] = []
        self.about: list[Any] = []
        self.swaps: list[tuple[Any, str, Any]] = []

    @property
    def plain_parameters(self) -> set[str]:
        """The names of all arguments of the door."""
        return {*signature(self.plain).parameters}

    def get(self, name: str, default: Any = None) -> Any:
        """An argument; its own default, or this one, if it was not given."""
        if name in self.given:
            return self.given[name]
        found = signature(self.plain).parameters[name].default
        return default if found is inspect.Parameter.empty else found

    def listen(self, function: Any, of: Heard | None = None, moving: int = 1, at: int = 0, **how: Any) -> Any:
        """A function, heard; None if it is none of the user's: a string, a matrix, a class, or not there."""
        if not callable(function) or isinstance(function, type) or "LowLevelCallable" in type(function).__name__:
            return None
        heard = Heard(function, moving, at, **how)
        heard.value = of
        self.heard.append(heard)
        return heard

    def hear(self, name: str, of: Heard | None = None, moving: int = 1, at: int = 0, **how: Any) -> Any:
        """The function that an argument is, heard from now on; None as in `listen`."""
        heard = self.listen(self.get(name), of, moving, at, **how)
        if heard is not None:
            self.given[name] = heard
        return heard

    def swap(self, owner: Any, name: str, value: Any) -> None:
        """Have another value for an attribute while the library runs."""
        self.swaps.append((owner, name, value))

    @contextmanager
    def swapped(self) -> Iterator[None]:
        """While this is on, attributes are as `swap` says."""
        before = [(owner, name, getattr(owner, name)) for owner, name, _ in self.swaps]
        for owner, name, value in self.swaps:
            setattr(owner, name, value)
        try:
            yield
        finally:
            for owner, name, value in before:
                setattr(owner, name, value)

    # ---- when it has ended --------------------------------------------------------------------------------

    def pair(self, kind: str, value: Any, derivative: Any, argument: str, /, **more: Any) -> Pair:
        """The pair of two functions that were heard; ``argument`` is what the door calls the derivative."""
        if "points" not in more:
            more["points"] = derivative.points(value)
        more = {"calls": derivative.calls, "where": derivative.where,
                "value": None if value is None else value.again,
                "derivative": derivative.again if value is None else derivative.after(value),
                "names": ("" if value is None else value.name, derivative.name)} | more  # fmt: skip
        return Pair(kind, door=f"{self.door.name}({argument}=)", **more)

    def scalar(self, fun: Heard, jac: Any = None, hess: Any = None, hessp: Any = None,
               names: Sequence[str] = ("jac", "hess", "hessp"), bounds: Any = None) -> Iterator[Pair]:  # fmt: skip
        """The pairs of a function that is a number: its gradient (True if it returns that, too) and its Hessian."""
        value: Any = fun
        gradient = None
        if jac is True:
            value, jac = both(fun)
        if jac is not None:
            gradient = jac.again
            yield self.pair(GRADIENT, value, jac, names[0], bounds=bounds)
        if hess is not None:
            yield self.pair(HESSIAN, value, hess, names[1], gradient=gradient, bounds=bounds)
        if hessp is not None:
            yield self.pair(HVP, value, hessp, names[2], gradient=gradient, bounds=bounds,
                            points=products(hessp, value), derivative=hessp.function)  # fmt: skip

    def vector(self, fun: Heard, jac: Any, name: str = "jac", rows: bool = False, **more: Any) -> Iterator[Pair]:
        """The pair of a function that is an array and its Jacobian; True if it returns that, too.

        ``rows``: a number and a row are as good to the library as an array of one and a matrix of one row.
        """
        value: Any = fun
        if jac is True:
            value, jac = both(fun)
        if jac is not None:
            pair = self.pair(JACOBIAN, value, jac, name, **more)
            yield _in_rows(pair) if rows else pair


def _in_rows(pair: Pair) -> Pair:
    """A pair whose value is read as an array of one axis, and whose derivative as one of two."""
    array = lambda value: None if value is None else np.atleast_1d(value)
    matrix = lambda found: np.atleast_2d(found) if isinstance(found, (np.ndarray, list, tuple)) else found
    points = tuple(replace(p, value=array(p.value), returned=matrix(p.returned)) for p in pair.points)
    value, derivative = pair.value, pair.derivative
    assert value is not None
    return replace(pair, points=points, value=lambda *args: array(value(*args)),
                   derivative=lambda *args: matrix(derivative(*args)))  # fmt: skip


class Part:
    """One of the things that a function returns, as if that were all it returned."""

    def __init__(self, whole: Heard, k: int) -> None:
        self.whole, self.k = whole, k
        self.name, self.where, self.calls = whole.name, whole.where, whole.calls

    @property
    def again(self) -> Callable[..., Any]:
        """This part of what it returns."""
        return partial(_part, self.whole.again, self.k)

    def after(self, value: Any) -> Callable[..., Any]:
        """The same: it is one function."""
        return self.again

    def points(self, value: Any = None) -> tuple[Point, ...]:
        """Where it was called."""
        return tuple(Point(p.x, p.extra, None, p.returned[self.k], p.returned[0], p.before, p.call)
                     for p in self.whole.points() if isinstance(p.returned, (tuple, list)))  # fmt: skip


def _part(whole: Any, k: int, *args: Any) -> Any:
    return whole(*args)[k]


def both(fun: Heard) -> tuple[Any, Any]:
    """The value and the derivative of a function that returns both."""
    return Part(fun, 0), Part(fun, 1)


def products(hessp: Heard, value: Any) -> tuple[Point, ...]:
    """The points of a product of x and a vector, in this order."""
    if hessp.kept:
        return tuple(Point(k.x, k.extra[1:], k.extra[0], k.result, None, k.before, k.number) for k in hessp.kept)
    return tuple(Point(p.x, p.extra) for p in value.points()[:3])


def caller(library: str = "") -> tuple[str, int, str]:
    """File, line and package of the innermost frame that is neither ours nor of this library."""
    frame: Any = sys._getframe(1)
    while frame is not None and (frame.f_code.co_filename == redirected.HIDDEN
                                 or frame.f_globals.get("__name__", "").startswith("gradwright.")
                                 or frame.f_globals.get("__name__", "").partition(".")[0] == library):  # fmt: skip
        frame = frame.f_back
    if frame is None:
        return "", 0, ""
    return frame.f_code.co_filename, frame.f_lineno, frame.f_globals.get("__name__", "").partition(".")[0]
