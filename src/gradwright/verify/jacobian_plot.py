"""`plot_jacobian`: a picture of what the checkers compare, drawn as `gradwright.base.pages.figures` says."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradwright.base.pages import figures
from gradwright.verify.numeric.differences import central, step
from gradwright.verify.numeric.jacobian import Subject, analytical, coordinates, named, rounding
from gradwright.verify.numeric.on_host import on_host

Matrix = np.ndarray[Any, Any]

WRITTEN = 6
"""A heat map with at most so many rows and columns has its numbers written in it."""
TOLERANCE = 1e-3
"""A difference as large as this part of the largest entry has the deepest colour, or more than that is asked for."""


class Panel(NamedTuple):
    """One Jacobian, three times: a row for each entry of the output, a column for each of the input."""

    output: str
    input: str
    analytic: Matrix
    numeric: Matrix
    rows: list[str]
    columns: list[str]


def plot_jacobian(func: Callable[..., Any], inputs: Any, *, figure: Any = None) -> Any:
    """Draw the Jacobian of a function: by backward, by finite differences, and the difference of both.

    A row of heat maps for each pair of an output and an input that requires grad; in each, a row for each entry of the
    output and a column for each of the input. Of complex ones there are first the real parts of all entries, then the
    imaginary parts. Blue is positive and orange negative, and the scale goes as far to one side as to the other; the
    third map has a scale of its own, of at least a thousandth of the first two's, so that rounding stays pale. What is
    not finite is grey.

    Args:
        func: of tensors, which returns tensors. inputs: its argument, or a tuple of its arguments; best in float64.
        figure: a matplotlib Figure or SubFigure to draw into; by default a new one.

    Returns:
        The figure. A notebook shows it; ``figure.savefig("jacobian.png")`` writes it to a file.

    Raises:
        ValueError: no input requires grad, nothing that is returned is of floating point, or all of it is empty.
        ImportError: matplotlib is not installed. Whatever ``func`` or its backward raises.

        >>> from gradwright import viz
        >>> x = gw.tensor([0.5, 2.0], dtype=gw.float64, requires_grad=True)
        >>> figure = viz.plot_jacobian(lambda x: x.outer(x), x)
        >>> [axes.get_title() for axes in figure.axes[:3]]
        ['backward', 'finite differences', 'difference, at most ...']
    """
    panels = [panel for panel in _panels(func, inputs) if panel.analytic.size]
    if not panels:
        raise ValueError("plot_jacobian: nothing to draw: all inputs that require grad, or all outputs, are empty")
    rows, columns = (max(m.analytic.shape[k] for m in panels) for k in (0, 1))
    width = 3 * np.clip(0.45 * columns, 1.8, 4.5) + 3
    height = len(panels) * (np.clip(0.45 * rows, 1.4, 4.5) + 1.2)
    figure = figures.figure("plot_jacobian", figure, width, height)
    for axes, panel in zip(figure.subplots(len(panels), 3, squeeze=False), panels, strict=True):
        _draw(figure, axes, panel)
    return figure


def _panels(func: Callable[..., Any], inputs: Any) -> Iterator[Panel]:
    subject = Subject(*on_host(func, tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)))
    if not subject.varied:
        raise ValueError("plot_jacobian: no input requires grad: give those that matter requires_grad=True")
    if not subject.outputs:
        raise ValueError("plot_jacobian: the function returns no tensor of floating point")
    names = _outputs(subject)
    said = [analytical(subject, k).jacobians for k in range(len(names))] if subject.differentiable else []
    for j, x in enumerate(subject.varied):
        steps = step(x, max(rounding(x.array.dtype), 1e-16) ** (1 / 3))
        for k, slopes in enumerate(central(subject, x, steps).slopes):
            out = subject.outputs[k].array
            analytic = _real(said[k][j]) if said else np.zeros((coordinates(x), slopes.shape[1]))
            yield Panel(names[k], subject.names[j], analytic.T, _real(slopes).T, _labels(out), _labels(x.array))


def _outputs(subject: Subject) -> list[str]:
    """Names of the outputs: ``out``, or by their place in the result."""
    found = [name for name, _ in named(subject.func(*subject.inputs), "out")]
    return [found[k] for k in subject.which]


def _real(matrix: Matrix) -> Matrix:
    return np.hstack((matrix.real, matrix.imag)) if matrix.dtype.kind == "c" else matrix


def _labels(array: Any) -> list[str]:
    """The index of each entry: ``0,1``; of complex ones with the part."""
    entries = [",".join(map(str, index)) for index in np.ndindex(array.shape)]
    return entries if array.dtype.kind != "c" else [f"{part} {e}" for part in ("Re", "Im") for e in entries]


def _draw(figure: Any, axes: Sequence[Any], panel: Panel) -> None:
    with np.errstate(all="ignore"):
        off = panel.analytic - panel.numeric
    top = max(_largest(panel.analytic), _largest(panel.numeric)) or 1.0
    titles = ("backward", "finite differences", f"difference, at most {_largest(off):.2g}")
    limits = (top, top, max(_largest(off), TOLERANCE * top))
    for k, (ax, matrix, title, limit) in enumerate(
        zip(axes, (panel.analytic, panel.numeric, off), titles, limits, strict=True)
    ):
        image = ax.imshow(matrix, figures.colours(ax), vmin=-limit, vmax=limit, aspect="auto", interpolation="nearest")
        ax.set_title(title, fontsize="medium")
        ax.set_xlabel(figures.plain(panel.input))
        ax.set_ylabel(figures.plain(panel.output))
        ax.grid(visible=False)
        _number(ax.xaxis, panel.columns)
        _number(ax.yaxis, panel.rows)
        if max(matrix.shape) <= WRITTEN and _largest(matrix) >= TOLERANCE * top:
            _write(ax, matrix, limit)
        if k:
            bar = figure.colorbar(image, ax=axes[:2] if k == 1 else ax, fraction=0.08, aspect=30, pad=0.02)
            bar.formatter.set_powerlimits((-2, 4))


def _largest(matrix: Matrix) -> float:
    return float(np.abs(matrix[np.isfinite(matrix)]).max(initial=0.0))


def _number(axis: Any, labels: list[str]) -> None:
    """The indices, as many of them as there is room for."""
    every = 1 + (len(labels) - 1) // 12
    axis.set_ticks(range(0, len(labels), every), labels[::every])
    axis.set_tick_params(labelsize="small", length=0)


def _write(ax: Any, matrix: Matrix, limit: float) -> None:
    """The numbers, as many decimals as it takes to write the largest with three digits."""
    if not 1e-3 <= limit < 1e4:
        return
    background, ink = ax.get_facecolor(), ax.xaxis.label.get_color()
    decimals = max(0, 2 - math.floor(math.log10(limit)))
    for (i, j), value in np.ndenumerate(matrix):
        deep = not np.isfinite(value) or abs(value) > 0.55 * limit
        text = f"{value:.{decimals}f}" if value else "0"
        ax.text(j, i, text, ha="center", va="center", fontsize="small", color=background if deep else ink)
