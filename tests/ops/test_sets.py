import numpy as np
import pytest

from gradwright.ops import sets

X = np.array([[2, 0, 2], [3, 2, 0]])


def test_unique() -> None:
    values, inverse, counts = np.unique(X, return_inverse=True, return_counts=True)
    for want in ((False, False), (True, False), (False, True), (True, True)):
        found = sets.unique(X, inverse=want[0], counts=want[1])
        assert np.array_equal(found[0], values)
        assert np.array_equal(found[1], inverse) if want[0] else not found[1].size
        assert np.array_equal(found[2], counts) if want[1] else not found[2].size


@pytest.mark.parametrize("n", [0, 1, 4])
def test_runs(n: int) -> None:
    first, which, counts = sets.runs(np.array([[1, 2], [1, 2], [0, 2], [1, 2]])[:n])
    assert first.tolist() == [0, 2, 3][: max(n - 1, min(n, 1))]
    assert which.tolist() == [0, 0, 1, 2][:n]
    assert counts.sum() == n


@pytest.mark.parametrize("density", [False, True])
def test_histogram(density: bool) -> None:
    points, weights = np.random.standard_normal((50, 2)), np.random.standard_normal(50)
    edges = [np.array([-1.0, 0.0, 0.5]), np.linspace(-2.0, points[3, 1], 4)]
    expected, _ = np.histogramdd(points, edges, density=density, weights=weights)
    out = sets.histogram(points, *edges, weights, dims=2, density=density)
    np.testing.assert_allclose(out, expected)


@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted_in_lines(side: str) -> None:
    edges, x = np.sort(np.random.randint(0, 9, (3, 5))), np.random.randint(-1, 10, (3, 7))
    expected = [np.searchsorted(e, v, side=side) for e, v in zip(edges, x, strict=True)]
    assert np.array_equal(sets.searchsorted(edges, x, side=side), expected)
