"""The comparison of Jacobians, entry by entry: by backward, or by forward mode, against finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gradwright.base.errors import GradcheckError
from gradwright.verify.gradcheck.corners import corners, suspects
from gradwright.verify.gradcheck.forward import jacobians as pushed
from gradwright.verify.gradcheck.messages import Worst, drifting, edge, kink, mismatch, vague
from gradwright.verify.gradcheck.passes import jacobians
from gradwright.verify.gradcheck.settings import Settings
from gradwright.verify.numeric.budget import Picked
from gradwright.verify.numeric.differences import Differences, central, extrapolated, here
from gradwright.verify.numeric.jacobian import Backward, Matrix, Subject, analytical, coordinates, rounding

_CHUNK = 24
"""How many coordinates are looked at closely at a time, the most suspicious first."""


class Part(NamedTuple):
    """Which part of an output is compared: all of a real one, or the real or imaginary part of a complex one."""

    output: int
    name: str
    of: Callable[[Matrix], Matrix]


def parts_of(subject: Subject) -> list[Part]:
    """The parts in PyTorch's order: if any output is complex, the imaginary parts, and with them all real outputs."""
    kinds = [dtype.kind == "c" for _, dtype in subject.shapes]
    first = [Part(i, "imaginary", np.imag) if c else Part(i, "", np.real) for i, c in enumerate(kinds)]
    return first + [Part(i, "real", np.real) for i, c in enumerate(kinds) if c]


class Comparison:
    """The Jacobians of a subject as far as known, and the doubts met on the way."""

    def __init__(self, subject: Subject, settings: Settings, picked: Picked | None = None,
                 forward: bool = False) -> None:  # fmt: skip
        self.subject, self.settings, self.picked, self.forward = subject, settings, picked, forward
        self.doubts: list[GradcheckError] = []
        self.backward: list[Backward] = []
        self.numeric: list[list[Matrix]] = []
        self.at = [np.array(o.array).reshape(-1) for o in subject.outputs]
        self.steps = [settings.steps(x) for x in subject.varied]

    def run(self) -> None:
        """Raise GradcheckError unless everything agrees."""
        self._check_deterministic()
        outputs = range(len(self.subject.outputs))
        if self.forward:
            self.backward = pushed(self.subject, self.settings, self.picked)
        elif self.picked is None:
            self.backward = [jacobians(self.subject, i, self.settings) for i in outputs]
        else:
            for i in outputs:
                self.backward.append(analytical(self.subject, i, self.picked.columns[i], self.picked.rows))
        bends = []
        for j, x in enumerate(self.subject.varied):
            rows = self._rows(j)
            steps = self.steps[j][rows]
            differences = central(self.subject, x, steps, None if self.picked is None else rows)
            bends.append(rows[suspects(differences, self.at, steps, self.settings)])
            self.numeric.append([self._columns(i, s) for i, s in enumerate(differences.slopes)])
        for part in parts_of(self.subject):
            for j in range(len(self.subject.varied)):
                self._compare(part, j)
        for j, rows in enumerate(bends):
            self._look_for_kinks(j, rows)
        self._check_deterministic()
        if self.doubts:
            raise self.doubts[0]

    def _rows(self, j: int) -> Matrix:
        chosen = None if self.picked is None else self.picked.rows[j]
        return np.arange(coordinates(self.subject.varied[j])) if chosen is None else np.asarray(chosen, np.intp)

    def _columns(self, i: int, matrix: Matrix) -> Matrix:
        chosen = None if self.picked is None else self.picked.columns[i]
        return matrix if chosen is None else matrix[:, chosen]

    def _check_deterministic(self) -> None:
        settings = self.settings
        step = min((float(np.min(s, initial=1.0)) for s in self.steps), default=1.0)
        for i, (before, now) in enumerate(zip(self.at, self.subject.values(), strict=True)):
            off = np.abs(here(now.reshape(-1)) - here(before))
            allowed = max(settings.nondet_tol, 2 * abs(step) * settings.atol)
            if (off > allowed + 8 * rounding(before.dtype) * np.abs(here(before))).any():
                raise drifting(i, float(np.nanmax(off)), step)

    def _compare(self, part: Part, j: int) -> None:
        a = part.of(self.backward[part.output].jacobians[j])
        n = part.of(self.numeric[j][part.output])
        x = self.subject.varied[j]
        analytic, numeric = folded(a, x), folded(n, x)
        with np.errstate(all="ignore"):
            excess = np.abs(analytic - numeric)
            excess -= self.settings.tolerated(numeric)
            bad = ~(excess <= 0)
        if not bad.any():
            return
        bad &= ~((analytic == numeric) & np.isinf(analytic))
        moves = np.isfinite(x.array).reshape(-1)[self._rows(j)[: len(bad)] % max(x.array.size, 1)]
        bad &= moves[:, None] | (analytic != 0)  # nan and inf cannot be moved: what does not flow there is right
        if not bad.any():
            return
        excess[np.isnan(excess)] = np.inf
        excess[~bad] = -np.inf
        order = np.argsort(-excess.max(axis=1))[: np.count_nonzero(bad.any(axis=1))]
        for begin in range(0, len(order), _CHUNK):
            chunk = order[begin : begin + _CHUNK]
            if x.array.dtype.kind == "c":
                chunk = np.concatenate((chunk, chunk + len(a) // 2))
            where = bad[chunk % len(bad)]
            self._judge(part, j, chunk, where, a, n)

    def _judge(self, part: Part, j: int, chunk: Matrix, bad: Matrix, a: Matrix, n: Matrix) -> None:
        """Look closely at these rows of the matrices: raise if an entry is wrong, note what cannot be known."""
        subject, settings, x = self.subject, self.settings, self.subject.varied[j]
        rows, said = self._rows(j)[chunk], a[chunk]
        steps = self.steps[j]
        corner = corners(subject, x, rows, self.at, steps, settings)[part.output]
        corner = type(corner)(*(self._columns(part.output, m) for m in corner))
        left, right = part.of(corner.left), part.of(corner.right)
        slack = settings.tolerated(np.maximum(np.abs(left), np.abs(right)))
        between = (said >= np.minimum(left, right) - slack) & (said <= np.maximum(left, right) + slack)
        doubtful = bad & ((corner.kink & (between | ~np.isfinite(said))) | corner.jump)
        value, bar = self._closely(part, j, rows, n[chunk])
        size = np.abs(folded(n, x))[chunk % (len(n) // 2)] if x.array.dtype.kind == "c" else value
        with np.errstate(all="ignore"):
            undefined = any(np.isnan(a).any() for a in self.at)  # 0 times the nan of another output is nan
            outside = bad & ~doubtful & (np.isnan(value) | (undefined & np.isnan(said)))
            wrong = bad & ~doubtful & ~outside & ~(np.abs(said - value) <= settings.tolerated(size) + bar)
        if wrong.any():
            off = np.where(wrong, np.nan_to_num(np.abs(said - value) - bar, nan=np.inf, posinf=np.inf), -1)
            worst = self._worst(part, j, chunk, off, said, value, bar)
            raise mismatch(worst, part.name, folded(n, x), folded(a, x), settings, self.forward)
        if doubtful.any():
            worst = self._worst(part, j, chunk, doubtful * 1.0, said, value, bar)
            k, m = np.unravel_index(np.argmax(doubtful), doubtful.shape)
            self.doubts.append(kink(worst, left[k, m], right[k, m], bool(corner.jump[k, m])))
        if outside.any():
            self.doubts.append(edge(self._worst(part, j, chunk, outside * (1.0 + np.isnan(value)), said, value, bar)))
        scale = max((np.abs(b.jacobians[j]).max(initial=0) for b in self.backward), default=0)
        blurred = bad & ~doubtful & ~outside & (bar > settings.atol + scale * min(0.25, max(0.05, 10 * settings.rtol)))
        if blurred.any():
            worst = self._worst(part, j, chunk, np.where(blurred, bar, -1), said, value, bar)
            self.doubts.append(vague(worst, settings))

    def _closely(self, part: Part, j: int, rows: Matrix, n: Matrix) -> tuple[Matrix, Matrix]:
        """Better derivatives by these coordinates, with error bars; those of a step that the caller chose are kept."""
        x = self.subject.varied[j]
        if self.settings.eps is None:
            found = extrapolated(self.subject, x, rows)[part.output]
            return self._columns(part.output, part.of(found.value)), self._columns(part.output, found.bar)
        d: Differences = central(self.subject, x, self.steps[j][rows], rows)
        size = np.maximum(np.abs(here(d.up[part.output])), np.abs(here(d.down[part.output])))
        span = (d.ahead + d.behind)[:, None]
        with np.errstate(all="ignore"):
            bar = np.where(span, 4 * rounding(d.up[part.output].dtype) * size / span, np.inf)
        return np.where(span, n, 0), self._columns(part.output, bar)

    def _look_for_kinks(self, j: int, rows: Matrix) -> None:
        """Entries may agree at a kink by chance: backward and the difference may both be half-way."""
        steps = self.steps[j]
        for begin in range(0, len(rows), _CHUNK):
            chunk = rows[begin : begin + _CHUNK]
            for i, c in enumerate(corners(self.subject, self.subject.varied[j], chunk, self.at, steps, self.settings)):
                c = type(c)(*(self._columns(i, m) for m in c))
                if c.kink.any():
                    k, m = np.unravel_index(np.argmax(c.kink), c.kink.shape)
                    where = np.flatnonzero(self._rows(j) == chunk[k])
                    said, n = (z[where] for z in (self.backward[i].jacobians[j], self.numeric[j][i]))
                    part = Part(i, "", np.real)
                    off = np.zeros(said.shape)
                    off[0, m] = 1
                    worst = self._worst(part, j, where, off, said, n, np.zeros(said.shape))
                    self.doubts.append(kink(worst, c.left[k, m], c.right[k, m], jump=False))
                    return

    def _worst(self, part: Part, j: int, chunk: Matrix, off: Matrix, a: Matrix, n: Matrix, bar: Matrix) -> Worst:
        k, m = np.unravel_index(np.argmax(off), off.shape)
        x, out = self.subject.varied[j], self.subject.outputs[part.output]
        row = int(self._rows(j)[chunk[k]])
        columns = None if self.picked is None else self.picked.columns[part.output]
        column = int(m if columns is None else columns[m])
        imaginary = row >= x.array.size
        return Worst(output=part.output, outputs=len(self.subject.outputs),
                     output_at=tuple(map(int, np.unravel_index(column, out.array.shape))), input=j,
                     name=self.subject.names[j],
                     at=tuple(map(int, np.unravel_index(row % x.array.size, x.array.shape))),
                     value=x.array.reshape(-1)[row % x.array.size], imaginary=imaginary, analytic=a[k, m],
                     numeric=n[k, m], bar=float(bar[k, m]))


def folded(matrix: Matrix, x: Any) -> Matrix:
    """A matrix with a row per entry, as PyTorch shows it: by a complex input the real row plus i times the other."""
    if x.array.dtype.kind != "c":
        return matrix
    n = len(matrix) // 2
    return matrix[:n] + 1j * matrix[n:]


def check_constant(subject: Subject, settings: Settings) -> None:
    """Of a function whose outputs require no grad, nothing may depend on the inputs."""
    for j, x in enumerate(subject.varied):
        for k, slopes in enumerate(central(subject, x, settings.steps(x)).slopes):
            if slopes.any():
                raise GradcheckError("Numerical gradient for function expected to be zero: no output requires grad, "
                                     f"but tensor {k} that it returns depends on {subject.names[j]}. Is it detached, "
                                     "or computed outside gradwright?")
