"""Grids: what is on them, and which one fits."""

import numpy as np
import pytest

import gradwright
from gradwright.verify.diagnosis.grid_of_entries import SIZES, WHOLE, Grid, fitting
from gradwright.verify.numeric.budget import Cost


@pytest.mark.parametrize("most", SIZES)
@pytest.mark.parametrize("n", [1, 2, 3, 17, 100, 10**6])
def test_along_an_axis(most, n):
    found = Grid(most).along(n)
    assert (np.diff(found) > 0).all()
    assert found[0] >= 0
    assert found[-1] < n
    assert 1 <= len(found) <= max(most, 1)
    if 1 < most < n:
        assert {0, n - 1} <= {*found.tolist()}
        assert {*found.tolist()} == {n - 1 - i for i in found.tolist()}  # what is reversed stays on it


def test_there_are_neighbours_on_it():
    assert (np.diff(Grid(8).along(1000)) == 1).sum() >= 2


def test_equal_lengths_share_their_indices():
    grid = Grid(4)
    x = np.arange(10000.0).reshape(100, 100)
    flat = grid.flat((100, 100))
    np.testing.assert_array_equal(x.reshape(-1)[flat], grid.cut(x).reshape(-1))
    np.testing.assert_array_equal(grid.cut(x).T, grid.cut(x.T))
    assert grid.cut(x).shape == (4, 4)
    assert grid.cut(np.array(3.0)) == 3


def test_what_is_small_is_on_it_whole():
    assert Grid(4).flat((2, 3)) is None
    assert WHOLE.flat((1000, 1000)) is None
    assert WHOLE.whole
    assert not Grid(4).whole


def test_an_entry_can_be_put_on_it():
    grid = Grid(4).through((100, 50), 37 * 50 + 21)
    assert 37 in grid.along(100)
    assert 21 in grid.along(50)
    assert 37 * 50 + 21 in grid.flat((100, 50))
    assert len(grid.along(70)) == 4


def tensors(*shapes, dtype="float64"):
    return [gradwright.zeros(*s, dtype=getattr(gradwright, dtype)) for s in shapes]


@pytest.mark.parametrize(("shape", "call", "budget", "most"), [
    ((10,), 1e-3, 1.0, 0), ((10,), 1.0, 1.0, 1), ((1000,), 1e-3, 1.0, 16), ((100, 100), 1e-3, 1.0, 6),
    ((100, 100, 100), 1e-3, 1.0, 2), ((1000,), 0.0, 1.0, 16), ((500,), 0.0, 1.0, 0),
])  # fmt: skip
def test_the_largest_that_fits_in_time_and_memory(shape, call, budget, most):
    x = tensors(shape)
    assert fitting(Cost(0, 0, call, 0.0), x, x, budget).most == most
    if most > 1:
        z = tensors(shape, dtype="complex128")
        assert fitting(Cost(0, 0, call, 0.0), z, z, budget).most <= most
