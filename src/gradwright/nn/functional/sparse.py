"""Whole numbers as vectors: one-hot codes, rows of a table, sums over bags of rows."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from gradwright.base import dtypes
from gradwright.base.errors import size
from gradwright.engine.grad_mode import no_grad
from gradwright.engine.numbers import whole
from gradwright.face.creation import arange
from gradwright.face.creation import tensor as tensor_of
from gradwright.face.functions.elementwise import where
from gradwright.face.functions.reduce import norm
from gradwright.face.functions.scatter import index_select
from gradwright.face.reading.require import within
from gradwright.face.reading.torch import tensor_arg
from gradwright.face.tensor import Tensor

__all__ = ["embedding", "embedding_bag", "one_hot"]

_MODES = ("sum", "mean", "max")


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Whole numbers of shape (*) as vectors (*, num_classes) that are 1 there and 0 elsewhere, in int64.

    ``num_classes=-1`` takes one more than the largest. Raises RuntimeError for negative or too large ones.

    >>> gw.nn.functional.one_hot(gw.tensor([0, 2]), 3)
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    x, num_classes = tensor_arg("one_hot", tensor, "tensor"), whole("one_hot", "num_classes", num_classes)
    if dtypes.of(x.array.dtype) is not dtypes.int64:
        raise RuntimeError(f"one_hot is only applicable to index tensor of type LongTensor, but got {x.dtype}: "
                           "convert it with .long()")  # fmt: skip
    if not x.array.size and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    if num_classes == -1:
        num_classes = max(x.max().item(), 0) + 1  # a shape that depends on values
    elif num_classes < 1:
        raise RuntimeError(f"num_classes should be positive, but got {num_classes}")
    within(x.array, 0, num_classes - 1, lambda wrong: "Class values must be non-negative." if wrong < 0 else (
        f"Class values must be smaller than num_classes={num_classes}, but the largest is {wrong}"))  # fmt: skip
    return (x.unsqueeze(-1) == arange(num_classes, device=x.device)).to(dtypes.int64)


def _checked(name: str, indices: Any, weight: Any, padding_idx: int | None) -> tuple[Any, Any, int | None]:
    """The arguments of an embedding, with a padding index that counts from 0."""
    i, w = tensor_arg(name, indices), tensor_arg(name, weight, "weight", 2)
    if w.array.ndim != 2:
        raise RuntimeError(f"{name}(): 'weight' must be 2-D, but got {w.array.ndim} dims")
    if dtypes.of(i.array.dtype) not in (dtypes.int64, dtypes.int32):
        raise RuntimeError(
            f"{name}(): Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, "
            f"Int; but got {i.dtype} instead: convert them with .long()"
        )
    rows = w.array.shape[0]
    if padding_idx is not None:
        padding_idx = whole(name, "padding_idx", padding_idx)
        if not -rows <= padding_idx < rows:
            raise AssertionError(f"Padding_idx must be within num_embeddings, but got {padding_idx} for {rows} rows")
        padding_idx %= rows
    within(i.array, 0, rows - 1, lambda wrong: (
        f"{name}(): index out of range in self: indices must be from 0 to {rows - 1}"), IndexError)  # fmt: skip
    return i, w, padding_idx


@no_grad()
def bounded(indices: Any, weight: Any, max_norm: float | None, norm_type: float) -> None:
    """Scale down, in place, the rows that are used and longer than ``max_norm``."""
    if max_norm is None:
        return
    used = indices.reshape(-1).unique()
    rows = index_select(weight, 0, used)
    length = norm(rows, norm_type, 1, True)
    weight[used] = where(length > max_norm, rows * (max_norm / (length + 1e-7)), rows)


def _rows(indices: Any, weight: Any, scale_grad_by_freq: bool, used: Any) -> Any:
    """The rows at ``indices``; their gradients divided by how often each is among those used, if asked for."""
    flat = indices.reshape(-1)
    rows = index_select(weight, 0, flat)
    if scale_grad_by_freq:
        uses = used.reshape(-1).bincount(minlength=weight.array.shape[0])[flat].clamp(min=1)
        rows = rows.detach() + (rows - rows.detach()) / uses.unsqueeze(1)
    return rows.reshape(*indices.array.shape, weight.array.shape[1])


def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None,
              norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor:  # fmt: skip
    """The rows of ``weight`` (n, d) at whole numbers of shape (*): (*, d).

    The row ``padding_idx`` gets no gradient. ``max_norm`` scales down, in place, the rows that are used and longer;
    ``scale_grad_by_freq`` divides each row's gradient by how often it is used. Gradients are dense: ``sparse`` has no
    effect.

    Raises IndexError for an index out of range, RuntimeError unless ``weight`` is a matrix.

    >>> gw.nn.functional.embedding(gw.tensor([1, 0, 1]), gw.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[3., 4.],
            [1., 2.],
            [3., 4.]])
    """
    i, w, padding = _checked("embedding", input, weight, padding_idx)
    bounded(i, w, max_norm, norm_type)
    rows = _rows(i, w, scale_grad_by_freq, i)
    if padding is None:
        return rows
    return where((i == padding).unsqueeze(-1), rows.detach(), rows)


def embedding_bag(input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: float | None = None,
                  norm_type: float = 2, scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False,
                  per_sample_weights: Tensor | None = None, include_last_offset: bool = False,
                  padding_idx: int | None = None) -> Tensor:  # fmt: skip
    """The sum, mean or maximum of each bag of rows of ``weight`` (n, d): (bags, d). An empty bag gives 0.

    ``input`` holds indices: (bags, length), or one line of them that ``offsets`` cuts into bags (with
    ``include_last_offset`` the last offset is the end). Entries that are ``padding_idx`` do not count.
    ``per_sample_weights``, shaped like ``input``, multiply the rows of a sum.

    Raises ValueError for arguments that do not go together, IndexError for an index out of range, RuntimeError for
    offsets that do not begin at 0 or reach past the end, NotImplementedError for weights of other than sums.

    >>> table = gw.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> gw.nn.functional.embedding_bag(gw.tensor([1, 0, 1]), table, gw.tensor([0, 2]), mode="sum")
    tensor([[4., 6.],
            [3., 4.]])
    """
    i, w = tensor_arg("embedding_bag", input), tensor_arg("embedding_bag", weight, "weight", 2)
    factor = per_sample_weights
    if mode not in _MODES:
        raise ValueError(f"mode has to be one of sum, mean or max, but got {mode!r}")
    if w.array.ndim != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {w.array.ndim}")
    if factor is not None and factor.array.shape != i.array.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({size(factor.array.shape)}) is not None, then it must have the "
            f"same shape as the input ({size(i.array.shape)})"
        )
    if factor is not None and mode != "sum":
        raise NotImplementedError(f"embedding_bag: per_sample_weights is only supported for mode='sum', not {mode!r}")
    if mode == "max" and (scale_grad_by_freq or sparse):
        raise ValueError("embedding_bag: max mode supports neither scale_grad_by_freq nor sparse")
    i, w, padding = _checked("embedding_bag", i, w, padding_idx)
    i, factor, held = _bags(i, offsets, factor, include_last_offset)
    if padding is not None:
        held = held & (i != padding)
    used = i[held] if max_norm is not None or scale_grad_by_freq else i
    bounded(used, w, max_norm, norm_type)
    rows = _rows(i, w, scale_grad_by_freq, used)
    if factor is not None:
        rows = rows * factor.unsqueeze(-1)
    counts = held.sum(1, keepdim=True)
    if mode == "max":
        if not rows.array.shape[1]:
            return rows.sum(1)
        best = where(held.unsqueeze(-1), rows, float("-inf")).max(1).values
        return where(counts > 0, best, 0.0)
    total = where(held.unsqueeze(-1), rows, 0.0).sum(1)
    return total if mode == "sum" else total / counts.clamp(min=1).to(w.dtype)


def _bags(indices: Any, offsets: Any, factor: Any, include_last: bool) -> tuple[Any, Any, Any]:
    """Indices and factors as (bags, longest), filled up at the end, and which entries are not filling.

    The longest bag is looked for among the offsets: a shape depends on it.
    """
    if indices.array.ndim == 2:
        if offsets is not None:
            raise ValueError("if input is 2D, then offsets has to be None, as its rows are the bags")
        return indices, factor, indices == indices
    if indices.array.ndim != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {indices.array.ndim}")
    if offsets is None or offsets.array.ndim != 1:
        raise ValueError("offsets has to be a 1D Tensor but got " + ("None" if offsets is None else f"{offsets.ndim}D"))
    starts, n = offsets.tolist(), indices.array.shape[0]
    if starts and starts[0] != 0:
        raise RuntimeError(f"offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
                           f"position 0. However, got {starts[0]}")  # fmt: skip
    if starts and starts[-1] > n:
        raise RuntimeError(f"offsets[-1] can not be greater than input's length({n}), but it is {starts[-1]}")
    ends = starts if include_last else [*starts, n]
    lengths = [b - a for a, b in pairwise(ends)]
    along = arange(max(lengths, default=0), device=indices.device)
    at = offsets[: len(lengths)].unsqueeze(1) + along
    held = at < tensor_of(ends[1:], device=indices.device).unsqueeze(1)
    at = at.clamp(max=max(n - 1, 0))
    if not n:
        return at, factor, held
    return indices[at], None if factor is None else factor[at], held
