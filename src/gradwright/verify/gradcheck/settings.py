"""The settings of a check: step and tolerances, by the precision of the inputs, and values that are refused."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gradwright.base import dtypes
from gradwright.engine.memory import overlaps
from gradwright.verify.numeric.differences import lost, step
from gradwright.verify.numeric.jacobian import Matrix, Subject, as_coordinates, tensors


class Suit(NamedTuple):
    """The settings that suit a precision.

    Attributes:
        relative: how far to go, as a part of the size of a coordinate; None for a fixed 1e-6, as PyTorch does.
        atol, rtol: how far entries may differ beyond what the finite differences themselves may be off.
    """

    relative: float | None
    atol: float
    rtol: float


SUITS = {
    "float64": Suit(None, 1e-5, 1e-3),
    "float32": Suit(1 / 64, 1e-3, 5e-3),
    "float16": Suit(1 / 8, 2e-2, 2e-2),
    "bfloat16": Suit(1 / 4, 1e-1, 1e-1),
}


class Settings(NamedTuple):
    """The arguments of a check, with what suits its dtypes where nothing was said.

    Attributes:
        eps: the step that the caller asked for; None to take what suits.
        atol, rtol: entries agree when they differ by at most ``atol + rtol * |numerical|``.
        nondet_tol, undefined, dtypes, fast, masked, budget: as `gradcheck` has them.
        precision: the name of the coarsest real dtype involved.
        backward, forward: which modes are checked.
        batched_backward, batched_forward: whether they are in batches, too.
    """

    eps: float | None
    atol: Any
    rtol: Any
    nondet_tol: float
    undefined: bool
    dtypes: bool
    fast: bool
    masked: bool
    budget: float | None
    precision: str
    backward: bool = True
    forward: bool = False
    batched_backward: bool = False
    batched_forward: bool = False

    def suited(self, precision: str) -> Settings:
        """With the tolerances that suit this precision, where none were asked for."""
        given = {k: getattr(SUITS[precision], k) for k in ("atol", "rtol") if getattr(self, k) is None}
        return self._replace(precision=precision, **given)

    def steps(self, x: Any) -> Matrix:
        """How far to go each way, for each coordinate of ``x``."""
        size = np.abs(as_coordinates(np.asarray(x.array)).astype(np.float64))
        if self.eps is not None:
            return np.full(size.shape, float(self.eps))
        relative = SUITS[self.precision].relative
        if relative is not None:
            return step(x, relative)
        return np.maximum(1e-6, np.where(np.isfinite(size), size, 0) * lost(x))

    def tolerated(self, numeric: Any) -> Any:
        """How far from these derivatives others may be."""
        return self.atol + self.rtol * np.abs(numeric)


def precision_of(subject: Subject) -> str:
    """The name of the coarsest real dtype among what is varied and what comes out."""
    found = [dtypes.of(t.array.dtype).to_real() for t in (*subject.varied, *subject.outputs)]
    return max((d.name for d in found if d.name in SUITS), key=lambda name: SUITS[name].rtol, default="float64")


def check_inputs(inputs: Sequence[Any]) -> None:
    """Warn of inputs of little precision; refuse those that overlap, and to check nothing.

    Raises RuntimeError for overlapping memory, ValueError if no input requires grad.
    """
    found = [(i, t) for i, x in enumerate(inputs) for t in tensors(x) if t.requires_grad]
    for i, x in found:
        if x.array.dtype.name not in ("float64", "complex128"):
            suit = SUITS[dtypes.of(x.array.dtype).to_real().name]
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. Unless told "
                f"otherwise, the check takes a step and tolerances that suit {dtypes.of(x.array.dtype).name}: it "
                f"notices errors above {suit.rtol:.1%}.",
                stacklevel=3,
            )
        if x.array.size and any(s == 0 and n > 1 for s, n in zip(x.stride(), x.array.shape, strict=True)):
            raise RuntimeError(f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that "
                               "are non-overlapping to be able to compute the numerical gradients correctly. You "
                               "should call .contiguous on the input before passing it to gradcheck.")
        if overlaps(x):
            raise RuntimeError(f"The {i}th input overlaps itself: several of its entries lie at one place in memory, "
                               "so that none can be moved alone. gradcheck only supports inputs that are "
                               "non-overlapping: clone() it first.")
    if not found:
        raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of them have "
                         "requires_grad=True.")
