from typing import Any

import numpy as np
import pytest

X, Y = np.random.default_rng(2).standard_normal((2, 30, 3))


@pytest.mark.parametrize("p", [0, 0.5, 1, 1.5, 2, 3, float("inf")])
def test_cdist(same: Any, p: float) -> None:
    same(lambda t, x, y: t.cdist(x[:4], y[:5], p), X, Y, names=False, order=1)
    same(lambda t, x, y: t.cdist(x[:4].reshape(2, 2, 3), y[:5], p), X, Y, names=False, order=1)


@pytest.mark.parametrize("mode", ["use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist",
                                  "use_mm_for_euclid_dist_if_necessary"])  # fmt: skip
def test_euclidean(same: Any, mode: str) -> None:
    same(lambda t, x, y: t.cdist(x, y, compute_mode=mode), X, Y, names=False, order=1)


def test_cdist_of_nothing(same: Any) -> None:
    same(lambda t, x: t.cdist(x, x), np.zeros((3, 0)), names=False, order=1)
    same(lambda t, x, y: t.cdist(x, y), np.zeros((0, 2)), np.zeros((3, 2)), names=False, order=1)


def test_cdist_refuses(same: Any) -> None:
    same(lambda t, x, y: t.cdist(x, y), X, Y[:, :2])
    same(lambda t, x: t.cdist(x, x[0]), X)
    same(lambda t, x: t.cdist(x, x, -1), X)
    same(lambda t, x: t.cdist(x, x, compute_mode="quick"), X)
    same(lambda t, x: t.cdist(x, x), np.ones((2, 2), int))
    same(lambda t, x, y: t.cdist(x, y), X, Y.astype(np.float32))


@pytest.mark.parametrize("p", [0, 1, 2, 3, float("inf")])
def test_dist(same: Any, p: float) -> None:
    same(lambda t, x, y: [t.dist(x, y, p), x.dist(y[0], p)], X, Y, names=False, order=min(p, 1))


def test_renorm(same: Any) -> None:
    for p, dim, most in [(2, 0, 1.0), (1, 1, 2.0), (float("inf"), -1, 0.5), (2, 0, 0.0)]:
        same(lambda t, x, p=p, dim=dim, most=most: [t.renorm(x, p, dim, most), (x * 1).renorm_(p, dim, most)], X,
             names=False)  # fmt: skip
    for bad in ((0, 0, 1.0), (2, 0, -1.0), (2, 5, 1.0)):
        same(lambda t, x, bad=bad: t.renorm(x, *bad), X)
    same(lambda t, x: t.renorm(x, 2, 0, 1.0), X[0])
