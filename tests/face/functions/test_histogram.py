from typing import Any

import numpy as np
import pytest

import gradwright

X = np.array([0.1, 0.4, 0.4, 2.5, 3.0, 7.0])


def test_histc(same: Any) -> None:
    for kwargs in ({"bins": 4}, {"bins": 3, "min": 0, "max": 3}, {}):
        same(lambda t, x, kwargs=kwargs: t.histc(x, **kwargs), X, order=0)
    same(lambda t, x: t.histc(x, 3), np.array([1.0, 1.0]), order=0)
    same(lambda t, x: t.histc(x, 3), np.array([]), order=0)
    same(lambda t, x: t.histc(x, 0), X)
    same(lambda t, x: t.histc(x, 2, 3, 1), X)
    same(lambda t, x: t.histc(x, 2), np.array([np.nan]))
    same(lambda t, x: t.histc(x, 2), np.array([1, 2]))


def test_histogram(same: Any) -> None:
    w, edges = np.arange(6.0), np.array([0.0, 0.5, 3.0])
    same(lambda t, x, w: [*t.histogram(x, 4, weight=w), *x.histogram(3, range=(0.0, 3.0), density=True)], X, w, order=0)
    same(lambda t, x, e: [*t.histogram(x, e)], X, edges, order=0)
    same(lambda t, x: [*t.histogram(x, 3)], np.array([1.0, 1.0]), order=0)


def test_histogramdd(same: Any) -> None:
    points = np.random.standard_normal((20, 2))
    for bins in (3, [2, 3]):
        same(lambda t, x, bins=bins: t.histogramdd(x, bins), points, order=0)
    same(lambda t, x: t.histogramdd(x, [2, 2], range=[-1.0, 1.0, 0.0, 1.0], density=True), points, order=0)
    for bins in ([2], [2, 2, 2]):
        same(lambda t, x, bins=bins: t.histogramdd(x, bins), points)


def test_an_empty_density_warns_of_nothing(recwarn: Any) -> None:
    gradwright.histogram(gradwright.zeros(0), 2, density=True)
    assert not recwarn


def test_weights_that_require_grad_are_no_data() -> None:
    x, w = gradwright.tensor(X), gradwright.ones(6, dtype=gradwright.float64, requires_grad=True)
    for hist, *_ in (gradwright.histogram(x, 3, weight=w), gradwright.histogramdd(x.reshape(6, 1), 3, weight=w)):
        with pytest.raises(NotImplementedError, match="histogram"):
            hist.sum().backward()
