"""What is proved of each built-in rule: the rows of docs/proofs.md, and the page, which ``make proofs`` writes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil, log10
from pathlib import Path
from typing import Any

from gradwright.ops.declare import Op, Sample, table
from gradwright.verify.proof.box import prove_on
from gradwright.verify.proof.losses import section
from gradwright.verify.proof.point import PROVED, Proof, prove
from gradwright.verify.testing import draw

_BUDGETS = {1: (400, 1e-12), 2: (200, 1e-9), 3: (200, 1e-6)}
"""For so many numbers that move: how many boxes, and the bound to stop at."""

HEAD = """# What is proved of the built-in derivatives

`make proofs` writes this page; a test holds it. Every formula and every rule runs on balls: numbers with a rigorous
radius. A formula that runs on them with a slope beside each number gives its own derivative; the rule, run backwards,
gives another ball. Where the two do not meet, the rule is wrong. Else the bound here is the largest distance between
them: no error is larger. How to prove your own rules is in [checking.md](checking.md#proofs).

- **At points**: at the inputs of the samples with which every check runs the operation, with random cotangents.
- **On a box**: at every point of it. Boxes of operations of one number are divided until the bound is
  below 1e-12, those of two and three until 1e-9 and 1e-6, or until there are 400, 200 and 200; the bound is what was
  reached. *Except* names the intervals that are left around kinks and poles.
- Either way the rule is linear in its cotangent: what it makes of all numbers up to 2**1000, as one ball, has the slope
  that it has at one number, and of 0 it makes 0. And numbers run the same program, whatever their dtype.
- A bound of 1e-17 or so with a **c** is that of a constant which is only a double, as log 2 in the rule of `exp2`.

"""


@dataclass(frozen=True)
class Row:
    """The results of one rule."""

    name: str
    points: list[Proof]
    box: Proof | None


def rules() -> list[Op]:
    """The built-in operations that have a derivative."""
    return [op for op in table.values() if op.rules]


def at_samples(op: Op) -> list[Proof]:
    """The point proofs of an operation, at each of its samples."""
    found = []
    for sample in op.samples:
        arrays, static = draw(sample)
        found.append(prove(partial(op, **static), *arrays))
    return found


def on_sample(op: Op) -> Proof | None:
    """The box proof of an elementwise operation over the ranges of its first sample that has some."""
    if op.kind != "elementwise":
        return None
    for sample in op.samples:
        inputs = _scalars(op, sample)
        moving = sum(isinstance(x, tuple) for x in inputs or ())
        if inputs and moving in _BUDGETS:
            boxes, goal = _BUDGETS[moving]
            return prove_on(partial(op, **sample.static), *inputs, boxes=boxes, goal=goal)
    return None


def _scalars(op: Op, sample: Sample) -> list[Any] | None:
    """For each input its range, a quarter of it if there are several, or the last of its fixed values.

    None of complex numbers, and where nothing moves.
    """
    inputs: list[Any] = []
    arrays, _ = draw(sample)
    alone = sum(a.values is None and n in op.rules for n, a in zip(op.inputs, sample.arrays, strict=False)) == 1
    for name, a, drawn in zip(op.names_of(len(sample.arrays)), sample.arrays, arrays, strict=True):
        if a.complex:
            return None
        ranged = a.values is None and name in op.rules
        low, width = float(a.low), float(a.high - a.low)
        box = (low, low + width) if alone else (low + 0.625 * width, low + 0.875 * width)
        inputs.append(box if ranged else drawn.reshape(-1)[-1:].reshape(()))
    return inputs if any(isinstance(x, tuple) for x in inputs) else None


def rows() -> Iterator[Row]:
    """The results of every rule."""
    for op in rules():
        yield Row(op.name, at_samples(op), on_sample(op))


def rounded(bound: float | None) -> str:
    """The power of ten that a bound is below; exact if there is no error at all."""
    return f"below 1e{ceil(log10(bound)):+03d}" if bound else "exact"


def line(row: Row) -> str:
    """A row of the table."""
    proved = [p for p in row.points if p]
    points = f"{len(proved)} of {len(row.points)}"
    if proved:
        worst = max(proved, key=lambda p: p.bound or 0.0)
        points += f", {rounded(worst.bound)}" + " **c**" * worst.doubles
    why = next((p.reason for p in row.points if not p), "")
    return f"| `{row.name}` | {points} | {_box(row.box)} | {why} |"


def _box(proof: Proof | None) -> str:
    if proof is None:
        return ""
    where = proof.where.removeprefix("on ")
    if proof.status != PROVED:
        return f"{where}: {proof.status}, {proof.reason or proof.least}"
    words = f"{where}: {rounded(proof.bound)}" + " **c**" * proof.doubles
    if proof.boxes > 1:
        words += f", {proof.boxes} boxes"
    left = [place.partition(", where")[0].removeprefix("on ") for place in proof.left]
    return words + (f"; except {' and '.join(left)}" if left else "")


def page(found: Sequence[Row]) -> str:
    """The page."""
    points = sum(all(row.points) for row in found)
    some = sum(any(row.points) for row in found)
    boxes = [row for row in found if row.box is not None]
    counts = (
        f"Of {len(found)} operations with a derivative, {points} are proved at all their samples and {some - points} "
        f"more at some; of\n{len(boxes)} elementwise ones, {sum(bool(row.box) for row in boxes)} are proved on a box. "
        "None is disproved.\n\n"
    )
    wrong = [p for row in found for p in (*row.points, row.box) if p is not None and p.status == "disproved"]
    if wrong:
        raise AssertionError(f"a rule is disproved: {wrong[0]}")
    head = "| operation | at points | on a box | what is not proved, and why |\n| --- | --- | --- | --- |\n"
    return HEAD + counts + head + "\n".join(map(line, found)) + "\n" + section()


def main() -> None:
    """Write the page to the file that is named."""
    Path(sys.argv[1]).write_text(page([*rows()]), encoding="utf-8")


if __name__ == "__main__":
    main()


