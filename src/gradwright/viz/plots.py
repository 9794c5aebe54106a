"""`plot_gradients`, drawn as `gradwright.base.pages.figures` says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradwright.backends import to_host
from gradwright.base.errors import kind
from gradwright.base.pages import figures
from gradwright.nn import Module
from gradwright.viz.sizes import EXPLODING, VANISHING, judged, magnitude


class Row(NamedTuple):
    """The gradient of a parameter: the sizes of its entries that are finite and not 0, and its norm."""

    name: str
    sizes: Any
    norm: float
    rms: float
    missing: bool = False


def plot_gradients(module: Module, *, figure: Any = None) -> Any:
    """Draw how large the gradients of a module's parameters are, after a backward pass.

    A row for each parameter, in order. On the left how the sizes of the entries are distributed, on a logarithmic
    axis: entries that are 0 are not in it. On the right the norm. A gradient whose entries are too small to train with
    (their root mean square is below 1e-6) is blue and said to be vanishing, one whose are too large (above 1e3) is
    orange and said to be exploding; what is not finite, all 0 or missing is said, too.

    Args:
        module: whose parameters have a ``.grad``. figure: a matplotlib Figure or SubFigure to draw into; by default a
            new one.

    Returns:
        The figure. A notebook shows it; ``figure.savefig("gradients.png")`` writes it to a file.

    Raises:
        TypeError: ``module`` is none. ValueError: no parameter has a ``.grad``.
        ImportError: matplotlib is not installed.
    """
    if not isinstance(module, Module):
        raise TypeError(f"plot_gradients: expected a Module, but got {kind(module)}")
    rows = [_row(name, p) for name, p in module.named_parameters() if p.requires_grad]
    if all(row.missing for row in rows):
        raise ValueError("plot_gradients: no parameter has a .grad: run backward first")
    figure = figures.figure("plot_gradients", figure, 9, float(np.clip(0.3 * len(rows), 1.2, 14)) + 1)
    entries, norms = figure.subplots(1, 2, width_ratios=(3, 2))
    low, high = _range(row.sizes for row in rows)
    edges = np.geomspace(low, high, 61)
    large, small = figures.two_colours(entries)
    ink = norms.xaxis.label.get_color()
    marks = []
    for y, row in enumerate(rows):
        said = "no gradient" if row.missing else judged(row.rms)
        colour = {"vanishing": small, "zero": small, "exploding": large, "not finite": large}.get(said, ink)
        if row.sizes.size:
            counts = np.histogram(row.sizes, edges)[0]
            entries.stairs(y + 0.4 - 0.85 * counts / counts.max(), edges, baseline=y + 0.4, fill=True, color=colour,
                           alpha=0.75)  # fmt: skip
        if np.isfinite(row.norm) and row.norm > 0:
            norms.plot(row.norm, y, "o", color=colour, markersize=5)
        marks.append((said, colour))
    for bounds, colour in (((low, VANISHING), small), ((EXPLODING, high), large)):
        if bounds[0] < bounds[1]:
            entries.axvspan(*bounds, color=colour, alpha=0.12, linewidth=0)
    entries.set_xlim(low, high)
    norms.yaxis.tick_right()
    norms.margins(x=0.1)
    _rows(entries, "size of the entries", [(row.name, ink) for row in rows])
    _rows(norms, "norm", marks)
    return figure


def _row(name: str, parameter: Any) -> Row:
    gradient = parameter.grad
    if gradient is None:
        return Row(name, np.empty(0), 0.0, 0.0, missing=True)
    norm, rms = magnitude([gradient]) or (0.0, 0.0)
    with np.errstate(all="ignore"):
        sizes = np.abs(to_host(gradient.array)).astype(np.float64).reshape(-1)
    return Row(name, sizes[np.isfinite(sizes) & (sizes > 0)], norm, rms)


def _range(sizes: Iterator[Any]) -> tuple[float, float]:
    """From where to where the sizes go, and at least over three powers of ten."""
    found = [(float(s.min()), float(s.max())) for s in sizes if s.size]
    low, high = min((a for a, _ in found), default=1e-3), max((b for _, b in found), default=1.0)
    return min(low, high / 1e3) / 2, high * 2


def _rows(ax: Any, title: str, labels: Sequence[tuple[str, Any]]) -> None:
    """A row for each label, in its colour; of many not each is written."""
    step = 1 + (len(labels) - 1) // 60
    ax.set_yticks(range(0, len(labels), step), [figures.plain(name) for name, _ in labels[::step]])
    for text, (_, colour) in zip(ax.get_yticklabels(), labels[::step], strict=True):
        text.set_color(colour)
    ax.tick_params(axis="y", labelsize="small", length=0)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.grid(visible=True, axis="x", alpha=0.25, linewidth=0.6)
    ax.grid(visible=False, axis="y")
    ax.set_xscale("log")
    ax.set_title(title, fontsize="medium")
