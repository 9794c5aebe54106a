"""Resampling along one axis: each entry of the result is a sum of a few entries, times fixed weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from math import prod
from operator import add

from gradwright.base.cpython.forks import cached_property
from gradwright.ops.declare import A, Sample, builtin

_DENSE = 32
"""A matrix product is the quicker way for an axis shorter than this many times the number of taps."""


@dataclass(frozen=True, eq=False)
class Taps:
    """y[o] = sum_k weight[k][o] x[index[k][o]] along an axis of ``size`` entries."""

    size: int
    index: list[list[int]]
    weight: list[list[float]] = field(repr=False)

    @classmethod
    def gathered(cls, size: int, terms: list[dict[int, float]]) -> Taps:
        """From the terms of each entry of the result: index to weight."""
        k = max((len(t) for t in terms), default=0) or 1
        rows = [[*t.items(), *((0, 0.0),) * (k - len(t))] for t in terms]
        return cls(size, [[r[j][0] for r in rows] for j in range(k)], [[r[j][1] for r in rows] for j in range(k)])

    @cached_property
    def transpose(self) -> Taps:
        """The taps of the adjoint."""
        terms: list[dict[int, float]] = [{} for _ in range(self.size)]
        for index, weight in zip(self.index, self.weight, strict=True):
            for o, (i, w) in enumerate(zip(index, weight, strict=True)):
                if w:
                    terms[i][o] = terms[i].get(o, 0.0) + w
        return Taps.gathered(len(self.index[0]), terms)


_FEW = Taps.gathered(4, [{0: 1.0}, {0: 0.5, 1: 0.5}, {1: 0.25, 3: 0.75}, {3: 1.0}, {2: 0.1, 3: 0.9}])
_LONG = Taps.gathered(40, [{0: 1.0}, {7: 1.0}, {39: 1.0}])
_WEIGHTED = Taps.gathered(65, [{0: 0.3, 1: 0.7}, {64: 1.0}])


@builtin(
    kind="linear",
    node="UpsampleBackward0",
    rows=True,
    samples=[
        Sample(A(2, 4), axis=1, taps=_FEW),
        Sample(A(4, 3), axis=0, taps=_FEW),
        Sample(A(40), axis=0, taps=_LONG),
        Sample(A(65), axis=0, taps=_WEIGHTED),
    ],
)
def resample(xp, x, *, axis, taps):
    """The weighted sums that ``taps`` names, along ``axis``."""
    if taps.size > _DENSE * len(taps.index):
        return reduce(add, [_tap(xp, x, axis, i, w) for i, w in zip(taps.index, taps.weight, strict=True)])
    places = xp.arange(taps.size, device=x.device)
    rows = [
        xp.where(
            xp.asarray(i, device=x.device)[:, None] == places,
            xp.asarray(w, dtype=x.dtype, device=x.device)[:, None],
            xp.zeros_like(x, shape=(1, 1)),
        )
        for i, w in zip(taps.index, taps.weight, strict=True)
    ]
    matrix = reduce(add, rows)
    if axis == x.ndim - 1:
        return xp.matmul(x, xp.permute_dims(matrix, (1, 0)))
    lead, rest = x.shape[:axis], x.shape[axis + 1 :]
    y = xp.matmul(matrix, xp.reshape(x, (*lead, taps.size, prod(rest))))
    return xp.reshape(y, (*lead, matrix.shape[0], *rest))


def _tap(xp, x, axis, index, weight):
    y = xp.take(x, xp.asarray(index, device=x.device), axis=axis)
    if all(w == 1 for w in weight):
        return y
    return y * xp.reshape(xp.asarray(weight, dtype=x.dtype, device=x.device), (-1, *(1,) * (x.ndim - 1 - axis)))


resample.vjp(x=lambda xp, g, axis, taps: resample(g, axis=axis, taps=taps.transpose))
