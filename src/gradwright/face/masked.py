"""Reductions and normalisations that leave out masked entries, under the names of ``torch.masked``.

``mask`` broadcasts to the input and is True where an entry counts; without one all do. An entry that is left out is
replaced by what does not change the result: 0 in a sum, -inf in a maximum.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwright.base import dtypes
from gradwright.base.lazy import lazy
from gradwright.face.functions import arithmetic, order, reduce, scan
from gradwright.face.functions import elementwise as e
from gradwright.face.functions.complex import conj
from gradwright.face.reading.torch import tensor_arg, to_dtype

if TYPE_CHECKING:
    from gradwright.face.typing import Dims, DType, MaskedReduction, MaskedScan, Number, Tensor

__all__ = [
    "amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp", "logsumexp", "mean", "median",
    "norm", "normalize", "prod", "softmax", "softmin", "std", "sum", "var",
]  # fmt: skip

lazy(__name__)


def _lowest(d: dtypes.dtype) -> Any:
    return -math.inf if d.category >= dtypes.FLOAT else np.iinfo(d.dtype).min


def _highest(d: dtypes.dtype) -> Any:
    return math.inf if d.category >= dtypes.FLOAT else np.iinfo(d.dtype).max


def _included(x: Any, mask: Any) -> Any:
    """The mask as booleans, of the size of ``x``."""
    mask = tensor_arg("masked", mask, "mask")
    if mask.array.ndim > x.array.ndim:
        raise IndexError(
            f"masked: expected a mask that broadcasts to the input of {x.array.ndim} dims, but it has {mask.array.ndim}"
        )
    return to_dtype(mask, dtypes.boolean).expand(x.shape)


def _filled(name: str, input: Any, mask: Any, fill: Any) -> Any:
    """``input`` with ``fill``, a number or a function of the dtype, where the mask is False."""
    x = tensor_arg(name, input)
    if mask is None:
        return x
    return e.masked_fill(x, ~_included(x, mask), fill(x.dtype) if callable(fill) else fill)


def _reduction(function: Callable[..., Any], fill: Any) -> MaskedReduction:
    """`function`, a reduction of the face, with a mask."""
    name = function.__name__
    widens = function in (reduce.sum, reduce.prod)

    def call(input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: DType = None,
             mask: Tensor | None = None) -> Tensor:  # fmt: skip
        x = _filled(name, input, mask, fill)
        if widens:
            return function(x, dim, keepdim, dtype=dtype)
        return to_dtype(function(x, dim, keepdim), dtype or x.dtype)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"""`gradwright.{name}` over ``dim`` (all if None) of the entries where ``mask`` is True.

Shape: ``mask`` broadcasts to ``input``; the result is without ``dim``, or of size 1 there if ``keepdim``. A line
without entries gives what {name} starts from. The others have gradient 0.

Raises IndexError for a mask of more dims than the input, RuntimeError for one that does not broadcast.

>>> x, mask = gw.tensor([3.0, 5.0]), gw.tensor([True, False])
>>> bool(gw.masked.{name}(x, 0, mask=mask) == gw.{name}(x[:1], 0))
True
"""
    return call


def _along(function: Callable[..., Any], fill: Any, sign: int = 1, name: str = "") -> MaskedScan:
    """`function`, which works along one dim and keeps the size, with a mask."""
    name = name or function.__name__

    def call(input: Tensor, dim: int, *, dtype: DType = None, mask: Tensor | None = None) -> Tensor:
        x = _filled(name, input, mask, fill)
        return function(x if sign == 1 else -x, dim, dtype=dtype or x.dtype)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"""`{name}` along ``dim`` of the entries where ``mask`` is True.

Shape: ``mask`` broadcasts to ``input``, and the result has the size of that. The others have gradient 0.

Raises IndexError for a mask of more dims than the input, RuntimeError for one that does not broadcast.

>>> x, mask = gw.tensor([3.0, 5.0]), gw.tensor([True, False])
>>> bool(gw.masked.{name}(x, 0, mask=mask)[0] == gw.masked.{name}(x[:1], 0)[0])
True
"""
    return call


sum, prod = _reduction(reduce.sum, 0), _reduction(reduce.prod, 1)
amax, amin = _reduction(reduce.amax, _lowest), _reduction(reduce.amin, _highest)
argmax, argmin = _reduction(reduce.argmax, _lowest), _reduction(reduce.argmin, _highest)
logsumexp = _reduction(reduce.logsumexp, _lowest)
cumsum, cumprod = _along(scan.cumsum, 0), _along(scan.cumprod, 1)
softmax, log_softmax = _along(reduce.softmax, _lowest), _along(reduce.log_softmax, _lowest)
softmin = _along(reduce.softmax, _highest, -1, "softmin")


def _total(x: Any, dim: Any, keepdim: bool, dtype: Any, mask: Any) -> tuple[Any, Any]:
    """The sum of the entries that count, and how many they are."""
    counted = e.isnan(x) | True if mask is None else _included(x, mask)
    return sum(x, dim, keepdim=keepdim, dtype=dtype, mask=mask), reduce.sum(counted, dim, keepdim)


def mean(input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: DType = None,
         mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """Mean over ``dim`` of the entries where ``mask`` is True. ValueError for integers unless ``dtype`` is named.

    >>> gw.masked.mean(gw.tensor([1.0, 3.0, 9.0]), mask=gw.tensor([True, True, False]))
    tensor(2.)
    """
    x = tensor_arg("mean", input)
    d = dtypes.of(dtype or x.dtype)
    if d.category < dtypes.FLOAT:
        raise ValueError(f"mean(): the output dtype must be either a floating point or complex dtype. Got: {d}")
    total, count = _total(x, dim, keepdim, d, mask)
    return total / count


def median(input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: DType = None,
           mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """The middle entry along ``dim``, the lower of two, of those where ``mask`` is True; NaN of none.

    ValueError where a line of integers has none.

    >>> gw.masked.median(gw.tensor([1.0, 3.0, 9.0]), mask=gw.tensor([True, True, False]))
    tensor(1.)
    """
    x = tensor_arg("median", input)
    out = order.nanmedian(_filled("median", reduce.inexact(x), mask, math.nan), dim, keepdim).values
    if x.is_floating_point():
        return out
    if e.isnan(out).any():
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    return to_dtype(out, dtype or x.dtype)


def norm(input: Tensor, ord: float | None = 2.0, dim: Dims = None, *, keepdim: bool = False, dtype: DType = None,
         mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """Vector norm over ``dim`` of the entries where ``mask`` is True.

    Raises RuntimeError for whole numbers.

    >>> gw.masked.norm(gw.tensor([3.0, 4.0, 9.0]), mask=gw.tensor([True, True, False]))
    tensor(5.)
    """
    x = _filled("norm", input, mask, math.inf if ord == -math.inf else 0)
    return reduce.norm(x, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


def normalize(input: Tensor, ord: float, dim: int, *, eps: float = 1e-12, dtype: DType = None,
              mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """The entries where ``mask`` is True, others 0, divided by their norm along ``dim`` (at least eps).

    >>> gw.masked.normalize(gw.tensor([3.0, 4.0, 9.0]), 2.0, 0, mask=gw.tensor([True, True, False]))
    tensor([0.6000, 0.8000, 0.0000])
    """
    return _filled("normalize", input, mask, 0) / norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask).clamp(eps)


def logaddexp(input: Tensor, other: Tensor, *, dtype: DType = None, input_mask: Tensor | None = None,
              other_mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """log(e**input + e**other), where each counts only where its mask is True.

    >>> gw.masked.logaddexp(gw.zeros(2), gw.zeros(2), other_mask=gw.tensor([True, False]))
    tensor([0.6931, 0.0000])
    """
    x = _filled("logaddexp", input, input_mask, _lowest)
    return to_dtype(arithmetic.logaddexp(x, _filled("logaddexp", other, other_mask, _lowest)), dtype or x.dtype)


def var(input: Tensor, dim: Dims = None, unbiased: bool | None = None, *, correction: Number | None = None,
        keepdim: bool = False, dtype: DType = None, mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """Variance over ``dim`` of the n entries where ``mask`` is True: squares of deviations over n - correction (1).

    >>> gw.masked.var(gw.tensor([1.0, 3.0, 9.0]), mask=gw.tensor([True, True, False]))
    tensor(2.)
    """
    if unbiased is not None and correction is not None:
        raise AssertionError("var(): only one of unbiased and correction may be given")
    lost = (1 if unbiased in (None, True) else 0) if correction is None else correction
    x = tensor_arg("var", input)
    d = dtypes.of(dtype or x.dtype)
    d = d if d.category >= dtypes.FLOAT else dtypes.float32
    total, count = _total(x, dim, True, d, mask)
    centred = x - total / count
    squares = sum(centred * conj(centred) if d.is_complex else centred * centred, dim, keepdim=keepdim, dtype=d,
                  mask=mask)  # fmt: skip
    return to_dtype(squares / e.clamp(count.reshape(squares.shape) - lost, 0), d)


def std(input: Tensor, dim: Dims = None, unbiased: bool | None = None, *, correction: Number | None = None,
        keepdim: bool = False, dtype: DType = None, mask: Tensor | None = None) -> Tensor:  # fmt: skip
    """Standard deviation, the square root of `var`.

    Arguments are those of `var`.

    >>> gw.masked.std(gw.tensor([1.0, 3.0, 9.0]), mask=gw.tensor([True, True, False]), correction=0)
    tensor(1.)
    """
    return e.sqrt(var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask))
