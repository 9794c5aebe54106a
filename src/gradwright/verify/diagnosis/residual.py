"""What is left between backward and finite differences, for one input; and how well a guess explains it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradwright.base.cpython.forks import cached_property
from gradwright.verify.diagnosis.grid_of_entries import WHOLE, Grid


@dataclass(frozen=True)
class Part:
    """The places of one tensor's entries along a side of a Jacobian.

    Of a complex one first the real parts, then the imaginary parts.

    Attributes:
        name: of the tensor. full: its shape. is_complex: whether it is complex.
        start: where its entries begin. grid: those of them that are compared.
    """

    name: str
    full: tuple[int, ...]
    is_complex: bool
    start: int = 0
    grid: Grid = WHOLE

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The shape of what of it is compared."""
        return tuple(len(self.grid.along(n)) for n in self.full)

    @cached_property
    def entries(self) -> Any:
        """Those that are compared, counted through; None for all."""
        return self.grid.flat(self.full)

    @cached_property
    def coordinates(self) -> Any:
        """The same of real and imaginary parts."""
        flat = np.arange(int(np.prod(self.full))) if self.entries is None else self.entries
        return np.concatenate((flat, flat + int(np.prod(self.full)))) if self.is_complex else flat

    @property
    def size(self) -> int:
        """How many rows or columns they take."""
        return int(np.prod(self.shape)) * (1 + self.is_complex)

    @property
    def axes(self) -> tuple[int, ...]:
        """The shape of the side: that of the tensor, with an axis of 2 before it if complex."""
        return (2, *self.shape) if self.is_complex else self.shape

    @property
    def slice(self) -> slice:
        """Its place along the side."""
        return slice(self.start, self.start + self.size)

    def at(self, k: int) -> tuple[str, tuple[int, ...]]:
        """Which part (``""`` of a real tensor) and which index a row or column belongs to."""
        part, *index = np.unravel_index(k - self.start, self.axes if self.is_complex else (1, *self.axes))
        found = tuple(int(self.grid.along(n)[i]) for i, n in zip(index, self.full, strict=True))
        return (("real", "imaginary")[part] if self.is_complex else ""), found


@dataclass(frozen=True, eq=False)
class Residual:
    """The Jacobian of all outputs by one input: a row per entry of the input, a column per entry of the outputs.

    Attributes:
        input, outputs: what the rows are, and what the columns are.
        analytic, numeric: by backward and by finite differences; bar: how far the numeric ones may be off.
        allowed: how far the two may differ before backward is wrong.
        kinks: entries where the one-sided slopes, left and right, differ.
        left, right: those slopes, with the smallest step.
        given: for each output whether backward gave a gradient (False: None, or nothing recorded at all).
        unit: the relative rounding error of the coarsest dtype in it.
    """

    input: Part
    outputs: tuple[Part, ...]
    analytic: Any
    numeric: Any
    bar: Any
    allowed: Any
    kinks: Any
    left: Any
    right: Any
    given: tuple[bool, ...]
    unit: float

    @property
    def name(self) -> str:
        """Of the input."""
        return self.input.name

    @cached_property
    def usable(self) -> Any:
        """The entries that can be judged: there is a derivative, and it could be measured."""
        return self.due & np.isfinite(self.numeric) & np.isfinite(self.bar)

    @cached_property
    def due(self) -> Any:
        """The entries that have a derivative: no kink, nor at the edge of where the function is defined."""
        return ~self.kinks & self.known.all(1, keepdims=True)

    @cached_property
    def known(self) -> Any:
        """The entries with a finite slope to either side."""
        return np.isfinite(self.left) & np.isfinite(self.right)

    @cached_property
    def wrong(self) -> Any:
        """The entries where backward is wrong: further off than allowed, or not finite."""
        with np.errstate(invalid="ignore"):
            return self.usable & ~(np.abs(self.analytic - self.numeric) <= self.allowed)

    @cached_property
    def sound(self) -> Any:
        """The entries where both are numbers, to fit guesses to."""
        return self.usable & np.isfinite(self.analytic)

    @cached_property
    def error(self) -> Any:
        """What is to be explained: analytic less numeric, 0 where nothing can be said."""
        return np.where(self.sound, np.where(self.sound, self.analytic, 0) - self.numeric, 0)

    def explained(self, guess: Any, doubt: float = 1.0) -> float:
        """How much of the error is explained if a wrong backward of the guessed kind would give ``guess``: 0 to 1.

        ``doubt`` is how much larger than that of the numeric Jacobian the uncertainty of the guess is.
        """
        if not self.wrong.any() or not self.whole:
            return 0.0
        guess, doubt = np.asarray(guess), max(1.0, doubt)
        with np.errstate(all="ignore"):
            at = self.worst
            miss = np.abs(np.where(self.sound[at], self.analytic[at] - guess[at], 0)) - doubt * self.allowed[at]
            most = 1 - float(np.linalg.norm(np.maximum(miss, 0))) / self.whole
            if not most >= 0.5:  # few entries tell of most guesses that they are none
                return max(most, 0.0) if most == most else 0.0
            miss = np.abs(np.where(self.sound, self.analytic - guess, 0)) - doubt * self.allowed
            if not np.isfinite(miss[self.sound]).all():
                return 0.0
            return float(np.clip(1 - np.linalg.norm(np.maximum(miss, 0)) / self.whole, 0, 1))

    @cached_property
    def whole(self) -> float:
        """How large the error is."""
        return float(np.linalg.norm(self.error))

    @cached_property
    def worst(self) -> Any:
        """The places of the largest errors."""
        flat = np.abs(self.error).reshape(-1)
        few = min(64, flat.size)
        return np.unravel_index(np.argpartition(-flat, few - 1)[:few], self.error.shape)

    def blocks(self) -> Iterator[tuple[Part, Any, Any]]:
        """For each output its part of the columns, analytic and numeric."""
        for out in self.outputs:
            yield out, self.analytic[:, out.slice], self.numeric[:, out.slice]

    @property
    def seen(self) -> float:
        """How small an error of one entry is told, as a part of the largest entry."""
        return float(np.max(self.allowed, where=self.usable, initial=0.0)) / (self.scale() or 1.0)

    def scale(self) -> float:
        """The largest numeric entry that is known."""
        known = np.abs(self.numeric[self.usable])
        return float(known.max()) if known.size else 0.0
