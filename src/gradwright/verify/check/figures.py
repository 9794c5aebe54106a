"""What the figures of a page are drawn from: Jacobians made small, and errors by step size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from gradwright.base.pages.numbers import cuts, number, numbers

CELLS = 32
"""A heat map has at most so many rows and columns."""

Matrix = np.ndarray[Any, Any]


def figures(diagnosis: Mapping[str, Any]) -> dict[str, Any]:
    """The heat maps and the plot of a diagnosis, as ``as_dict`` gives it: plain data too.

    ``worst`` is the place of the worst entry: which heat map, and which cell of it, row by row.
    """
    blocks = [b for b in diagnosis["blocks"] if _matrix(b["analytic"]).size]
    at = _worst(blocks, diagnosis["worst"])
    maps = [heat_map(b, at[1:] if at and at[0] == k else None) for k, b in enumerate(blocks)]
    worst = None
    if at:
        m = maps[at[0]]
        worst = [at[0], m["at"].index(at[1] * m["of"][1] + at[2])]
    return {"maps": maps, "worst": worst, "plot": plot(diagnosis)}


def heat_map(block: Mapping[str, Any], worst: tuple[int, int] | None = None) -> dict[str, Any]:
    """The matrices of a block, each tile of a large one represented by its entry that is furthest off, or largest.

    Returns:
        A dictionary. ``of``: rows and columns of the whole; ``shape``: those of what is left. Then lists, row by row:
        ``at``: where each entry was in the whole, counted through; ``analytic``, ``numeric``, ``bar``; ``off``:
        analytic less numeric; ``mark``: 1 where that is more than the error bar allows, 2 at a kink, otherwise 0.
        Also ``rows``, ``columns``: which coordinates of input and output the whole is about, None if all.
    """
    analytic, numeric, bar = (_matrix(block[k]) for k in ("analytic", "numeric", "bar"))
    wrong, kinks = (np.asarray(block[k], bool).reshape(analytic.shape) for k in ("wrong", "kinks"))
    with np.errstate(all="ignore"):
        off = analytic - numeric
    rank = np.where(wrong, 2 + _share(off), np.where(kinks, 1, 0)) + 1e-3 * _share(np.fmax(abs(analytic), abs(numeric)))
    if worst:
        rank[worst] = np.inf
    rows, columns = (cuts(n, CELLS) for n in analytic.shape)
    at = []
    for top, bottom in pairwise(rows):
        for left, right in pairwise(columns):
            tile = rank[top:bottom, left:right]
            i, j = divmod(int(np.argmax(tile)), tile.shape[1])
            at.append((top + i) * analytic.shape[1] + left + j)
    return {
        "input": block["input"],
        "output": block["output"],
        "of": list(analytic.shape),
        "shape": [len(rows) - 1, len(columns) - 1],
        "at": at,
        "rows": _some(block.get("rows")),
        "columns": _some(block.get("columns")),
        "analytic": numbers(analytic.flat[at]),
        "numeric": numbers(numeric.flat[at]),
        "bar": numbers(bar.flat[at]),
        "off": numbers(off.flat[at]),
        "mark": np.where(wrong, 1, 2 * kinks).flat[at].tolist(),
    }


def _some(coordinates: Sequence[int] | None) -> list[int] | None:
    """Coordinates, unless they are all there are."""
    found = None if coordinates is None else [*map(int, coordinates)]
    return None if found == [*range(len(found or ()))] else found


def plot(diagnosis: Mapping[str, Any]) -> dict[str, Any] | None:
    """How far the difference quotients of the worst entry are from either value, by step; None if there are too few.

    Returns:
        A dictionary. ``steps``, largest first; ``analytic``, ``numeric``: how far the quotient with each is from what
        backward says, and from where the quotients lead; ``error``: how far those are apart; ``bar``: of the latter.
    """
    entry, steps, ladder = diagnosis["worst"], _matrix(diagnosis["steps"]), _matrix(diagnosis["ladder"])
    if entry is None:
        return None
    steps, ladder = (m.reshape(-1) for m in (steps, ladder))
    known = np.isfinite(ladder) & np.isfinite(steps) & (steps > 0)
    if known.sum() < 2:
        return None
    said, found = float(entry["analytic"]), float(entry["numeric"])
    with np.errstate(all="ignore"):
        return {
            "steps": numbers(steps[known]),
            "analytic": numbers(np.abs(ladder[known] - said)),
            "numeric": numbers(np.abs(ladder[known] - found)),
            "error": number(abs(said - found)),
            "bar": number(float(entry["bar"])),
        }


def _share(matrix: Matrix) -> Matrix:
    """The size of each entry as part of the largest that is finite; 1 for those that are not."""
    size = np.abs(matrix)
    top = size[np.isfinite(size)].max(initial=0.0) or 1.0
    return np.minimum(np.nan_to_num(size, nan=np.inf) / top, 1)


def _worst(blocks: Sequence[Mapping[str, Any]], entry: Mapping[str, Any] | None) -> tuple[int, int, int] | None:
    """Block, row and column of an entry: where its three numbers stand."""
    if entry is None:
        return None
    for k, b in enumerate(blocks):
        if (b["input"], b["output"]) == (entry["input"], entry["output"]):
            same = [np.isclose(_matrix(b[m]), float(entry[m]), 0, 0, equal_nan=True)
                    for m in ("analytic", "numeric", "bar")]  # fmt: skip
            for i, j in np.argwhere(np.logical_and.reduce(same)):
                return k, int(i), int(j)
    return None


def _matrix(rows: Any) -> Matrix:
    return np.asarray(rows, dtype=np.float64)  # reads the strings that stand for nan and inf in plain data
