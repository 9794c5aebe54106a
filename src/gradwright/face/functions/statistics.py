"""Statistics under PyTorch's names: spreads, covariances, quantiles and medians, histograms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from gradwright import backends
from gradwright.base import dtypes
from gradwright.engine.base import TensorBase
from gradwright.engine.numbers import whole
from gradwright.face.functions import elementwise, reduce
from gradwright.face.functions.complex import complex as make_complex
from gradwright.face.functions.complex import conj, imag, real
from gradwright.face.functions.diagonal import diagonal
from gradwright.face.functions.elementwise import ceil, clamp, floor, isnan, sqrt, where
from gradwright.face.functions.order import sort
from gradwright.face.functions.scatter import gather
from gradwright.face.functions.shape import movedim, reshape, squeeze, transpose
from gradwright.face.reading.common import beside
from gradwright.face.reading.require import require
from gradwright.face.reading.torch import numpy_names, one_dim, tensor_arg
from gradwright.ops import reduce as _reduce
from gradwright.ops.declare import Op

if TYPE_CHECKING:
    from gradwright.face.typing import Dims, Number, Tensor

__all__ = ["corrcoef", "cov", "nanquantile", "quantile", "std", "std_mean", "var", "var_mean"]


def _spread(op: Op, name: str, x: Any, dim: Any, keepdim: bool, unbiased: bool | None, correction: Any) -> Any:
    if isinstance(dim, bool) and unbiased is None:  # var(input, unbiased)
        dim, unbiased = None, dim
    if unbiased is not None and correction is not None:
        raise TypeError(f"{name}(): 'unbiased' and 'correction' both given")
    if unbiased is not None:
        correction = int(unbiased)
    x = tensor_arg(name, x)
    if dtypes.kind(x.array.dtype) in "biu":
        raise RuntimeError(f"{name}(): only supports floating point and complex dtypes, got {dtypes.of(x.array.dtype)}")
    return reduce.reduced(op, name, x, dim, keepdim, correction=1 if correction is None else correction)


@numpy_names
def var(input: Tensor, dim: Dims = None, unbiased: bool | None = None, keepdim: bool = False, *,
        correction: Number | None = None) -> Tensor:  # fmt: skip
    """Variance over ``dim``: squares of deviations over n - correction (1 by default; 0 if not ``unbiased``)."""
    return _spread(_reduce.var, "var", input, dim, keepdim, unbiased, correction)


@numpy_names
def std(input: Tensor, dim: Dims = None, unbiased: bool | None = None, keepdim: bool = False, *,
        correction: Number | None = None) -> Tensor:  # fmt: skip
    """Standard deviation over ``dim``, the square root of `var`."""
    return _spread(_reduce.std, "std", input, dim, keepdim, unbiased, correction)


def _with_mean(spread: Any, input: Any, dim: Any, unbiased: Any, keepdim: bool, correction: Any) -> tuple[Any, Any]:
    over = None if isinstance(dim, bool) else dim
    return spread(input, dim, unbiased, keepdim, correction=correction), reduce.mean(input, over, keepdim)


@numpy_names
def var_mean(input: Tensor, dim: Dims = None, unbiased: bool | None = None, keepdim: bool = False, *,
             correction: Number | None = None) -> tuple[Tensor, Tensor]:  # fmt: skip
    """`var` and `mean` in one call."""
    return _with_mean(var, input, dim, unbiased, keepdim, correction)


@numpy_names
def std_mean(input: Tensor, dim: Dims = None, unbiased: bool | None = None, keepdim: bool = False, *,
             correction: Number | None = None) -> tuple[Tensor, Tensor]:  # fmt: skip
    """`std` and `mean` in one call."""
    return _with_mean(std, input, dim, unbiased, keepdim, correction)


_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _levels(name: str, x: Any, q: Any, interpolation: str) -> Any:
    """``q`` checked, as a tensor beside ``x``."""
    if dtypes.of(x.array.dtype) not in (dtypes.float32, dtypes.float64):
        raise RuntimeError(f"{name}() input tensor must be float or double, got {dtypes.of(x.array.dtype)}")
    if interpolation not in _INTERPOLATIONS:
        raise RuntimeError(f"{name}() interpolation must be one of {_INTERPOLATIONS}, but got {interpolation!r}")
    if not x.array.size:
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    q = q if isinstance(q, TensorBase) else beside(x.array, q, x.array.dtype)
    if q.array.ndim > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor, but has {q.array.ndim} dims")
    if backends.differ(name, q.array, x.array):
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor, got {dtypes.of(q.array.dtype)}")
    require((q.array >= 0) & (q.array <= 1), f"{name}() q values must be in the range [0, 1]")
    return q


def _quantile(name: str, input: Any, q: Any, dim: int | None, keepdim: bool, interpolation: str, skip: bool) -> Any:
    x = tensor_arg(name, input)
    q = _levels(name, x, q, interpolation)
    shape, axis = x.array.shape, 0 if dim is None else one_dim(name, dim, x.array.ndim)
    lines = reshape(x, -1) if dim is None else movedim(x, axis, -1) if x.array.ndim else reshape(x, 1)
    ordered = sort(lines, -1).values
    n = ordered.array.shape[-1]
    missing = isnan(lines).sum(-1, keepdim=True)
    ranks = q * (clamp(n - missing, 1) - 1).to(q.dtype) if skip else where(missing > 0, n - 1.0, q * (n - 1.0))
    below = floor(ranks.detach())
    above = ceil(ranks.detach())
    if interpolation in ("lower", "higher", "nearest"):
        below = {"lower": below, "higher": above, "nearest": elementwise.round(ranks.detach())}[interpolation]
    at = lambda place: gather(ordered, -1, place.to(dtypes.int64).expand(*ordered.shape[:-1], -1))
    out = at(below)
    if interpolation in ("linear", "midpoint"):
        weight = ranks - below if interpolation == "linear" else 0.5
        out = out + weight * (at(above) - out)
    if keepdim:
        kept = (1,) * len(shape) if dim is None else (*shape[:axis], 1, *shape[axis + 1 :])
        out = reshape(movedim(out, -1, 0), (-1, *(kept if shape else ())))
    else:
        out = movedim(out, -1, 0)
    return out if q.array.ndim else squeeze(out, 0)


@numpy_names
def quantile(input: Tensor, q: Tensor | float, dim: int | None = None, keepdim: bool = False, *,
             interpolation: str = "linear") -> Tensor:  # fmt: skip
    """The ``q``-th quantiles (0 to 1) of all entries or along ``dim``, a new first dim for several; NaN spreads.

    ``interpolation``, between the two nearest entries: linear, lower, higher, midpoint or nearest.
    """
    return _quantile("quantile", input, q, dim, keepdim, interpolation, False)


@numpy_names
def nanquantile(input: Tensor, q: Tensor | float, dim: int | None = None, keepdim: bool = False, *,
                interpolation: str = "linear") -> Tensor:  # fmt: skip
    """`quantile` of the entries that are not NaN."""
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation, True)


def _weights(given: Any, name: str, n: int, kinds: str) -> Any:
    w = tensor_arg("cov", given, name)
    if w.array.ndim > 1 or dtypes.kind(w.array.dtype) not in kinds:
        raise RuntimeError(f"cov(): expected {name} to have one dim and a dtype of kind {kinds}, got {w.dtype}")
    if w.array.size != n:
        raise RuntimeError(f"cov(): expected {name} to have the same numel as there are observations: {n}")
    require(w.array >= 0, f"cov(): {name} cannot be negative")
    return w


def cov(input: Tensor, *, correction: int = 1, fweights: Tensor | None = None,
        aweights: Tensor | None = None) -> Tensor:  # fmt: skip
    """Covariances of the rows of ``input`` (a 1-d one is one row), whose columns are observations.

    ``fweights`` count how often each was observed, ``aweights`` how much each matters.
    """
    x, correction = tensor_arg("cov", input), whole("cov", "correction", correction)
    if x.array.ndim > 2 or dtypes.of(x.array.dtype) is dtypes.boolean:
        raise RuntimeError(f"cov(): expected input to have two or fewer dims and no bool dtype, got {x.array.ndim}")
    x = x if x.array.ndim == 2 else reshape(x, (1, -1))
    n = x.array.shape[1]
    w = None if fweights is None else _weights(fweights, "fweights", n, "iu")
    if aweights is not None:
        a = _weights(aweights, "aweights", n, "f")
        w = a if w is None else w * a
    total: Any = n if w is None else reduce.sum(w)
    if w is not None:
        require(total.array != 0, "cov(): weights sum to zero, can't be normalized")
    middle = reduce.sum(x if w is None else x * w, 1, keepdim=True) / (total if w is not None else n or 1)
    freedom = total - (correction * reduce.sum(w * a) / total if aweights is not None and correction else correction)
    freedom = clamp(cast("Tensor", freedom), 0) if isinstance(freedom, TensorBase) else max(freedom, 0)
    centred = x - middle
    other = transpose(centred if w is None else centred * w, 0, 1)
    return squeeze(centred @ (conj(other) if x.is_complex() else other) / freedom)


def corrcoef(input: Tensor) -> Tensor:
    """Correlation coefficients of the rows of ``input``: `cov` over the standard deviations, kept within [-1, 1]."""
    x = tensor_arg("corrcoef", input)
    if x.array.ndim > 2:
        raise RuntimeError(f"corrcoef(): expected input to have two or fewer dimensions but got {x.array.ndim}")
    c = cov(x)
    if not c.array.ndim:
        return c / c
    d = diagonal(c)
    s = sqrt(real(d) if c.is_complex() else d)
    c = c / s[:, None] / s
    return make_complex(clamp(real(c), -1, 1), clamp(imag(c), -1, 1)) if c.is_complex() else clamp(c, -1, 1)
