from typing import Any

import numpy as np
import pytest

import gradwright

X = np.array([[3, 1, 3], [2, 2, 1], [3, 1, 3]])


def test_unique(same: Any) -> None:
    for kwargs in ({}, {"dim": 0}, {"dim": 1}, {"sorted": False}):
        same(lambda t, x, k=kwargs: t.unique(x, return_inverse=True, return_counts=True, **k), X)
    same(lambda t, x: [t.unique(x), *x.unique(return_counts=True)], np.array([1.0, np.nan, 1.0, np.nan]), order=0)
    same(lambda t, x: t.unique(x, return_inverse=True), np.array(3))


def test_unique_consecutive(same: Any) -> None:
    x = np.array([[1, 1, 2], [1, 1, 2], [2, 2, 1]])
    for kwargs in ({}, {"dim": 0}, {"dim": 1}):
        same(lambda t, x, k=kwargs: t.unique_consecutive(x, return_inverse=True, return_counts=True, **k), x)
    same(lambda t, x: t.unique_consecutive(x), np.zeros(0))


def test_unique_refuses_to_be_differentiated() -> None:
    x = gradwright.tensor([1.0, 1.0, 2.0], requires_grad=True)
    for y in (gradwright.unique(x), gradwright.unique_consecutive(x), gradwright.histogram(x, 2).hist):
        with pytest.raises(NotImplementedError, match="derivative"):
            y.sum().backward()


def test_isin(same: Any) -> None:
    same(lambda t, x, y: [t.isin(x, y), t.isin(x, y, invert=True), t.isin(x, 3), t.isin(1, y)], X, np.array([1.0, 7.0]))


@pytest.mark.parametrize("right", [False, True])
def test_searchsorted(same: Any, right: bool) -> None:
    edges = np.sort(np.random.standard_normal((2, 3, 7)))
    v = np.concatenate([np.random.standard_normal((2, 3, 4)), edges[..., ::2]], -1)
    v[0, 0, 0] = np.nan
    same(lambda t, e, v: [t.searchsorted(e, v, right=right), t.searchsorted(e[0, 0], v, right=right)], edges, v)
    same(lambda t, e, v: [t.bucketize(v, e[0, 0], right=right), t.bucketize(0.3, e[0, 0])], edges, v)
    same(lambda t, e: t.searchsorted(e, 1.5, side="right", out_int32=True), np.array([1.0, 1.5, 2.0]))
    same(lambda t, e, v: t.searchsorted(e, v), np.zeros((2, 0)), np.zeros((2, 3)))
    same(lambda t, e, v, s: t.searchsorted(e, v, sorter=s), np.array([3, 1, 2]), np.array([2, 9]), np.array([1, 2, 0]))


def test_searchsorted_refuses(same: Any) -> None:
    edges = np.zeros((2, 3))
    same(lambda t, e: t.searchsorted(e, 1.0), edges)
    same(lambda t, e, v: t.searchsorted(e, v), edges, np.zeros((3, 3)))
    same(lambda t, e, v: t.searchsorted(e, v, side="middle"), edges, edges)
    same(lambda t, e, v: t.searchsorted(e, v, side="left", right=True), edges, edges)
    same(lambda t, e, v: t.bucketize(v, e), edges, edges)


def test_bincount(same: Any) -> None:
    x = np.array([1, 3, 1, 0])
    same(lambda t, x: [t.bincount(x), t.bincount(x, minlength=7), x.bincount()], x)
    for dtype in ("float32", "float64", "int64"):
        same(lambda t, x, w: t.bincount(x, w), x, np.arange(4).astype(dtype), order=0)
    for bad in (np.array([-1]), np.array([[1]]), np.array([1.0])):
        same(lambda t, x: t.bincount(x), bad)


def test_choices(same: Any) -> None:
    a, b = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0])
    for r in range(5):
        same(lambda t, a, r=r: [t.combinations(a, r), t.combinations(a, r, True)], a, names=False)
    same(lambda t, a, b: [t.cartesian_prod(a, b, a), t.cartesian_prod(b)], a, b, names=False)
    same(lambda t, a: t.combinations(a), a[None])
    same(lambda t, a, b: t.cartesian_prod(a, b), a, X[0])


def test_complex_numbers_that_are_not_zero(T):
    z = T.tensor([[0j, 1j], [2, 0]])
    assert T.nonzero(z).tolist() == T.argwhere(z).tolist() == [[0, 1], [1, 0]]
    assert T.count_nonzero(z).item() == 2
