"""`plot_jacobian` and `plot_gradients`: figures of matplotlib, which the extra ``viz`` installs.

They draw into the figure that is given, or into a new one, which they return. They never show it, and neither use nor
change pyplot's state; styles that are on (``matplotlib.style.context``) hold.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from gradwright.backends import to_host
from gradwright.base.errors import kind
from gradwright.base.pages.markup import printable
from gradwright.nn import Module
from gradwright.verify.numeric.differences import central, step
from gradwright.verify.numeric.jacobian import Subject, analytical, coordinates, named, rounding
from gradwright.verify.numeric.on_host import on_host
from gradwright.viz.sizes import EXPLODING, VANISHING, judged
from gradwright.viz.trace import magnitude

Matrix = np.ndarray[Any, Any]

LIGHT, DARK = ("#b85709", "#1f5fa8"), ("#f2984a", "#66a8f0")
"""The colours of negative and positive numbers, and of large and small ones: those of the pages."""
WRITTEN = 6
"""A heat map with at most so many rows and columns has its numbers written in it."""
TOLERANCE = 1e-3
"""A difference as large as this part of the largest entry has the deepest colour, or more than that is asked for."""


# ---- Jacobians --------------------------------------------------------------------------------------------


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

        >>> import gradwright as gw
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
    figure = _figure("plot_jacobian", figure, width, height)
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
    """What to call the outputs: ``out``, or by their place in what is returned."""
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
        image = ax.imshow(matrix, cmap=_colours(ax), vmin=-limit, vmax=limit, aspect="auto", interpolation="nearest")
        ax.set_title(title, fontsize="medium")
        ax.set_xlabel(_plain(panel.input))
        ax.set_ylabel(_plain(panel.output))
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
    apart = 1 + (len(labels) - 1) // 12
    axis.set_ticks(range(0, len(labels), apart), labels[::apart])
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


# ---- gradients --------------------------------------------------------------------------------------------


class Row(NamedTuple):
    """The gradient of a parameter: the sizes of its entries that are finite and not 0, and its norm."""

    name: str
    sizes: Matrix
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
    figure = _figure("plot_gradients", figure, 9, float(np.clip(0.3 * len(rows), 1.2, 14)) + 1)
    entries, norms = figure.subplots(1, 2, width_ratios=(3, 2))
    low, high = _range(row.sizes for row in rows)
    edges = np.geomspace(low, high, 61)
    large, small = _pair(entries)
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


def _range(sizes: Iterator[Matrix]) -> tuple[float, float]:
    """From where to where the sizes go, and at least over three powers of ten."""
    found = [(float(s.min()), float(s.max())) for s in sizes if s.size]
    low, high = min((a for a, _ in found), default=1e-3), max((b for _, b in found), default=1.0)
    return min(low, high / 1e3) / 2, high * 2


def _rows(ax: Any, title: str, labels: Sequence[tuple[str, Any]]) -> None:
    """A row for each label, in its colour; of many not each is written."""
    apart = 1 + (len(labels) - 1) // 60
    ax.set_yticks(range(0, len(labels), apart), [_plain(name) for name, _ in labels[::apart]])
    for text, (_, colour) in zip(ax.get_yticklabels(), labels[::apart], strict=True):
        text.set_color(colour)
    ax.tick_params(axis="y", labelsize="small", length=0)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.grid(visible=True, axis="x", alpha=0.25, linewidth=0.6)
    ax.grid(visible=False, axis="y")
    ax.set_xscale("log")
    ax.set_title(title, fontsize="medium")


# ---- figures ----------------------------------------------------------------------------------------------


def _figure(caller: str, given: Any, width: float, height: float) -> Any:
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


def _pair(ax: Any) -> tuple[str, str]:
    """The two colours, for the background of these axes."""
    red, green, blue, _ = ax.get_facecolor()
    return DARK if 0.3 * red + 0.6 * green + 0.1 * blue < 0.5 else LIGHT


def _colours(ax: Any) -> Any:
    """From negative over the background of these axes to positive."""
    from matplotlib.colors import ListedColormap, to_rgba  # noqa: PLC0415 - an optional dependency

    middle, (negative, positive) = np.array(ax.get_facecolor()), map(np.array, map(to_rgba, _pair(ax)))
    share = np.linspace(-1, 1, 255)[:, None]
    deep = np.abs(share) ** 0.7  # so that small numbers are seen
    return ListedColormap(middle + deep * (np.where(share < 0, negative, positive) - middle)).with_extremes(bad="grey")


def _plain(name: str) -> str:
    """A name that matplotlib does not take for mathematics."""
    return printable(name).replace("$", r"\$")
