"""Colourings: no two lines of a colour meet, and every entry can be read from the products."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradwright.transform.colouring import members, mirrored, orthogonal, star


def patterns(symmetric=False):
    return st.tuples(st.integers(1, 12), st.integers(1, 12), st.floats(0, 1), st.integers(0, 99)).map(
        lambda drawn: random_pattern(*drawn, symmetric=symmetric)
    )


def random_pattern(m, n, share, seed, *, symmetric):
    there = np.random.default_rng(seed).random((m, m if symmetric else n)) < share
    return there | there.T if symmetric else there


def test_members_groups_values_by_key():
    assert members(np.array([2, 0, 2]), np.array([5, 6, 7]), 4) == [[6], [], [5, 7], []]


@given(patterns())
def test_columns_of_one_colour_have_no_row_in_common(there):
    rows, columns = np.nonzero(there)
    colours = orthogonal(columns, rows, there.shape[1], there.shape[0])
    for row in there:
        found = colours[row]
        assert len(set(found.tolist())) == len(found)
        assert (found >= 0).all()
    assert ((colours == -1) == ~there.any(0)).all()


@given(patterns(symmetric=True))
def test_a_symmetric_matrix_can_be_read_from_the_products_of_a_star_colouring(there):
    n = len(there)
    a = np.random.default_rng(1).standard_normal((n, n))
    matrix = (a + a.T) * there
    rows, columns = np.nonzero(there)
    colours = star(rows, columns, n)
    products = np.stack([matrix @ (colours == c) for c in range(colours.max() + 1)]) if rows.size else None
    other = mirrored(rows, columns, colours)
    for i, j, swap in zip(rows, columns, other, strict=True):
        i, j = (j, i) if swap else (i, j)
        assert products[colours[j], i] == pytest.approx(matrix[i, j])


@given(patterns(symmetric=True))
def test_no_path_of_four_has_two_colours(there):
    n = len(there)
    rows, columns = np.nonzero(there)
    colours = star(rows, columns, n)
    edges = [(i, j) for i, j in zip(rows.tolist(), columns.tolist(), strict=True) if i != j]
    assert all(colours[i] != colours[j] for i, j in edges)
    for a, b in edges:
        for c in np.flatnonzero(there[b]).tolist():
            for d in np.flatnonzero(there[c]).tolist():
                if len({a, b, c, d}) == 4:
                    assert len({int(colours[k]) for k in (a, b, c, d)}) > 2


def band(n, width):
    i, j = np.indices((n, n))
    return np.nonzero(np.abs(i - j) <= width)


@pytest.mark.parametrize("width", [0, 1, 3])
def test_a_band_takes_as_many_colours_as_it_is_wide(width):
    rows, columns = band(40, width)
    assert orthogonal(columns, rows, 40, 40).max() + 1 == 2 * width + 1
    assert star(rows, columns, 40).max() + 1 <= 2 * width + 1


@pytest.mark.parametrize("hub", [0, 19])
def test_an_arrow_takes_two_colours_where_symmetry_helps(hub):
    there = np.eye(20, dtype=bool)
    there[hub] = there[:, hub] = True
    rows, columns = np.nonzero(there)
    assert star(rows, columns, 20).max() + 1 == 2
    assert orthogonal(columns, rows, 20, 20).max() + 1 == 20


def test_the_fullest_line_first_may_be_better():
    there = np.zeros((6, 6), bool)
    there[:, 5] = True
    there[np.arange(5), np.arange(5)] = True
    rows, columns = np.nonzero(there)
    assert orthogonal(columns, rows, 6, 6).max() + 1 == 2
