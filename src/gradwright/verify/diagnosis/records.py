"""What a diagnosis says: plain records."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

MEANT = (
    'if it is meant to be no derivative, say so: @gradwright.autograd.surrogate("why") above the class (one of '
    "PyTorch's, too); then its values are not compared, and all else is"
)
"""What to do about a gradient that is untrue on purpose."""


class Verdict(enum.StrEnum):
    """What is known of a derivative; only VERIFIED is a pass."""

    VERIFIED = "VERIFIED"
    """Every entry agrees with its numeric value, and those are known well enough to tell."""
    WRONG = "WRONG"
    """An entry differs from its numeric value by more than its error bar allows, or a rule of backward is broken."""
    INCONCLUSIVE = "INCONCLUSIVE"
    """Finite differences cannot tell here: at a kink, under noise, ...; the diagnosis says what would settle it."""
    SURROGATE = "SURROGATE"
    """The gradient is declared to be no derivative: its values were not judged, only that backward behaves."""


@dataclass(frozen=True)
class Entry:
    """One entry of a Jacobian: how an entry of an output moves with an entry of an input.

    Attributes:
        input, index: which entry of which argument.
        output, output_index: which entry of which output.
        part: ``""``, or for complex numbers which parts: ``"real by imag"`` is the real part of the output by the
            imaginary part of the input.
        analytic: what backward says. numeric: what finite differences say. bar: how far those may be off.
    """

    input: str
    index: tuple[int, ...]
    output: str
    output_index: tuple[int, ...]
    part: str
    analytic: float
    numeric: float
    bar: float

    def __str__(self) -> str:
        part = f" ({self.part})" if self.part else ""
        return f"d {_at(self.output, self.output_index)} / d {_at(self.input, self.index)}{part}"


def _at(name: str, index: tuple[int, ...]) -> str:
    return f"{name}[{', '.join(map(str, index))}]" if index else name


@dataclass(frozen=True)
class Hypothesis:
    """A possible cause.

    Attributes:
        name: of the kind of cause: ``factor``, ``sign``, ``kink``, ...
        sentence: what is supposed, in plain words.
        evidence: how much of the error it explains, from 0 to 1; 1 is all of it, within the error bars.
        mend: what to do about it.
        argument: the argument whose gradient it is about; ``""`` if about all.
        constant: a number in it that was fitted to what was measured; None if there is none.
    """

    name: str
    sentence: str
    evidence: float
    mend: str
    argument: str = ""
    constant: float | None = None


@dataclass(frozen=True, eq=False)
class Block:
    """The Jacobian of one output by one input.

    Real matrices: a row per entry of the input, a column per entry of the output; of complex ones first all real parts,
    then all imaginary parts.

    Attributes:
        input, output: which.
        analytic, numeric, bar: by backward; by finite differences; how far those may be off.
        wrong: which entries differ by more than that. kinks: which have no derivative, as the two slopes differ.
        left, right: the slopes to either side.
        rows, columns: which coordinates of input and output the rows and columns are of.
    """

    input: str
    output: str
    analytic: Any
    numeric: Any
    bar: Any
    wrong: Any
    kinks: Any
    left: Any
    right: Any
    rows: Any
    columns: Any


def apart(a: Any, b: Any, digits: int = 6) -> tuple[str, str]:
    """Two numbers with so many digits, or as many more as it takes to tell them apart.

    >>> apart(3.000001, 3.0)
    ('3.000001', '3')
    """
    for n in range(digits, 18):
        x, y = f"{a:.{n}g}", f"{b:.{n}g}"
        if x != y or a == b:
            break
    return x, y


def plain(value: Any) -> Any:
    """A record as dictionaries, lists, strings and numbers."""
    if isinstance(value, enum.Enum):
        return value.value
    if is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    if isinstance(value, (np.ndarray, np.generic)):
        exact = value.dtype.kind in "biu" or (value.dtype.kind == "f" and np.isfinite(value).all())
        return value.tolist() if exact else plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
