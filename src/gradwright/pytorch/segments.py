"""``torch.segment_reduce``: sums and the like of consecutive parts of a dim."""

from __future__ import annotations

import math
from typing import Any

from gradwright.base import dtypes
from gradwright.face.creation import arange
from gradwright.face.functions.elementwise import where
from gradwright.face.functions.scatter import index_add, index_reduce, index_select

__all__ = ["segment_reduce"]

_STARTS = {"sum": 0.0, "mean": math.nan, "prod": 1.0, "max": -math.inf, "min": math.inf}
_OLDER = {"amax": "max", "amin": "min"}


def segment_reduce(data: Any, reduce: str, *, lengths: Any = None, indices: Any = None, offsets: Any = None,
                   axis: int = 0, unsafe: bool = False, initial: float | None = None) -> Any:  # fmt: skip
    """The "sum", "mean", "max", "min" or "prod" of each segment of dim ``axis``, in its place there.

    ``lengths``, of shape (*data.shape[:axis], n), has how long the segments are, which follow one another and, unless
    ``unsafe``, fill the dim; or ``offsets``, with n + 1, where each begins and the next. ``initial`` takes part in
    each; without one a segment that is empty gives 0, NaN, -inf, inf or 1. The entries that are the largest, or the
    smallest, share the gradient.

    RuntimeError for segments that are none, NotImplementedError for data that are not of floating point.
    """
    reduce = _OLDER.get(reduce, reduce)
    if reduce not in _STARTS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if not data.is_floating_point():
        raise NotImplementedError(f"segment_reduce(): expected data of floating point, but got {data.dtype}")
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    axis = range(data.ndim)[axis]
    starts, lengths = _segments(data, lengths, offsets, axis, unsafe)
    flat = data.reshape(-1, *data.shape[axis + 1 :])
    count = lengths.numel()
    of = arange(count, device=lengths.device).repeat_interleave(lengths)  # the segment of each entry
    place = starts[of] + arange(len(of), device=of.device) - (lengths.cumsum(0) - lengths)[of]
    values = index_select(flat, 0, place)
    out = flat.new_full((count, *flat.shape[1:]), _STARTS[reduce] if initial is None else initial)
    if reduce in ("sum", "mean"):
        total = index_add(out if initial is not None else out.new_zeros(out.shape), 0, of, values)
        if reduce == "mean":
            many = lengths.reshape(-1, *(1,) * (out.ndim - 1))
            total = where(many > 0, total / many.clamp(min=1), out)
        out = total
    elif reduce == "prod":
        out = index_reduce(out, 0, of, values, "prod")
    else:
        found = index_reduce(out, 0, of, values, f"a{reduce}", include_self=False)
        out = where(found < out if reduce == "max" else found > out, out, found)
    return out.reshape(*data.shape[:axis], -1, *data.shape[axis + 1 :])


def _segments(data: Any, lengths: Any, offsets: Any, axis: int, unsafe: bool) -> tuple[Any, Any]:
    """Where each segment begins, among all entries of the dims up to ``axis``, and how long it is."""
    name, given = ("lengths", lengths) if offsets is None else ("offsets", offsets)
    if given is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    if given.dtype not in (dtypes.int32, dtypes.int64):
        raise NotImplementedError(f"segment_reduce(): expected {name} of int32 or int64, but got {given.dtype}")
    if axis != given.ndim - 1 or given.shape[:-1] != data.shape[:axis]:
        raise RuntimeError(f"segment_reduce(): Expected axis to be the last dimension of {name} but got {axis}: "
                           f"expected a shape {(*data.shape[:axis], 'n')}, but got {tuple(given.shape)}")  # fmt: skip
    size, given = data.shape[axis], given.detach().long()
    many = given if offsets is None else given.diff(dim=-1)
    if bool((many < 0).any()):
        raise RuntimeError("lengths contains negative value!")
    starts = many.cumsum(-1) - many if offsets is None else given[..., :-1]
    if offsets is None and not unsafe and not bool((many.sum(-1) == size).all()):
        raise RuntimeError("segment_reduce(): Expected all rows of lengths along axis to sum to "
                           f"data.size(lengths.dim()-1), {size}, when !unsafe.")  # fmt: skip
    if bool((starts < 0).any()) or bool((starts + many > size).any()):
        raise RuntimeError(f"segment_reduce(): a segment ends after dim {axis}, of size {size}, or begins before it")
    rows = arange(math.prod(data.shape[:axis]), device=given.device).reshape(*data.shape[:axis], 1) * size
    return (starts + rows).reshape(-1), many.reshape(-1)
