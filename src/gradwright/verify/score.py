"""The checkers' own score: errors planted in every built-in rule, and which of them each checker finds.

An error of size s is a part s of what the rule returns put wrong: a factor, a sign, a term that is lost or there twice,
a transpose, a wrong axis. It counts where it changes the gradient by more than a tenth of s, relative to its largest
entry: x**T of one row changes nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gradwright.engine.base import wrap
from gradwright.engine.calls import grad
from gradwright.ops.declare import Op, Rule, table
from gradwright.verify.chance import sampled
from gradwright.verify.diagnosis import Verdict, diagnose
from gradwright.verify.numeric.jacobian import leaf
from gradwright.verify.proof import prove
from gradwright.verify.proof.point import DISPROVED, PROVED
from gradwright.verify.testing import draw
from gradwright.verify.witness import second_witness

SIZES = (1.0, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
Plant = Callable[[Any, Any, Any, float], Any]


def _share(r: Any, xp: Any, at: Callable[[Any], Any]) -> Any:
    """1 at those entries, counted through, that ``at`` says, 0 at others."""
    return xp.asarray(1.0 * at(np.arange(int(np.prod(r.shape))).reshape(r.shape)), dtype=r.dtype)


def _transposed(xp: Any, g: Any, r: Any, size: float) -> Any:
    if len(r.shape) < 2 or r.shape[-1] != r.shape[-2]:
        return r
    turned = xp.permute_dims(r, (*range(len(r.shape) - 2), len(r.shape) - 1, len(r.shape) - 2))
    return r * (1.0 - size) + turned * size


PLANTS: dict[str, Plant] = {
    "factor": lambda xp, g, r, size: r * (1.0 + size),
    "sign": lambda xp, g, r, size: r * (1.0 - 2.0 * size),
    "lost term": lambda xp, g, r, size: r * (1.0 - size * _share(r, xp, lambda k: k % 2)),
    "doubled term": lambda xp, g, r, size: r * (1.0 + size * _share(r, xp, lambda k: k == k.size - 1)),
    "transpose": _transposed,
    "wrong axis": lambda xp, g, r, size: (
        r * (1.0 - size) + xp.flip(r, axis=len(r.shape) - 1) * size if r.shape else r),
}  # fmt: skip
"""Half of the entries lose a part, as where one of two terms is lost; the last entry is there twice."""


def planted(op: Op, plant: Plant, size: float) -> Op:
    """The operation with an error in each of its rules."""

    def wrong(rule: Rule) -> Rule:
        return Rule(lambda xp, g, *saved: plant(xp, g, rule.fn(xp, g, *saved), size), rule.names)

    made = replace(op, rules={n: wrong(r) for n, r in op.rules.items()}, pushes={}, samples=())
    made.records, made.plans, made.ways = {}, {}, {}
    return made


def _tensors(arrays: Sequence[Any], op: Op) -> list[Any]:
    out = []
    for name, a in zip(op.names_of(len(arrays)), arrays, strict=True):
        array = np.asarray(a)
        out.append(leaf(array) if name in op.rules and array.dtype.kind == "f" else wrap(array))
    return out


def _gradients(op: Op, arrays: Sequence[Any], static: dict[str, Any]) -> list[Any]:
    xs = _tensors(arrays, op)
    outs = op(*xs, **static)
    outs = [o for o in (outs if op.several else [outs]) if o._node is not None]
    draws = np.random.default_rng(3)
    gs = [wrap(draws.standard_normal(o.array.shape)) for o in outs]
    found = grad(outs, [x for x in xs if x._node is not None], gs, allow_unused=True)
    return [g.array for g in found if g is not None]


def shows(op: Op, wrong: Op, arrays: Sequence[Any], static: dict[str, Any], size: float) -> bool:
    """Whether an error that was planted changes the gradient."""
    pairs = zip(_gradients(op, arrays, static), _gradients(wrong, arrays, static), strict=True)
    off = [float(np.max(np.abs(a - b)) / np.max(np.abs(a))) for a, b in pairs if a.size and np.max(np.abs(a)) > 0]
    return max(off, default=0.0) > 0.1 * size


def _by_differences(op: Op, arrays: Sequence[Any], static: dict[str, Any]) -> bool | None:
    found = diagnose(lambda *xs: op(*xs, **static), tuple(_tensors(arrays, op)))
    return {Verdict.VERIFIED: False, Verdict.WRONG: True}.get(found.verdict)


def _by_witness(op: Op, arrays: Sequence[Any], static: dict[str, Any]) -> bool | None:
    found = second_witness(partial(op, **static), *_tensors(arrays, op), points=1, order=1)
    return None if found.agrees is None else not found.agrees


def _by_directions(op: Op, arrays: Sequence[Any], static: dict[str, Any]) -> bool | None:
    xs = _tensors(arrays, op)
    outs = op(*xs, **static)
    if all(o.array.dtype.kind != "f" for o in (outs if op.several else [outs])):
        return None
    return not sampled(lambda *xs: op(*xs, **static), *xs, directions=2, seed=1)


def _by_proof(op: Op, arrays: Sequence[Any], static: dict[str, Any]) -> bool | None:
    return {PROVED: False, DISPROVED: True}.get(prove(partial(op, **static), *_tensors(arrays, op)).status)


CHECKERS: dict[str, Callable[[Op, Sequence[Any], dict[str, Any]], bool | None]] = {
    "differences": _by_differences, "second witness": _by_witness, "random directions": _by_directions,
    "proof": _by_proof,
}  # fmt: skip
"""Each says whether it finds something wrong; None where it says nothing."""


def smooth(op: Op) -> bool:
    """Whether its first sample is one of real numbers at which the right rule passes by differences."""
    if not op.rules or not op.samples or any(a.complex for a in op.samples[0].arrays):
        return False
    arrays, static = draw(op.samples[0])
    return bool(_gradients(op, arrays, static)) and _by_differences(op, arrays, static) is False


def scores(ops: Sequence[Op], plants: Sequence[str] = tuple(PLANTS), sizes: Sequence[float] = SIZES,
           ) -> Iterator[tuple[str, str, float, str, bool | None]]:  # fmt: skip
    """For each operation, kind, size and checker, whether that finds the error; where the error shows."""
    for op in ops:
        arrays, static = draw(op.samples[0])
        silent = {c for c, check in CHECKERS.items() if check(op, arrays, static) is not False}
        for kind in plants:
            for size in sizes:
                wrong = planted(op, PLANTS[kind], size)
                if not shows(op, wrong, arrays, static, size):
                    continue
                for name, check in CHECKERS.items():
                    yield op.name, kind, size, name, None if name in silent else check(wrong, arrays, static)


HEAD = """# What the checkers find

`make score` writes this page; a test holds it. Errors are planted in every built-in rule that is smooth at its first
sample, of these relative sizes: a factor, a sign, a term that is lost or there twice, a transpose, a wrong axis. Each
entry is how many were found, of how many that the checker says something of. The right rules raise no alarm: where one
did, the checker would be counted as saying nothing.

- **differences**: finite differences, as in `gradcheck` and `gradwright check`, first order;
- **second witness**: the engine's own derivative of the formula (`gradwright.verify.second_witness`), which serves
  `gradwright check` and `diagnose`, too;
- **random directions**: two of them (`gradwright.verify.sampled`);
- **proof**: ball arithmetic at points (`gradwright.verify.prove`), which takes errors below 2e-15 for those of doubles.

`gradwright check` on the 30 Functions of `examples/right_functions.py`, with a factor planted in what backward returns
first: of size 1e-6 all 30 are found; of size 1e-10 the 26 for which the second witness speaks. The other four compute
in NumPy or on complex numbers, change their inputs or draw random numbers. How small an error would have been found of
your own functions stands in the column *seen* of its table.

On those 30 Functions there is no false alarm; for operations of PyTorch's databases, see
[checking](checking.md#false-alarms).

"""


def page(found: Sequence[tuple[str, str, float, str, bool | None]]) -> str:
    """The page."""
    lines = ["| kind | size | " + " | ".join(CHECKERS) + " |", "| --- | --- |" + " --- |" * len(CHECKERS)]
    for kind in PLANTS:
        for size in SIZES:
            cells = []
            for checker in CHECKERS:
                said = [f for _, k, s, c, f in found if (k, s, c) == (kind, size, checker) and f is not None]
                cells.append(f"{sum(said)} of {len(said)}")
            lines.append(f"| {kind} | {size:.0e} | " + " | ".join(cells) + " |")
    return HEAD + "\n".join(lines) + "\n"


def main() -> None:
    """Write the page to the file that is named."""
    found = [*scores([op for op in table.values() if smooth(op)])]
    Path(sys.argv[1]).write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
