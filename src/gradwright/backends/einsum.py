"""Sums of products of NumPy arrays, by matrix product where NumPy's own loop is slow."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

_SMALL = 1 << 10  # products in all, below which reordering costs more than it gains


def einsum(*xs: Any, equation: str) -> Any:
    """The sum of products that ``equation`` names, in memory of its own; no letter stands twice in one operand."""
    if len(xs) == 2:
        terms, result = equation.split("->")
        first, second = terms.split(",")
        shared = [c for c in first if c in second]
        summed = [c for c in shared if c not in result]
        left, right = ([c for c in result if c in t and c not in shared] for t in (first, second))
        letters = {c: n for t, x in zip((first, second), xs, strict=True) for c, n in zip(t, x.shape, strict=True)}
        if left and right and summed and set(letters) <= {*result, *summed} and prod(letters.values()) >= _SMALL:
            return _matmul(
                xs, (first, second), result, [c for c in shared if c in result], left, right, summed, letters
            )
    out = np.einsum(equation, *xs, optimize=len(xs) > 2)
    return out if len(xs) > 1 else np.array(out)  # of one operand NumPy may return a view


def _matmul(xs: Any, terms: Any, result: str, batch: Any, left: Any, right: Any, summed: Any, sizes: Any) -> Any:
    """Two arrays whose shared letters are batches or summed, as one product of matrices or one of each batch."""

    def arranged(x: Any, term: str, rows: Any, columns: Any) -> Any:
        x = x.transpose([term.index(c) for c in (*batch, *rows, *columns)])
        return x.reshape(*(sizes[c] for c in batch), prod(sizes[c] for c in rows), prod(sizes[c] for c in columns))

    out = arranged(xs[0], terms[0], left, summed) @ arranged(xs[1], terms[1], summed, right)
    have = [*batch, *left, *right]
    return out.reshape([sizes[c] for c in have]).transpose([have.index(c) for c in result])
