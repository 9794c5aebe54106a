"""The error of a rule as a ball: what the formula's own derivative is, less what the backward pass says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gradwright.base.errors import NotProvedError
from gradwright.engine.base import wrap
from gradwright.engine.calls import grad
from gradwright.function.contract.trees import tensors_in
from gradwright.verify.numeric.jacobian import leaf
from gradwright.verify.proof import series
from gradwright.verify.proof.balls import Balls, boxed, conditions, each, spread
from gradwright.verify.proof.series import flint
from gradwright.verify.proof.space import BALLS

assert BALLS  # its arrays are known

FAILURES = (RuntimeError, TypeError, ValueError, AttributeError, NotImplementedError, IndexError, ArithmeticError)
"""Exceptions of programs that balls cannot run, and `NotProvedError` among them."""
Call = Callable[..., Any]
"""A function of tensors, which returns tensors, in containers too."""


def why_not(error: Exception) -> str:
    """Why there is no proof, given one of `FAILURES`."""
    if isinstance(error, NotProvedError):
        return str(error).removeprefix("not proved: ")
    return f"balls cannot run it: {type(error).__name__}: {error}"


@dataclass(frozen=True)
class Compared:
    """Of one input: the derivative of the formula, what the rule says, and the difference; arrays of series."""

    index: int
    formula: Any
    rule: Any
    error: Any


def _tensors(arrays: Sequence[Any], moving: Sequence[int], make: Callable[[Any], Any]) -> list[Any]:
    return [make(a) if k in moving else wrap(a) for k, a in enumerate(arrays)]


def compared(call: Call, arrays: Sequence[Any], moving: Sequence[int], cotangent: Callable[[Any], Balls], *,
             elementwise: bool = False) -> list[Compared]:  # fmt: skip
    """For each input that moves the error of the backward pass of ``call`` at these arrays, balls among them.

    Args:
        call: takes tensors over the arrays.
        arrays: ball arrays and NumPy's; their balls have no slopes.
        moving: which inputs to differentiate by.
        cotangent: of a result, made from its array: the numbers that come from above.
        elementwise: whether each entry of the result depends on one entry of each input alone, all of one shape.

    Raises NotProvedError where balls cannot run it.
    """
    outs = tensors_in(call(*(leaves := _tensors(arrays, moving, leaf))))
    which = [k for k, t in enumerate(outs) if t._node is not None]
    if not which:
        raise NotProvedError("not proved: no result has a derivative by these inputs")
    gs = {k: cotangent(outs[k].array) for k in which}
    grads = grad([outs[k] for k in which], [leaves[i] for i in moving], [wrap(g) for g in gs.values()],
                 allow_unused=True)  # fmt: skip
    return [_of_input(call, arrays, i, g, gs, elementwise) for i, g in zip(moving, grads, strict=True)]


def decided_around(call: Call, arrays: Sequence[Any], moving: Sequence[int], bits: int) -> bool:
    """Run the formula on balls that are as wide as half of the bits leave them: what it decides, it decides around.

    A condition may touch its bound with no slope, as x**2 > 0 does at 0. What is open around is noted, or raised.
    False if the result jumps without a condition, as on a branch cut: there the results of narrow balls are wide.
    """
    def widened(a: Balls) -> Balls:
        return Balls(each(lambda e: series.around(e, -bits // 2), a.value), None, a.dtype)

    outs = tensors_in(call(*[wrap(widened(a) if k in moving else a) for k, a in enumerate(arrays)]))
    parts = [part for t in outs if isinstance(t.array, Balls) for e in t.array.value.flat for part in series.parts(e)]
    return all(part.is_finite() and part.rad() <= _JUMP * (1 + abs(part.mid())) for part in parts)


_JUMP = 1e-6
"""What is this much wider, relative to its size, where inputs are as narrow as they are there, jumps."""


@dataclass(frozen=True)
class _Pulled:
    """What a backward pass makes of cotangents: values, and how they move with these; and what it decided on them."""

    values: list[Any]
    slopes: list[Any]
    why: str


def linear(call: Call, arrays: Sequence[Any], moving: Sequence[int], exact: bool = True) -> None:
    """Raise NotProvedError unless the backward pass is linear in its cotangents, at all of these balls.

    Cotangents are balls that hold all numbers up to 2**1000. The slope of what is pulled back must be the same for all
    of them as for one, and nothing be pulled back of 0. What is decided by signs alone, or at 0, may be: then all of
    one sign, between 2**-142 and 2**142, must be treated alike, and what is said of -g and 0 be -1 and 0 times what is
    said of g: the latter is seen by the values where inputs are ``exact``, by the slopes on a box.
    """
    leaves = _tensors(arrays, moving, leaf)
    outs = [t for t in tensors_in(call(*leaves)) if t._node is not None]
    inputs = [leaves[i] for i in moving]

    def pulled(make: Callable[[float], Any]) -> _Pulled:
        """The gradients for cotangents made of random signs, which move in a random direction."""
        signs, ways = np.random.default_rng(5), np.random.default_rng(6)
        draw = lambda: make(float(signs.choice([-1.0, 1.0])))
        way = lambda: float(np.round(ways.uniform(0.5, 2.0), 3) * ways.choice([-1.0, 1.0]))
        one = lambda like, of: series.series([flint.acb(of(), of())] if like.dtype.kind == "c" else [of()])
        filled = lambda like, of: each(lambda _: one(like, of), like.value)
        gs = [wrap(Balls(filled(t.array, draw), filled(t.array, way), t.array.dtype)) for t in outs]
        with conditions() as left:
            try:
                found = grad(outs, inputs, gs, allow_unused=True, retain_graph=True)
            except NotProvedError as e:
                return _Pulled([], [], why_not(e))
        arrays = [g.array for g in found if g is not None]
        return _Pulled([a.value for a in arrays], [a.slopes() for a in arrays], f"{left[0]} is open" if left else "")

    wide = pulled(lambda sign: flint.arb(0, flint.arb(2) ** 1000))
    none = pulled(lambda sign: flint.arb(0))
    if not wide.why and _alike(wide, pulled(lambda sign: flint.arb(1.25 * sign))) and _nothing(none.values):
        return
    reason = "not proved: backward is not linear in its cotangent, or balls cannot tell"
    if not wide.why:
        raise NotProvedError(reason)
    reason = f"not proved: backward decides on its cotangent ({wide.why}), so that it need not be linear in it"
    said, opposite = (pulled(partial(_signed, f, 0.0)) for f in (1.5, -1.5))
    for sign in (1.0, -1.0):
        for top in (2.0**142, 2.0**42, 2.0**14, 2.0**-14, 2.0**-114):
            middle, radius = top * (0.5 + 2.0**-29), top * (0.5 - 2.0**-29)
            found = pulled(partial(_signed, middle * sign, radius))
            if found.why or not _alike(found, said):
                raise NotProvedError(reason)
    sums = [boxed(a + b) for a, b in zip(said.values, opposite.values, strict=True)]
    if not (_nothing(none.values) and _alike(said, opposite) and (_nothing(sums) or not exact)):
        raise NotProvedError(reason)


_SAME = 1e-6


def _alike(a: _Pulled, b: _Pulled) -> bool:
    """Whether slopes are the same balls, but for rounding: then they do not depend on where they are taken."""
    def one(x: Any, y: Any) -> bool:
        return all(p.is_finite() and q.is_finite() and abs(p.rad() - q.rad()) <= _SAME * (abs(q.mid()) + q.rad())
                   and abs(p.mid() - q.mid()) <= _SAME * (abs(q.mid()) + q.rad())
                   for p, q in zip(series.parts(x), series.parts(y), strict=True))  # fmt: skip

    return all(one(x, y) for s, t in zip(a.slopes, b.slopes, strict=True) for x, y in zip(s.flat, t.flat, strict=True))


def _nothing(arrays: list[Any]) -> bool:
    """Whether these are zeros, so far as balls can tell."""
    return all(part.contains(0) and part.rad() < _SAME
               for array in arrays for e in array.flat for part in series.parts(e))  # fmt: skip


def _signed(middle: float, radius: float, sign: float) -> Any:
    return flint.arb(sign * middle, radius)


def _of_input(call: Call, arrays: Sequence[Any], i: int, found: Any, gs: dict[int, Balls],
              elementwise: bool) -> Compared:  # fmt: skip
    x = arrays[i]
    rule = boxed(spread(series.constant(0), x.shape)) if found is None else found.array.value

    def along(seed: Any) -> Any:
        moved = Balls(x.value, seed, x.dtype)
        outs = tensors_in(call(*[wrap(moved if k == i else a) for k, a in enumerate(arrays)]))
        total: Any = None
        for k, g in gs.items():
            term = _inner(g.value, outs[k].array)
            term = term if elementwise else boxed(np.add.reduce(term, axis=None, initial=series.constant(0)))
            total = term if total is None else boxed(total + term)
        return total

    def derivative(one: Any) -> Any:
        if elementwise:
            return along(spread(one, x.shape))
        out = np.empty(x.shape, object)
        for at in np.ndindex(x.shape):
            seed = np.full(x.shape, None, object)
            for k in np.ndindex(x.shape):
                seed[k] = one if k == at else series.constant(0)
            out[at] = along(seed)[()]
        return out

    formula = derivative(series.constant(1))
    if x.dtype.kind == "c":
        formula = boxed(formula + derivative(series.constant(1j)) * boxed(series.constant(1j)))
    return Compared(i, formula, rule, boxed(formula - rule))


def _inner(g: Any, out: Balls) -> Any:
    """dL = Re(conj(g) dy), entry by entry."""
    slope = out.slopes()
    if out.dtype.kind != "c":
        return boxed(each(series.times, g, slope))
    of = lambda x, part: series.series([getattr(c, part) for c in series.coefficients(x)])
    return each(lambda a, b: of(a, "real") * of(b, "real") + of(a, "imag") * of(b, "imag"), g, slope)
