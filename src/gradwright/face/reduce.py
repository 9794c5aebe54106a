"""Reductions under PyTorch's names: ``dim`` may be an int, several or None, ``keepdim`` keeps reduced dims as 1."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradwright import dtypes
from gradwright.autograd.apply import apply, apply_one
from gradwright.autograd.base import TensorBase, wrap
from gradwright.face.arguments import dims, one_dim, tensor_arg, to_dtype
from gradwright.face.elementwise import maximum, minimum
from gradwright.op import Op
from gradwright.ops import activation as _activation
from gradwright.ops import index as _index
from gradwright.ops import reduce as _reduce

__all__ = [
    "all", "amax", "amin", "any", "argmax", "argmin", "argsort", "cumsum", "log_softmax", "logsumexp", "max", "mean",
    "min", "norm", "prod", "softmax", "sort", "std", "sum", "topk", "var",
]  # fmt: skip


class ValuesIndices(NamedTuple):
    """Values, and the indices they stand at along one dim."""

    values: Any
    indices: Any


def _return_type(name: str) -> type[ValuesIndices]:
    """The pair that function ``name`` returns, printed as PyTorch prints it."""

    def text(self: ValuesIndices) -> str:
        return f"torch.return_types.{name}(\nvalues={self.values!r},\nindices={self.indices!r})"

    return type(name, (ValuesIndices,), {"__slots__": (), "__repr__": text})


_RETURNS = {name: _return_type(name) for name in ("max", "min", "sort", "topk")}


_DIMMED = {
    _reduce.sum: _reduce.sum.variant("SumBackward1"),
    _reduce.mean: _reduce.mean.variant("MeanBackward1"),
    _reduce.prod: _reduce.prod.variant("ProdBackward1"),
}


def _run(op: Op, function: str, x: Any, dim: Any, keepdim: bool, **static: Any) -> Any:
    if dim is None:
        return apply_one(op, x, {"axis": None, "keepdims": keepdim, **static})
    axis = dims(function, dim, x.array.ndim)
    return apply_one(_DIMMED.get(op, op), x, {"axis": axis, "keepdims": bool(keepdim), **static})


def _widened(x: Any, dtype: Any) -> Any:
    """Integers and booleans sum in int64, unless a dtype is named."""
    if dtype is not None:
        return to_dtype(x, dtype)
    return to_dtype(x, dtypes.int64) if x.array.dtype.kind in "biu" else x


def _real(function: str, x: Any) -> Any:
    if x.array.dtype.kind in "biu":
        raise RuntimeError(
            f"{function}(): could not infer output dtype. Input dtype must be either a floating point or complex "
            f"dtype. Got: {dtypes.of(x.array.dtype)}"
        )
    return x


def _nonempty(function: str, x: Any, dim: Any) -> Any:
    """``x``, if none of the reduced dims has length 0: there would be no extremum."""
    for axis in dims(function, dim, x.array.ndim) or ():
        if x.array.shape[axis] == 0:
            raise IndexError(f"{function}(): Expected reduction dim {axis} to have non-zero size.")
    return x


def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Sum over ``dim``; integers are summed in int64."""
    return _run(_reduce.sum, "sum", _widened(tensor_arg("sum", input), dtype), dim, keepdim)


def mean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Mean over ``dim``; RuntimeError for integers unless ``dtype`` is named."""
    x = tensor_arg("mean", input)
    return _run(_reduce.mean, "mean", _real("mean", x if dtype is None else to_dtype(x, dtype)), dim, keepdim)


def prod(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Product over ``dim``."""
    return _run(_reduce.prod, "prod", _widened(tensor_arg("prod", input), dtype), dim, keepdim)


def amax(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Largest entry over ``dim``; tied entries share the gradient."""
    return _run(_reduce.max, "amax", _nonempty("amax", tensor_arg("amax", input), dim), dim, keepdim)


def amin(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Smallest entry over ``dim``; tied entries share the gradient."""
    return _run(_reduce.min, "amin", _nonempty("amin", tensor_arg("amin", input), dim), dim, keepdim)


_all_max, _all_min = _reduce.max.variant("MaxBackward1"), _reduce.min.variant("MinBackward1")
_along_max, _along_min = _index.pick, _index.pick.variant("MinBackward0")


def _extremum(name: str, x: Any, dim: Any, keepdim: bool, whole: Op, position: Op, along: Op, pair: Any) -> Any:
    x = tensor_arg(name, x)
    if x.array.size == 0 and dim is None:
        raise RuntimeError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
    if dim is None:
        return apply(whole, (x,), {"axis": None, "keepdims": False})
    if isinstance(dim, TensorBase):
        return pair(x, dim)
    axis = one_dim(name, dim, x.array.ndim)
    if x.array.ndim == 0:
        return _RETURNS[name](apply(whole, (x,), {"axis": None, "keepdims": False}), wrap(np.int64(0)))
    where = apply(position, (_nonempty(name, x, axis),), {"axis": axis, "keepdims": True})
    values = apply(along, (x, where), {"axis": axis, "keepdims": bool(keepdim)})
    return _RETURNS[name](values, where if keepdim else wrap(where.array.squeeze(axis)))


def max(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Largest entry of all; along ``dim`` a pair (values, indices); with a tensor as ``dim``, `maximum`."""
    return _extremum("max", input, dim, keepdim, _all_max, _reduce.argmax, _along_max, maximum)


def min(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Smallest entry of all; along ``dim`` a pair (values, indices); with a tensor as ``dim``, `minimum`."""
    return _extremum("min", input, dim, keepdim, _all_min, _reduce.argmin, _along_min, minimum)


def _spread(op: Op, name: str, x: Any, dim: Any, keepdim: bool, unbiased: bool | None, correction: Any) -> Any:
    if isinstance(dim, bool):  # var(input, unbiased)
        dim, unbiased = None, dim
    if unbiased is not None:
        correction = int(unbiased)
    x = tensor_arg(name, x)
    if x.array.dtype.kind in "biu":
        raise RuntimeError(f"{name}(): only supports floating point and complex dtypes, got {dtypes.of(x.array.dtype)}")
    return _run(op, name, x, dim, keepdim, correction=correction)


def var(input: Any, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *,
        correction: Any = 1) -> Any:  # fmt: skip
    """Variance over ``dim``: squares of deviations over n - correction (``unbiased`` means 1, else 0)."""
    return _spread(_reduce.var, "var", input, dim, keepdim, unbiased, correction)


def std(input: Any, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *,
        correction: Any = 1) -> Any:  # fmt: skip
    """Standard deviation over ``dim``, the square root of `var`."""
    return _spread(_reduce.std, "std", input, dim, keepdim, unbiased, correction)


def logsumexp(input: Any, dim: Any, keepdim: bool = False) -> Any:
    """log of the sum of exponentials over ``dim``, without overflow."""
    x = tensor_arg("logsumexp", input)
    x = to_dtype(x, dtypes.default()) if x.array.dtype.kind in "biu" else x
    return _run(_reduce.logsumexp, "logsumexp", x, dim, keepdim)


def norm(input: Any, p: Any = 2, dim: Any = None, keepdim: bool = False) -> Any:
    """Vector p-norm over ``dim``; "fro" is the 2-norm."""
    x = _real("norm", tensor_arg("norm", input))
    return _run(_reduce.vector_norm, "norm", x, dim, keepdim, ord=2 if p in ("fro", None) else p)


def cumsum(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Running sum along ``dim``."""
    x = _widened(tensor_arg("cumsum", input), dtype)
    axis = one_dim("cumsum", dim, x.array.ndim)
    return apply(_reduce.cumulative_sum, (x,), {"axis": axis}) if x.array.ndim else x.clone()


def any(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Whether any entry is nonzero."""
    return _run(_reduce.any, "any", tensor_arg("any", input), dim, keepdim)


def all(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Whether every entry is nonzero."""
    return _run(_reduce.all, "all", tensor_arg("all", input), dim, keepdim)


def _position(op: Op, name: str, x: Any, dim: Any, keepdim: bool) -> Any:
    x = tensor_arg(name, x)
    if x.array.size == 0 and dim is None:
        raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
    axis = None if dim is None else one_dim(name, dim, x.array.ndim)
    return apply(op, (_nonempty(name, x, dim),), {"axis": axis if x.array.ndim else None, "keepdims": keepdim})


def argmax(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """Index of the largest entry along ``dim``, or in the flattened tensor."""
    return _position(_reduce.argmax, "argmax", input, dim, keepdim)


def argmin(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """Index of the smallest entry along ``dim``, or in the flattened tensor."""
    return _position(_reduce.argmin, "argmin", input, dim, keepdim)


def _normalised(op: Op, name: str, x: Any, dim: int, dtype: Any) -> Any:
    x = _real(name, tensor_arg(name, x) if dtype is None else to_dtype(tensor_arg(name, x), dtype))
    axis = one_dim(name, dim, x.array.ndim)
    if x.array.ndim == 0:
        return apply(op, (x.reshape(1),), {"axis": 0}).reshape(())
    return apply(op, (x,), {"axis": axis})


def softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Exponentials along ``dim`` scaled to sum to 1."""
    return _normalised(_activation.softmax, "softmax", input, dim, dtype)


def log_softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Logarithm of `softmax`, computed without overflow."""
    return _normalised(_activation.log_softmax, "log_softmax", input, dim, dtype)


_sorted, _topped = _index.take_along_axis.variant("SortBackward0"), _index.take_along_axis.variant("TopkBackward0")


def argsort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """The indices that sort ``input`` along ``dim``; equal entries keep their order."""
    x = tensor_arg("argsort", input)
    axis = one_dim("argsort", dim, x.array.ndim)
    if x.array.ndim == 0:
        return wrap(np.zeros((), np.int64))
    if not descending:
        return wrap(np.argsort(x.array, axis=axis, stable=True))
    backwards = np.flip(np.argsort(np.flip(x.array, axis), axis=axis, stable=True), axis)
    return wrap(x.array.shape[axis] - 1 - backwards)


def sort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> ValuesIndices:
    """Values in order along ``dim``, and where they stood."""
    order = argsort(input, dim, descending)
    if order.array.ndim == 0:
        return _RETURNS["sort"](input.clone(), order)
    return _RETURNS["sort"](apply(_sorted, (input, order), {"axis": one_dim("sort", dim, input.array.ndim)}), order)


def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> ValuesIndices:
    """The ``k`` largest (smallest) entries along ``dim`` in order, and where they stood."""
    x = tensor_arg("topk", input)
    axis = one_dim("topk", dim, x.array.ndim)
    n = x.array.shape[axis] if x.array.ndim else 1
    if not 0 <= k <= n:
        raise RuntimeError(f"topk(): selected index k out of range: k is {k}, but dim {axis} has {n} entries")
    order = argsort(x, dim, descending=largest)
    if order.array.ndim == 0:
        return _RETURNS["topk"](x.clone(), order)
    order = wrap(order.array[(slice(None),) * axis + (slice(k),)])
    return _RETURNS["topk"](apply(_topped, (x, order), {"axis": axis}), order)
