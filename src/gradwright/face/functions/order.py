"""Sorting and selecting under PyTorch's names. NaN counts as larger than all else."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any, overload

from gradwright.base import dtypes
from gradwright.engine.apply import apply
from gradwright.engine.numbers import whole
from gradwright.engine.view import alias_of
from gradwright.face.functions.reduce import VALUES, nonempty, picked, zero_place
from gradwright.face.functions.returns import return_type
from gradwright.face.reading.torch import number_beside, numpy_names, one_dim, tensor_arg
from gradwright.ops import order as _order
from gradwright.ops import scatter as _scatter

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor, ValuesIndices

__all__ = [
    "argsort", "kthvalue", "median", "mode", "msort", "nanmedian", "sort", "topk",
]  # fmt: skip

VALUES |= {
    name: return_type(name, "values", "indices") for name in ("kthvalue", "median", "mode", "nanmedian", "sort", "topk")
}
_sorted, _topped = _scatter.take_along_axis.variant("SortBackward0"), _scatter.take_along_axis.variant("TopkBackward0")
_kth, _middle, _commonest = (
    _scatter.pick.variant(f"{name}Backward{n}") for name, n in (("Kthvalue", 0), ("Median", 1), ("Mode", 0))
)
_nan_middle = _scatter.pick.variant("NanmedianBackward1")


def _sortable(name: str, input: Any, dim: Any) -> tuple[Any, int]:
    x = tensor_arg(name, input)
    if dtypes.kind(x.array.dtype) == "c":
        raise RuntimeError(f"{name}(): complex numbers have no order")
    return x, one_dim(name, dim, x.array.ndim)


def _ordering(x: Any, axis: int, descending: bool) -> Any:
    """The indices that sort a tensor along ``axis``."""
    if not x.array.ndim:
        return zero_place(x)
    return apply(_order.argsort, (alias_of(x),), {"axis": axis, "descending": bool(descending)})


@numpy_names
def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """The indices that sort ``input`` along ``dim``; equal entries keep their order."""
    return _ordering(*_sortable("argsort", input, dim), descending)


@numpy_names
def sort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool | None = False) -> ValuesIndices:
    """Values in order along ``dim``, and where they stood; equal entries keep their order."""
    x, axis = _sortable("sort", input, dim)
    return VALUES["sort"](*_taken(_sorted, x, _ordering(x, axis, descending), axis))


def _taken(op: Any, x: Any, indices: Any, axis: int) -> tuple[Any, Any]:
    return apply(op, (x, indices), {"axis": axis}) if x.array.ndim else x.clone(), indices


def msort(input: Tensor) -> Tensor:
    """Values in order along the first dim."""
    return sort(input, 0)[0]


@numpy_names
def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> ValuesIndices:
    """The ``k`` largest (smallest) entries along ``dim`` in order, and where they stood."""
    x, axis, k = *_sortable("topk", input, dim), whole("topk", "k", k)
    n = x.array.shape[axis] if x.array.ndim else 1
    if not 0 <= k <= n:
        raise RuntimeError(f"topk(): selected index k out of range: k is {k}, but dim {axis} has {n} entries")
    if not x.array.ndim:
        return VALUES["topk"](x.clone(), zero_place(x))
    where = apply(_order.argtop, (alias_of(x),), {"k": k, "axis": axis, "largest": bool(largest)})
    return VALUES["topk"](*_taken(_topped, x, where, axis))


@numpy_names
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> ValuesIndices:
    """The ``k``-th smallest entry along ``dim``, counted from 1, and where it stands."""
    x, axis, k = *_sortable("kthvalue", input, dim), whole("kthvalue", "k", k)
    n = nonempty("kthvalue", x, axis).array.shape[axis] if x.array.ndim else 1
    if not 1 <= k <= n:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {axis}: {k} of {n}")
    return VALUES["kthvalue"](*picked(_kth, x, _order.argselect, axis, keepdim, k=k - 1))


def _median(name: str, input: Any, dim: Any, keepdim: bool, whole: Any, along: Any) -> Any:
    if dtypes.of(tensor_arg(name, input).array.dtype) is dtypes.boolean:
        raise NotImplementedError(f"{name}(): not implemented for torch.bool")
    if dim is None:
        return apply(whole, (input,), {}) if input.array.size else number_beside(name, nan, input)
    x, axis = _sortable(name, input, dim)
    n = nonempty(name, x, axis).array.shape[axis] if x.array.ndim else 1
    if dtypes.kind(x.array.dtype) != "f":
        return VALUES[name](*picked(along, x, _order.argselect, axis, keepdim, k=(n - 1) // 2))
    return VALUES[name](*picked(along, x, _order.argmedian, axis, keepdim, nan=whole is _order.median))


@overload
def median(input: Tensor) -> Tensor: ...
@overload
def median(input: Tensor, dim: int, keepdim: bool = False) -> ValuesIndices: ...
@numpy_names
def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor | ValuesIndices:
    """The middle entry, the lower of two: of all, or along ``dim`` with where it stands. NaN where there is one."""
    return _median("median", input, dim, keepdim, _order.median, _middle)


@overload
def nanmedian(input: Tensor) -> Tensor: ...
@overload
def nanmedian(input: Tensor, dim: int, keepdim: bool = False) -> ValuesIndices: ...
@numpy_names
def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor | ValuesIndices:
    """`median` of the entries that are not NaN."""
    return _median("nanmedian", input, dim, keepdim, _order.nanmedian, _nan_middle)


@numpy_names
def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> ValuesIndices:
    """The most frequent entry along ``dim``, the smallest of several, and where it stands last."""
    x, axis = _sortable("mode", input, dim)
    return VALUES["mode"](*picked(_commonest, nonempty("mode", x, axis), _order.argmode, axis, keepdim))
