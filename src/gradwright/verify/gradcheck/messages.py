"""The message of a failed check: PyTorch's words, then the worst entry by name, then what it is compared with."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradwright.base.errors import GradcheckError
from gradwright.engine.base import wrap
from gradwright.verify.diagnosis.records import to_digits
from gradwright.verify.gradcheck.settings import Settings


class Worst(NamedTuple):
    """An entry of a Jacobian: where it is, and what both sides say of it.

    Attributes:
        output, outputs, output_at: which output, of how many, and where in it.
        input, name, at, value: which input, its name, where in it, and the value there.
        imaginary: whether it is about the imaginary part of the input.
        analytic, numeric, bar: what backward says; what finite differences say, and by how much those may be off.
    """

    output: int
    outputs: int
    output_at: tuple[int, ...]
    input: int
    name: str
    at: tuple[int, ...]
    value: Any
    imaginary: bool
    analytic: Any
    numeric: Any
    bar: float

    @property
    def what(self) -> str:
        """``d out[1] / d x[2]``, as a diagnosis calls it."""
        out = "out" if self.outputs == 1 else f"out[{self.output}]"
        part = " (by the imaginary part)" if self.imaginary else ""
        return f"d {out}{_index(self.output_at)} / d {self.name}{_index(self.at)}{part}"


def _index(at: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, at))}]" if at else ""


def mismatch(worst: Worst, part: str, numeric: Any, analytic: Any, settings: Settings,
             forward: bool = False) -> GradcheckError:  # fmt: skip
    """The error for a wrong derivative."""
    prefix = f"While considering the {part} part of complex outputs only, " if part else ""
    bar = f" ± {worst.bar:.1g}" if np.isfinite(worst.bar) else ""
    how = "computed with forward mode " if forward else ""
    said, due = to_digits(worst.analytic, worst.numeric)
    return GradcheckError(
        f"{prefix}Jacobian {how}mismatch for output {worst.output} with respect to input {worst.input},\n"
        f"worst: {worst.what}: analytical {said}, numerical {due}{bar} "
        f"(allowed: {settings.atol:g} + {settings.rtol:g} * |numerical|)\n"
        f"numerical:{wrap(np.ascontiguousarray(numeric))}\n"
        f"analytical:{wrap(np.ascontiguousarray(analytic))}\n"
    )


def kink(worst: Worst, left: Any, right: Any, jump: bool) -> GradcheckError:
    """The error for a point without a derivative."""
    place = f"{worst.name}{_index(worst.at)} = {worst.value:.6g}"
    output = f"Output {worst.output}{_index(worst.output_at)}"
    if jump:
        return GradcheckError(f"{output} jumps at {place}: it has no derivative there to compare with, and backward, "
                              f"which says {worst.analytic:.6g}, is neither right nor wrong. Check at a point away "
                              "from the jump.")
    return GradcheckError(f"{output} has a kink at {place}: its slope is {left:.6g} to the left and {right:.6g} to "
                          "the right, so there is no derivative to compare with, and backward, which says "
                          f"{worst.analytic:.6g}, is neither right nor wrong. Check at a point away from the kink.")


def edge(worst: Worst) -> GradcheckError:
    """The error where the function is not finite at the point, or beside it."""
    return GradcheckError(f"Output {worst.output}{_index(worst.output_at)} is nan or inf at "
                          f"{worst.name}{_index(worst.at)} = {worst.value:.6g} or right beside it, so that there are "
                          f"no differences to compare with, and backward, which says {worst.analytic:.6g}, is neither "
                          "right nor wrong. Check at a point inside of where it is defined.")


def vague(worst: Worst, settings: Settings) -> GradcheckError:
    """The error where finite differences are too coarse to judge by."""
    step = f"eps={settings.eps:g}" if settings.eps is not None else "the step"
    mend = "Check in float64" if settings.precision != "float64" else "Check with values nearer to 1"
    return GradcheckError(f"Finite differences cannot judge {worst.what} in {settings.precision}: with {step} they "
                          f"give {worst.numeric:.3g} ± {worst.bar:.1g}, since outputs are rounded; backward says "
                          f"{worst.analytic:.3g}. "
                          f"{mend}{', or leave eps to gradcheck' if settings.eps is not None else ''}.")


def drifting(output: int, off: float, step: float) -> GradcheckError:
    """The error for a function that gives something else each time."""
    return GradcheckError("The function is not deterministic: called again with the same inputs, it gives an output "
                          f"{output} that differs by up to {off:.3g}, which finite differences with a step of "
                          f"{step:.1g} cannot bear. Seed or switch off what is random in it (dropout, sampling), and "
                          "keep no state from call to call.")
