"""Figures of functions of one number: y and dy/dx for x from -4 to 4, made when the site is built."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import gradwright as gw
from docs.generator.places import operation

LIMIT = 4
_SIDE = 25  # units of the picture for each of the axes
_STYLE = "fill='none' stroke-width='2' stroke-linejoin='round'"


def figure(function: Any) -> str | None:
    """An SVG picture of a function that is one elementwise operation of one number; None of any other."""
    op = operation(function)
    if op is None or op.kind != "elementwise" or len(op.inputs) != 1 or op.static or not op.rules:
        return None
    x = gw.linspace(-LIMIT, LIMIT, 1001, dtype=gw.float64, requires_grad=True)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        y = function(x)
        y.sum().backward()
    at, values, slopes = (t.detach().numpy() for t in (x, y, x.grad))
    end = 2 * LIMIT * _SIDE
    lines = [f"<path d='M0 {end / 2}H{end}M{end / 2} 0V{end}' stroke='#888' stroke-width='1'/>"]
    lines += [f"<polyline points='{points}' {_STYLE} stroke='#d97706' stroke-dasharray='5 4'/>"
              for points in polylines(at, slopes)]  # fmt: skip
    lines += [f"<polyline points='{points}' {_STYLE} stroke='#3b82f6'/>" for points in polylines(at, values)]
    size = f"width='{end}' height='{end}' viewBox='0 0 {end} {end}'"
    return "\n".join([f"<svg xmlns='http://www.w3.org/2000/svg' {size}>", *lines, "</svg>"]) + "\n"


def polylines(at: np.ndarray, values: np.ndarray) -> Iterator[str]:
    """The points of each stretch without a gap, a jump, or values out of the picture."""
    run: list[str] = []
    before = np.nan
    for x, y in zip(at, values, strict=True):
        if run and not abs(y - before) < 0.5:
            yield " ".join(run)
            run = []
        if abs(y) <= LIMIT:
            run.append(f"{(x + LIMIT) * _SIDE:.1f},{(LIMIT - y) * _SIDE:.1f}")
        before = y if abs(y) <= LIMIT else np.nan
    if run:
        yield " ".join(run)
