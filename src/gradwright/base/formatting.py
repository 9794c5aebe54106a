"""How a tensor prints: `tensor_repr` writes an array down character for character as PyTorch would.

A repr is made in four steps: sample (an array over the threshold keeps only the edges of each axis), cells
(each value's text, padded to one width), layout (brackets and line breaks), suffixes (size, dtype, gradient).
Only the values that are printed are ever looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress
from math import inf
from typing import Any

import numpy as np
from numpy.typing import DTypeLike


@dataclass
class PrintOptions:
    """What `set_printoptions` sets; the defaults are PyTorch's."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


OPTIONS = PrintOptions()
_PROFILES = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=inf),
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Change how tensors print. What is not given stays as it is, but for ``sci_mode``: None is automatic.

    Args:
        precision: digits after the decimal point.
        threshold: a tensor with more elements than this prints only its edges.
        edgeitems: how many elements to print at either edge of an axis.
        linewidth: characters in a line.
        profile: start from a set of options: "default", "short" or "full" (never leave elements out).
        sci_mode: always (True) or never (False) write powers of ten.
    """
    base = _PROFILES.get(profile or "", OPTIONS)
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    changes = {name: value for name, value in given.items() if value is not None}
    vars(OPTIONS).update(vars(base) | changes | {"sci_mode": sci_mode})


def tensor_repr(
    array: Any,
    *,
    device: str = "",
    grad: str = "",
    prefix: str = "tensor(",
    default_dtype: DTypeLike = np.float32,
) -> str:
    """The repr of a tensor that holds ``array``.

    Args:
        array: a NumPy array or scalar, of booleans, integers, floats or complex numbers.
        device: the first suffix: ``"device='array-api-strict:0'"``, or nothing for the CPU.
        grad: the last suffix: ``"requires_grad=True"``, ``"grad_fn=<MulBackward0>"`` or nothing.
        prefix: what stands before the values; lines after the first are indented by its length.
        default_dtype: the float dtype that goes without saying.

    >>> print(tensor_repr(np.array([[1, 2.5], [-1, np.nan]]), grad="requires_grad=True"))
    tensor([[ 1.0000,  2.5000],
            [-1.0000,     nan]], dtype=torch.float64, requires_grad=True)
    """
    array = np.asarray(array)
    text = prefix + (_values(array, len(prefix)) if array.size else "[]")
    suffixes = (device, _size_suffix(array), _dtype_suffix(array, np.dtype(default_dtype).name), grad)
    return _append(text, [suffix for suffix in suffixes if suffix], len(prefix)) + ")"


def values_text(array: Any) -> str:
    """The values alone, in brackets: what the repr has between its own."""
    array = np.asarray(array)
    return _values(array, 0) if array.size else "[]"


def _values(array: np.ndarray, indent: int) -> str:
    """Everything between the brackets of the repr, and the brackets."""
    cut = [array.size > OPTIONS.threshold and size > 2 * OPTIONS.edgeitems for size in array.shape]
    sample = _edges(array, cut) if any(cut) else array
    cells, width = _cells(sample.ravel())
    return _layout(np.array(cells, dtype=object).reshape(sample.shape), cut, indent, width)


# ------------------------------------------------------------------------------------------------ sample
def _edges(array: np.ndarray, cut: list[bool]) -> np.ndarray:
    """The array without the middle of the axes that are cut."""
    edge = OPTIONS.edgeitems
    indices = [
        [*range(edge), *range(size - edge, size)] if is_cut else range(size)
        for size, is_cut in zip(array.shape, cut, strict=True)
    ]
    return array[np.ix_(*indices)]


# ------------------------------------------------------------------------------------------------- cells
def _cells(values: np.ndarray) -> tuple[list[str], int]:
    """Each value's text, and the width that the layout reckons with."""
    if values.dtype.kind == "c":
        return _complex_cells(values)
    if values.dtype.kind == "V":  # bfloat16
        values = values.astype(np.float32)
    if values.dtype.kind == "f":
        # Zeros, infinities and nan follow the others: they decide neither the style nor the width.
        deciding = np.isfinite(values) & (values != 0)
        style = _float_style(np.abs(values[deciding]))
    else:
        deciding, style = np.full(values.shape, True), ""
    texts = [format(value, style) for value in values.tolist()]
    width = max(map(len, compress(texts, deciding)), default=1)
    return [text.rjust(width) for text in texts], width


def _complex_cells(values: np.ndarray) -> tuple[list[str], int]:
    """Real and imaginary parts, each in a style of its own; only the real ones are padded."""
    (reals, real_width), (imags, imag_width) = _cells(values.real), _cells(values.imag)
    stripped = [imag.lstrip() for imag in imags]
    signed = [imag if imag.startswith("-") else "+" + imag for imag in stripped]
    return [f"{real}{imag}j" for real, imag in zip(reals, signed, strict=True)], real_width + imag_width + 1


def _float_style(magnitudes: np.ndarray) -> str:
    """The format specification that suits all of these: ``1.``, ``1.0000`` or ``1.0000e+00``."""
    if magnitudes.size == 0:
        return "#.0f"
    scientific = OPTIONS.sci_mode
    if scientific is None:
        smallest, largest = float(magnitudes.min()), float(magnitudes.max())
        scientific = largest / smallest > 1000 or largest > 1e8 or smallest < 1e-4
    if scientific:
        return f".{OPTIONS.precision}e"
    whole = (magnitudes == np.ceil(magnitudes)).all()
    return "#.0f" if whole else f".{OPTIONS.precision}f"


# ------------------------------------------------------------------------------------------------ layout
def _layout(cells: np.ndarray, cut: list[bool], indent: int, width: int) -> str:
    """The cells in brackets, one pair for each axis, with dots in the middle of the axes that are cut."""
    if cells.ndim == 0:
        return cells.item()
    if cells.ndim == 1:
        lines = _lines(cells.tolist(), cut[0], max(1, (OPTIONS.linewidth - indent) // (width + 2)))
    else:
        lines = [_layout(row, cut[1:], indent + 1, width) for row in cells]
        if cut[0]:
            lines.insert(len(lines) // 2, "...")
    line_break = "\n" * max(1, cells.ndim - 1) + " " * (indent + 1)
    return "[" + f",{line_break}".join(lines) + "]"


def _lines(items: list[str], cut: bool, per_line: int) -> list[str]:
    """The items of a vector, so many to a line."""
    if cut:
        items.insert(len(items) // 2, " ..." if items else "...")
    return [", ".join(items[start : start + per_line]) for start in range(0, len(items), per_line)]


# ---------------------------------------------------------------------------------------------- suffixes
def _size_suffix(array: np.ndarray) -> str:
    """The size, where the brackets do not show it."""
    hidden = OPTIONS.edgeitems == 0 if array.size else array.ndim != 1
    return f"size={array.shape}" if hidden else ""


def _dtype_suffix(array: np.ndarray, default: str) -> str:
    """The dtype, where the values do not show it; an empty tensor has none to show it."""
    default_complex = "complex128" if default == "float64" else "complex64"
    shown = (default, default_complex, "int64", "bool") if array.size else (default,)
    return "" if array.dtype.name in shown else f"dtype=torch.{array.dtype.name}"


def _append(text: str, suffixes: list[str], indent: int) -> str:
    """The text and its suffixes, each on a new line if the last one has no room for it."""
    used = len(text) - (text.rfind("\n") + 1) + 2  # PyTorch leaves room for two more characters here
    for suffix in suffixes:
        if used + 2 + len(suffix) > OPTIONS.linewidth:
            text += ",\n" + " " * indent + suffix
            used = indent + len(suffix)
        else:
            text += ", " + suffix
            used += 2 + len(suffix)
    return text
