"""Point proofs: at given points, the distance of a rule from the derivative of its formula, with a rigorous bound."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from gradwright.base.pages.shown import Shown
from gradwright.engine.base import TensorBase
from gradwright.function.contract.surrogate import reason_of
from gradwright.ops.declare import Op
from gradwright.verify.numeric.jacobian import unbound
from gradwright.verify.proof import series
from gradwright.verify.proof.balls import balls, conditions, exactly
from gradwright.verify.proof.errors_of_rules import FAILURES, Compared, compared, decided_around, linear, why_not
from gradwright.verify.proof.program import same_program
from gradwright.verify.proof.series import working

BITS = 192
DOUBLES = 2.0**-49
"""The relative size of errors that constants make which are only doubles: a few units in their last place."""

WIDE = 1e-14
"""A bound that is larger, relative to the derivative, proves nothing of interest."""


def prove(f: Callable[..., Any], *inputs: Any, bits: int = BITS, name: str | None = None, **static: Any) -> Proof:
    """Whether the backward of ``f`` is the derivative of its forward at these inputs, with a bound on the error.

    ``f`` runs twice on balls, midpoints with a rigorous radius, in place of numbers: once forward with a slope beside
    each number, which is the derivative by the formula, and once forward and backward, which is the rule. Where the
    two balls do not meet the rule is disproved; else no error is larger than the largest distance between them.

    Args:
        f: an operation of `gradwright.op`, a `custom_op`, a `Function`, or any function of tensors that is written in
            tensors: what calls NumPy inside, or branches on a value, is not proved.
        inputs: its arguments. Tensors and arrays of floating point are taken as exact numbers, and differentiated by;
            if some tensors require grad, by those alone. All else is handed on as it is.
        bits: with how many bits balls compute.
        name: what the proof calls it.
        static: further arguments of ``f``; if one is called as those here, ``functools.partial(f, bits=8)``.

    >>> print(prove(gw.tanh, gw.tensor([0.5, -2.0], dtype=gw.float64)))
    tanh: proved at these inputs: error below ...

    Raises ImportError without python-flint: ``pip install python-flint``.
    """
    f, static = unbound(f, static)
    label = name or name_of(f)
    if reason := reason_of(f):
        meant = f"its gradient is declared to be no derivative: {reason}"
        return Proof(label, NOT_PROVED, "at these inputs", reason=meant)
    call, arrays, moving = read(f, inputs, static)
    elementwise = isinstance(f, Op) and f.kind == "elementwise"
    if not sum(arrays[k].size for k in moving):
        return Proof(label, NOT_PROVED, "at these inputs", reason="there is nothing to differentiate by: give inputs "
                     "of floating point that are not empty")  # fmt: skip
    found = settle(label, "at these inputs", bits, partial(at_points, call, arrays, moving, elementwise))
    return confirmed(found, f, call, arrays, moving, bits) if found else found


def name_of(f: Any) -> str:
    """The name of a function."""
    return str(getattr(f, "name", None) or getattr(f, "__name__", None) or f)


def read(f: Any, inputs: Sequence[Any], static: dict[str, Any]) -> tuple[Callable[..., Any], list[Any], list[int]]:
    """The call, as a function of tensors for the array arguments; those arrays; and which to differentiate by."""
    run = f.apply if isinstance(f, type) and hasattr(f, "apply") else f
    spots = [k for k, x in enumerate(inputs) if isinstance(x, (TensorBase, np.ndarray, np.generic))]
    arrays = [np.asarray(x.array) if isinstance(x := inputs[k], TensorBase) else np.asarray(x) for k in spots]
    arrays = [a.astype(np.float32) if a.dtype.kind == "V" else a for a in arrays]  # bfloat16, exactly
    asked = [k for k, s in enumerate(spots) if getattr(inputs[s], "requires_grad", False)]
    moving = asked or [k for k, a in enumerate(arrays) if a.dtype.kind in "fc"]
    if isinstance(f, Op):
        names = f.names_of(len(arrays))
        moving = [k for k in moving if names[k] in f.rules]

    def call(*tensors: Any) -> Any:
        given = list(inputs)
        for k, t in zip(spots, tensors, strict=True):
            given[k] = t
        return run(*given, **static)

    return call, arrays, moving


def settle(name: str, where: str, bits: int, work: Callable[[], list[Compared]]) -> Proof:
    """The proof that a comparison makes; what balls could not run is not proved."""
    with working(bits=bits), conditions() as left:
        try:
            found = work()
        except FAILURES as e:
            return Proof(name, NOT_PROVED, where, reason=why_not(e))
        return judged(name, where, found, left)


def confirmed(proof: Proof, f: Any, call: Callable[..., Any], arrays: Sequence[Any], moving: Sequence[int],
              bits: int, around: bool = True) -> Proof:  # fmt: skip
    """A proof, if numbers run the same program as balls do, and what the formula decides it decides all around.

    Backward must be linear in its cotangents, too. ``around``: whether what is around is to be looked at.
    """
    def refused(reason: str) -> Proof:
        return Proof(proof.name, NOT_PROVED, proof.where, reason=reason, boxes=proof.boxes)

    given = [exactly(a) for a in arrays]
    with working(bits=bits), conditions() as left:
        try:
            if around and not decided_around(call, given, moving, bits) and not left:
                return refused("around the inputs the result jumps, as on a branch cut: take other points")
            linear(call, given, moving)
            same_program(f, call, arrays, moving)
        except FAILURES as e:
            return refused(why_not(e))
    return refused(_with_open("the inputs lie on a kink or a jump", left)) if left and around else proof


def at_points(call: Callable[..., Any], arrays: Sequence[Any], moving: Sequence[int],
              elementwise: bool) -> list[Compared]:  # fmt: skip
    """The comparison at exact points, with cotangents that are random, and the same every time."""
    given = [exactly(a) for a in arrays]
    if elementwise and len({a.shape for a in given}) > 1:
        elementwise = False
    generator = np.random.default_rng(5)
    return compared(call, given, moving, partial(cotangent, generator), elementwise=elementwise)


def cotangent(generator: Any, out: Any) -> Any:
    """Random cotangents of a result, exact in few bits."""
    parts = np.round(generator.uniform(0.5, 2.0, (2, *out.shape)) * generator.choice([-1.0, 1.0], (2, *out.shape)), 3)
    return balls(parts[0] + 1j * parts[1] if out.dtype.kind == "c" else parts[0])


def judged(name: str, where: str, found: Sequence[Compared], left: Sequence[str]) -> Proof:
    """The errors of all inputs in one verdict."""
    worst, widest, least, at, doubles = 0.0, 0.0, 0.0, "", False
    for one in found:
        for place in np.ndindex(one.error.shape):
            error, size = (series.start(one.error[place]), series.start(one.formula[place]))
            here = f"in the derivative by input {one.index}" + (f" at {list(place)}" if place else "")
            if not error.is_finite():
                reason = f"{here} there is a pole, or what the balls cannot tell from one"
                return Proof(name, NOT_PROVED, where, reason=_with_open(reason, left))
            low, high = upper(error.abs_lower()), upper(error.abs_upper())
            if low > DOUBLES * upper(abs(size).abs_upper() if size != 0 else series.arb(0)):
                if not left and low > least:
                    least, at = low, here
            elif low > 0:
                doubles = True
            worst = max(worst, high)
            widest = max(widest, high / (1 + upper(abs(size).abs_upper())))
    if left:
        return Proof(name, NOT_PROVED, where, reason=_with_open("the inputs lie on a kink or a jump", left))
    if least:
        return Proof(name, DISPROVED, where, worst, least, at)
    if widest > WIDE:
        return Proof(name, NOT_PROVED, where, reason=f"the balls have become as wide as {worst:.2g}: take more bits")
    return Proof(name, PROVED, where, worst, doubles=doubles)


def _with_open(reason: str, left: Sequence[str]) -> str:
    conditions = ", ".join(left[:3])
    return f"{reason} ({conditions} is open): take points away from it" if left else f"{reason}: take other points"


def upper(x: Any) -> float:
    """A float not below a ball of a size."""
    value = float(x.upper()) if hasattr(x, "upper") else float(x)
    return float(np.nextafter(value, np.inf)) if value else 0.0


PROVED, DISPROVED, NOT_PROVED = "proved", "disproved", "not proved"


@dataclass(frozen=True)
class Proof(Shown):
    """What is known of a rule; true if it is proved.

    Attributes:
        name: of the operation.
        status: ``"proved"``, ``"disproved"`` or ``"not proved"``.
        where: at which points, or on which boxes.
        bound: no error, the distance of the rule from the derivative of the formula, is larger; None if not proved.
        least: of what is disproved: there is an error of at least this size.
        at: the input and the entry with the largest error, as words.
        reason: why it is not proved, and what would help.
        doubles: whether balls are apart, but by no more than constants that are only doubles would have them.
        boxes: into how many boxes a box was divided; 0 for points.
        left: where, of a box, it is not proved, and why.
    """

    name: str
    status: str
    where: str
    bound: float | None = None
    least: float | None = None
    at: str = ""
    reason: str = ""
    doubles: bool = False
    boxes: int = 0
    left: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return self.status == PROVED

    def __str__(self) -> str:
        head = f"{self.name}: {self.status} {self.where}"
        if self.status == NOT_PROVED:
            return f"{head}: {self.reason}"
        if self.status == DISPROVED:
            return f"{head}: an error of at least {self.least:.2g}, {self.at}"
        words = f"{head}: error below {self.bound:.2g}" if self.bound else f"{head}: exact"
        if self.boxes:
            words += f", with {self.boxes} boxes"
        if self.doubles:
            words += "; it is not 0: a constant is only a double"
        return words + "".join(f"; not {place}" for place in self.left)
