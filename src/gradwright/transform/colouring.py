"""Which columns, rows or vectors of a sparse matrix one product can tell apart: colourings of its pattern.

A product with a vector of ones and zeros adds up columns. If no row has entries in two of them, each entry of the
product is one entry of the matrix. So the columns are coloured: of one colour are such as have no row in common, and a
product for each colour gives the whole matrix (Curtis, Powell and Reid 1974). The same goes for rows, with products
from the left. Of a symmetric matrix an entry may be read at its place or at the mirrored one: fewer colours will do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.intp]


def members(keys: Indices, values: Indices, count: int) -> list[list[int]]:
    """For each key below ``count``, the values that go with it."""
    order = np.argsort(keys, kind="stable")
    ends = [0, *np.cumsum(np.bincount(keys, minlength=count)).tolist()]
    flat = values[order].tolist()
    return [flat[a:b] for a, b in pairwise(ends)]


def orthogonal(lines: Indices, across: Indices, count: int, width: int) -> Indices:
    """A colour for each of ``count`` lines, such that no two of one colour have an entry in the same place across.

    Entry k is on line ``lines[k]`` at the place ``across[k]`` < ``width``. A line without entries has colour -1.
    Greedy, in the order of the lines and from the fullest line on; the better of both is taken.
    """
    places = members(lines, across, count)
    fewest = int(np.bincount(across, minlength=1).max(initial=0))
    found = _greedy(places, range(count), width)
    if found.max(initial=-1) + 1 > fewest:
        other = _greedy(places, _fullest(places), width)
        found = min(found, other, key=_colours)
    return found


def _colours(colours: Indices) -> int:
    return int(colours.max(initial=-1)) + 1


def _fullest(places: Sequence[Sequence[int]]) -> list[int]:
    return sorted(range(len(places)), key=lambda i: -len(places[i]))


def _greedy(places: Sequence[Sequence[int]], order: Iterable[int], width: int) -> Indices:
    """The lowest colour for each line in turn; which ones are used at a place is kept in the bits of a number."""
    used = [0] * width
    colours = np.full(len(places), -1)
    for i in order:
        taken = 0
        for j in places[i]:
            taken |= used[j]
        if not places[i]:
            continue
        bit = ~taken & (taken + 1)
        colours[i] = bit.bit_length() - 1
        for j in places[i]:
            used[j] |= bit
    return colours


def star(rows: Indices, columns: Indices, count: int) -> Indices:
    """A colour for each row of a symmetric matrix, so that each entry can be read at its place or at the mirrored one.

    Neighbours, rows with an entry off the diagonal in common, differ, and where two neighbours of a row are of one
    colour, it is a higher one than the row's. So no path of four rows has two colours, which is what it takes (a star
    colouring: Gebremedhin, Manne and Pothen 2005). A row without entries has colour -1.
    """
    off = rows != columns
    neighbours = members(rows[off], columns[off], count)
    alone = np.setdiff1d(np.arange(count), rows)
    found = []
    for order in (range(count), _fullest(neighbours)):
        colours = [-1] * count
        seen = [0] * count  # the colours among the neighbours of each row, as bits
        for i in order:
            taken = 0
            for j in neighbours[i]:
                below = (1 << colours[j]) - 1 if colours[j] >= 0 else -1
                taken |= seen[j] & below | (below + 1)
            bit = ~taken & (taken + 1)
            colours[i] = bit.bit_length() - 1
            for j in neighbours[i]:
                seen[j] |= bit
        made = np.array(colours, np.intp).reshape(count)
        made[alone] = -1
        found.append(made)
    return min(found, key=_colours)


def mirrored(rows: Indices, columns: Indices, colours: Indices) -> NDArray[np.bool_]:
    """Which entries a star colouring tells apart at their mirrored place, but not at their own.

    Row i of the product for a colour is the sum of its entries in the columns of that colour.
    """
    count = int(colours.max(initial=0)) + 1
    _, which, number = np.unique(rows * count + colours[columns], return_inverse=True, return_counts=True)
    return number[which] > 1
