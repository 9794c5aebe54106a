"""Differences, slopes and areas of sampled functions, under PyTorch's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from gradwright.base import dtypes
from gradwright.base.errors import size as _text
from gradwright.engine.base import TensorBase
from gradwright.face.functions import reduce
from gradwright.face.functions.elementwise import logical_xor
from gradwright.face.functions.join import cat
from gradwright.face.functions.scan import cumsum
from gradwright.face.functions.shape import clone
from gradwright.face.functions.views import narrow
from gradwright.face.reading.torch import numpy_names, one_dim, tensor_arg

if TYPE_CHECKING:
    from gradwright.face.typing import Dims, Number, Tensor

__all__ = ["cumulative_trapezoid", "diff", "gradient", "trapezoid", "trapz"]


def _part(x: Any, axis: int, start: int | None = None, stop: int | None = None) -> Any:
    """A slice along ``axis``."""
    return x[(slice(None),) * axis + (slice(start, stop),)]


@numpy_names
def diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None,
         append: Tensor | None = None) -> Tensor:  # fmt: skip
    """The ``n``-th differences of neighbours along ``dim``, after joining ``prepend`` and ``append``; of bools, xor."""
    x = tensor_arg("diff", input)
    if not x.array.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    axis = one_dim("diff", dim, x.array.ndim)
    for end in (prepend, append):
        if end is not None and end.array.ndim != x.array.ndim:
            raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    ends = [t for t in (prepend, x, append) if t is not None]
    x = clone(x) if n == 0 else cat(ends, axis) if len(ends) > 1 else x
    for _ in range(min(n, x.array.shape[axis])):
        later, sooner = _part(x, axis, 1), _part(x, axis, None, max(x.array.shape[axis] - 1, 0))
        x = logical_xor(later, sooner) if dtypes.of(x.array.dtype) is dtypes.boolean else later - sooner
    return x


@numpy_names
def gradient(input: Tensor, *, spacing: Tensor | float | Sequence[Tensor | float] | None = None, dim: Dims = None,
             edge_order: int = 1) -> tuple[Tensor, ...]:  # fmt: skip
    """Slopes along each of ``dim`` (all if None), by central differences inside and of ``edge_order`` at the ends.

    ``spacing``: a number (1 by default), or for each dim a number or a 1-d tensor of coordinates.
    """
    x = tensor_arg("gradient", input)
    gaps: Any = 1 if spacing is None else spacing
    many = range(x.array.ndim) if dim is None else dim if isinstance(dim, (tuple, list)) else (dim,)
    axes = [one_dim("gradient", d, x.array.ndim) for d in many]
    if isinstance(gaps, TensorBase):
        gaps = [gaps] * len(axes) if not gaps.array.ndim else [gaps]
    steps = list(gaps) if isinstance(gaps, (tuple, list)) else [gaps] * len(axes)
    if len(steps) != len(axes):
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar or its spacing and dim arguments to have the "
            f"same length, but got a spacing argument of length {len(steps)} and a dim argument of length {len(axes)}."
        )
    if len(set(axes)) < len(axes):
        raise RuntimeError(f"gradient(): dim {axes[0]} appears multiple times in the list of dims")
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    for a, h in zip(axes, steps, strict=True):
        n = x.array.shape[a] if x.array.ndim else 0
        if n < edge_order + 1:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
        if isinstance(h, TensorBase) and h.array.ndim and h.array.shape != (n,):
            raise RuntimeError(
                f"torch.gradient expected each element in spacing to have the same length as dimension {a} of input, "
                f"{n}, but got {_text(h.array.shape)}"
            )
    return tuple(_slope(reduce.inexact(x), a, h, edge_order) for a, h in zip(axes, steps, strict=True))


def _slope(x: Any, axis: int, h: Any, edge_order: int) -> Any:
    """Parabolas through three neighbours, differentiated: in the middle, and at the ends if ``edge_order`` is 2."""
    n = x.array.shape[axis]
    if isinstance(h, TensorBase) and h.array.ndim:
        h = diff(cast("Tensor", h)).reshape((-1,) + (1,) * (x.array.ndim - axis - 1))
        before, after = h[:-1], h[1:]
        first, last, *ends = h[0], h[-1], h[:1], h[1:2], h[-2:-1], h[-1:]
    else:
        before = after = first = last = h
        ends = [h] * 4
    rise = diff(x, dim=axis) if n > 1 else x
    left, right = _part(rise, axis, None, n - 2), _part(rise, axis, 1)
    middle = (right * (before / after) + left * (after / before)) / (before + after)
    a, b, y, z = (narrow(rise, axis, i, 1) for i in (0, min(1, n - 2), max(n - 3, 0), n - 2))
    if edge_order == 1:
        return cat([a / first, middle, z / last], axis)
    h1, h2, h3, h4 = ends
    start = a / h1 + (a / h1 - b / h2) * (h1 / (h1 + h2))
    stop = z / h4 + (z / h4 - y / h3) * (h4 / (h3 + h4))
    return cat([start, middle, stop], axis)


def _areas(function: str, y: Any, x: Any, dx: Any, dim: int) -> tuple[Any, int]:
    """Twice the area between each two neighbours along ``dim``."""
    y = tensor_arg(function, y, "y")
    if not y.array.ndim:
        raise IndexError(f"{function}(): Dimension specified as {dim} but tensor has no dimensions")
    axis = one_dim(function, dim, y.array.ndim)
    n = y.array.shape[axis]
    if x is not None and dx is not None:
        raise TypeError(f"{function}(): 'x' and 'dx' both given")
    if x is not None:
        lead = (1,) * (y.array.ndim - x.array.ndim)
        if x.array.ndim == 1:
            lead, x, along = (), x.reshape((-1,) + (1,) * (y.array.ndim - axis - 1)), 0
        else:
            x, along = x.reshape((*lead, *x.array.shape)), axis
        if x.array.shape[along] != n:
            raise RuntimeError(f"{function}: There must be one `x` value for each sample point")
        dx = diff(x, dim=along)
    sums = _part(y, axis, 1) + _part(y, axis, None, max(n - 1, 0))
    return (sums if dx is None else sums * dx), axis


@numpy_names
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Number | None = None, dim: int = -1) -> Tensor:
    """The area under ``y`` along ``dim`` by the trapezoidal rule, at coordinates ``x`` or at steps ``dx`` (1)."""
    areas, axis = _areas("trapezoid", y, x, dx, dim)
    return reduce.sum(areas, axis) / 2


trapz = trapezoid


@numpy_names
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Number | None = None, dim: int = -1) -> Tensor:
    """The area under ``y`` up to each point but the first: running `trapezoid`."""
    areas, axis = _areas("cumulative_trapezoid", y, x, dx, dim)
    return cumsum(areas, axis) / 2
