"""Reading and writing along one dim at indices under PyTorch's names: gather, scatter, and what they combine."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any

from gradwright import backends
from gradwright.backends.generic import HERE
from gradwright.base import dtypes
from gradwright.base.errors import size as _text
from gradwright.engine.apply import apply
from gradwright.engine.base import TensorBase
from gradwright.engine.levels import followed
from gradwright.engine.numbers import number
from gradwright.face.functions.join import cat
from gradwright.face.functions.keys import lasting, winning
from gradwright.face.functions.shape import expand, flatten, reshape
from gradwright.face.reading.require import within
from gradwright.face.reading.torch import counted, number_as, number_beside, numpy_names, one_dim, tensor_arg, to_dtype
from gradwright.ops import index as _index
from gradwright.ops import order as _order
from gradwright.ops import scatter as _scatter
from gradwright.ops import sets as _sets

if TYPE_CHECKING:
    from gradwright.face.typing import Number, Tensor

__all__ = [
    "gather", "index_add", "index_copy", "index_fill", "index_reduce", "index_select", "scatter", "scatter_add",
    "scatter_reduce",
]  # fmt: skip

_INDICES = (dtypes.int64, dtypes.int32)
_selected, _filled, _copied = (
    op.variant(f"{name}Backward0")
    for op, name in ((_index.at, "IndexSelect"), (_index.put, "IndexFill"), (_index.put, "IndexCopy"))
)


def _back(y: Any, shape: tuple[int, ...]) -> Any:
    """``y`` in the shape that a 0-d tensor had before it was made a vector."""
    return y if y.array.shape == shape else reshape(y, shape)


def _checked(function: str, x: Any, dim: int, index: Any, *given: Any) -> tuple[Any, ...]:
    """``x``, the dim, the index and the source cut to its shape, if all of them fit; 0-d tensors as vectors."""
    x, index = tensor_arg(function, x), tensor_arg(function, index, "index", 3)
    src = tensor_arg(function, given[0], "src", 4) if given else None
    axis = one_dim(function, dim, x.array.ndim)
    if dtypes.of(index.array.dtype) not in _INDICES and (index.array.size or function != "gather"):
        raise RuntimeError(f"{function}(): Expected dtype int32/int64 for index, got {dtypes.of(index.array.dtype)}")
    like = [x] if src is None else [x, src]
    if src is not None and backends.differ(function, src.array, x.array):
        raise RuntimeError(
            f"{function}(): Expected self.dtype to be equal to src.dtype, got {dtypes.of(x.array.dtype)} and "
            f"{dtypes.of(src.array.dtype)}"
        )
    if index.array.size == 0 and function != "gather":
        return x, axis, index, src
    if any(max(y.array.ndim, 1) != max(index.array.ndim, 1) for y in like):
        raise RuntimeError(
            f"{function}(): Index tensor must have the same number of dimensions as input tensor and src "
            f"({index.array.ndim} and {[y.array.ndim for y in like]})"
        )
    x, index, *rest = [reshape(y, 1) if not y.array.ndim else y for y in (x, index, *like[1:])]
    src = rest[0] if rest else None
    for y, free in ((x, axis), (src, None)):
        if y is not None and any(
            n > m for k, (n, m) in enumerate(zip(index.array.shape, y.array.shape, strict=True)) if k != free
        ):
            raise RuntimeError(
                f"{function}(): Size does not match: index {_text(index.array.shape)} must be no larger than "
                f"{_text(y.array.shape)}" + (f" apart from dimension {axis}" if y is x else " of src")
            )
    n = x.array.shape[axis]
    within(index.array, 0, n - 1, lambda wrong: (
        f"{function}(): index {wrong} is out of bounds for dimension {axis} with size {n}"))  # fmt: skip
    if src is not None and src.array.shape != index.array.shape:
        src = src[tuple(slice(m) for m in index.array.shape)]
    return x, axis, index, src


@numpy_names
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """out[i][j] = input[i][index[i][j]] for dim 1; ``index`` may be smaller than ``input`` in the other dims."""
    x, shape = tensor_arg("gather", input), tensor_arg("gather", index, "index", 3).array.shape
    if not index.array.size and index.array.ndim != x.array.ndim:
        one_dim("gather", dim, x.array.ndim)
        return reshape(flatten(x)[:0], shape)
    x, axis, index, _ = _checked("gather", x, dim, index)
    return _back(apply(_scatter.take_along_axis, (x, index), {"axis": axis}), shape)


def _scattered(op: Any, function: str, input: Any, dim: int, index: Any, src: Any) -> Any:
    x, axis, index, src = _checked(function, input, dim, index, src)
    if not index.array.size:
        return _unwritten(op, x, index, src)
    return _back(apply(op, (x, index, src), {"axis": axis}), input.array.shape)


def _unwritten(op: Any, x: Any, index: Any, src: Any) -> Any:
    """A copy of ``x``, to which an empty index sends nothing of ``src``: the gradient of that is zeros."""
    if not followed(src):
        return x.clone()
    made = apply(op, (flatten(x), flatten(index), flatten(src)[:0]), {"axis": 0})
    return _back(made, x.array.shape)


@numpy_names
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """A copy of ``input`` with ``src`` added: out[i][index[i][j]] += src[i][j] for dim 1; repeated indices add up."""
    return _scattered(_scatter.scatter_add, "scatter_add", input, dim, index, src)


@numpy_names
def scatter(input: Tensor, dim: int, index: Tensor, src: Tensor | Number | None = None, *, value: Number | None = None,
            reduce: str | None = None) -> Tensor:  # fmt: skip
    """A copy of ``input`` with ``src``, a tensor or a number, written: out[i][index[i][j]] = src[i][j] for dim 1.

    Where an index repeats, the last one stays. ``reduce``: "add" or "multiply" instead of writing.
    """
    x, src = tensor_arg("scatter", input), value if src is None else src
    if not isinstance(src, TensorBase):
        src = expand(number_beside("scatter", src, x), tensor_arg("scatter", index, "index", 3).array.shape)
    if reduce is not None:
        if reduce not in ("add", "multiply"):
            raise RuntimeError("reduce argument must be either add or multiply.")
        return scatter_reduce(x, dim, index, src, "sum" if reduce == "add" else "prod")
    y, axis, index, src = _checked("scatter", x, dim, index, src)
    if not index.array.size:
        return _unwritten(_scatter.scatter, x, index, src)
    if followed(src):
        src = lasting(src, apply(_scatter.last_along, (index,), {"axis": axis, "shape": tuple(y.array.shape)}))
    return _back(apply(_scatter.scatter, (y, index, src), {"axis": axis}), x.array.shape)


@numpy_names
def scatter_reduce(input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *,
                   include_self: bool = True) -> Tensor:  # fmt: skip
    """A copy of ``input`` in which each place combines its value with those of ``src`` that ``index`` sends to it.

    ``reduce``: "sum", "prod", "mean", "amax" or "amin". Without ``include_self`` what ``input`` has in these places
    does not count. Tied extrema share the gradient equally.
    """
    if reduce not in _REDUCTIONS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    x, axis, index, src = _checked("scatter_reduce", input, dim, index, src)
    if not index.array.size:
        return _unwritten(_scatter.scatter_add, x, index, src)
    return _back(_REDUCTIONS[reduce](x, axis, index, src, include_self), input.array.shape)


def _without(x: Any, axis: int, index: Any, value: Any) -> Any:
    """``x`` with ``value`` in the places that will be written."""
    fill = expand(number_beside("scatter_reduce", value, x), index.array.shape)
    return apply(_scatter.scatter, (x, index, fill), {"axis": axis})


def _sum(x: Any, axis: int, index: Any, src: Any, include_self: bool) -> Any:
    start = x if include_self else _without(x, axis, index, 0)
    return apply(_scatter.scatter_add, (start, index, src), {"axis": axis})


def _mean(x: Any, axis: int, index: Any, src: Any, include_self: bool) -> Any:
    one = number_beside("scatter_reduce", 1, x)
    counts = _sum(expand(one, x.array.shape), axis, index, expand(one, index.array.shape), include_self)
    total = _sum(x, axis, index, src, include_self)
    return total / counts if dtypes.kind(x.array.dtype) in "fc" else total.floor_divide(counts)


def _max(x: Any, axis: int, index: Any, src: Any, include_self: bool) -> Any:
    kind = dtypes.kind(x.array.dtype)
    lowest = -inf if kind == "f" else False if kind == "b" else dtypes.iinfo(x.array.dtype).min
    start = x if include_self else _without(x, axis, index, lowest)
    return apply(_scatter.scatter_max, (start, index, src), {"axis": axis})


def _min(x: Any, axis: int, index: Any, src: Any, include_self: bool) -> Any:
    def turned(y: Any) -> Any:  # upside down: ~i for whole numbers, whose lowest has no negative
        return -y if dtypes.kind(y.array.dtype) == "f" else ~y

    return turned(_max(turned(x), axis, index, turned(src), include_self))


def _prod(x: Any, axis: int, index: Any, src: Any, include_self: bool) -> Any:
    """Products by halving: entries sorted by place are multiplied in pairs until each place has one: right at zeros."""
    start = x if include_self else _without(x, axis, index, 1)
    if not (followed(start) or followed(src)):
        return apply(_scatter.scatter_prod, (start, index, src), {"axis": axis})
    sent = apply(_scatter.places_along, (index,), {"axis": axis, "shape": tuple(x.array.shape)})
    places = cat([counted(x, x.array.size), flatten(sent)])
    values = cat([flatten(start), flatten(src)])
    order = apply(_order.argsort, (places,), {"axis": 0, "descending": False})
    places, values = (apply(_index.at, (y, order), {"key": (HERE,)}) for y in (places, values))
    while places.array.size > x.array.size:
        first = apply(_sets.searchsorted, (places, places), {"side": "left"})
        even = (counted(x, places.array.size) - first) % 2 == 0
        (ones,), (others,) = (apply(_sets.nonzero, (which,), {}) for which in (even, ~even))
        partner = (even.cumsum(0) - 1)[others - 1]
        halves = values[ones]
        products = apply(_index.at, (halves, partner), {"key": (HERE,)}) * values[others]
        values = apply(_index.put, (halves, products, partner), {"key": (HERE,)})
        places = places[ones]
    return reshape(values, x.array.shape)


_REDUCTIONS: dict[str, Callable[..., Any]] = {"sum": _sum, "prod": _prod, "mean": _mean, "amax": _max, "amin": _min}


def _along(function: str, input: Any, dim: int, index: Any, source: Any = None) -> tuple[Any, ...]:
    """``x`` (a 0-d one as a vector), the dim, ``source``, the vector of indices, the key that takes it there."""
    x, index = tensor_arg(function, input), tensor_arg(function, index, "index", 3)
    axis, where = one_dim(function, dim, x.array.ndim), index.array
    if where.ndim > 1:
        raise IndexError(f"{function}(): Index is supposed to be a vector, but got {where.ndim} dims")
    if dtypes.of(where.dtype) not in _INDICES:
        raise RuntimeError(f"{function}(): Expected dtype int32/int64 for index, but got {dtypes.of(where.dtype)}")
    x = reshape(x, 1) if not x.array.ndim else x
    n = x.array.shape[axis]
    within(where, -n if function == "index_fill" else 0, n - 1, lambda _: (
        f"{function}(): index out of range in self: dimension {axis} has size {n}"), IndexError)  # fmt: skip
    if source is not None:
        tensor_arg(function, source, "source", 4)
        if backends.differ(function, source.array, x.array):
            raise RuntimeError(
                f"{function}(): self and source expected to have the same dtype, but got (self) "
                f"{dtypes.of(x.array.dtype)} and (source) {dtypes.of(source.array.dtype)}"
            )
        wanted = (*x.array.shape[:axis], where.size, *x.array.shape[axis + 1 :])
        have = source.array.shape or (1,)
        if have != wanted:
            wrong = IndexError if have[axis : axis + 1] != (where.size,) and len(have) == len(wanted) else RuntimeError
            raise wrong(
                f"{function}(): Source/destination tensor must have same slice shapes: expected source of shape "
                f"{_text(wanted)}, but got {_text(source.array.shape)}"
            )
        source = reshape(source, wanted)
    return x, axis, source, reshape(index, 1) if not where.ndim else index, (slice(None),) * axis + (HERE,)


@numpy_names
def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices of ``input`` at the vector ``index`` along ``dim``."""
    x, _, _, index, key = _along("index_select", input, dim, index)
    out = apply(_selected, (x, index), {"key": key})
    return out if input.array.ndim else _back(out, ())


@numpy_names
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor:
    """A copy of ``input`` with ``alpha`` times the slices of ``source`` added at ``index`` along ``dim``."""
    x, _, source, index, key = _along("index_add", input, dim, index, source)
    alpha = number("index_add", "alpha", alpha)
    added = source if alpha == 1 else source * number_as("index_add", alpha, x.array.dtype).item()
    return _back(apply(_index.add_at, (x, added, index), {"key": key}), input.array.shape)


@numpy_names
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """A copy of ``input`` with the slices of ``source`` written at ``index`` along ``dim``; the last stays."""
    x, _, source, index, key = _along("index_copy", input, dim, index, source)
    source = winning(source, x, key, [index])
    return _back(apply(_copied, (x, source, index), {"key": key}), input.array.shape)


@numpy_names
def index_fill(input: Tensor, dim: int, index: Tensor, value: Tensor | Number) -> Tensor:
    """A copy of ``input`` with ``value``, a number or a 0-d tensor, in the slices at ``index`` along ``dim``."""
    x, axis, _, index, key = _along("index_fill", input, dim, index)
    if not isinstance(value, TensorBase):
        value = number_beside("index_fill", value, x)
    elif value.array.ndim:
        raise RuntimeError(
            f"Only supports 0-dimensional value tensor, but got tensor with {value.array.ndim} dimension(s)."
        )
    shape = (*x.array.shape[:axis], index.array.size, *x.array.shape[axis + 1 :])
    value = winning(expand(to_dtype(value, x.array.dtype), shape), x, key, [index])
    return _back(apply(_filled, (x, value, index), {"key": key}), input.array.shape)


@numpy_names
def index_reduce(input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *,
                 include_self: bool = True) -> Tensor:  # fmt: skip
    """`scatter_reduce` of whole slices of ``source``: "prod", "mean", "amax" or "amin"."""
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    x, axis, source, index, _ = _along("index_reduce", input, dim, index, source)
    where = expand(reshape(index, (-1,) + (1,) * (x.array.ndim - axis - 1)), source.array.shape)
    return _back(scatter_reduce(x, axis, where, source, reduce, include_self=include_self), input.array.shape)
