from typing import Any

import numpy as np
import pytest

import gradwright

X = np.random.default_rng(1).standard_normal((4, 5))


def test_diff(same: Any) -> None:
    for kwargs in ({}, {"dim": 0}, {"n": 2}, {"n": 0}, {"n": 7}):
        same(lambda t, x, kwargs=kwargs: t.diff(x, **kwargs), X, names=False)
    same(lambda t, x, a: t.diff(x, dim=0, prepend=a, append=a), X, X[:1], names=False)
    same(lambda t, x: t.diff(x), np.array([True, False, False]))
    for bad in (lambda t, x: t.diff(x, -1), lambda t, x: t.diff(x[0, 0]), lambda t, x: t.diff(x, prepend=x[0])):
        same(bad, X)


@pytest.mark.parametrize("edge_order", [1, 2])
def test_gradient(same: Any, edge_order: int) -> None:
    at = np.array([0.0, 0.5, 2.0, 2.25, 4.0])
    for kwargs in ({}, {"spacing": 0.5}, {"dim": 1}, {"spacing": (2.0, 3.0), "dim": (1, 0)}):
        same(lambda t, x, k=kwargs: t.gradient(x, edge_order=edge_order, **k), X, names=False)
    same(lambda t, x, at: t.gradient(x, spacing=(at,), dim=1, edge_order=edge_order), X, at, names=False)
    same(lambda t, x: t.gradient(x, edge_order=edge_order), np.array([1, 4, 9, 16]))


def test_gradient_of_a_parabola_is_exact_on_any_grid() -> None:
    at = gradwright.tensor([0.0, 0.5, 2.0, 2.25, 4.0])
    (slope,) = gradwright.gradient(at * at, spacing=(at,), edge_order=2)
    np.testing.assert_allclose(slope.numpy(), 2 * at.numpy(), rtol=1e-6, atol=1e-6)


def test_gradient_refuses(same: Any) -> None:
    for kwargs in ({"spacing": (1.0,)}, {"dim": (0, 0)}, {"dim": 2}, {"edge_order": 3}):
        same(lambda t, x, kwargs=kwargs: t.gradient(x, **kwargs), X)
    same(lambda t, x: t.gradient(x, edge_order=2), np.ones(2))


@pytest.mark.parametrize("name", ["trapezoid", "trapz", "cumulative_trapezoid"])
def test_areas(same: Any, name: str) -> None:
    at = np.array([0.0, 0.5, 2.0, 2.25, 4.0])
    if name != "trapz":
        same(lambda t, y: getattr(t, name)(y, dx=0.5, dim=0), X, names=False)
    same(lambda t, y: getattr(t, name)(y), X, names=False)
    same(lambda t, y, x: getattr(t, name)(y, x), X, at, names=False)
    same(lambda t, y, x: getattr(t, name)(y, x), X, X + 1, names=False)
    same(lambda t, y: getattr(t, name)(y), np.array([1, 2, 4]))
    same(lambda t, y: getattr(t, name)(y), np.zeros((2, 0)), names=False)
    same(lambda t, y, x: getattr(t, name)(y, x), X, at[:3])
    same(lambda t, y: getattr(t, name)(y), np.array(1.0))
