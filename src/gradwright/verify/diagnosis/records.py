"""What a diagnosis says: plain records, and the diagnosis itself, which prints as a report."""

from __future__ import annotations

import enum
import math
import textwrap
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gradwright.base.pages.shown import Shown
from gradwright.verify.diagnosis.reproduction import Replay, write

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


def to_digits(a: Any, b: Any, digits: int = 6) -> tuple[str, str]:
    """Two numbers with so many digits, or as many more as it takes to tell them apart.

    >>> to_digits(3.000001, 3.0)
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
    if isinstance(value, complex):
        return [plain(value.real), plain(value.imag)]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


# ---- the report --------------------------------------------------------------------------------------------


WIDTH = 110


@dataclass(frozen=True, eq=False)
class Diagnosis(Shown):
    """The findings of `diagnose`; ``str()`` of it is a short report.

    Attributes:
        name: of the function.
        order: of the derivative: 1 or 2.
        verdict: VERIFIED, WRONG or INCONCLUSIVE. Only VERIFIED is a pass.
        reason: in a word why it is not VERIFIED, the name of the likeliest hypothesis: ``factor``, ``kink``, ...
        summary: the verdict in a sentence; settle: of an INCONCLUSIVE one, what would settle it.
        worst: the entry that is furthest off, compared with what its error bar allows; None if nothing was measured.
        error, bar: of that entry, how far backward is off, and how far the numeric value may be.
        hypotheses: possible causes, the likeliest first.
        blocks: the Jacobians, a `Block` for each output and input.
        steps, ladder: ``ladder[k]`` is the central difference of the worst entry with ``steps[k]``.
        replay: what was diagnosed, for `capsule`.
        sampled: what was compared, if it was not all; otherwise ``""``.
        witness: what the engine's own derivative of forward says (`second_witness`), where that was asked and speaks:
            of a Function, custom_op or Op that is given as such, and right as far as differences tell.
        seen: of a VERIFIED one, how small an error of any one entry compared differences would have told, as a part of
            the largest entry by that input.
    """

    name: str
    order: int
    verdict: Verdict
    reason: str
    summary: str
    settle: str
    worst: Entry | None
    error: float
    bar: float
    hypotheses: tuple[Hypothesis, ...]
    blocks: tuple[Block, ...] = field(repr=False)
    steps: Any = field(repr=False)
    ladder: Any = field(repr=False)
    replay: Replay = field(repr=False)
    sampled: str = ""
    witness: str = ""
    seen: float | None = None

    def __str__(self) -> str:
        return text(self)

    @property
    def unexplained(self) -> tuple[str, ...]:
        """The inputs whose gradients are wrong for no known cause."""
        wrong = dict.fromkeys(b.input for b in self.blocks if b.wrong.any())
        told = {h.argument for h in self.hypotheses}
        return tuple(name for name in wrong if name not in told and "" not in told)

    def as_dict(self) -> dict[str, Any]:
        """The same as plain data, fit for JSON: numbers that are not finite are strings."""
        return plain({f.name: getattr(self, f.name) for f in fields(self) if f.name != "replay"})

    def capsule(self, path: Any) -> tuple[Path, Path]:
        """Write what it takes to see this again: inputs, Jacobians and steps, and a test that replays the diagnosis.

        Args:
            path: of the ``.npz`` file; the test goes beside it, as ``test_<name>.py``. It passes once the function is
                mended. It imports the function by module and name; where that cannot be (a lambda, a function inside
                another, an argument that cannot be written down), the test fails and says why.

        Returns:
            The paths of the two files.
        """
        return write(Path(path), self.replay, str(self), self._arrays())

    def _arrays(self) -> dict[str, Any]:
        found = {"steps": self.steps, "ladder": self.ladder}
        for k, b in enumerate(self.blocks):
            for what in ("analytic", "numeric", "bar"):
                found[f"{what}_{k}"] = getattr(b, what)
        return found


def text(d: Diagnosis) -> str:
    """The report: verdict, worst entry, hypotheses with their mends."""
    lines = _wrapped(f"{d.verdict}: ", d.summary)
    lines += _wrapped("", d.sampled) if d.sampled else []
    judged = d.verdict is not Verdict.SURROGATE and any(b.wrong.any() for b in d.blocks)
    if d.worst is not None and (d.verdict is Verdict.INCONCLUSIVE or judged):
        analytic, numeric = to_digits(d.worst.analytic, d.worst.numeric, 8)
        label = "worst entry, by its error bar: " if judged else "worst entry: "
        lines += _wrapped(label, f"{d.worst}: analytic {analytic}, numeric {numeric} ± {d.worst.bar:.1g}")
    lines += _wrapped("second witness: ", d.witness) if d.witness else []
    wrong = d.verdict is Verdict.WRONG
    for k, h in enumerate(d.hypotheses):
        share = "" if h.evidence >= 0.9995 or not wrong else f" (explains {100 * h.evidence:.0f} % of it)"
        lines += _wrapped("or: " if k else "likeliest: " if wrong else "because: ", h.sentence + share)
        lines += _wrapped("    mend: " if wrong else "    to settle it: ", h.mend)
    if wrong and d.unexplained:
        lines += _wrapped("", f"no known cause fits the gradient of {' and '.join(f'`{n}`' for n in d.unexplained)}")
    elif wrong and not d.hypotheses:
        lines += ["no known cause fits the error"]
    return "\n".join(lines)


def _wrapped(label: str, line: str) -> list[str]:
    first, *rest = line.splitlines()
    return [
        piece
        for room, text in ((label, first), *((" " * 8, text) for text in rest))
        for piece in textwrap.wrap(text, WIDTH, initial_indent=room, subsequent_indent=" " * 8, break_long_words=False,
                                   break_on_hyphens=False)
    ]
