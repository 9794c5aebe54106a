"""The plot of the digits that a function loses: points across, digits up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradwright.pages.markup import Markup, tag

_WIDTH, _HEIGHT, _LEFT, _BELOW = 560, 170, 34, 22
_MOST = 16.0
_STYLES = {
    ("value", "float32"): ("#3b7dd8", "4 3"), ("gradient", "float32"): ("#d9822b", "4 3"),
    ("value", "float64"): ("#3b7dd8", None), ("gradient", "float64"): ("#d9822b", None),
}  # fmt: skip
"""Colour and dashes: blue is the value, orange the gradient; dashed is float32."""


def losses(found: Mapping[str, Any]) -> Markup:
    """The plot, with a line for value and gradient in each dtype, and its key; described by its sentence."""
    lines = [one for one in found["losses"] if one["points"]]
    low, high = (f(x for one in lines for x in one["points"]) for f in (min, max))
    across = lambda x: _LEFT + (x - low) / ((high - low) or 1.0) * (_WIDTH - _LEFT - 8)
    up = lambda d: _HEIGHT - _BELOW - min(d, _MOST) / _MOST * (_HEIGHT - _BELOW - 8)
    marks = [
        [tag("path", d=f"M{_LEFT} {up(d):.1f}H{_WIDTH - 8}", stroke="currentColor", opacity=0.15),
         _word(f"{d}", _LEFT - 6, up(d) + 4, "end")]
        for d in (0, 4, 8, 12, 16)
    ]  # fmt: skip
    ends = [_word(f"{x:.3g}", across(x), _HEIGHT - 6, anchor) for x, anchor in ((low, "start"), (high, "end"))]
    drawn = [_line(one, across, up) for one in lines]
    key = "digits lost; blue: the value, orange: the gradient; dashed: float32, solid: float64"
    picture = tag("svg", marks, ends, drawn, viewBox=f"0 0 {_WIDTH} {_HEIGHT}", role="img", aria_label=found["said"],
                  style=f"max-width:{_WIDTH}px;width:100%")  # fmt: skip
    return tag("figure", picture, tag("figcaption", key), class_="losses")


def _word(text: str, x: float, y: float, anchor: str) -> Markup:
    return tag("text", text, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, font_size=11, fill="currentColor")


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
