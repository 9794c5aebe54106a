"""Entries that may differ from PyTorch, and why. A test fails if one of them in fact agrees."""

from __future__ import annotations

DRAWN = "drawn numbers have no derivative and say so; PyTorch gives them a gradient of zeros"

KNOWN: dict[str, str] = {
    "as_strided.partial_views": "it reads memory outside the tensor, which is lost on the way from PyTorch to NumPy",
    "as_strided_scatter": "PyTorch hands the entries that are overwritten a gradient, and those that stay none",
    "bernoulli": DRAWN,
    "normal": DRAWN,
    "normal.number_mean": DRAWN,
}
"""Entry name (variant included) -> the reason, in a line."""
