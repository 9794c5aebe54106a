"""Figures of matplotlib, which the extra ``viz`` installs, drawn in the colours of the pages.

A plot draws into the figure that is given, or into a new one, which it returns. It never shows it, and neither uses nor
changes pyplot's state; styles that are on (``matplotlib.style.context``) hold.
"""

from __future__ import annotations

import io
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from gradwright.base.pages.markup import printable

LIGHT, DARK = ("#b85709", "#1f5fa8"), ("#f2984a", "#66a8f0")
"""The colours of negative and positive numbers, and of large and small ones."""


def figure(caller: str, given: Any, width: float, height: float) -> Any:
    """The figure to draw into."""
    try:
        import_module("matplotlib.figure")
    except ModuleNotFoundError as e:
        raise ImportError(f"{caller} needs matplotlib: pip install matplotlib", name="matplotlib") from e
    return _picture()(figsize=(width, height), layout="constrained") if given is None else given


@cache
def _picture() -> Any:
    """A class of figures that a notebook shows, also where pyplot is not in use."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an optional dependency

    class Picture(Figure):
        def _repr_png_(self) -> bytes:
            file = io.BytesIO()
            self.savefig(file, format="png")
            return file.getvalue()

    return Picture


def two_colours(ax: Any) -> tuple[str, str]:
    """The two colours, for the background of these axes."""
    red, green, blue, _ = ax.get_facecolor()
    return DARK if 0.3 * red + 0.6 * green + 0.1 * blue < 0.5 else LIGHT


def colours(ax: Any) -> Any:
    """From negative over the background of these axes to positive."""
    from matplotlib.colors import ListedColormap, to_rgba  # noqa: PLC0415 - an optional dependency

    middle, (negative, positive) = np.array(ax.get_facecolor()), map(np.array, map(to_rgba, two_colours(ax)))
    share = np.linspace(-1, 1, 255)[:, None]
    deep = np.abs(share) ** 0.7  # so that small numbers are seen
    return ListedColormap(middle + deep * (np.where(share < 0, negative, positive) - middle)).with_extremes(bad="grey")


def plain(name: str) -> str:
    """A name that matplotlib does not take for mathematics."""
    return printable(name).replace("$", r"\$")
