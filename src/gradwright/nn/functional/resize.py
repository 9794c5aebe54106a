"""Images (and signals, and volumes) at another size: each axis resampled by fixed weights."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from ctypes import c_float
from functools import lru_cache
from math import floor, pi, sin
from typing import TYPE_CHECKING, Any

from gradwright.base import dtypes
from gradwright.engine.apply import apply
from gradwright.face.reading.torch import tensor_arg
from gradwright.ops.resize import Taps
from gradwright.ops.resize import resample as _resample

if TYPE_CHECKING:
    from gradwright.face.typing import Dims, Tensor

__all__ = ["interpolate", "upsample", "upsample_bilinear", "upsample_nearest"]

_RANKS = {"linear": 3, "bilinear": 4, "bicubic": 4, "trilinear": 5, "lanczos": 4}
_NEAREST = ("nearest", "nearest-exact")
_NODES = {
    **{(m, 3 + n): f"Upsample{name}{n + 1}DBackward0"
       for n in range(3) for m, name in (("nearest", "Nearest"), ("nearest-exact", "NearestExact"))},
    ("linear", 3): "UpsampleLinear1DBackward0", ("bilinear", 4): "UpsampleBilinear2DBackward0",
    ("bicubic", 4): "UpsampleBicubic2DBackward0", ("trilinear", 5): "UpsampleTrilinear3DBackward0",
}  # fmt: skip
_OPS = {key: _resample.variant(node) for key, node in _NODES.items()}
_AREA = _resample.variant("AdaptiveAvgPoolBackward0")


def _along(op: Any, x: Any, taps: list[Taps]) -> Any:
    """The last axes of ``x`` resampled, those first that grow least."""
    lead = x.array.ndim - len(taps)
    order = sorted(range(len(taps)), key=lambda i: len(taps[i].index[0]) / max(taps[i].size, 1))
    for i in order:
        x = apply(op, (x,), {"axis": lead + i, "taps": taps[i]})
    return x


def averaged(x: Any, windows: list[list[range]]) -> Any:
    """The means over ``windows`` along each of the last axes."""
    size = x.array.shape[-len(windows) :]
    return _along(_AREA, x, [_means(m, tuple(w)) for m, w in zip(size, windows, strict=True)])


@lru_cache(256)
def _means(size: int, windows: tuple[range, ...]) -> Taps:
    return Taps.gathered(size, [dict.fromkeys(w, 1 / len(w)) for w in windows])


def _hat(x: float) -> float:
    return max(0.0, 1 - abs(x))


def _cubic(a: float) -> Callable[[float], float]:
    """The kernel of cubic convolution, with slope ``a`` at 1."""

    def kernel(x: float) -> float:
        x = abs(x)
        if x < 1:
            return ((a + 2) * x - (a + 3)) * x * x + 1
        return (((x - 5) * x + 8) * x - 4) * a if x < 2 else 0.0

    return kernel


def _lanczos(x: float) -> float:
    if abs(x) >= 3:
        return 0.0
    return 1.0 if x == 0 else 3 * sin(pi * x) * sin(pi * x / 3) / (pi * x) ** 2


_SMOOTH = {"linear": (1, _hat), "cubic": (2, _cubic(-0.5)), "lanczos": (3, _lanczos)}
_SHARP = {"linear": (1, _hat), "cubic": (2, _cubic(-0.75))}


@lru_cache(256)
def _taps(kind: str, size: int, count: int, factor: float | None, align: bool, antialias: bool) -> Taps:
    """The weights with which an axis of ``size`` entries becomes one of ``count``."""
    if align and kind not in _NEAREST:
        scale = (size - 1) / (count - 1) if count > 1 else 0.0
    else:
        scale = 1 / factor if factor else size / count
    if kind in _NEAREST:
        scale = c_float(scale).value  # PyTorch computes this in single precision
        shift = 0.5 if kind == "nearest-exact" else 0.0
        return Taps.gathered(
            size, [{min(floor(c_float((o + shift) * scale).value), size - 1): 1.0} for o in range(count)]
        )
    if antialias:
        return _blurred(kind, size, count, scale)
    reach, kernel = _SHARP[kind]
    terms: list[dict[int, float]] = []
    for o in range(count):
        at = scale * o if align else scale * (o + 0.5) - 0.5
        at = max(at, 0.0) if kind == "linear" else at
        entry: dict[int, float] = {}
        for i in range(floor(at) - reach + 1, floor(at) + reach + 1):
            near = min(max(i, 0), size - 1)
            entry[near] = entry.get(near, 0.0) + kernel(at - i)
        terms.append(entry)
    return Taps.gathered(size, terms)


def _blurred(kind: str, size: int, count: int, scale: float) -> Taps:
    """Taps whose kernel is as wide as the distance of the results, so that finer detail is averaged out."""
    reach, kernel = _SMOOTH[kind]
    wide = max(scale, 1.0)
    terms = []
    for o in range(count):
        centre = scale * (o + 0.5)
        first = max(int(centre - reach * wide + 0.5), 0)
        last = min(int(centre + reach * wide + 0.5), size)
        weights = [kernel((i - centre + 0.5) / wide) for i in range(first, last)]
        terms.append({i: w / sum(weights) for i, w in enumerate(weights, first)})
    return Taps.gathered(size, terms)


def _sizes(x: Any, size: Any, scale_factor: Any) -> tuple[list[int], list[float | None]]:
    """The size wanted of each axis, and the factor if that was given instead."""
    have = x.array.shape[2:]
    n = len(have)
    if (size is None) == (scale_factor is None):
        which = "only one of size or scale_factor should be defined" if size is not None else (
            "either size or scale_factor should be defined")  # fmt: skip
        raise ValueError(which)
    given = size if scale_factor is None else scale_factor
    many = list(given) if isinstance(given, (tuple, list)) else [given] * n
    if len(many) != n:
        name = "size" if scale_factor is None else "scale_factor"
        raise ValueError(
            "Input and output must have the same number of spatial dimensions, but got input with spatial dimensions "
            f"of {list(have)} and {name} of {given}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
            "output size in (o1, o2, ...,oK) format."
        )
    if scale_factor is not None:
        return [int(m * f) for m, f in zip(have, many, strict=True)], [float(f) for f in many]
    if not all(hasattr(s, "__index__") for s in many):
        raise TypeError(
            f"expected size to be one of int or Tuple[int], but got size with types {[type(s) for s in many]}"
        )
    return [s.__index__() for s in many], [None] * n


def interpolate(input: Tensor, size: Dims = None, scale_factor: float | Sequence[float] | list[float] | None = None,
                mode: str = "nearest", align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
                antialias: bool = False) -> Tensor:  # fmt: skip
    """``input`` (N, C, *size) with its last axes resampled, to ``size`` or by ``scale_factor``.

    Either ``size`` or ``scale_factor`` is given: one number, or one for each axis. Modes: "nearest" (as OpenCV
    rounds), "nearest-exact", "area" (means) for 1 to 3 axes; "linear" for one, "bilinear" and "bicubic" for two,
    "trilinear" for three. With ``align_corners`` the outermost entries keep their places, else the outer edges of the
    outermost entries. ``recompute_scale_factor`` takes the factor from the sizes, once these are whole.

    ``antialias`` widens the kernel where the image shrinks; with it there is "lanczos" for two axes, too.

    Raises ValueError for arguments that do not go together, NotImplementedError for a mode that needs other axes.

    >>> interpolate(gw.tensor([[[0.0, 1.0]]]), size=4, mode="linear")
    tensor([[[0.0000, 0.2500, 0.7500, 1.0000]]])
    """
    x = tensor_arg("interpolate", input)
    if align_corners is not None and mode in (*_NEAREST, "area"):
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    count, factors = _sizes(x, size, scale_factor)
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if recompute_scale_factor:
        factors = [None] * len(factors)
    ndim = x.array.ndim
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and ndim == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
        )
    if mode == "lanczos" and (align_corners or not antialias):
        raise ValueError(
            f"Lanczos mode {'does not support align_corners=True' if align_corners else 'requires antialias=True'}"
        )
    if ndim not in (3, 4, 5) or mode not in (*_RANKS, *_NEAREST, "area"):
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {ndim}D) for the modes: nearest | linear | "
            f"bilinear | bicubic | trilinear | lanczos | area | nearest-exact (got {mode})"
        )
    if _RANKS.get(mode, ndim) != ndim:
        raise NotImplementedError(f"Got {ndim}D input, but {mode} mode needs {_RANKS[mode]}D input")
    have = x.array.shape[2:]
    if 0 in x.array.shape[1:] or min(count) < 1:
        raise RuntimeError(f"Input and output sizes should be greater than 0, but got input {have} and output {count}")
    if mode == "area":
        return averaged(x, [[range(o * m // c, -(-(o + 1) * m // c)) for o in range(c)]
                            for m, c in zip(have, count, strict=True)])  # fmt: skip
    if not x.is_floating_point() and x.dtype is not dtypes.uint8:
        raise RuntimeError(f"interpolate(): not implemented for {x.dtype}")
    return resized(x, mode, count, factors, bool(align_corners), antialias)


def resized(x: Any, mode: str, count: Sequence[int], factors: Sequence[float | None], align: bool,
            antialias: bool) -> Any:  # fmt: skip
    """The last axes of ``x`` brought to ``count`` entries, by these factors (None: as the sizes say)."""
    kind = mode if mode in _NEAREST else {"bicubic": "cubic", "lanczos": "lanczos"}.get(mode, "linear")
    have = x.array.shape[2:]
    taps = [_taps(kind, m, c, f, align, antialias) for m, c, f in zip(have, count, factors, strict=True)]
    if x.dtype is dtypes.uint8 and mode not in _NEAREST:
        return _along(_resample, x.float(), taps).round().clamp(0, 255).to(dtypes.uint8)
    return _along(_OPS.get((mode, x.array.ndim), _resample), x, taps)


def _deprecated(name: str) -> None:
    warnings.warn(f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=3)


def upsample(input: Tensor, size: int | list[int] | None = None, scale_factor: float | None = None,
             mode: str = "nearest", align_corners: bool | None = None) -> Tensor:  # fmt: skip
    """`interpolate`, under its old name; warns.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     gw.nn.functional.upsample(gw.tensor([[[0.0, 1.0]]]), size=4)
    tensor([[[0., 0., 1., 1.]]])
    """
    _deprecated("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: int | list[int] | None = None, scale_factor: float | None = None) -> Tensor:
    """`interpolate` by nearest entries; warns that this name is old.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     gw.nn.functional.upsample_nearest(gw.tensor([[[0.0, 1.0]]]), size=4)
    tensor([[[0., 0., 1., 1.]]])
    """
    _deprecated("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Tensor, size: int | list[int] | None = None,
                      scale_factor: float | list[float] | None = None) -> Tensor:  # fmt: skip
    """`interpolate` by straight lines, corners aligned; warns that this name is old.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     gw.nn.functional.upsample_bilinear(gw.ones(1, 1, 2, 2), size=4).shape
    torch.Size([1, 1, 4, 4])
    """
    _deprecated("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
