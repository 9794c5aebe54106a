"""The plot of the digits that a function loses: points across, digits up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any

import numpy as np

from gradwright.base.pages.markup import Markup, tag

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _BELOW, _ABOVE = 480, 190, 30, 14, 24, 10
_MOST = 16.0
_FINEST = 1e-8
"""Around 0 the axis shows points this close to it, as a part of the range."""
_GAP = 52.0
"""So far apart labels of the axis must be."""
_STYLES = {
    ("value", "float32"): ("#3b7dd8", "4 3"), ("gradient", "float32"): ("#d9822b", "4 3"),
    ("value", "float64"): ("#3b7dd8", None), ("gradient", "float64"): ("#d9822b", None),
}  # fmt: skip
"""Colour and dashes: blue is the value, orange the gradient; dashed is float32."""


def losses(found: Mapping[str, Any]) -> Markup:
    """The plot, with a line for value and gradient in each dtype, and its key; described by its sentence.

    Across it is logarithmic to both sides of 0, where digits are lost, if 0 is in the range; else linear.
    """
    lines = [one for one in found["losses"] if one["points"]]
    low, high = (f(x for one in lines for x in one["points"]) for f in (min, max))
    scale = _scale(low, high)
    left, right = scale(low), scale(high)
    across = lambda x: _LEFT + (scale(x) - left) / ((right - left) or 1.0) * (_WIDTH - _LEFT - _RIGHT)
    up = lambda d: _HEIGHT - _BELOW - min(d, _MOST) / _MOST * (_HEIGHT - _BELOW - _ABOVE)
    marks = [
        [tag("path", d=f"M{_LEFT} {up(d):.1f}H{_WIDTH - _RIGHT}", stroke="currentColor", opacity=0.15),
         _word(f"{d}", _LEFT - 6, up(d) + 4, "end")]
        for d in (0, 4, 8, 12, 16)
    ]  # fmt: skip
    ends = [
        [tag("path", d=f"M{across(x):.1f} {up(0):.1f}v4", stroke="currentColor", opacity=0.5),
         _word(_short(x), min(max(across(x), _LEFT + 8), _WIDTH - _RIGHT - 4), _HEIGHT - 6, "middle")]
        for x in _ticks(low, high, across)
    ]  # fmt: skip
    drawn = [_line(one, across, up) for one in lines]
    picture = tag("svg", marks, ends, drawn, viewBox=f"0 0 {_WIDTH} {_HEIGHT}", role="img", aria_label=found["said"],
                  style=f"max-width:{_WIDTH}px;width:100%")  # fmt: skip
    key = ["digits lost, by the input: ", *[[_sample(one), " "] for one in lines]]
    return tag("figure", picture, tag("figcaption", key), class_="losses")


def outlook(found: Mapping[str, Any]) -> str:
    """Its sentence, of a function that is right: ``f: right, but the value in float32 loses 7 digits near 0``."""
    name, _, rest = str(found["said"]).partition(": ")
    return f"{name}: right, but {rest}" if not found.get("steady", True) else str(found["said"])


def _scale(low: float, high: float) -> Callable[[float], float]:
    """What is linear across the plot."""
    if not low < 0 < high and low != 0 and high != 0:
        return float
    least = (high - low) * _FINEST
    return lambda x: float(np.sign(x) * np.log10(1 + abs(x) / least))


def _ticks(low: float, high: float, across: Callable[[float], float]) -> list[float]:
    """Where the axis is labelled: at its ends, at 0, and at powers of 10 between, as far as there is room."""
    size = max(-low, high)
    powers = [s * 10.0 ** round(np.log10(size) - k) for k in (2, 5) for s in (1, -1)] if low <= 0 <= high else []
    kept: list[float] = []
    for x in chain((low, high), (0.0,) if low < 0 < high else (), powers, () if powers else ((low + high) / 2,)):
        if low <= x <= high and all(abs(across(x) - across(k)) > _GAP for k in kept):
            kept.append(x)
    return sorted(kept)


def _short(x: float) -> str:
    return f"{x:.2g}".replace("-", "\N{MINUS SIGN}").replace("e\N{MINUS SIGN}0", "e\N{MINUS SIGN}")


def _word(text: str, x: float, y: float, anchor: str) -> Markup:
    return tag("text", text, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, font_size=13, fill="currentColor")


def _sample(one: Mapping[str, Any]) -> Markup:
    """A piece of its line, for the key, and what it is."""
    colour, dashes = _STYLES[one["what"], one["dtype"]]
    piece = tag("svg", tag("path", d="M0 5H26", stroke=colour, stroke_width=2, stroke_dasharray=dashes),
                viewBox="0 0 26 10", width=26, height=10, aria_hidden="true")  # fmt: skip
    return tag("span", piece, f" {one['what']} in {one['dtype']}")


def _line(one: Mapping[str, Any], across: Any, up: Any) -> list[Markup]:
    colour, dashes = _STYLES[one["what"], one["dtype"]]
    runs: list[list[str]] = [[]]
    for x, d in zip(one["points"], one["digits"], strict=True):
        if d is None:
            runs.append([])
        else:
            runs[-1].append(f"{across(x):.1f},{up(d):.1f}")
    return [tag("polyline", points=" ".join(run), fill="none", stroke=colour, stroke_width=1.5, stroke_dasharray=dashes)
            for run in runs if run]  # fmt: skip
