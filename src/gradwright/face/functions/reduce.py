"""Reductions under PyTorch's names: ``dim`` may be an int, several or None, ``keepdim`` keeps reduced dims as 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from gradwright import backends
from gradwright.base import dtypes
from gradwright.engine.apply import apply, apply_one
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.numbers import flag, number
from gradwright.engine.view import alias_of
from gradwright.face.functions.elementwise import isnan, masked_fill, maximum, minimum, ne
from gradwright.face.functions.returns import return_type
from gradwright.face.functions.shape import movedim, reshape
from gradwright.face.reading.common import named
from gradwright.face.reading.torch import counted, dims, numpy_names, one_dim, tensor_arg, to_dtype
from gradwright.face.reading.usual import reduction
from gradwright.ops import activation as _activation
from gradwright.ops import decompose as _decompose
from gradwright.ops import order as _order
from gradwright.ops import reduce as _reduce
from gradwright.ops import scatter as _scatter
from gradwright.ops.declare import Op

if TYPE_CHECKING:
    from gradwright.face.typing import Dims, DType, Ints, MinMax, Tensor, ValuesIndices

__all__ = [
    "all", "amax", "amin", "aminmax", "any", "argmax", "argmin", "count_nonzero", "log_softmax", "logsumexp", "max",
    "mean", "min", "nanmean", "nansum", "norm", "prod", "softmax", "sum",
]  # fmt: skip

_DIMMED = {
    _reduce.sum: _reduce.sum.variant("SumBackward1"),
    _reduce.mean: _reduce.mean.variant("MeanBackward1"),
    _reduce.prod: _reduce.prod.variant("ProdBackward1"),
}


def reduced(op: Op, function: str, x: Any, dim: Any, keepdim: bool, **static: Any) -> Any:
    """A reduction run over ``dim``: an int, several, or None for all."""
    if dim is None:
        return apply_one(op, x, {"axis": None, "keepdims": flag(function, "keepdim", keepdim), **static})
    axis = dims(function, dim, x.array.ndim)
    return apply_one(_DIMMED.get(op, op), x, {"axis": axis, "keepdims": flag(function, "keepdim", keepdim), **static})


def widened(x: Any, dtype: Any) -> Any:
    """Integers and booleans add up in int64, unless a dtype is named."""
    if dtype is not None:
        return to_dtype(x, dtype)
    return to_dtype(x, dtypes.int64) if dtypes.kind(x.array.dtype) in "biu" else x


def inexact(x: Any) -> Any:
    """``x`` in floating point: integers and booleans become the default dtype."""
    return to_dtype(x, dtypes.default()) if dtypes.kind(x.array.dtype) in "biu" else x


def _real(function: str, x: Any, dtype: Any) -> Any:
    x = tensor_arg(function, x)
    if dtype is not None:
        x = to_dtype(x, dtype)
    if dtypes.kind(x.array.dtype) in "biu":
        raise RuntimeError(
            f"{function}(): could not infer output dtype. Input dtype must be either a floating point or complex "
            f"dtype. Got: {dtypes.of(x.array.dtype)}; convert it with .float(), or say dtype=float32"
        )
    return x


def nonempty(function: str, x: Any, dim: Any) -> Any:
    """``x``, if none of the reduced dims has length 0: there would be no extremum."""
    for axis in (dims(function, dim, x.array.ndim) or ()) if x.array.size == 0 else ():
        if x.array.shape[axis] == 0:
            raise IndexError(f"{function}(): Expected reduction dim {axis} to have non-zero size.")
    return x


@reduction(_reduce.sum, _DIMMED[_reduce.sum])
def sum(input: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: DType = None) -> Tensor:
    """Sum over ``dim``; integers are summed in int64."""
    return named(reduced(_reduce.sum, "sum", widened(tensor_arg("sum", input), dtype), dim, keepdim), dtype)


@numpy_names
def nansum(input: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: DType = None) -> Tensor:
    """`sum`, with NaN counted as 0. RuntimeError for complex tensors."""
    x = widened(tensor_arg("nansum", input), dtype)
    if dtypes.kind(x.array.dtype) == "c":
        raise RuntimeError("nansum does not support complex inputs")
    return sum(masked_fill(x, isnan(x), 0) if dtypes.kind(x.array.dtype) == "f" else x, dim, keepdim, dtype=dtype)


@reduction(_reduce.mean, _DIMMED[_reduce.mean])
def mean(input: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: DType = None) -> Tensor:
    """Mean over ``dim``; RuntimeError for integers unless ``dtype`` is named."""
    return reduced(_reduce.mean, "mean", _real("mean", input, dtype), dim, keepdim)


@numpy_names
def nanmean(input: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: DType = None) -> Tensor:
    """Mean over ``dim`` of the entries that are not NaN."""
    x = _real("nanmean", input, None)
    return nansum(x, dim, keepdim, dtype=dtype) / sum(~isnan(x), dim, keepdim)


@numpy_names
def prod(input: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: DType = None) -> Tensor:
    """Product over ``dim``."""
    return named(reduced(_reduce.prod, "prod", widened(tensor_arg("prod", input), dtype), dim, keepdim), dtype)


@numpy_names
def amax(input: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Largest entry over ``dim``; tied entries share the gradient."""
    return reduced(_order.max, "amax", nonempty("amax", tensor_arg("amax", input), dim), dim, keepdim)


@numpy_names
def amin(input: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Smallest entry over ``dim``; tied entries share the gradient."""
    return reduced(_order.min, "amin", nonempty("amin", tensor_arg("amin", input), dim), dim, keepdim)


_AMINMAX = return_type("aminmax", "min", "max")
_aminmax = [op.variant("AminmaxBackward0") for op in (_order.min, _order.max)]


@numpy_names
def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> MinMax:
    """`amin` and `amax` in one call."""
    x = tensor_arg("aminmax", input)
    axis = None if dim is None else one_dim("aminmax", dim, x.array.ndim)
    if dim is None and x.array.size == 0:
        raise RuntimeError("aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity")
    return _AMINMAX(*(reduced(op, "aminmax", nonempty("aminmax", x, axis), axis, keepdim) for op in _aminmax))


VALUES = {name: return_type(name, "values", "indices") for name in ("max", "min")}


def _extremum(name: str, x: Any, dim: Any, keepdim: bool, whole: Op, position: Op, along: Op, pair: Any) -> Any:
    x = tensor_arg(name, x)
    if x.array.size == 0 and dim is None:
        raise RuntimeError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
    if dim is None:
        return apply(whole, (x,), {})
    if isinstance(dim, TensorBase):
        return pair(x, dim)
    axis = one_dim(name, dim, x.array.ndim)
    return VALUES[name](*picked(along, nonempty(name, x, axis), position, axis, keepdim, keepdims=True))


def picked(op: Op, x: Any, find: Op, axis: int, keepdim: bool, **static: Any) -> tuple[Any, Any]:
    """The entry of ``x`` in each line along ``axis`` that ``find`` finds, and where it stands."""
    if not x.array.ndim:
        return x.clone(), zero_place(x)
    where = apply(find, (alias_of(x),), {"axis": axis, **static})
    values = apply(op, (x, where), {"axis": axis, "keepdims": bool(keepdim)})
    if keepdim:
        return values, where
    squeezed = backends.namespace(where.array).squeeze(where.array, axis=(axis,))
    return values, wrap(squeezed, None, where._counter)  # the graph has saved that memory


def zero_place(x: Any) -> Any:
    """Where the one entry of a 0-d tensor stands."""
    return wrap(backends.namespace(x.array).zeros_like(x.array, shape=(), dtype=counted(x, 0).array.dtype))


@overload
def max(input: Tensor) -> Tensor: ...
@overload
def max(input: Tensor, dim: int, keepdim: bool = False) -> ValuesIndices: ...
@overload
def max(input: Tensor, dim: Tensor) -> Tensor: ...
@overload
def max(input: Tensor, *, other: Tensor) -> Tensor: ...
@numpy_names
def max(input: Tensor, dim: int | Tensor | None = None, keepdim: bool = False, *,
        other: Tensor | None = None) -> Tensor | ValuesIndices:  # fmt: skip
    """Largest entry of all; along ``dim`` a pair (values, indices); with a tensor in place of ``dim``, `maximum`."""
    dim = dim if other is None else other
    return _extremum("max", input, dim, keepdim, _order.largest, _order.argmax, _scatter.pick, maximum)


_lowest = _scatter.pick.variant("MinBackward0")


@overload
def min(input: Tensor) -> Tensor: ...
@overload
def min(input: Tensor, dim: int, keepdim: bool = False) -> ValuesIndices: ...
@overload
def min(input: Tensor, dim: Tensor) -> Tensor: ...
@overload
def min(input: Tensor, *, other: Tensor) -> Tensor: ...
@numpy_names
def min(input: Tensor, dim: int | Tensor | None = None, keepdim: bool = False, *,
        other: Tensor | None = None) -> Tensor | ValuesIndices:  # fmt: skip
    """Smallest entry of all; along ``dim`` a pair (values, indices); with a tensor in place of ``dim``, `minimum`."""
    dim = dim if other is None else other
    return _extremum("min", input, dim, keepdim, _order.smallest, _order.argmin, _lowest, minimum)


@numpy_names
def logsumexp(input: Tensor, dim: Ints, keepdim: bool = False) -> Tensor:
    """log of the sum of exponentials over ``dim``, without overflow."""
    return reduced(_reduce.logsumexp, "logsumexp", inexact(tensor_arg("logsumexp", input)), dim, keepdim)


def norm(input: Tensor, p: float | str | None = "fro", dim: Dims = None, keepdim: bool = False,
         dtype: DType = None) -> Tensor:  # fmt: skip
    """Vector p-norm over ``dim``; "fro" is the 2-norm, "nuc" the sum of a matrix's singular values.

    At 0 the slope of a 2-norm is taken as 0 and its second derivative is NaN, that of ``norm(x)**2`` too: write
    ``(x * x).sum()``.
    """
    x = _real("norm", input, dtype)
    if p == "nuc":
        shape, axes = x.array.shape, dims("norm", dim, x.array.ndim) or tuple(range(x.array.ndim))
        if len(axes) != 2:
            raise RuntimeError(f"norm(): the nuclear norm is of matrices, in two dims, but got {len(axes)}")
        out = sum(apply_one(_decompose.svdvals, movedim(x, axes, (-2, -1)), {}), -1)
        return reshape(out, [1 if i in axes else n for i, n in enumerate(shape)]) if keepdim else out
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"norm(): only valid string values are 'fro' and 'nuc', found {p}")
    ord = 2 if p in ("fro", None) else number("norm", "p", p)
    return reduced(_reduce.vector_norm, "norm", x, dim, keepdim, ord=ord)


def _truth(op: Op, name: str, x: Any, dim: Any, keepdim: bool) -> Any:
    x = tensor_arg(name, x)
    if isinstance(dim, (tuple, list)) and not dim:
        out = ne(x, 0)
    else:
        out = reduced(op, name, x, dim, keepdim)
    return to_dtype(out, dtypes.uint8) if dtypes.of(x.array.dtype) is dtypes.uint8 else out


@numpy_names
def any(input: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Whether any entry is nonzero; over no dim at all if ``dim`` is (). Of uint8 tensors the answer is uint8."""
    return _truth(_reduce.any, "any", input, dim, keepdim)


@numpy_names
def all(input: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Whether every entry is nonzero; over no dim at all if ``dim`` is (). Of uint8 tensors the answer is uint8."""
    return _truth(_reduce.all, "all", input, dim, keepdim)


@numpy_names
def count_nonzero(input: Tensor, dim: Dims = None) -> Tensor:
    """How many entries over ``dim`` are nonzero."""
    return sum(ne(tensor_arg("count_nonzero", input), 0), dim)


def _position(op: Op, name: str, x: Any, dim: Any, keepdim: bool) -> Any:
    x = tensor_arg(name, x)
    if x.array.size == 0 and dim is None:
        raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
    axis, keeps = None if dim is None else one_dim(name, dim, x.array.ndim), flag(name, "keepdim", keepdim)
    return apply(op, (nonempty(name, x, dim),), {"axis": axis if x.array.ndim else None, "keepdims": keeps})


@numpy_names
def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Index of the largest entry along ``dim``, or in the flattened tensor."""
    return _position(_order.argmax, "argmax", input, dim, keepdim)


@numpy_names
def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Index of the smallest entry along ``dim``, or in the flattened tensor."""
    return _position(_order.argmin, "argmin", input, dim, keepdim)


def _normalised(op: Op, name: str, x: Any, dim: int, dtype: Any) -> Any:
    x = _real(name, x, dtype)
    axis = one_dim(name, dim, x.array.ndim)
    if x.array.ndim == 0:
        return apply(op, (x.reshape(1),), {"axis": 0}).reshape(())
    return apply(op, (x,), {"axis": axis})


@numpy_names
def softmax(input: Tensor, dim: int, dtype: DType = None) -> Tensor:
    """Exponentials along ``dim`` scaled to sum to 1."""
    return _normalised(_activation.softmax, "softmax", input, dim, dtype)


@numpy_names
def log_softmax(input: Tensor, dim: int, dtype: DType = None) -> Tensor:
    """Logarithm of `softmax`, computed without overflow."""
    return _normalised(_activation.log_softmax, "log_softmax", input, dim, dtype)
