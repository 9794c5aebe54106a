"""Pooling: which entry of a window has the slope, and what stands around it."""

from typing import Any

import numpy as np
import pytest

import gradwright
from gradwright import tensor
from gradwright.backends.windows import Lattice
from gradwright.ops import pool as p

PAIRS = Lattice((2,), (2,), (1,), ((1, 1),))


def test_the_first_of_equal_entries_has_the_slope() -> None:
    x = tensor([[1.0, 1.0, 1.0, 2.0, 2.0, 2.0]], requires_grad=True)
    p.max_windows(x, lattice=Lattice((3,), (3,), (1,), ((0, 0),))).sum().backward()
    assert x.grad.tolist() == [[1, 0, 0, 1, 0, 0]]


def test_padding_is_never_the_largest() -> None:
    for entry in (-5.0, -float("inf")):
        x = np.full((1, 4), entry)
        y = p.max_windows(x, lattice=PAIRS)
        assert y.tolist() == [[entry] * 3]
        assert p.places_in_windows(x, y, lattice=PAIRS).tolist() == [[0, 1, 3]]


def test_nan_wins() -> None:
    x = np.array([[0.0, np.nan, 3.0, 1.0]])
    y = p.max_windows(x, lattice=PAIRS)
    np.testing.assert_array_equal(y, [[0, np.nan, 1]])


def test_whole_numbers() -> None:
    x = np.array([[-3, -2, -9, 5]])
    assert p.max_windows(x, lattice=PAIRS).tolist() == [[-3, -2, 5]]


@pytest.mark.parametrize("entries", [3, 300])
def test_places_in_long_windows(entries: int) -> None:
    x = np.random.standard_normal((2, 1000))
    lattice = Lattice((entries,), (7,), (1,), ((1, 0),))
    y = p.max_windows(x, lattice=lattice)
    places = p.places_in_windows(x, y, lattice=lattice)
    np.testing.assert_array_equal(np.take_along_axis(x, places, 1), y)


def test_divisors() -> None:
    x = np.ones((1, 4))
    assert p.mean_windows(x, lattice=PAIRS, divisor=4).tolist() == [[0.25, 0.5, 0.25]]
    assert p.mean_windows(x, lattice=PAIRS, divisor=((1, 2, 1),)).tolist() == [[1, 1, 1]]


@pytest.mark.parametrize("name", ["max_pool1d", "adaptive_max_pool1d"])
def test_the_slope_goes_to_the_last_nan(torch: Any, name: str) -> None:
    found = []
    for lib in (torch, gradwright):
        x = lib.tensor([[1.0, np.nan, 2.0, 3.0, np.nan, np.nan, 5.0, 4.0, 0.0]], requires_grad=True)
        y, places = getattr(lib.nn.functional, name)(x, 3, return_indices=True)
        y.sum().backward()
        found.append([places.tolist(), x.grad.tolist()])
    assert found[0] == found[1] == [[[1, 5, 6]], [[0, 1, 0, 0, 0, 1, 1, 0, 0]]]
    flat = tensor(np.full((1, 255), np.nan), requires_grad=True)
    p.max_windows(flat, lattice=Lattice((255,), (1,), (1,), ((0, 0),))).sum().backward()
    assert flat.grad[0, -1].item() == flat.grad.sum().item() == 1
