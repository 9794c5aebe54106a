"""Running results along a dim, differences and areas, under PyTorch's names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwright.engine.apply import apply
from gradwright.engine.view import alias_of
from gradwright.face.functions.reduce import VALUES, inexact, widened, zero_place
from gradwright.face.functions.returns import return_type
from gradwright.face.reading.common import named
from gradwright.face.reading.torch import numpy_names, one_dim, tensor_arg
from gradwright.ops import order as _order
from gradwright.ops import scan as _scan
from gradwright.ops import scatter as _scatter
from gradwright.ops.declare import Op

if TYPE_CHECKING:
    from gradwright.face.typing import DType, Tensor, ValuesIndices

__all__ = ["cummax", "cummin", "cumprod", "cumsum", "logcumsumexp"]

VALUES |= {name: return_type(name, "values", "indices") for name in ("cummax", "cummin")}
_maxima, _minima = (_scatter.take_along_axis.variant(f"{name}Backward0") for name in ("Cummax", "Cummin"))


def _running(op: Op, name: str, x: Any, dim: int) -> Any:
    axis = one_dim(name, dim, x.array.ndim)
    return apply(op, (x,), {"axis": axis}) if x.array.ndim else x.clone()


@numpy_names
def cumsum(input: Tensor, dim: int, *, dtype: DType = None) -> Tensor:
    """Running sum along ``dim``; integers are summed in int64."""
    return named(_running(_scan.cumulative_sum, "cumsum", widened(tensor_arg("cumsum", input), dtype), dim), dtype)


@numpy_names
def cumprod(input: Tensor, dim: int, *, dtype: DType = None) -> Tensor:
    """Running product along ``dim``; integers are multiplied in int64."""
    return named(_running(_scan.cumulative_prod, "cumprod", widened(tensor_arg("cumprod", input), dtype), dim), dtype)


@numpy_names
def logcumsumexp(input: Tensor, dim: int) -> Tensor:
    """Running logarithm of the sum of exponentials along ``dim``, without overflow."""
    return _running(_scan.logcumsumexp, "logcumsumexp", inexact(tensor_arg("logcumsumexp", input)), dim)


def _running_extremum(name: str, x: Any, dim: int, op: Op, largest: bool) -> Any:
    x = tensor_arg(name, x)
    axis = one_dim(name, dim, x.array.ndim)
    if not x.array.ndim:
        return VALUES[name](x.clone(), zero_place(x))
    where = apply(_order.argrunning, (alias_of(x),), {"axis": axis, "largest": largest})
    return VALUES[name](apply(op, (x, where), {"axis": axis}), where)


@numpy_names
def cummax(input: Tensor, dim: int) -> ValuesIndices:
    """The largest entry so far along ``dim``, and where it stands (the last of several)."""
    return _running_extremum("cummax", input, dim, _maxima, True)


@numpy_names
def cummin(input: Tensor, dim: int) -> ValuesIndices:
    """The smallest entry so far along ``dim``, and where it stands (the last of several)."""
    return _running_extremum("cummin", input, dim, _minima, False)
