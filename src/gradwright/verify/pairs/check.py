"""`check_pair`: a function and its derivatives, given as such; `assert_derivatives`: the same in a test."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from gradwright.base.errors import kind
from gradwright.base.pages.shown import Shown
from gradwright.verify.experiments import REFUSED
from gradwright.verify.pairs.calls import Budget
from gradwright.verify.pairs.judge import judge
from gradwright.verify.pairs.judgement import Judgement
from gradwright.verify.pairs.pair import ADJOINT, GRADIENT, HESSIAN, HVP, JACOBIAN, JVP, VJP, Pair, Point
from gradwright.verify.pairs.reading import dense

_LARGEST = 12
"""Points are made up with so many entries at most."""


class Judgements(Shown):
    """What `check_pair` found: a `Judgement` for each derivative, in the order they were given.

    It is true if all pass; ``str()`` of it is a report.
    """

    def __init__(self, found: Sequence[Judgement]) -> None:
        self.found = tuple(found)

    def __iter__(self) -> Iterator[Judgement]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, k: int) -> Judgement:
        return self.found[k]

    def __bool__(self) -> bool:
        return all(j.passes for j in self.found)

    def __str__(self) -> str:
        return "\n".join(map(str, self.found))


def check_pair(f: Callable[..., Any], jac: Any = None, *, hess: Any = None, hessp: Any = None, jvp: Any = None,
               vjp: Any = None, rmatvec: Any = None, at: Any = None, bounds: Any = None, args: Sequence[Any] = (),
               by: str = "", budget: Budget = Budget()) -> Judgements:  # noqa: B008 - it is frozen
    """Whether hand-written derivatives of a function of arrays are right; and if not, what they are instead.

    The derivatives are those that SciPy takes, of ``f(x, *args)``. Each is compared with differences of ``f`` (of
    second order with those of ``jac`` where that is right), entry by entry, with error bars: inside the bounds,
    one-sided at them. At a kink whatever lies between the slopes to the two sides is right; at a pole nothing is said.
    Errors of 1e-6 of an entry are found where the value is smooth and known to 14 digits.

    Args:
        f: gives a number or an array; with ``jac=True`` the pair of that and its derivative.
        jac: its gradient, of the shape of x; or its Jacobian, of the shape of ``f(x)`` and then that of x: an array, a
            sparse matrix or a LinearOperator. Or an array, where that is constant.
        hess: its Hessian, of a number. hessp: ``hessp(x, v, *args)``, the Hessian times a vector.
        jvp: ``jvp(x, v, *args)``, the Jacobian times a vector. vjp: ``vjp(x, w, *args)``, a vector times the Jacobian.
        rmatvec: of an ``f`` that is linear, ``rmatvec(w)``, its adjoint.
        at: where: an array, or several in a list. By default they are made up, of positive numbers.
        bounds: the lowest x and the highest, as a pair; or such a pair for each entry, as SciPy has them.
        by: what the derivative is meant to be by, if not by x: ``"log"``; then that is no error.
        budget: what it may cost.

    Raises TypeError where there is no derivative to check; ValueError where no x can be made up.

    >>> found = gw.check_pair(lambda x: (x ** 3).sum(), lambda x: x ** 2, at=np.array([1.0, 2.0]))
    >>> bool(found), found[0].verdict.value, found[0].cause
    (False, 'WRONG', 'factor')
    """
    given = [(k, d) for k, d in ((None, jac), (HESSIAN, hess), (HVP, hessp), (JVP, jvp), (VJP, vjp), (ADJOINT, rmatvec))
             if d is not None]  # fmt: skip
    for what in (f, *(d for _, d in given if d is not True)):
        if not callable(what) and not (what is jac and hasattr(what, "shape")):
            raise TypeError(f"check_pair: expected functions, but got {kind(what)}")
    if not given:
        raise TypeError("check_pair: expected a derivative beside the function: jac=, hess=, hessp=, jvp=, vjp= or "
                        "rmatvec=")  # fmt: skip
    value, jac = (_part(f, 0), _part(f, 1)) if jac is True else (f, jac)
    args = tuple(args) if isinstance(args, (tuple, list)) else (args,)
    points = _points(value, at, bounds, args)
    limits = _bounds(bounds, points[0].size)
    found = []
    for of, derivative in given:
        derivative = jac if derivative is True else derivative
        constant = not callable(derivative)
        called = (lambda x, *a, d=derivative: d) if constant else derivative
        of = of or (GRADIENT if _is_number(value, points[0], args) else JACOBIAN)
        first = jac if of in (HESSIAN, HVP) and callable(jac) else None
        pair = Pair(of, value, called, tuple(Point(x, args) for x in points), (_name(f), _name(derivative)),
                    _place(derivative), gradient=first, bounds=limits, convention=by == "log",
                    declared=f"by {by}" if by and by != "log" else "")  # fmt: skip
        found.append(judge(pair, budget))
    return Judgements(found)


def assert_derivatives(f: Callable[..., Any], jac: Any = None, **given: Any) -> None:
    """Raise AssertionError unless hand-written derivatives are right: `check_pair`, for tests.

    What cannot be shown is no pass: noise that hides more than a thousandth of the derivative, a pole, a function that
    cannot be called.

    >>> gw.testing.assert_derivatives(lambda x: (x ** 3).sum(), lambda x: 3 * x ** 2, at=np.array([1.0, 2.0]))
    """
    found = check_pair(f, jac, **given)
    assert found, f"assert_derivatives: {'; '.join(str(j) for j in found if not j.passes)}"


def _part(f: Callable[..., Any], k: int) -> Callable[..., Any]:
    @functools.wraps(f)
    def part(x: Any, *args: Any) -> Any:
        return f(x, *args)[k]

    return part


def _points(f: Callable[..., Any], at: Any, bounds: Any, args: tuple[Any, ...]) -> list[Any]:
    """The points as arrays; or some that are made up."""
    if at is not None:
        several = isinstance(at, (list, tuple)) and len(at) > 0 and all(np.ndim(x) > 0 for x in at)
        points = [np.asarray(x) for x in (at if several else [at])]
        return [x if x.dtype.kind in "fc" else x.astype(np.float64) for x in points]
    generator = np.random.default_rng(0)
    many = [np.size(bounds[0])] if _is_pair_of_ends(bounds) and np.size(bounds[0]) > 1 else range(1, _LARGEST + 1)
    many = [len(bounds)] if bounds is not None and not _is_pair_of_ends(bounds) else many
    for n in many:
        points = [generator.uniform(0.5, 1.5, n) for _ in range(2)]
        if bounds is not None:
            low, high = (np.nan_to_num(b, posinf=1.5, neginf=0.5) for b in _bounds(bounds, n) or ())
            points = [low + (high - low) * (x - 0.5) for x in points]
        if all(_has_numbers(f, x, args) for x in points):
            return points
    raise ValueError(f"check_pair: no x was given, and `{_name(f)}` takes none of those made up, of 1 to {_LARGEST} "
                     "numbers: say at=, an array that it takes")  # fmt: skip


def _has_numbers(f: Callable[..., Any], x: Any, args: tuple[Any, ...]) -> bool:
    try:
        with np.errstate(all="ignore"):
            return bool(np.isfinite(dense(f(x.copy(), *args))).all())
    except REFUSED:
        return False


def _is_number(f: Callable[..., Any], x: Any, args: tuple[Any, ...]) -> bool:
    try:
        with np.errstate(all="ignore"):
            return np.size(dense(f(x.copy(), *args))) == 1 and np.ndim(x) > 0
    except REFUSED:
        return True  # the judge tells why there is no value


def _is_pair_of_ends(bounds: Any) -> bool:
    """Whether they are (lowest, highest), and not a pair for each entry."""
    if hasattr(bounds, "lb"):
        return False
    return bounds is not None and len(bounds) == 2 and not all(
        isinstance(b, (tuple, list)) and len(b) == 2 for b in bounds)  # fmt: skip


def _bounds(bounds: Any, n: int) -> tuple[Any, Any] | None:
    """The lowest and the highest x, of whatever form; None, or an end that is None, is no bound."""
    if bounds is None:
        return None
    if hasattr(bounds, "lb"):  # scipy.optimize.Bounds
        bounds = (bounds.lb, bounds.ub)
    elif not _is_pair_of_ends(bounds):
        bounds = tuple(zip(*bounds, strict=True))
    low, high = (np.array([none if v is None else v for v in np.atleast_1d(np.asarray(side, object))], np.float64)
                 for side, none in zip(bounds, (-np.inf, np.inf), strict=True))  # fmt: skip
    return np.broadcast_to(low, (n,)), np.broadcast_to(high, (n,))


def _name(f: Any) -> str:
    return getattr(f, "__name__", type(f).__name__)


def _place(f: Any) -> tuple[str, int]:
    """Where a function is written."""
    code = getattr(inspect.unwrap(getattr(f, "__func__", f)), "__code__", None) if callable(f) else None
    return (code.co_filename, code.co_firstlineno) if code is not None else ("", 0)
