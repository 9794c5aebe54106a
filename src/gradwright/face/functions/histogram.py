"""Histograms under PyTorch's names. They cannot be differentiated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwright import backends
from gradwright.base import dtypes
from gradwright.engine.apply import apply
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.numbers import number
from gradwright.face.functions.returns import opaque, return_type
from gradwright.face.functions.shape import flatten, reshape
from gradwright.face.reading.torch import tensor_arg, to_dtype
from gradwright.ops import sets as _sets

if TYPE_CHECKING:
    from gradwright.face.typing import Histogram, HistogramDD, Ints, Tensor

__all__ = ["histc", "histogram", "histogramdd"]

_HISTOGRAM, _HISTOGRAMDD = (return_type(name, "hist", "bin_edges") for name in ("histogram", "histogramdd"))


def _floats(function: str, x: Any) -> Any:
    d = dtypes.of(tensor_arg(function, x).array.dtype)
    if not d.is_floating_point:
        raise NotImplementedError(f"{function}(): not implemented for {d}; expected a floating dtype")
    return x.detach()


def _span(function: str, x: Any, low: float, high: float, margin: float) -> tuple[float, float]:
    """The range of the bins: that of the entries if none is given, widened by ``margin`` if it is a point."""
    if low == high and x.array.size:
        low, high = float(x.min()), float(x.max())
    if low == high:
        low, high = (low - margin, high + margin) if x.array.size or low else (0.0, 1.0)
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"torch.{function}: range of [{low}, {high}] is not finite")
    if low > high:
        raise RuntimeError(f"torch.{function}: max must be larger than min")
    return low, high


def _counts(bins: int) -> int:
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    return bins


def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """How many entries fall into each of ``bins`` equal parts of [min, max]; of the range of the entries if equal."""
    x = _floats("histc", input)
    min, max = number("histc", "min", min), number("histc", "max", max)
    low, high = _span("histc", x, min, max, 1)
    return to_dtype(apply(_sets.histc, (x,), {"bins": _counts(bins), "low": low, "high": high}), x.dtype)


def histogram(input: Tensor, bins: Tensor | int, *, range: Sequence[float] | None = None, weight: Tensor | None = None,
              density: bool = False) -> Histogram:  # fmt: skip
    """Counts, or summed weights, of the entries in each bin, and the bins' edges.

    ``bins``: how many, within ``range``, or the edges; ``density`` scales the counts so that their integral is 1.
    """
    x = _floats("histogram", input)
    given = [bins] if isinstance(bins, TensorBase) else [int(bins)]
    hist, edges = _histogram("histogram", input, reshape(x, (-1, 1)), given, range, weight, density)
    return _HISTOGRAM(hist, edges[0])


def histogramdd(input: Tensor, bins: Ints | Sequence[Tensor], *, range: Sequence[float] | None = None,
                weight: Tensor | None = None, density: bool = False) -> HistogramDD:  # fmt: skip
    """`histogram` of points: the last dim holds their coordinates, each of which has its bins."""
    x = _floats("histogramdd", input)
    if x.array.ndim < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    n = x.array.shape[-1]
    given = list(bins) if isinstance(bins, (tuple, list)) else [bins] * n
    if len(given) != n:
        raise RuntimeError(f"torch.histogramdd: expected {n} bins or sequences of bin edges, but got {len(given)}")
    return _HISTOGRAMDD(*_histogram("histogramdd", input, reshape(x, (-1, n)), given, range, weight, density))


def _histogram(function: str, input: Any, points: Any, bins: Any, span: Any, weight: Any,
               density: bool) -> tuple[Any, Any]:  # fmt: skip
    d, n = points.dtype, points.array.shape[0]
    if span is not None and len(span) != 2 * len(bins):
        raise RuntimeError(f"torch.{function}: range should have {2 * len(bins)} elements, but got {len(span)}")
    if weight is not None:
        if tensor_arg(function, weight, "weight").dtype != d:
            raise RuntimeError(f"torch.{function}: input tensor and weight tensor should have the same dtype")
        if weight.array.size != n:
            raise RuntimeError(f"torch.{function}: weight tensor should have one entry for each of {n}")
    edges = []
    for k, b in enumerate(bins):
        if isinstance(b, TensorBase):
            if b.array.ndim != 1 or dtypes.of(b.array.dtype) is not d:
                raise RuntimeError(f"torch.{function}: bin edges should be 1-d tensors of the dtype of input")
            edges.append(b)
        else:
            low, high = span[2 * k : 2 * k + 2] if span else (0, 0)
            low, high = _span(function, points[:, k], low, high, 0.5)
            xp = backends.namespace(points.array)
            edges.append(wrap(xp.linspace(low, high, _counts(b) + 1, dtype=points.array.dtype)))
    weights = () if weight is None else (flatten(weight.detach()),)
    hist = apply(_sets.histogram, (points, *edges, *weights), {"dims": len(edges), "density": bool(density)})
    hist = to_dtype(hist, d)
    if weight is not None:
        hist = opaque(function, "NotImplemented", weight, hist)
    hist, *edges = (opaque(function, "NotImplemented", input, a) for a in (hist, *edges))
    return hist, tuple(edges)
