"""Derivatives where a probability rounds to 1: what is left to the others does not drown in its rounding.

And those of normalisations of lines that nearly are constant. They are compared with differences of the definition in
numbers of 700 bits; what a rounding of each number that is given changes is allowed.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import gradwright as gw

F = gw.nn.functional
LINES = [
    [0.0, 1.0, -1.0, 0.5],
    [0.0, 40.0, -3.0, 1.0],
    [25.0, 0.0, -60.0, 2.0],
    [18.0, -20.0, -21.5, -19.0],
    [60.0, -20.0, 59.0, -3.0],
    [2.5, 0.0, -1.0, 0.25],
    [-90.0, 12.0, -4.0, 1.0],
    [1000.0, 1000.25, 1000.0, 1000.0],
    [3.0, 3.0, 3.0, 3.0],
]
V, C = [1.0, 2.0, -1.5, 0.5], [3.0, -2.0, 5.0, 0.75]
TARGET = 1
STEP = mp.mpf(2) ** -150


def total(x: Any) -> Any:
    return mp.log(mp.fsum(map(mp.exp, x)))


def softmax(x: Any) -> Any:
    powers = [mp.exp(a) for a in x]
    return [a / mp.fsum(powers) for a in powers]


def standard(x: Any) -> Any:
    centred = [a - mp.fsum(x) / len(x) for a in x]
    return [a / mp.sqrt(mp.fsum([b * b for b in centred]) / len(x) + mp.mpf(1e-5)) for a in centred]


def from_scores(x: Any) -> Any:
    one = gw.eye(4, dtype=x.dtype)
    return F.scaled_dot_product_attention(x[:, None], one, one, gw.zeros(1, 4, dtype=x.dtype), scale=1.0)[:, 0]


def targets(x: Any) -> Any:
    return gw.full((len(x),), TARGET)


TABLE: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "softmax": (lambda x: x.softmax(-1), softmax),
    "softmax along the first": (lambda x: x.T.softmax(0).T, softmax),
    "attention with a mask": (from_scores, softmax),
    "log_softmax": (lambda x: x.log_softmax(-1), lambda x: [a - t for t in [total(x)] for a in x]),
    "logsumexp": (lambda x: x.logsumexp(-1), lambda x: [total(x)]),
    "cross_entropy": (lambda x: F.cross_entropy(x, targets(x), reduction="none"), lambda x: [total(x) - x[TARGET]]),
    "nll of log_softmax": (lambda x: F.nll_loss(x.log_softmax(1), targets(x), reduction="none"),
                           lambda x: [total(x) - x[TARGET]]),
    "layer_norm": (lambda x: F.layer_norm(x, (4,)), standard),
    "rms_norm": (lambda x: F.rms_norm(x, (4,), eps=1e-5),
                 lambda x: [a / mp.sqrt(mp.fsum([b * b for b in x]) / len(x) + mp.mpf(1e-5)) for a in x]),
}  # fmt: skip


def differences(f: Callable[[Any], Any], x: Any, v: Any, c: Any) -> tuple[list[Any], list[Any]]:
    """The gradient of v.f, and that of its part along c."""

    def loss(*moves: tuple[Any, Any]) -> Any:
        at = [a + sum(h * d[i] for h, d in moves) for i, a in enumerate(x)]
        return mp.fsum(s * y for s, y in zip(v, f(at), strict=False))

    first, second, h = [], [], STEP
    for i in range(len(x)):
        e = [int(j == i) for j in range(len(x))]
        first.append((loss((h, e)) - loss((-h, e))) / (2 * h))
        second.append(sum(s * t * loss((s * h, e), (t * h, c)) for s in (1, -1) for t in (1, -1)) / (4 * h * h))
    return first, second


@cache
def true_and_moved(name: str, row: tuple[float, ...]) -> Any:
    """What is right, and what it changes by, in roundings, as each number that is given changes by one."""
    f, n = TABLE[name][1], len(row)
    with mp.workprec(700):
        given = [mp.mpf(a) for a in [*row, *V, *C]]
        at = [given, *([*given[:i], a * (1 + mp.mpf(2) ** -80), *given[i + 1 :]] for i, a in enumerate(given))]
        found = [differences(f, a[:n], a[n : 2 * n], a[2 * n :]) for a in at]
        out = []
        for order in (0, 1):
            want = found[0][order]
            room = [abs(a) * (1 + max(map(abs, row))) for a in want]
            for moved in found[1:]:
                room = [r + abs(m - w) * mp.mpf(2) ** 80 for r, m, w in zip(room, moved[order], want, strict=True)]
            out.append(([float(a) for a in want], [float(r) for r in room]))
        return out


def by_graph(f: Any, x: Any) -> tuple[Any, Any]:
    x.requires_grad_()
    y = f(x)
    v = gw.tensor(V, dtype=x.dtype).expand_as(y) if y.ndim == 2 else gw.ones_like(y)
    (one,) = gw.autograd.grad(y, x, v, create_graph=True)
    (two,) = gw.autograd.grad(one, x, gw.tensor(C, dtype=x.dtype).expand_as(x))
    return one.detach(), two


def by_transforms(f: Any, x: Any) -> tuple[Any, Any]:
    """vmap of jvp of grad."""

    def of_one(row: Any) -> Any:
        def loss(r: Any) -> Any:
            y = f(r[None])[0]
            return (y * gw.tensor(V, dtype=r.dtype)).sum() if y.ndim else y

        return gw.func.jvp(gw.func.grad(loss), (row,), (gw.tensor(C, dtype=row.dtype),))

    return gw.func.vmap(of_one)(x)


def compiled(f: Any, x: Any) -> tuple[Any, Any]:
    """By a step that has seen lines without a peak before."""

    def step(x: Any) -> Any:
        y = f(x)
        return gw.autograd.grad(y, x, gw.tensor(V, dtype=x.dtype).expand_as(y) if y.ndim == 2 else gw.ones_like(y))[0]

    made = gw.compile(step)
    for _ in range(3):
        made(gw.zeros_like(x).requires_grad_())
    return made(x.clone().requires_grad_()), by_graph(f, x)[1]


@pytest.mark.parametrize("way", [by_graph, by_transforms, compiled])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", TABLE)
def test_slopes_in_tails(name: str, dtype: str, way: Any) -> None:
    got = [g.detach().numpy() for g in way(TABLE[name][0], gw.tensor(np.array(LINES, dtype)))]
    eps, tiny = float(np.finfo(dtype).eps), float(np.finfo(dtype).tiny)
    for k, row in enumerate(LINES):
        for found, (want, room) in zip(got, true_and_moved(name, tuple(row)), strict=True):
            np.testing.assert_array_less(np.abs(found[k] - want), 8 * eps * np.array(room) + 64 * tiny)
