"""First and second derivatives of what inverts, at nearly singular matrices: as exact as their condition lets them be.

Each is compared with differences of the definition in numbers of 900 bits. What may be lost is what a rounding of the
matrix changes, at the most of some random ones; it grows with a power of the condition number.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import gradwright as gw

N, STEP = 3, mp.mpf(2) ** -200
_RNG = np.random.default_rng(5)
W, C, B = (_RNG.standard_normal((N, N)) for _ in range(3))
SIGNS = [_RNG.choice([-1.0, 1.0], (N, N)) for _ in range(6)]


def matrix(condition: float, dtype: str, symmetric: bool) -> Any:
    """Of this condition, as far as its rounding allows."""
    q, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((N, N)))
    r, _ = np.linalg.qr(np.random.default_rng(2).standard_normal((N, N)))
    a = (q * [1.0, 0.3, 1 / condition]) @ (q if symmetric else r).T
    return ((a + a.T) / 2 if symmetric else a).astype(dtype)


def whole(a: Any) -> Any:
    return [a[i, j] for i in range(N) for j in range(N)]


# The function, its definition as numbers, and whether it takes a symmetric part.
TABLE: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], bool]] = {
    "inv": (gw.linalg.inv, lambda a: whole(a**-1), False),
    "solve": (lambda a: gw.linalg.solve(a, gw.tensor(B, dtype=a.dtype)), lambda a: whole(a**-1 * mp.matrix(B)), False),
    "slogdet": (lambda a: gw.linalg.slogdet(a)[1], lambda a: [mp.log(abs(mp.det(a)))], False),
    "det": (gw.linalg.det, lambda a: [mp.det(a)], False),
    "pinv": (lambda a: gw.linalg.pinv(a, rtol=0.0), lambda a: whole(a**-1), False),
    "matrix_power 3": (lambda a: gw.linalg.matrix_power(a, 3), lambda a: whole(a * a * a), False),
    "matrix_power -2": (lambda a: gw.linalg.matrix_power(a, -2), lambda a: whole((a * a) ** -1), False),
    "cholesky": (lambda a: gw.linalg.cholesky((a + a.mT) / 2), lambda a: whole(mp.cholesky((a + a.T) / 2)), True),
}  # fmt: skip


def differences(f: Callable[[Any], Any], a: Any) -> tuple[Any, Any]:
    """The gradient of the sum of W f, and that of its part along C."""
    w, c, h = [mp.mpf(x) for x in W.ravel()], mp.matrix(C), STEP

    def loss(at: Any) -> Any:
        return mp.fsum(s * y for s, y in zip(w, f(at), strict=False))

    first, second = (np.empty((N, N), object) for _ in range(2))
    for i in range(N):
        for j in range(N):
            e = mp.zeros(N)
            e[i, j] = h
            first[i, j] = (loss(a + e) - loss(a - e)) / (2 * h)
            second[i, j] = sum(s * t * loss(a + s * e + t * h * c) for s in (1, -1) for t in (1, -1)) / (4 * h * h)
    return first, second


@cache
def true_and_moved(name: str, condition: float, dtype: str) -> Any:
    _, f, symmetric = TABLE[name]
    at, tiny = matrix(condition, dtype, symmetric), mp.mpf(2) ** -100
    with mp.workprec(900):
        a = mp.matrix(at.astype(float))
        want = differences(f, a)
        moved = [differences(f, mp.matrix([[a[i, j] * (1 + tiny * s[i, j]) for j in range(N)] for i in range(N)]))
                 for s in SIGNS]  # fmt: skip
        return [(w.astype(float), max(np.abs(((m[k] - w) / tiny).astype(float)).max() for m in moved))
                for k, w in enumerate(want)]  # fmt: skip


def lost(name: str, condition: float, dtype: str) -> list[float]:
    """Errors of the first and the second derivative, in what a rounding of the matrix changes."""
    x = gw.tensor(matrix(condition, dtype, TABLE[name][2]), requires_grad=True)
    y = TABLE[name][0](x)
    w = gw.tensor(W, dtype=x.dtype) if y.ndim else gw.tensor(W[0, 0], dtype=x.dtype)
    (one,) = gw.autograd.grad(y, x, w, create_graph=True)
    (two,) = gw.autograd.grad(one, x, gw.tensor(C, dtype=x.dtype), retain_graph=True)
    eps = float(np.finfo(dtype).eps)
    return [float(np.abs(got.detach().numpy() - want).max() / (eps * (moved + np.abs(want).max())))
            for got, (want, moved) in zip((one, two), true_and_moved(name, condition, dtype), strict=True)]  # fmt: skip


CONDITIONS = {"float32": [1e1, 1e3, 1e5, 1e6], "float64": [1e1, 1e4, 1e8, 1e12, 1e14]}


@pytest.mark.parametrize("dtype", CONDITIONS)
@pytest.mark.parametrize("name", TABLE)
def test_no_more_is_lost_than_the_condition_takes(name: str, dtype: str) -> None:
    for condition in CONDITIONS[dtype]:
        first, second = lost(name, condition, dtype)
        assert first < 30, condition
        if name != "pinv":  # whose second derivative multiplies what is left of 1 - x y by the square of y
            assert second < 30, condition
