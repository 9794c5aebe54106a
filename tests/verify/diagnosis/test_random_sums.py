"""Random sums of all entries, and the way from one that is off to an entry that is wrong."""

import numpy as np
import pytest

import gradwright
from gradwright.verify.diagnosis.case import Case
from gradwright.verify.diagnosis.grid_of_entries import Grid
from gradwright.verify.diagnosis.random_sums import RandomSums, overall, search
from tests.corpus.wrong import function, t


def spot(at, of, size):
    """x * 2 and y * 3, each entry by its own; but entry ``at`` of y also gets a part of that of entry ``of``."""

    def backward(g, x, y):
        wrong = 3 * g[1]
        wrong[at] += size * g[1][of]
        return 2 * g[0], wrong

    class Spot(gradwright.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * 2, y * 3

        @staticmethod
        def backward(ctx, *g):
            return backward(g, *ctx.saved_tensors)

    return Spot


def case(f, *inputs):
    found = Case(f, inputs)
    return found.on(Grid(4), [c.name for c in found.columns])


@pytest.mark.parametrize("size", [1.0, 0.01, 1e-4])
def test_a_wrong_entry_is_found(size):
    it = case(spot((30, 2), (7, 5), size), t(100), t(50, 6))
    off, room = overall(it)
    assert off > room
    sums = RandomSums(it, 0.0)
    row, column = 100 + 30 * 6 + 2, 100 + 7 * 6 + 5
    assert (sums.wrong_row(), sums.wrong_column(row)) == (row, column)
    grid = search(it)
    assert {30, 7} <= {*grid.along(50).tolist()}
    assert {*grid.along(100).tolist()} >= {*Grid(4).along(100).tolist()}


RIGHT = {
    "smooth": (lambda x: x.sin() * x, t(40, 30)),
    "a sum": (lambda x: x.exp().sum(), t(40, 30)),
    "many near a kink": (lambda x: x.relu(), t(60, 50, low=-1e-3, high=1e-3)),
    "zeros at a kink": (lambda x: x.abs(), gradwright.zeros(40, 30, dtype=gradwright.float64, requires_grad=True)),
    "single precision": (lambda x: x.sin() * x, t(40, 30, dtype=gradwright.float32)),
    "complex": (lambda x: x * x, t(40, 30, dtype=gradwright.complex128)),
    "steep": (lambda x: (30 * x).sin(), t(40, 30)),
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_not_suspected(name):
    f, x = RIGHT[name]
    assert search(case(f, x)) is None


def test_a_conjugate_is_found_in_a_sum():
    wrong = function(lambda x: x * x, lambda g, x: 2 * g * x)
    off, room = overall(case(wrong, t(40, 30, dtype=gradwright.complex128)))
    assert off > room
    assert np.isfinite(room)
